"""Smoothed complementarity by an interior-point method, with a width that the caller sees.

Every component obeys the barrier law of `problems` with width h > 0 (unit: that of z times w),

    M z + q = mu - nu,     mu (z - lower) = h,     nu (upper - z) = h,     mu, nu > 0,

for one bound at zero the same as a + b = sqrt(a^2 + b^2 + 2 h) with a = z, b = w. Infinite bounds
have no term; where lower = upper, z is that value. The solution depends smoothly on all data, so
derivatives of every order exist, from the smoothed system by the implicit function theorem. For
h -> 0 it tends to the exact solution: error of order h where complementarity is strict, sqrt(h)
where it is not.

Method: primal-dual path following. Newton steps on the three equations, shortened to keep the gaps
and mu, nu positive, while the target falls from the current mean product to h. Starts inside the
box by its own rule, so there is no guess to depend on.

Left out: predictor-corrector steps, sparsity. A width so small that z - lower drowns in the
rounding of lower ends as `not_converged`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from diffmicro import _loops as loops
from diffmicro._types import ScalarLike, Vector
from diffmicro.nonsmooth.elimination import solve
from diffmicro.nonsmooth.exact import default_tolerance, judged
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.nonsmooth.problems import (
    Complementarity,
    Solution,
    as_box,
    barrier,
    impossible,
    natural_units,
    nondimensional,
    residual,
)

TARGET_SHARE = 0.1  # each step aims at this share of the current mean product
BOUNDARY_SHARE = 0.99  # largest share of the way to the nearest boundary
POLISHING_STEPS = 3  # after the products are within 10 % of the width: quadratic convergence


class _Point(NamedTuple):
    z: Vector
    mu: Vector
    nu: Vector


def solve_smoothed(
    problem: Complementarity,
    width: ScalarLike,
    *,
    tolerance: float | None = None,
    max_iterations: int = 100,
) -> Solution:
    """Solve the problem smoothed with `width`, in units of z times w, differentiable in all data.

    `tolerance` bounds the residual of the smoothed problem. The solution's `residual` is that of
    the exact problem, so it shows the error of smoothing, and `margin` is the exact one at this z.
    """
    box = as_box(problem)
    if isinstance(width, (int, float)) and not 0 < width < float("inf"):
        raise ValueError(
            f"solve_smoothed: width must be positive and finite, got {width}. For the exact "
            "problem use solve_newton."
        )
    width = jnp.asarray(width, box.vector.dtype)
    if tolerance is None:
        tolerance = default_tolerance(box.vector.dtype)
    fixed, fixed_width = jax.lax.stop_gradient((box, width))
    units = natural_units(fixed)
    scaled = nondimensional(fixed, units)
    z, count = _follow_path(scaled, fixed_width / units.width, max_iterations)
    z = jnp.where(fixed.lower == fixed.upper, fixed.lower, z * units.z)
    z = with_implicit_derivative(_barrier_condition, z, (box, width))
    w = box.matrix @ z + box.vector
    defect = residual(fixed, jax.lax.stop_gradient(z), fixed_width)
    wrong = impossible(fixed) | ~((fixed_width > 0) & jnp.isfinite(fixed_width))
    return judged(fixed, z, w, defect <= tolerance, wrong, count)


def _barrier_condition(z, inputs):
    """The law of each component, rows divided by their slope so that none dwarfs the others."""
    problem, width = inputs
    w = problem.matrix @ z + problem.vector
    force, slope = barrier(z, problem.lower, problem.upper, width)
    slope = jax.lax.stop_gradient(slope + jnp.max(jnp.abs(problem.matrix), axis=1))
    fixed = problem.lower == problem.upper
    held = jnp.where(fixed, problem.lower, 0)
    return jnp.where(fixed, z - held, (w - force) / jnp.where(slope > 0, slope, 1))


def _follow_path(problem, width, max_iterations) -> tuple[Vector, Array]:
    """Interior-point iterations in natural units, without derivatives."""
    has_lower, has_upper = jnp.isfinite(problem.lower), jnp.isfinite(problem.upper)
    held = problem.lower == problem.upper
    lower, upper = jnp.where(has_lower, problem.lower, 0), jnp.where(has_upper, problem.upper, 0)
    has_lower, has_upper = has_lower & ~held, has_upper & ~held
    count_products = jnp.maximum(jnp.sum(has_lower) + jnp.sum(has_upper), 1)
    identity = jnp.eye(len(problem.vector), dtype=problem.vector.dtype)

    def gaps(z):
        return jnp.where(has_lower, z - lower, 1), jnp.where(has_upper, upper - z, 1)

    def products(point):
        above, below = gaps(point.z)
        return jnp.where(has_lower, point.mu * above, 0), jnp.where(has_upper, point.nu * below, 0)

    def step(point, target):
        above, below = gaps(point.z)
        w = problem.matrix @ point.z + problem.vector
        force = jnp.where(has_lower, target / above, 0) - jnp.where(has_upper, target / below, 0)
        stiffness = jnp.where(has_lower, point.mu / above, 0)
        stiffness = stiffness + jnp.where(has_upper, point.nu / below, 0)
        rows = jnp.where(held[:, None], identity, problem.matrix + jnp.diag(stiffness))
        dz = solve(rows, jnp.where(held, 0, force - w))
        dmu = jnp.where(has_lower, (target - point.mu * dz) / above - point.mu, 0)
        dnu = jnp.where(has_upper, (target + point.nu * dz) / below - point.nu, 0)
        share = jnp.minimum(
            jnp.minimum(_share(above, dz, has_lower), _share(below, -dz, has_upper)),
            jnp.minimum(_share(point.mu, dmu, has_lower), _share(point.nu, dnu, has_upper)),
        )
        length = jnp.minimum(1, BOUNDARY_SHARE * share)
        return _Point(point.z + length * dz, point.mu + length * dmu, point.nu + length * dnu)

    def on_path(point):
        at_lower, at_upper = products(point)
        off = jnp.where(has_lower, jnp.abs(at_lower / width - 1), 0)
        off = jnp.maximum(off, jnp.where(has_upper, jnp.abs(at_upper / width - 1), 0))
        w = problem.matrix @ point.z + problem.vector - point.mu + point.nu
        return (jnp.max(off) < 0.1) & (jnp.max(jnp.where(held, 0, jnp.abs(w))) < 0.1)

    def unfinished(state):
        point, polished, count = state
        going = (polished < POLISHING_STEPS) & (count < max_iterations)
        return going & jnp.isfinite(point.z).all()

    def iterate(state):
        point, polished, count = state
        at_lower, at_upper = products(point)
        mean = (jnp.sum(at_lower) + jnp.sum(at_upper)) / count_products
        target = jnp.maximum(width, jnp.where(on_path(point), 0, TARGET_SHARE * mean))
        polished = jnp.where(on_path(point), polished + 1, 0)
        return step(point, target), polished, count + 1

    inset = jnp.where(has_lower & has_upper, jnp.minimum(1, (upper - lower) / 2), 1)
    start = jnp.where(has_lower, jnp.maximum(0, lower + inset), 0)
    start = jnp.where(has_upper, jnp.minimum(start, upper - inset), start)
    start = jnp.where(held, lower, start)
    ones = jnp.ones_like(start)
    point = _Point(start, jnp.where(has_lower, ones, 0), jnp.where(has_upper, ones, 0))
    wrong = impossible(problem) | ~(width > 0)
    polished = jnp.where(wrong, POLISHING_STEPS, 0)
    point, _, count = loops.while_loop(unfinished, iterate, (point, polished, jnp.asarray(0)))
    return point.z, count


def _share(value, change, exists):
    """Largest multiple of the change that keeps every value >= 0."""
    shrinking = exists & (change < 0)
    return jnp.min(jnp.where(shrinking, -value / jnp.where(shrinking, change, -1), jnp.inf))
