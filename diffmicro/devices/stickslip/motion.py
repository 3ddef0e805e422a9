"""The motion of the stick-slip drive over one period: a runner, its sensor, and two groups of contacts.

In units of presliding of the first group (length), 1/omega_0 with omega_0^2 = k_c/m (time) and k_c (stiffness):

    x'' + 2 zeta x' + (1 + kappa) x = r(t) - kappa X,    r = x - sum_g share_g f_g(x - s_g),

r is where the contacts would hold the runner if none of them slid further: it moves with the drive s_g and
with slip. A step solves the runner's motion exactly for r linear in time; r at the end comes from one
evaluation of the contacts, at the position that slip going on as before predicts. Contacts are led along the
path monotonically, with a stop at a reversal. So vibration without slip has no error at any step size.

The coordinate x starts at 0 in each period; X is where the runner has got to (its mean force is kappa X).
Friction depends on differences of displacement alone, so that the states of the contacts need no such shift.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Scalar, Vector

Pair = tuple[Scalar, Scalar]
"""One number for each group."""

FAST_STEPS = 10
"""Steps in the back step, and in the shaped move after it."""


class State(NamedTuple):
    """At the start of a period. contacts: their memory. lag: where they were led to, minus position."""

    velocity: Scalar
    lag: Scalar
    contacts: Any


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


class Drive(NamedTuple):
    """The drive's period, step by step. durations: of the steps (n). moves: of both groups (n, 2).

    corners: steps that begin at a corner of the signal (n). slow: number of steps before the back step.
    """

    durations: Vector
    moves: Array
    corners: np.ndarray
    slow: int


class Oscillator(NamedTuple):
    """Exact step of x'' + 2 zeta x' + stiffness x = r for r linear from r0 to r1: rows of (x0, v0, r0, r1)."""

    position: tuple[Array, Array, Array, Array]
    velocity: tuple[Array, Array, Array, Array]


def oscillator(stiffness: Scalar, damping: Scalar, h: Array) -> Oscillator:
    """Steps of length h."""
    turn = jnp.sqrt(stiffness - damping**2)
    decay = jnp.exp(-damping * h)
    c, s = decay * jnp.cos(turn * h), decay * jnp.sin(turn * h) / turn
    stay, back = c + damping * s, -stiffness * s
    # r = r0 + slope t is followed by x = r/stiffness - offset slope
    offset = 2 * damping / stiffness**2
    constant = (1 - stay) / stiffness
    ramp = ((h - s) / stiffness - offset * (1 - stay)) / h
    ramp_rate = ((1 - c + damping * s) / stiffness + back * offset) / h
    # the same as series, where differences of nearly equal numbers would spoil short steps
    third = (4 * damping**2 - stiffness) / 2
    short = h < 0.01
    constant = jnp.where(short, h**2 * (1 / 2 - damping * h / 3 + third * h**2 / 12), constant)
    ramp = jnp.where(short, h**2 * (1 / 6 - damping * h / 12 + third * h**2 / 60), ramp)
    ramp_rate = jnp.where(short, h * (1 / 2 - damping * h / 3 + third * h**2 / 12), ramp_rate)
    return Oscillator(
        (stay, s, constant - ramp, ramp), (back, c - damping * s, s - ramp_rate, ramp_rate)
    )


