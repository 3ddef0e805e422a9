"""The event that ends a step of a foot on modes: whether there is one, where it is, and what it does.

A phase lasts as long as its guard g is positive; a step that ends with g < 0 has passed an event.

| ground | phase | guard g | g = 0 is | then |
|---|---|---|---|---|
| rigid | air | h | impact | h' -> - e h', or contact where the rebound is slower than `CHATTER` |
| | contact | - (acceleration of the foot, were it free) | release | air |
| yields | air | h + tau max(h', 0) | touch-down | contact, at the same speed |
| | contact | - (h + tau h') | lift-off | air |

tau is the ground's damping over its stiffness (`ground`). Where g starts and ends positive the foot may have
dipped below the ground between: such a step is cut at the dip, once.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.legs import ground
from diffmicro.devices.legs.curves import lowest, parabola
from diffmicro.devices.legs.flight import Flight, chatter_of
from diffmicro.devices.legs.lawson import Trial
from diffmicro.devices.legs.motion import (
    Drive,
    Foot,
    LegsMotion,
    once_differentiable,
    rounding_of,
)
from diffmicro.dynamics.kernel import Kernel

NO_GROUND = 1e6
"""How far below the foot the ground lies where there is none, in units of length."""


class Verdict(NamedTuple):
    """What becomes of a tried step.

    landed: it ends at an event. near: so close that one Newton correction reaches the event.
    retry: it is tried again with the length `tried`; the event lies between `low` and `high`.
    beyond: it passed an event. dip: it may have passed two, and is cut at the dip between them.
    """

    landed: Array
    near: Array
    retry: Array
    beyond: Array
    dip: Array
    tried: Array
    low: Array
    high: Array


class Arrival(NamedTuple):
    """A step that is taken, after its event: positions and speeds of the modes, the foot just before the event.

    moved: how much later than the tried step's end it ends. lost: energy that an impact takes.
    impact, release, settles: which event; `settles` is an impact that ends in contact.
    """

    x: list[Array]
    v: list[Array]
    foot: Foot
    moved: Array
    lost: Array
    impact: Array
    release: Array
    settles: Array


def judged(system: LegsMotion, flight: Flight, trial: Trial) -> Verdict:
    """Whether the step ends at an event, passed one, or can be taken as it is. Carries no derivative.

    The guard is positive while the phase lasts: the height in the air, the pressing acceleration in contact, and
    on ground that yields what `ground` says.
    """
    still = jax.lax.stop_gradient
    length = still(flight.length)
    closed, foot, last = flight.closed, still(trial.foot), still(flight.foot)
    rounding = rounding_of(system)
    g0, start = still(_guard(system, closed, last, trial.lift))
    g1, slope = still(_guard(system, closed, foot, trial.lift))
    if not system.ground:
        g0, g1 = g0 + NO_GROUND, g1 + NO_GROUND
    secant = (g1 - g0) / length
    bend = jnp.where(closed, 2 * (slope - secant) / length, foot.acceleration)
    small = rounding
    if (
        not system.compliant
    ):  # in contact the guard is an acceleration, its rate at the start not known
        start = jnp.where(closed, secant, start)
        small = jnp.where(closed, 64 * jnp.finfo(g1.dtype).eps * (1 + jnp.abs(g0)), rounding)
    shift = -g1 / jnp.where(slope == 0, 1.0, slope)
    exact = float(jnp.finfo(g1.dtype).eps) ** 0.95
    linear = jnp.abs(bend * shift) < 1e-3 * jnp.abs(slope)
    near = (
        (slope < 0) & linear & (jnp.abs(bend) * shift * shift < exact) & (jnp.abs(shift) < length)
    )
    exhausted = flight.aimed & (flight.high - flight.low < 1e-3 * exact)
    landed = flight.aimed & (near | exhausted)
    beyond = (g1 < -small) & ~landed
    short = flight.aimed & ~landed & ~beyond

    # A dip between the ends, by the cubic through both: the step is cut there once.
    low_at, low_value, dips = lowest(last.height, last.speed, foot.height, foot.speed, length)
    suspicious = dips & ~closed & ~flight.dipped & ~flight.aimed & ~beyond
    suspicious = suspicious & (low_value < 1e-2 * (jnp.abs(g0) + jnp.abs(g1)))

    low = jnp.where(short, length, flight.low)
    high = jnp.where(beyond, length, flight.high)
    newton = length + shift
    guess = jnp.where(flight.aimed, newton, parabola(g0, start, g1, length))
    inside = (guess > low) & (guess < high)
    guess = jnp.where(inside, guess, 0.5 * (low + high))
    tried = jnp.where(suspicious, low_at, guess)
    retry = beyond | short | suspicious
    return Verdict(landed, near, retry, beyond, suspicious, tried, low, high)


def _guard(system: LegsMotion, closed: Array, foot: Foot, lift: Array) -> tuple[Array, Array]:
    """Value and rate of what is positive while the phase lasts; `lift`: rate of the acceleration in contact."""
    if system.compliant:
        return ground.guard(system, closed, foot)
    value = jnp.where(closed, -foot.acceleration, foot.height)
    return value, jnp.where(closed, -lift, foot.speed)


def arrived(
    system: LegsMotion,
    drive: Drive,
    flight: Flight,
    trial: Trial,
    verdict: Verdict,
    kern: Kernel,
) -> Arrival:
    """The landing's correction, then impact, contact or release."""
    closed, landed = flight.closed, verdict.landed
    guard, slope = _guard(system, closed, trial.foot, trial.lift)
    # An exhausted search has no slope worth following.
    follow = landed & verdict.near
    moved = jnp.where(follow, -guard / jnp.where(follow, slope, 1.0), 0.0)
    moved = once_differentiable(moved, follow)
    x = [a + moved * b for a, b in zip(trial.state.x, trial.state.v, strict=True)]
    v = [a + moved * b for a, b in zip(trial.state.v, trial.rates, strict=True)]
    impact, release = landed & ~closed, landed & closed
    acceleration = jax.lax.stop_gradient(trial.foot).acceleration
    foot = Foot(
        trial.foot.height + moved * trial.foot.speed,
        trial.foot.speed + moved * trial.foot.acceleration,
        trial.foot.acceleration,
    )
    rebound = -system.restitution * foot.speed
    settles = impact & (rebound < chatter_of(system) * (1.0 - acceleration)) & (acceleration < 0)
    kick = jnp.where(impact, jnp.where(settles, 0.0, rebound) - foot.speed, 0.0)
    if system.compliant:
        settles, kick = impact, jnp.zeros_like(kick)
    weighted = sum(drive.inverse[j] * v[j] for j in range(len(v))) + trial.weighted
    kick, moved = kern.keep([kick, moved])
    lost = -kick * weighted - 0.5 * kick * kick * sum(
        system.share[j] * drive.inverse[j] for j in range(len(v))
    )
    # In contact what rounding and the method's error leave of height and speed is taken out again.
    sink = jnp.where(impact | closed, foot.height, 0.0)
    slide = jnp.where(closed, trial.foot.speed, 0.0)
    if system.compliant:
        left = ground.guard(system, closed, foot)[0]
        sink, slide = jnp.where(landed, jnp.where(closed, -left, left), 0.0), jnp.zeros_like(slide)
        lost = ground.taken(system, flight.foot, foot, flight.length + moved)
        lost = jnp.where(closed, lost, 0.0)
    x = [a - system.share[j] * sink for j, a in enumerate(x)]
    v = [a + system.share[j] * (kick - slide) for j, a in enumerate(v)]
    return Arrival(x, v, foot, moved, lost, impact, release, settles)
