"""One step of a foot on modes by Lawson's method: the modes exactly, the forces by Runge-Kutta's classical rule.

See `motion` for the equations. A mode that is pushed by the force k(t) answers with its propagator; the force
is taken at the start, twice in the middle and at the end of the step. In contact a second force c(t) keeps the
foot's acceleration at zero, shared among the modes as contact forces are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.devices.legs.motion import (
    CIRCLE,
    TURN,
    Drive,
    Foot,
    LegsMotion,
    Phase,
    State,
    force_on_foot,
    linear_acceleration,
    steady_foot,
)
from diffmicro.dynamics.kernel import Kernel
from diffmicro.mechanics.films import electrostatic
from diffmicro.mechanics.modes import Propagator, short_propagator


class Trial(NamedTuple):
    """The end of a tried step.

    rates: rates of all modes there. lift: rate of the foot's acceleration in contact.
    weighted: the drive's speed, weighted as an impact's loss wants it. phase: of the drive.
    """

    state: State
    foot: Foot
    rates: tuple[Array, ...]
    lift: Array
    weighted: Array
    phase: Phase


class Forces(NamedTuple):
    """The forces k and c (zero in the air) at the four stages of a step."""

    pushed: tuple[Array, Array, Array, Array]
    held: tuple[Array, Array, Array, Array]


class _Impulse(NamedTuple):
    """The foot after an impulse: displacement, speed, acceleration half a step later; acceleration at once."""

    way: Real
    speed: Real
    acceleration: Real
    at_once: Real


class _Free(NamedTuple):
    """The foot without the forces, in the middle and at the end of the step: height, speed, acceleration; and the
    drive's square there, which the attraction follows."""

    middle: Foot
    end: Foot
    square_middle: Array
    square_end: Array


def try_step(
    system: LegsMotion,
    drive: Drive,
    start: tuple[Phase, State, Foot, Array],
    length: Array,
    kern: Kernel,
) -> Trial:
    """One step of a length from phase, state and foot; the last entry of `start` is whether it is held."""
    phase, (x, v), foot, closed = start
    n, half = system.modes(), 0.5 * length
    halfway, whole = _propagators(system, drive, half, kern)
    middle_phase, end_phase = _phases(phase, half, kern)
    xm, vm = zip(*[p(a, b) for p, a, b in zip(halfway, x, v, strict=True)], strict=True)
    xe, ve = zip(*[p(a, b) for p, a, b in zip(whole, x, v, strict=True)], strict=True)
    by_force = _impulse(system, halfway, system.mobility, length)
    by_contact = by_force if system.impulsive else _impulse(system, halfway, system.share, length)
    p2, dp2, ddp2, _, square2 = steady_foot(system, drive, middle_phase)
    p4, dp4, ddp4, weighted, square4 = steady_foot(system, drive, end_phase)
    h2, v2, a2, h4, v4, a4, *kept = kern.keep(
        [
            sum(xm) + p2 + system.gap,
            sum(vm) + dp2,
            linear_acceleration(system, xm, vm) + ddp2,
            sum(xe) + p4 + system.gap,
            sum(ve) + dp4,
            linear_acceleration(system, xe, ve) + ddp4,
            *by_force,
        ]
    )
    free = _Free(Foot(h2, v2, a2), Foot(h4, v4, a4), square2, square4)
    held = jnp.where(closed & (not system.compliant), 1.0, 0.0)
    _, _, _, _, square1 = steady_foot(system, drive, phase)
    begin = (foot, square1, closed)
    forces = _stages(system, begin, free, held, (_Impulse(*kept), by_contact), length)
    state = _pushed(system, forces, (xe, ve), (halfway, whole), length, kern)
    height, speed = system.gap + sum(state.x) + p4, sum(state.v) + dp4
    force = force_on_foot(system, height, speed, square4, closed)
    acceleration = linear_acceleration(system, state.x, state.v) + ddp4 + force
    height, speed, force, acceleration = kern.keep([height, speed, force, acceleration])
    contact = -held * acceleration
    w, zeta, m, s = system.frequency, system.damping, system.mobility, system.share
    rates = tuple(
        -w[j] * (w[j] * state.x[j] + 2 * zeta[j] * state.v[j]) + m[j] * force + s[j] * contact
        for j in range(n)
    )
    lift = linear_acceleration(system, state.v, rates) - TURN**2 * dp4
    if not system.square:
        # At rest on the ground the film does not act, and the attraction follows the voltage alone.
        swing = 2 * TURN * end_phase.sine * end_phase.cosine
        lift = lift + swing * electrostatic(0.0, 1.0, system.pull, system.pull_offset)
    return Trial(state, Foot(height, speed, acceleration), rates, lift, weighted, end_phase)


