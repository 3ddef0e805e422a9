"""Small convex quadratic programs in JAX, by a primal-dual interior point method of fixed length.

With curvature B, slope g, slacks c and their gradients A the step d minimizes

    g d + d B d / 2 + rho sum_i e_i     with lower <= d <= upper,  c + A d + e >= 0,  e >= 0.

The excesses e make every such program feasible: limits that contradict each other end with multipliers at `rho`
instead of with a failure. The program is scaled to the size one first, so `ELASTIC`, which is `rho` there, has no
unit. Iterates stay feasible; each takes one Cholesky factorization of B's size. Bounds that hold are met to the
last bit. Written for short compilation: one kind of step, sums for products. Left out: large programs.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import cho_factor, cho_solve

ELASTIC = 1e5
"""What a violation costs, in units of the scaled program."""

ITERATIONS, CENTER = 40, 0.1
"""Steps, and the share of the products of slacks and multipliers that each aims at."""

FAR = 10.0
"""Slack, in units of what the step can change, beyond which a constraint always holds, or never."""


class Solution(NamedTuple):
    """The minimizer, the multipliers of the constraints, and whether the conditions of an optimum hold."""

    step: Array
    multipliers: Array
    ok: Array


class _Iterate(NamedTuple):
    """x in [-1, 1], multipliers of the constraints, excesses, multipliers of the bounds."""

    x: Array
    lam: Array
    e: Array
    low: Array
    high: Array


def solve_quadratic(
    curvature: Array, slope: Array, slacks: Array, jacobian: Array, lower: Array, upper: Array
) -> Solution:
    """The minimizer of the program above."""
    eps, tiny = jnp.finfo(slope.dtype).eps, jnp.finfo(slope.dtype).tiny
    # d = middle + half x with x in [-1, 1]; objective and slacks in units of what x can change.
    half, middle = (upper - lower) / 2, (upper + lower) / 2
    b, g = half[:, None] * curvature * half[None, :], half * (slope + times(curvature, middle))
    unit = jnp.maximum(jnp.max(jnp.abs(g)), jnp.maximum(jnp.max(jnp.abs(b)), tiny))
    a = jacobian * half[None, :]
    reach = jnp.sum(jnp.abs(a), axis=1)
    reach = jnp.where(reach > 0, reach, 1)
    c = jnp.clip((slacks + times(jacobian, middle)) / reach, -FAR, FAR)
    b, g, a = b / unit, g / unit, a / reach[:, None]

    def products(at: _Iterate) -> Array:
        s = c + times(a, at.x) + at.e
        sides = (s * at.lam, at.e * (ELASTIC - at.lam), (1 + at.x) * at.low, (1 - at.x) * at.high)
        return jnp.concatenate(sides)

    def left(at: _Iterate) -> Array:
        return times(b, at.x) + g - times(a.T, at.lam) - at.low + at.high

    def move(_: int, at: _Iterate) -> _Iterate:
        """Newton's step towards equal products."""
        x, lam, e, low, high = at
        s, w = c + times(a, x) + e, ELASTIC - lam
        mean = jnp.mean(products(at))
        aim = jnp.maximum(CENTER * mean, eps)
        bend = s + lam * e / w
        pull = (aim - s * lam - lam * (aim / w - e)) / bend
        weight = lam / bend
        towards_low, towards_high = aim / (1 + x), aim / (1 - x)
        matrix = b + jnp.sum(a[:, :, None] * (weight[:, None] * a)[:, None, :], axis=0)
        matrix = matrix + jnp.diag(low / (1 + x) + high / (1 - x))
        force = times(a.T, pull + lam) - times(b, x) - g + towards_low - towards_high
        dx = cho_solve(cho_factor(matrix), force)
        dlam = pull - weight * times(a, dx)
        de = aim / w - e + e / w * dlam
        dlow = towards_low - low - low / (1 + x) * dx
        dhigh = towards_high - high + high / (1 - x) * dx
        rates = jnp.concatenate(
            [-(times(a, dx) + de) / s, -de / e, -dlam / lam, dlam / w,
             -dx / (1 + x), dx / (1 - x), -dlow / low, -dhigh / high]
        )  # fmt: skip
        share = 0.99 / jnp.maximum(jnp.max(rates), 0.99)
        new = jax.tree.map(lambda v, d: v + share * d, at, _Iterate(dx, dlam, de, dlow, dhigh))
        return jax.tree.map(lambda v, old: jnp.where(jnp.isfinite(share), v, old), new, at)

    one, each = jnp.ones_like(g), jnp.ones_like(c)
    at = _Iterate(0 * one, each, jnp.maximum(-c, 0) + each, one, one)
    at = jax.lax.fori_loop(0, ITERATIONS, move, at)
    error = jnp.maximum(jnp.max(products(at)), jnp.max(jnp.abs(left(at))))
    step = jnp.clip(middle + half * at.x, lower, upper)
    step = jnp.where(at.low > 1 + at.x, lower, jnp.where(at.high > 1 - at.x, upper, step))
    return Solution(step, at.lam * unit / reach, error < jnp.sqrt(eps))


def times(matrix: Array, vector: Array) -> Array:
    """The product of a small matrix and a vector; compiles faster than a call for one."""
    return jnp.sum(matrix * vector[None, :], axis=1)