class Motion(eqx.Module):
    """What a period depends on.

    laws: of the contacts of both groups, per unit of stiffness.
    share: of the two groups in the stiffness of all contacts.
    sensor: its stiffness over that of the contacts, kappa.
    damping: zeta.
    drive: the signal.
    """

    laws: tuple[Any, Any]
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

    def path(self, state: State, place: Scalar, look: Callable[["Run"], Any]) -> tuple["Run", Any]:
        """The end of a period, and what `look` sees after each step."""
        zero = jnp.zeros_like(state.velocity)
        forces = self._forces(state.contacts, (state.velocity, state.velocity))
        pull = self.share[0] * forces[0] + self.share[1] * forces[1]
        hold = state.lag - pull - self.sensor * place
        run = Run(
            zero, state.velocity, state.lag, state.contacts, forces, hold, (zero, zero), zero == 0,
            zero, zero, zero, zero, zero,
        )  # fmt: skip
        h = self.drive.durations
        ends = jnp.arange(h.shape[0]) == self.drive.slow - 1
        exact = oscillator(1 + self.sensor, self.damping, h)

        def advance(run: Run, given: tuple) -> tuple[Run, Any]:
            run = self._step(run, place, *given)
            return run, look(run)

        moves = self.drive.moves[:, 0], self.drive.moves[:, 1]
        return loops.scan(advance, run, (h, moves, exact, jnp.asarray(self.drive.corners), ends))

    def _forces(self, contacts: Any, rates: Pair) -> Pair:
        """Force of both groups against positive displacements, over their stiffness."""
        first, second = self.laws
        return first.force(contacts[0], rates[0]), second.force(contacts[1], rates[1])

    def _step(
        self, run: "Run", place: Scalar, h: Scalar, moves: Pair, exact: Oscillator, starts: Array, ends: Array
    ) -> "Run":  # fmt: skip
        """One time step in which the drive moves by `moves`."""
        carried = self.share[0] * moves[0] + self.share[1] * moves[1]
        fresh = starts | run.turned

        def lead(hold: Scalar) -> Pair:
            given = (run.position, run.velocity, run.hold, hold)
            position = [a * b for a, b in zip(exact.position, given, strict=True)]
            velocity = [a * b for a, b in zip(exact.velocity, given, strict=True)]
            return (
                position[0] + position[1] + position[2] + position[3],
                velocity[0] + velocity[1] + velocity[2] + velocity[3],
            )

        going_on = jnp.where(fresh, 0, run.slips[0] + run.slips[1])
        x, v = lead(run.hold + carried + h * going_on)
        contacts, forces, slips, turned = [], [], [], starts & ~starts
        position_bend = velocity_bend = jnp.zeros_like(h)
        for law, share, contact, move, force, slip in zip(
            self.laws, self.share, run.contacts, moves, run.forces, run.slips, strict=True
        ):
            before, after = run.velocity - move / h, v - move / h
            change = x - run.position - run.lag - move
            reverses, instant, vertex = turning(change, before, after, h)
            pieces = jnp.stack([vertex, change - vertex]), jnp.stack([before, after])
            contact = law.move(contact, *pieces)
            now = law.force(contact, after)
            slid = share * (change - now + force)
            bends = _bends(slid, h * slip, fresh, reverses, instant)
            position_bend, velocity_bend = position_bend + bends[0], velocity_bend + bends[1]
            contacts.append(contact)
            forces.append(now)
            slips.append(jnp.where(reverses, 0, slid / h))
            turned = turned | reverses
        pull = self.share[0] * forces[0] + self.share[1] * forces[1]
        hold = x - pull - self.sensor * place
        position, velocity = lead(hold)
        position, velocity = position + h**2 * position_bend, velocity + h * velocity_bend

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
            contacts=tuple(contacts),
            forces=tuple(forces),
            hold=hold,
            slips=tuple(slips),
            turned=turned,
            area=run.area + h * (run.position + way / 2) + h**2 / 12 * (run.velocity - velocity),
            crest=jnp.maximum(run.crest, run.position + jnp.maximum(extreme, way)),
            dip=jnp.minimum(run.dip, run.position + jnp.minimum(extreme, way)),
            unrest=run.unrest + h / 2 * (away[0] ** 2 + away[1] ** 2),
            left=jnp.where(
                ends, jnp.sqrt(swing[0] ** 2 + swing[1] ** 2 / stiffness + TINY), run.left
            ),
        )


def _bends(slid: Scalar, before: Scalar, fresh: Array, reverses: Array, instant: Scalar) -> Pair:
    """How the course of slip within a step, which is not a straight line, moves the runner.

    Shares of h^2 in its position, of h in its velocity. Slip is a parabola: through this step and the last one;
    from rest where the last one ended in a reversal; to rest at the `instant` of a reversal in this one.
    """
    smooth = (before - slid) / 12
    velocity = jnp.where(fresh, -slid / 6, smooth)
    position = velocity / 2
    t = instant
    return (
        jnp.where(reverses, slid * (1 / 3 - t / 3 + t**2 / 12), position),
        jnp.where(reverses, slid * (1 / 2 - t / 3), velocity),
    )


TINY = 1e-30
"""Keeps the derivative of a root finite where there is no vibration at all."""


class Run(NamedTuple):
    """Within a period. hold: r - kappa X. slips: its rates by slip of both groups. turned: one of them reversed.

    lag: where contacts were led to, minus position. left: amplitude of vibration at the end of the slow phase.
    """

    position: Scalar
    velocity: Scalar
    lag: Scalar
    contacts: Any
    forces: Pair
    hold: Scalar
    slips: Pair
    turned: Array
    area: Scalar
    crest: Scalar
    dip: Scalar
    unrest: Scalar
    left: Scalar


def turning(change: Array, before: Array, after: Array, h: Scalar) -> tuple[Array, Array, Array]:
    """Whether a path reverses in a step, at which share of the step, and how far it is then (else 0).

    The path is the cubic through its ends and their rates.
    """
    turned = before * after < 0
    spread = jnp.where(turned, before - after, 1.0)
    t = jnp.where(turned, before, 0.5) / spread
    arc = h * t * (1 - t) * ((1 - t) * before - t * after)
    return turned, t, jnp.where(turned, change * t**2 * (3 - 2 * t) + arc, 0)
