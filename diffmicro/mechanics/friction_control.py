"""Friction under ultrasonic vibration in closed form (MDR thesis, chapter 4).

Lengths of time are phases of the vibration, velocities are in units of the vibration: out of plane of
mu_0 dF_n / (m omega), in plane of the amplitude v^ of a contact point's velocity.

| thesis | here | meaning |
|---|---|---|
| f~, eq. 4.8 | share | drag force between the least (0) and the mean (1) friction force |
| <x~'> | velocity | mean velocity |
| zeta = <v> / v^ | velocity | the same in plane |
| <mu> / mu_0 | ratio | mean friction force over the one without vibration |
| kappa | mu_0 F_n / (m omega v^) | friction over inertia, in plane |

Corrections to the thesis: after eq. 4.18 the slip ends where x'(t2) = 0; eq. 4.19 has f~ squared; the
contact points of eqs. 4.27 and 4.28 move with x' +- v^ cos(wt); the argument in eq. 4.41 is the parameter m;
the coefficient of eq. 4.7 is 33/140.

The slip of eqs. 4.10 to 4.14 is given here by its duration s without any equation left to solve: with
A = s - sin s, B = 1 - cos s, H = sqrt(A^2 + B^2) the condition that the velocity is zero again reads
tan(t1) = -A / B, so f~ = 1 - B / H and 2 pi <x~'> = (A^2 - B (s^2/2 - B)) / H.
"""

import jax.numpy as jnp

from diffmicro._types import Lanes
from diffmicro.mechanics.elliptic import agm
from diffmicro.parameters import as_arrays

Real = Lanes | float

SERIES_BELOW = 1.0
"""Durations below which s - sin s and cos s - 1 + s^2/2 come from their series, to keep their digits."""


def slip_share(duration: Real) -> Lanes:
    """f~ of a slip that lasts from t1 to t1 + duration, from 0 to 2 pi (eqs. 4.10, 4.14)."""
    advance, drop, _ = _slip(duration)
    size = jnp.sqrt(advance**2 + drop**2)
    return advance**2 / jnp.where(size > 0, size * (size + drop), 1.0)


def slip_velocity(duration: Real) -> Lanes:
    """Mean velocity of that slip over a period (eqs. 4.9, 4.13)."""
    advance, drop, rest = _slip(duration)
    size = jnp.sqrt(advance**2 + drop**2)
    return (advance**2 - drop * rest) / (2 * jnp.pi * jnp.where(size > 0, size, 1.0))


def slip_start(duration: Real) -> Lanes:
    """Phase t1 at which the slip begins, counted from the largest normal force (eq. 4.11)."""
    advance, drop, _ = _slip(duration)
    return jnp.pi - jnp.arctan2(advance, drop)


def _slip(duration: Real) -> tuple[Lanes, Lanes, Lanes]:
    """s - sin s, 1 - cos s and s^2/2 - (1 - cos s)."""
    s = as_arrays(duration)
    small = s < SERIES_BELOW
    t = jnp.where(small, s, 0.0) ** 2
    third, fourth = jnp.ones_like(s), jnp.ones_like(s)
    for k in range(9, 1, -1):
        third = 1 - t * third / (2 * k * (2 * k + 1))
        fourth = 1 - t * fourth / ((2 * k + 1) * (2 * k + 2))
    advance = jnp.where(small, s * t / 6 * third, s - jnp.sin(s))
    drop = 2 * jnp.sin(s / 2) ** 2
    rest = jnp.where(small, t**2 / 24 * fourth, s**2 / 2 - drop)
    return advance, drop, rest


def approximate_share(velocity: Real) -> Lanes:
    """The fit f~(<x~'>) of eq. 4.21, for velocities from 0 to 1."""
    first = jnp.sqrt(4 * jnp.pi / 9)
    return first * jnp.sqrt(velocity) + (1 - first) * jnp.asarray(velocity) ** 1.2


def parallel_ratio(velocity: Real) -> Lanes:
    """In line with the motion, quasi-static, track angle 0 (eq. 4.36): (2/pi) arcsin(zeta)."""
    return 2 / jnp.pi * jnp.arcsin(jnp.minimum(velocity, 1.0))


def perpendicular_ratio(velocity: Real) -> Lanes:
    """Across the motion, quasi-static (eq. 4.41): zeta / agm(zeta, sqrt(1 + zeta^2)).

    The same as (2/pi) K(m) / sqrt(1 + 1/zeta^2) with m = 1 / (1 + zeta^2), without its cancellation.
    """
    zeta = as_arrays(velocity)
    return zeta / agm(zeta, jnp.sqrt(1 + zeta**2))


def rod_mass(density: Real, radius: Real, length: Real) -> Lanes:
    """Equivalent mass at the end of a clamped rod by Rayleigh-Ritz (eq. 4.7 with 33/140) [kg]."""
    return 33 / 140 * density * jnp.pi * jnp.asarray(radius) ** 2 * length


def stepped_rod_mass(
    density: Real, radius_1: Real, length_1: Real, radius_2: Real, length_2: Real
) -> Lanes:
    """The same for a rod of two cross sections, 1 at the clamped end (below eq. 4.7) [kg]."""
    length = length_1 + length_2
    x = jnp.asarray(length_1 / length)
    inner = length * (9 * x**5 / 20 - x**6 / 4 + x**7 / 28)
    square_1, square_2 = jnp.asarray(radius_1) ** 2, jnp.asarray(radius_2) ** 2
    return density * jnp.pi * ((square_1 - square_2) * inner + square_2 * length * 33 / 140)
