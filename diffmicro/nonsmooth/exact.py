"""From an approximate solution to the exact one: the last step of every exact solver.

The active set is read off an approximate z in natural units. With it the problem is linear,

    M_ff z_f = -q_f - M_fb z_b,     z_b at its bounds,

which gives z to rounding, and with the set held fixed its derivative. Then the residual judges: a
z that does not solve the problem leaves as NaN with a status. A weakly active component (both z at
its bound and w zero) makes the derivative one-sided; the solution's `margin` is then zero.
"""

import jax
import jax.numpy as jnp

from diffmicro._types import Count, ScalarLike, Vector
from diffmicro.nonsmooth.elimination import solve
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.nonsmooth.problems import (
    BoxComplementarity,
    Solution,
    impossible,
    margin,
    natural_units,
    nondimensional,
    residual,
)
from diffmicro.results import RESULTS, code, from_code


def default_tolerance(dtype) -> float:
    """Largest residual of an accepted solution: half the digits of the number format."""
    return float(jnp.finfo(dtype).eps) ** 0.5


def finish(
    problem: BoxComplementarity, approximate: Vector, iterations: Count, tolerance: ScalarLike
) -> Solution:
    """Sharpen an approximate z on its active set, attach the derivative, judge by the residual."""
    fixed = jax.lax.stop_gradient(problem)
    approximate = jax.lax.stop_gradient(approximate)
    at_lower, at_upper = _active_set(fixed, approximate)
    sharp = _on_active_set(fixed, at_lower, at_upper)
    # a singular free block has many solutions: keep the one found (its derivative will be NaN)
    kept = jnp.where(jnp.isfinite(sharp).all(), sharp, approximate)
    z = jnp.where(at_lower, fixed.lower, jnp.where(at_upper, fixed.upper, kept))
    z = with_implicit_derivative(_active_condition, z, problem)
    inside = (z > problem.lower) & (z < problem.upper)
    w = jnp.where(inside, 0, problem.matrix @ z + problem.vector)
    defect = residual(fixed, jax.lax.stop_gradient(z))
    return judged(fixed, z, w, defect <= tolerance, impossible(fixed), iterations)


def judged(fixed, z, w, accepted, wrong, iterations) -> Solution:
    """The solution with its status; NaN, also in its derivatives, unless accepted and not wrong.

    `accepted`: the residual is within the tolerance.
    `wrong`: the input is not a problem. `fixed`: the problem, without derivatives.
    """
    number = jax.lax.stop_gradient(z)
    solved = accepted & jnp.isfinite(number).all() & ~wrong
    flag = jnp.where(solved, 1, jnp.nan).astype(z.dtype)  # a factor reaches derivatives too
    failure = jnp.where(wrong, code(RESULTS.invalid_input), code(RESULTS.not_converged))
    return Solution(
        z=z * flag,
        w=w * flag,
        residual=residual(fixed, number),
        margin=margin(fixed, number) * flag,
        result=from_code(jnp.where(solved, code(RESULTS.successful), failure)),
        iterations=jnp.asarray(iterations),
    )


def _active_set(problem, approximate):
    units = natural_units(problem)
    scaled = nondimensional(problem, units)
    z = approximate / units.z
    target = z - (scaled.matrix @ z + scaled.vector)
    at_lower = target <= scaled.lower
    return at_lower, ~at_lower & (target >= scaled.upper)


def _on_active_set(problem, at_lower, at_upper):
    free = ~(at_lower | at_upper)
    bound = jnp.where(at_lower, problem.lower, jnp.where(at_upper, problem.upper, 0))
    identity = jnp.eye(len(bound), dtype=bound.dtype)
    rows = jnp.where(free[:, None], problem.matrix, identity)
    return solve(rows, jnp.where(free, -problem.vector, bound))


def _active_condition(z, problem):
    at_lower = z <= problem.lower
    at_upper = z >= problem.upper
    lower = jnp.where(at_lower, problem.lower, 0)
    upper = jnp.where(at_upper, problem.upper, 0)
    w = problem.matrix @ z + problem.vector
    return jnp.where(at_lower, z - lower, jnp.where(at_upper, z - upper, w))
