"""Curves through the ends of a step: where a guard crosses zero, and where a height turns around."""

import jax.numpy as jnp
from jax import Array


def parabola(g0: Array, slope: Array, g1: Array, length: Array) -> Array:
    """First root of the parabola with value and slope at 0 and the value g1 < 0 at the end, not the root at 0."""
    bend = (g1 - g0 - slope * length) / (length * length)
    root = jnp.sqrt(jnp.maximum(slope * slope - 4 * bend * g0, 0.0))
    rising = slope > 0
    top = jnp.where(rising, slope + root, 2 * g0)
    bottom = jnp.where(rising, -2 * bend, root - slope)
    return top / jnp.where(bottom == 0, 1.0, bottom)


def cubic(g0: Array, s0: Array, g1: Array, s1: Array, length: Array, share: Array) -> Array:
    """The cubic with these values and slopes at both ends, at a share of the step."""
    rise = g1 - g0
    a, b = s0 * length - rise, rise - s1 * length
    other = 1.0 - share
    return g0 * other + g1 * share + share * other * (a * other + b * share)


def stationary(g0: Array, s0: Array, g1: Array, s1: Array, length: Array) -> Array:
    """Share of the step at which that cubic, its slopes of unlike signs, turns around."""
    rise = (g1 - g0) / length
    # Slope of the cubic: s0 (1 - 4 t + 3 t^2) + s1 (3 t^2 - 2 t) + 6 rise (t - t^2).
    a = 3 * (s0 + s1) - 6 * rise
    b = 6 * rise - 4 * s0 - 2 * s1
    root = jnp.sqrt(jnp.maximum(b * b - 4 * a * s0, 0.0))
    bottom = jnp.where(s0 < 0, -root, root) - b
    share = 2 * s0 / jnp.where(bottom == 0, 1.0, bottom)
    return jnp.clip(share, 0.0, 1.0)


def lowest(g0: Array, s0: Array, g1: Array, s1: Array, length: Array) -> tuple[Array, Array, Array]:
    """Time and value of a dip between the ends, and whether there is one."""
    share = stationary(g0, s0, g1, s1, length)
    dips = (s0 < 0) & (s1 > 0) & (share > 0) & (share < 1)
    return share * length, cubic(g0, s0, g1, s1, length, share), dips
