"""Ground that yields: a one-sided spring and damper under the foot, in place of impacts (law `compliant`).

    N = max(0, - k h - c h') while h < 0, else 0

pushes the foot up, by mobility on every mode. With tau = c/k a contact begins where the foot comes down to h = 0,
and ends where it lifts off, h = - tau h' <= 0: a ground without mass springs back more slowly than the foot
leaves, and never pulls. Both are one guard, h + tau max(h', 0), negative in contact alone. The force jumps by
c h' at touch-down, so contacts are located as impacts are.

The foot gives up - c h'^2 and, at lift-off, what the ground keeps, k h^2 / 2: energy never grows. A mass m that
strikes fast leaves with e = `mechanics.restitution.rebound` of zeta = c / (2 sqrt(k m)) at any speed, so for k to
infinity at fixed zeta the motion is that of the law `full` with this restitution. Source of the comparison: Ryou
2014, Fig. 7b. While pressed, the film does not act, for the ground goes with the foot, and attractions are those
at h = 0.

Left out: mass of the ground, its memory when the foot comes down again before it has sprung back.
"""

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.legs.motion import TURN, Foot, LegsMotion

PER_CONTACT = 400.0
"""Steps per cycle of the foot's mass on the ground at a tolerance of 1e-9, at a swing of `SWING`."""

SWING = 0.1
"""A swing on the ground [natural length] that is large; the error of smaller ones counts less."""

LONGEST_ANGLE = 0.1
"""Longest step over the cycle of the mass on the ground [rad]."""

TINY = 1e-30
"""Square of a speed [natural units] that is none."""

CYCLES = 50.0
"""Cycles of the mass on the ground, at full resolution, that a period has room for."""


def guard(system: LegsMotion, closed: Array, foot: Foot) -> tuple[Array, Array]:
    """Positive while the phase lasts, and its rate: h + tau max(h', 0) in the air, - (h + tau h') in contact."""
    lag = system.dashpot / system.stiffness
    up = closed | (foot.speed > 0)
    value = foot.height + jnp.where(up, lag * foot.speed, 0.0)
    rate = foot.speed + jnp.where(up, lag * foot.acceleration, 0.0)
    return jnp.where(closed, -value, value), jnp.where(closed, -rate, rate)


def placed(system: LegsMotion, foot: Foot, impact: Array, release: Array) -> Foot:
    """The foot exactly where a contact begins or ends, whatever the state's rounding says."""
    lift_off = -system.dashpot / system.stiffness * foot.speed
    height = jnp.where(impact, 0.0, jnp.where(release, lift_off, foot.height))
    return Foot(height, foot.speed, foot.acceleration)


def _per_cycle(system: LegsMotion, count: Array) -> Array:
    """Steps per cycle on the ground that have the error of `count` grid steps per period."""
    return PER_CONTACT * count / system.plain_steps(0.0)


def room(system: LegsMotion, count: Array) -> Array:
    """Advances allowed per period beside the grid's."""
    return CYCLES * jax.lax.stop_gradient(_per_cycle(system, count))


def longest_step(system: LegsMotion, count: Array, foot: Foot) -> Array:
    """Of a step in contact: its error, (omega step)^4 of the swing on the ground, is that of the grid's steps."""
    omega = jnp.sqrt(system.stiffness)
    swing = jnp.abs(foot.speed) / omega + jnp.abs(foot.acceleration) / system.stiffness
    angle = TURN / _per_cycle(system, count) * (swing / SWING + 1e-8) ** -0.25
    fastest = jnp.maximum(omega, system.dashpot)
    return jax.lax.stop_gradient(jnp.minimum(angle, LONGEST_ANGLE) / fastest)


def taken(system: LegsMotion, begin: Foot, end: Foot, duration: Array) -> Array:
    """Work that the ground takes over a step in contact; of fourth order in the step."""
    rise = 0.5 * system.stiffness * (end.height * end.height - begin.height * begin.height)
    squares = begin.speed * begin.speed + end.speed * end.speed
    turn = begin.speed * begin.acceleration - end.speed * end.acceleration
    return rise + system.dashpot * duration * (0.5 * squares + duration / 6.0 * turn)


def above(begin: Foot, end: Foot, area: Array) -> Array:
    """Integral of max(h, 0) over a step, whose integral of h is `area`, with at most one way up through 0."""
    crosses = (begin.height < 0) & (end.height > 0) & (end.speed > 0)
    # Where it does not cross, numbers whose derivatives are finite.
    height, speed, bend = (
        jnp.where(crosses, given, tame) for given, tame in zip(end, (1.0, 1.0, 0.0), strict=True)
    )
    root = jnp.sqrt(jnp.maximum(speed * speed - 2 * bend * height, TINY))
    since = 2 * height / (speed + root)
    part = since * (0.5 * height - since * since * bend / 12.0)
    below = (begin.height < 0) & (end.height <= 0)
    return jnp.where(crosses, part, jnp.where(below, 0.0, area))
