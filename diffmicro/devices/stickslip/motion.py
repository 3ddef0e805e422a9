"""The motion of the stick-slip drive over one period: a runner, its sensor, and two groups of contacts.

In units of presliding of the first group (length), 1/omega_0 with omega_0^2 = k_c/m (time) and k_c (stiffness):

    x'' + 2 zeta x' + (1 + kappa) x = r(t) - kappa X,    r = x - sum_g share_g f_g(x - s_g),

r is where the contacts would hold the runner if none of them slid further: it moves with the drive s_g and
with slip. A step solves the runner's motion exactly for r a cubic in time (`oscillator`, `slip`). r at its end is
from one evaluation of the contacts, at the position that slip going on as before predicts. Contacts are led along
the path monotonically, with a stop at a reversal, before and after which slip is a parabola to and from rest.
Values are of fourth order in the step, derivatives of third. Vibration without slip has no error at any step size.

The coordinate x starts at 0 in each period; X is where the runner has got to (its mean force is kappa X).
Friction depends on differences of displacement alone, so that the states of the contacts need no such shift.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro._types import Real, Scalar, Vector
from diffmicro.devices.stickslip.oscillator import Oscillator, oscillator
from diffmicro.devices.stickslip.slip import (
    ContactLaw,
    Laws,
    Pair,
    Past,
    at_rest,
    going_on,
    led,
    select,
    turning,
)
from diffmicro.dynamics.kernel import Kernel, kernel
from diffmicro.mechanics.rolling import RollingSprings
from diffmicro.mechanics.tangential import press

Seen = TypeVar("Seen")


class State(NamedTuple):
    """At the start of a period. contacts: their memory. lag: where they were led to, minus position."""

    velocity: Scalar
    lag: Scalar
    contacts: PyTree


class Pass(NamedTuple):
    """What one period shows, in units of length.

    step: way of the runner. mean: its mean position, from the start. crest, dip: highest and lowest position.
    unrest: mean square distance from equilibrium. left: amplitude of vibration at the end of the slow phase.
    """

    step: Scalar
    mean: Scalar
    crest: Scalar
    dip: Scalar
    unrest: Scalar
    left: Scalar


class Drive(eqx.Module):
    """The drive's period, step by step. durations: of the steps (n). moves: of both groups (n, 2).

    corners: steps that begin at a corner of the signal (n). slow: number of the step with which the back step
    begins. whole: whether every step has a length.
    """

    durations: Vector
    moves: Array
    corners: np.ndarray
    slow: Real
    whole: bool = eqx.field(static=True)


class Motion(eqx.Module):
    """What a period depends on.

    laws: of the contacts of both groups, per unit of stiffness.
    share: of the two groups in the stiffness of all contacts.
    sensor: its stiffness over that of the contacts, kappa.
    damping: zeta.
    drive: the signal.
    """

    laws: Laws
    share: Vector
    sensor: Scalar
    damping: Scalar
    drive: Drive

    def rest(self) -> State:
        """Everything at rest, contacts relaxed."""
        zero = jnp.zeros_like(self.sensor)
        return State(zero, zero, tuple(law.rest() for law in self.laws))

    def period(self, state: State, place: Scalar) -> tuple[State, Pass]:
        """One period of the drive, with the runner's origin at `place`."""
        run, _ = self.path(state, place, lambda run: None)
        time = jnp.sum(self.drive.durations)
        seen = Pass(run.position, run.area / time, run.crest, run.dip, run.unrest / time, run.left)
        return State(run.velocity, run.lag, run.contacts), seen

    def path(
        self, state: State, place: Scalar, look: Callable[["Run"], Seen]
    ) -> tuple["Run", Seen]:
        """The end of a period, and what `look` sees after each step."""
        zero = jnp.zeros_like(state.velocity)
        forces = self._forces(state.contacts, (state.velocity, state.velocity))
        pull = self.share[0] * forces[0] + self.share[1] * forces[1]
        hold = state.lag - pull - self.sensor * place
        run = Run(
            zero, state.velocity, state.lag, (zero, zero), state.contacts, forces, hold,
            (at_rest(zero, zero), at_rest(zero, zero)), zero, zero, zero, zero, zero,
        )  # fmt: skip
        h = self.drive.durations
        ends = jnp.arange(h.shape[0]) == self.drive.slow - 1
        exact = oscillator(1 + self.sensor, self.damping, h)
        kern = kernel()

        def advance(run: Run, given: tuple) -> tuple[Run, Seen]:
            stepped = self._step(run, place, kern, *given)
            run = stepped if self.drive.whole else select(given[0] > 0, stepped, run)
            return run, look(run)

        moves = self.drive.moves[:, 0], self.drive.moves[:, 1]
        return loops.scan(advance, run, (h, moves, exact, jnp.asarray(self.drive.corners), ends))

    def _forces(self, contacts: PyTree, rates: Pair) -> Pair:
        """Force of both groups against positive displacements, over their stiffness."""
        first, second = self.laws
        return first.force(contacts[0], rates[0]), second.force(contacts[1], rates[1])

    def _jumped(self, run: "Run", moves: Pair, h: Scalar) -> "Run":
        """At the start of a step, where the drive's rate jumps, and viscous forces with it."""
        if not any(law.jumps for law in self.laws):
            return run
        forces = self._forces(
            run.contacts, (run.velocity - moves[0] / h, run.velocity - moves[1] / h)
        )
        fell = [share * (a - b) for share, a, b in zip(self.share, run.forces, forces, strict=True)]
        return run._replace(forces=forces, hold=run.hold + fell[0] + fell[1])

    def _step(
        self, run: "Run", place: Scalar, kern: Kernel,
        h: Scalar, moves: Pair, exact: Oscillator, starts: Array, ends: Array,
    ) -> "Run":  # fmt: skip
        """One time step in which the drive moves by `moves`."""
        carried = self.share[0] * moves[0] + self.share[1] * moves[1]
        fresh = at_rest(jnp.zeros_like(h), jnp.zeros_like(h))
        pasts = [select(starts, fresh, past) for past in run.pasts]
        run = self._jumped(run, moves, h)

        def lead(hold: Scalar) -> Pair:
            given = (run.position, run.velocity, run.hold, hold)
            position = [a * b for a, b in zip(exact.position, given, strict=True)]
            velocity = [a * b for a, b in zip(exact.velocity, given, strict=True)]
            return (
                position[0] + position[1] + position[2] + position[3],
                velocity[0] + velocity[1] + velocity[2] + velocity[3],
            )

        ahead, bent = [sum(x) for x in zip(*(going_on(past, h) for past in pasts), strict=True)]
        x, v = lead(run.hold + carried + ahead)
        x, v = x + exact.position_bends[0] * bent, v + exact.velocity_bends[0] * bent
        ways = run.ways[0] + moves[0], run.ways[1] + moves[1]
        there = [_there(*given) for given in zip(self.laws, run.contacts, ways, strict=True)]
        groups = []
        for (law, contact), share, move, force, past in zip(
            there, self.share, moves, run.forces, pasts, strict=True
        ):
            rates = run.velocity - move / h, v - move / h
            change = x - run.position - run.lag - move
            way = change, *rates, h
            groups.append(led(law, share, contact, force, past, way, exact, kern))
        contacts, forces, slips, position_bends, velocity_bends = zip(*groups, strict=True)
        pull = self.share[0] * forces[0] + self.share[1] * forces[1]
        hold = x - pull - self.sensor * place
        position, velocity = lead(hold)
        position, velocity = position + sum(position_bends), velocity + sum(velocity_bends)

        way = position - run.position
        _, _, extreme = turning(way, run.velocity, velocity, h)
        stiffness = 1 + self.sensor
        away = run.position - run.hold / stiffness, position - hold / stiffness
        # what is steady is no vibration: at a steady rate of r the runner lags by damping
        rate = (hold - run.hold) / (h * stiffness)
        swing = away[1] + 2 * self.damping * rate / stiffness, velocity - rate
        return Run(
            position=position,
            velocity=velocity,
            lag=x - position,
            ways=ways,
            contacts=contacts,
            forces=forces,
            hold=hold,
            pasts=slips,
            area=run.area + h * (run.position + way / 2) + h**2 / 12 * (run.velocity - velocity),
            crest=jnp.maximum(run.crest, run.position + jnp.maximum(extreme, way)),
            dip=jnp.minimum(run.dip, run.position + jnp.minimum(extreme, way)),
            unrest=run.unrest
            + h / 2 * (away[0] ** 2 + away[1] ** 2)
            + h**2 / 6 * (away[0] * (run.velocity - rate) - away[1] * (velocity - rate)),
            left=jnp.where(
                ends, jnp.sqrt(swing[0] ** 2 + swing[1] ** 2 / stiffness + TINY), run.left
            ),
        )


def _there(
    law: ContactLaw | RollingSprings, contact: PyTree, way: Scalar
) -> tuple[ContactLaw, PyTree]:
    """Law and contacts where the drive has got to: of a contact that rolls, springs have come and gone."""
    if not isinstance(law, RollingSprings):
        return law, contact
    springs = law.at(way)
    return springs, press(contact, springs.limits)


TINY = 1e-30
"""Keeps the derivative of a root finite where there is no vibration at all."""


class Run(NamedTuple):
    """Within a period. hold: r - kappa X. pasts: of the slip of both groups.

    lag: where contacts were led to, minus position. left: amplitude of vibration at the end of the slow phase.
    ways: of the drive of both groups.
    """

    position: Scalar
    velocity: Scalar
    lag: Scalar
    ways: Pair
    contacts: PyTree
    forces: Pair
    hold: Scalar
    pasts: tuple[Past, Past]
    area: Scalar
    crest: Scalar
    dip: Scalar
    unrest: Scalar
    left: Scalar
