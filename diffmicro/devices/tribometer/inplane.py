"""Friction under vibration in the plane of sliding: averages of friction, and the probe that walks.

Velocities are in units of the vibration's, v^; drag forces in units of mu_0 F_n.

Quasi-static, in line (MDR thesis, eq. 4.36; track angle t): the mean over psi of

    (z cos t - cos psi) / sqrt(z^2 - 2 z cos t cos psi + cos^2 psi),    z = <v> / v^.

The root vanishes at psi = arccos(z exp(+-i t)), near the path of integration for small angles. Gauss-Legendre
points are put to both sides of it through psi = Re + b sinh(u), b = |Im|, which makes the integrand smooth in u
however small the angle. At angle zero it is the closed form (2/pi) arcsin z.

Dynamic, in line (eq. 4.27 corrected): with y the body's velocity and f the drag,

    y' = kappa (f - (sgn(y + cos wt) + sgn(y - cos wt)) / 2),    kappa = mu_0 F_n / (m omega v^).

From one zero of cos wt to the next y falls at the rate kappa (1 - f) above |cos|, rises at kappa f below it, and
rides on it while one contact point rests. All that is left to solve are the times of two crossings.

Left out: rotation of the probe, unequal loads on its two contact points.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._types import Scalar
from diffmicro.mechanics import friction_control
from diffmicro.mechanics.profiles import gauss
from diffmicro.nonsmooth.bracketed import rising_root

ALIGNED = 1e-9
"""Track angle below which it counts as zero [rad]."""

SLOWEST, FASTEST = 1e-12, 1e6
"""Velocities between which the one for a given drag is looked for."""


def parallel_ratio(velocity: Scalar, angle: Scalar, nodes: int) -> Scalar:
    """Mean friction over mu_0 F_n, in line, quasi-static; `nodes` Gauss-Legendre points a side."""
    aligned = jnp.abs(angle) < ALIGNED
    safe_angle = jnp.where(aligned, 0.1, angle)
    forward, aside = velocity * jnp.cos(safe_angle), velocity * jnp.sin(safe_angle)
    middle, width = jax.lax.stop_gradient(_branch_point(forward, aside))
    points, weights = gauss(0, nodes)
    total = jnp.zeros_like(velocity)
    for length, sign in ((middle, -1.0), (jnp.pi - middle, 1.0)):
        reach = jnp.arcsinh(length / width) / 2
        u = reach * (1 + points)
        along = forward - jnp.cos(middle + sign * width * jnp.sinh(u))
        speed = jnp.sqrt(jnp.maximum(along**2 + aside**2, jnp.finfo(u.dtype).tiny))
        total = total + jnp.sum(along / speed * jnp.cosh(u) * weights) * reach * width
    straight = jnp.where(aligned, velocity, 0.5)
    below = straight < 1
    inside = friction_control.parallel_ratio(jnp.where(below, straight, 0.5))
    return jnp.where(aligned, jnp.where(below, inside, 1.0), total / jnp.pi)


def _branch_point(forward: Scalar, aside: Scalar) -> tuple[Scalar, Scalar]:
    """Real part and size of the imaginary part of arccos(forward + i aside)."""
    far = jnp.sqrt((forward + 1) ** 2 + aside**2)
    near = jnp.sqrt((forward - 1) ** 2 + aside**2)
    size = jnp.maximum((far + near) / 2, 1.0)
    middle = jnp.arccos(jnp.clip((far - near) / 2, -1.0, 1.0))
    return middle, jnp.maximum(jnp.arccosh(size), 10 * jnp.finfo(size.dtype).eps)


def parallel_velocity(drag: Scalar, angle: Scalar, nodes: int) -> Scalar:
    """Velocity at a drag from 0 up to cos(angle), where it is infinite, in line, quasi-static."""

    aligned = jnp.abs(angle) < ALIGNED
    high = jnp.where(aligned, 1.0, FASTEST)
    return _velocity(_Parallel(nodes), (drag, angle), high)


def perpendicular_velocity(drag: Scalar) -> Scalar:
    """Velocity at a drag from 0 to 1, across."""
    return _velocity(_across, (drag,), jnp.asarray(FASTEST))


class _Parallel(NamedTuple):
    """log(ratio / drag) over the logarithm of the velocity."""

    nodes: int

    def __call__(self, z: Scalar, inputs: tuple[Scalar, Scalar]) -> Scalar:
        drag, angle = inputs
        return jnp.log(parallel_ratio(jnp.exp(z), angle, self.nodes) / drag)


def _across(z: Scalar, inputs: tuple[Scalar]) -> Scalar:
    return jnp.log(friction_control.perpendicular_ratio(jnp.exp(z)) / inputs[0])


def _velocity(function, inputs: tuple, high: Scalar) -> Scalar:
    dtype = inputs[0].dtype
    low = jnp.log(jnp.asarray(SLOWEST, dtype))
    return jnp.exp(rising_root(function, inputs, low, jnp.log(high.astype(dtype))))


class Walk(NamedTuple):
    """Half a period of the vibration, from a zero of cos wt on; phases in rad, velocities over v^.

    velocity: mean. start: velocity at the zero. fall, rise: its rates above and below |cos wt|.
    meets: phase where it meets |cos wt|. rides: where it begins to ride on it, or crosses it. leaves: where it
    leaves it upward. margin: phase to the nearest change of this sequence over half a period.
    residual: what the velocity misses |cos wt| by at the two crossings.
    """

    velocity: Scalar
    start: Scalar
    fall: Scalar
    rise: Scalar
    meets: Scalar
    rides: Scalar
    leaves: Scalar
    margin: Scalar
    residual: Scalar


def walk(drag: Scalar, kappa: Scalar) -> Walk:
    """The periodic motion of the probe under a drag from 0 to 1."""
    rise, fall = kappa * drag, kappa * (1 - drag)
    zero = jnp.zeros_like(rise)
    pi = jnp.full_like(rise, np.pi)

    # One that rides and leaves: what was before the ride is forgotten, so its start is known.
    slides = fall < 1
    leaves = jnp.where(slides, jnp.arccos(-jnp.where(slides, fall, 0.5)), pi)
    start = jnp.where(slides, jnp.sin(leaves) - fall * (pi - leaves), zero)
    meeting = (start, jnp.where(slides, fall, 1.0))
    # One that starts from rest is met there, however steeply it would fall.
    meets = jnp.where(slides, rising_root(_meeting, meeting, zero, pi / 2), zero)
    crosses = jnp.cos(meets) > rise
    slow = jnp.where(crosses, rise, 0.5)
    caught = rising_root(_catching, (meets, slow), jnp.arccos(slow), pi)
    rides = jnp.where(crosses, caught, meets)
    missed = jnp.where(slides, jnp.abs(_meeting(meets, meeting)), 0.0)
    missed = missed + jnp.where(crosses, jnp.abs(_catching(caught, (meets, slow))), 0.0)

    # One that only crosses: it has to rise for the share 1 - f of the time.
    gone = (1 - drag) * pi
    half_sine = jnp.sin(gone / 2)
    lag = rise * jnp.where(
        half_sine > 0, gone / (2 * jnp.where(half_sine > 0, half_sine, 1.0)), 1.0
    )
    drifts = (rides > leaves) & (lag < 1)
    lag = jnp.where(drifts, lag, 0.5)
    middle = jnp.arccos(lag)
    drift = jnp.sqrt(1 - lag**2) * jnp.cos(gone / 2)

    falling = meets * (start - fall * meets / 2)
    rising = (rides - meets) * (jnp.sin(meets) + rise * (rides - meets) / 2)
    riding = jnp.cos(rides) - jnp.cos(leaves)
    after = (pi - leaves) * (jnp.sin(leaves) - fall * (pi - leaves) / 2)
    walking = (falling + rising + riding + after) / pi

    changes = [jnp.abs(rides - leaves), jnp.abs(jnp.cos(meets) - rise), jnp.abs(fall - 1)]
    nearest = jnp.min(jnp.stack(changes)) / pi
    begin = jnp.where(drifts, middle - gone / 2, meets)
    end = jnp.where(drifts, middle + gone / 2, rides)
    return Walk(
        velocity=jnp.where(drifts, drift, walking),
        start=jnp.where(drifts, jnp.sin(begin) + fall * begin, start),
        fall=fall,
        rise=rise,
        meets=begin,
        rides=end,
        leaves=jnp.where(drifts, end, leaves),
        margin=jax.lax.stop_gradient(nearest),
        residual=jax.lax.stop_gradient(jnp.where(drifts, 0.0, missed)),
    )


def _meeting(phase: Scalar, inputs: tuple[Scalar, Scalar]) -> Scalar:
    start, fall = inputs
    return jnp.sin(phase) + fall * phase - start


def _catching(phase: Scalar, inputs: tuple[Scalar, Scalar]) -> Scalar:
    meets, rise = inputs
    return rise * (phase - meets) - jnp.sin(phase) + jnp.sin(meets)


def walking_drag(velocity: Scalar, kappa: Scalar) -> Scalar:
    """Drag at a mean velocity from 0 to 1. Where the probe walks like a caterpillar: one of the band's."""
    one = jnp.ones_like(velocity)
    return rising_root(_walking, (velocity, kappa), 0 * one, one)


def _walking(drag: Scalar, inputs: tuple[Scalar, Scalar]) -> Scalar:
    velocity, kappa = inputs
    return walk(drag, kappa).velocity - velocity


def walking_path(found: Walk, phase: Array) -> Array:
    """Velocity over v^ at phases of the vibration counted from a zero of cos wt."""
    phase = jnp.mod(phase, jnp.pi)
    sine = jnp.sin(phase)
    low = jnp.sin(found.meets) + found.rise * (phase - found.meets)
    high = jnp.sin(found.leaves) - found.fall * (phase - found.leaves)
    path = jnp.where(phase < found.meets, found.start - found.fall * phase, low)
    path = jnp.where(phase > found.rides, sine, path)
    return jnp.where(phase > found.leaves, high, path)