def _propagators(
    system: LegsMotion, drive: Drive, half: Array, kern: Kernel
) -> tuple[list[Propagator], list[Propagator]]:
    """Of each mode over half a step and over the whole one."""
    n, w, zeta = system.modes(), system.frequency, system.damping
    short = [short_propagator(w[j], zeta[j], drive.series[j], half) for j in range(n)]
    kept = kern.keep([entry for p in short for entry in (p.gain, p.hold)])
    halfway = [
        Propagator(b + 2 * zeta[j] * w[j] * a, a, -w[j] * w[j] * a, b)
        for j, (a, b) in enumerate(zip(kept[::2], kept[1::2], strict=True))
    ]
    return halfway, [p.twice() for p in halfway]


def _phases(phase: Phase, half: Array, kern: Kernel) -> tuple[Phase, Phase]:
    """The drive's phase in the middle and at the end."""
    turn = short_propagator(TURN, 0.0, CIRCLE, half)
    turn = kern.keep([TURN * turn.gain, turn.hold])
    middle = phase.later(*turn)
    return middle, middle.later(*turn)


def _impulse(
    system: LegsMotion, halfway: Sequence[Propagator], weights: Array, like: Array
) -> _Impulse:
    """The answer to an impulse that the modes share by `weights`."""
    n = system.modes()
    a = [weights[j] * halfway[j].gain for j in range(n)]
    b = [weights[j] * halfway[j].hold for j in range(n)]
    still = [jnp.zeros_like(like)] * n
    return _Impulse(
        sum(a),
        sum(b),
        linear_acceleration(system, a, b),
        linear_acceleration(system, still, weights),
    )


def _stages(
    system: LegsMotion,
    start: tuple[Foot, Array, Array],
    free: _Free,
    held: Array,
    impulses: tuple[_Impulse, _Impulse],
    length: Array,
) -> Forces:
    """The four stages: each force moves the foot before the next one is taken."""
    half = 0.5 * length
    foot, square, closed = start
    by_force, by_contact = impulses

    def stage(foot: Foot, square: Array) -> tuple[Array, Array]:
        force = force_on_foot(system, foot.height, foot.speed, square, closed)
        return force, -held * (foot.acceleration + force)

    def answer(k: Array, c: Array, share: Array) -> _Impulse:
        pairs = zip(by_force, by_contact, strict=True)
        return _Impulse(*(share * (k * f + c * g) for f, g in pairs))

    def moved(foot: Foot, k: Array, c: Array, share: Array) -> Foot:
        by = answer(k, c, share)
        return Foot(
            foot.height + by.way, foot.speed + by.speed, foot.acceleration + by.acceleration
        )

    k1 = force_on_foot(system, foot.height, foot.speed, square, closed)
    c1 = -held * foot.acceleration  # at the start the acceleration contains the force already
    k2, c2 = stage(moved(free.middle, k1, c1, half), free.square_middle)
    again = Foot(
        free.middle.height,
        free.middle.speed + half * (k2 + c2),
        free.middle.acceleration + answer(k2, c2, half).at_once,
    )
    k3, c3 = stage(again, free.square_middle)
    k4, c4 = stage(moved(free.end, k3, c3, length), free.square_end)
    return Forces((k1, k2, k3, k4), (c1, c2, c3, c4))


def _pushed(
    system: LegsMotion,
    forces: Forces,
    free: tuple[Sequence[Array], Sequence[Array]],
    propagators: tuple[Sequence[Propagator], Sequence[Propagator]],
    length: Array,
    kern: Kernel,
) -> State:
    """The modes at the end of the step: without forces, and what the stages' impulses add."""
    sixth = length / 6.0

    def weighed(stages: tuple[Array, Array, Array, Array]) -> list[Array]:
        first, second, third, last = stages
        return [first * sixth, (second + third) * (2 * sixth), last * sixth]

    pushes, pulls = weighed(forces.pushed), weighed(forces.held)
    if system.impulsive:
        both = kern.keep([a + b for a, b in zip(pushes, pulls, strict=True)])
        shared = [(system.mobility, *both)]
    else:
        shared = [(system.mobility, *kern.keep(pushes)), (system.share, *kern.keep(pulls))]
    halfway, whole = propagators
    new_x, new_v = list(free[0]), list(free[1])
    for j in range(system.modes()):
        for weights, first, both, last in shared:
            new_x[j] = new_x[j] + weights[j] * (first * whole[j].gain + both * halfway[j].gain)
            new_v[j] = new_v[j] + weights[j] * (
                first * whole[j].hold + both * halfway[j].hold + last
            )
    kept = kern.keep([*new_x, *new_v])
    return State(tuple(kept[: system.modes()]), tuple(kept[system.modes() :]))
