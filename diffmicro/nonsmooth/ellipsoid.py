"""Friction of one contact patch in an ellipsoid, for a given bound: two forces and a moment.

In units in which the ellipsoid is a ball (moments over their arm), friction f of most dissipation

    H f + b = -s f,   |f| <= r,   s >= 0,   s (|f| - r) = 0

with H the inverse masses and b the sliding velocity without friction; s is the slip over the
friction. Stick is s = 0. It is a trust-region problem: |f(s)| falls with s, and 1/|f(s)| is nearly
linear, so Newton's method on 1/|f| = 1/r from below finds s from any data in a few steps, monotone.

With f comes its derivative when b and r change, which makes friction a known function of the normal
loads to first order. Left out: ellipsoids with different axes for force and velocity.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

STEPS = 6
"""Newton steps: to rounding for inverse masses in ratios up to 1e4; five do for 30."""


class Friction(NamedTuple):
    """Friction in the units of the ball, how it follows b and r, and the multiplier s."""

    force: Array  # (3,)
    by_slip: Array  # (3, 3), df / db
    by_bound: Array  # (3,), df / dr
    multiplier: Array


def friction_in_ball(inverse_mass: Array, slip: Array, bound: Array) -> Friction:
    """Friction for the sliding velocity `slip` that would be without it, |f| <= bound.

    Solved for a slip of size one, so that no number depends on units.
    """
    eps = jnp.finfo(slip.dtype).eps
    square = jnp.sum(slip**2)
    moves = square > 0
    size = jnp.sqrt(jnp.where(moves, square, 1))
    unit = jnp.where(moves, slip, jnp.zeros_like(slip).at[0].set(1)) / size
    trace = jnp.trace(inverse_mass)
    # A bound of zero has an infinite multiplier: keep it within the digits.
    radius = jnp.where(moves, jnp.maximum(bound / size, eps / trace), 1 / eps)
    s = jnp.maximum(0, 1 / radius - trace)
    for _ in range(STEPS):
        inverse = _inverse(inverse_mass, s)
        force = _times(inverse, unit)
        square = jnp.sum(force**2)
        curvature = jnp.sum(force * _times(inverse, force))
        s = jnp.maximum(s + square / curvature * (jnp.sqrt(square) / radius - 1), 0)
    inverse = _inverse(inverse_mass, s)
    force = -_times(inverse, unit)
    length = jnp.sqrt(jnp.sum(force**2))
    direction = force / length
    turned = _times(inverse, direction)
    share = turned / jnp.sum(direction * turned)
    slides = s > 0
    by_slip = jnp.where(slides, share[:, None] * turned[None, :], 0) - inverse
    by_bound = jnp.where(slides, share, 0)
    most = jnp.where(moves, jnp.maximum(bound, 0), 0) / size
    force = force * size * jnp.minimum(1, most / length)
    force = jnp.where(moves, force, -_times(inverse, slip))
    return Friction(force, by_slip, by_bound, s)


def _times(matrix: Array, vector: Array) -> Array:
    return jnp.sum(matrix * vector[None, :], axis=-1)


def _inverse(matrix: Array, shift: Array) -> Array:
    """Inverse of a symmetric 3 x 3 matrix with `shift` added to its diagonal."""
    a, b, c = matrix[0, 0] + shift, matrix[0, 1], matrix[0, 2]
    d, e, f = matrix[1, 1] + shift, matrix[1, 2], matrix[2, 2] + shift
    aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
    determinant = a * aa + b * bb + c * cc
    rows = jnp.stack([jnp.stack([aa, bb, cc]), jnp.stack([bb, dd, ee]), jnp.stack([cc, ee, ff])])
    return rows / determinant
