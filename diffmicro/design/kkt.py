"""Conditions of an optimum (Karush, Kuhn, Tucker), and the quadratic problem that leads to one.

In the box u, with f to be minimized, slacks c(u) >= 0 and their gradients A, the step d minimizes

    g d + d B d / 2 + rho sum_i max(0, -(c + A d)_i)     with lower <= d <= upper.

The last term makes the problem solvable whatever c is; a multiplier that reaches `rho` says that its
constraint cannot be met. Its conditions are one box complementarity problem in (d, lambda),

    B d + g - A^T lambda   complementary to   lower <= d <= upper,
    c + A d                complementary to   0 <= lambda <= rho,

so the library's contact solvers solve it, multipliers included.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro.nonsmooth.newton import solve_newton
from diffmicro.nonsmooth.problems import BoxComplementarity, LinearComplementarity
from diffmicro.nonsmooth.smoothed import solve_smoothed
from diffmicro.results import is_ok

REGULAR = 1e-10
"""Compliance given to the multipliers, relative: it makes them unique where constraints repeat."""

WIDTH = 1e-14
"""Smoothing of the interior-point method where Newton's does not end."""

NEAR = 1e-5
"""Distance in the box, or share of a constraint's scale, within which a limit counts as binding."""


class StepFound(NamedTuple):
    """Step and multipliers of the quadratic problem. `ok`: whether it was solved."""

    step: np.ndarray
    multipliers: np.ndarray
    ok: bool


def quadratic_step(
    curvature: np.ndarray,
    slope: np.ndarray,
    slacks: np.ndarray,
    jacobian: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    penalty: float,
) -> StepFound:
    """The minimizer d of the quadratic problem above, and its multipliers."""
    n, m = len(slope), len(slacks)
    size = max(np.abs(jacobian).max(initial=0.0), 1e-300) ** 2 / max(
        np.abs(curvature).max(), 1e-300
    )
    matrix = np.block(
        [[curvature, -jacobian.T], [jacobian, REGULAR * max(size, 1e-12) * np.eye(m)]]
    )
    vector = np.concatenate([slope, slacks])
    low = np.concatenate([lower, np.zeros(m)])
    high = np.concatenate([upper, np.full(m, penalty)])
    z, ok = _solve(matrix, vector, low, high)
    z, ok = np.asarray(z), bool(ok)
    return StepFound(z[:n], z[n:], ok)


@jax.jit
def _solve(matrix, vector, low, high):
    problem = BoxComplementarity(matrix, vector, low, high)
    first = solve_newton(problem)

    def interior():
        found = solve_smoothed(problem, WIDTH * jnp.max(jnp.abs(vector)), tolerance=1e-3)
        return found.z, is_ok(found.result)

    return jax.lax.cond(is_ok(first.result), lambda: (first.z, jnp.asarray(True)), interior)


class Binding(NamedTuple):
    """What holds an optimum: multipliers of constraints and of bounds (low, high), and what remains.

    Each multiplier is the gain per unit by which the limit moves. remainder: length of what the limits do not
    balance of the gradient, in lengths of the gradient or in units of the gain, whichever is larger.
    """

    constraints: np.ndarray
    low: np.ndarray
    high: np.ndarray
    remainder: float


def binding(
    gradient: np.ndarray,
    slacks: np.ndarray,
    slack_gradients: np.ndarray,
    scales: np.ndarray,
    u: np.ndarray,
    unit: float,
    near: float = NEAR,
) -> Binding:
    """The nonnegative combination of binding limits that balances the gain's gradient best.

    unit: of the gain. At an optimum inside the box there is nothing to balance: the gradient itself is small.
    """
    n = len(u)
    active = np.abs(slacks) <= near * scales
    rows = [slack_gradients[i] / scales[i] for i in np.flatnonzero(active)]
    at_low, at_high = u <= near, u >= 1 - near
    rows += [np.eye(n)[i] for i in np.flatnonzero(at_low)]
    rows += [-np.eye(n)[i] for i in np.flatnonzero(at_high)]
    found = np.zeros(len(rows))
    outward = np.array(rows).reshape(-1, n)
    size = np.linalg.norm(gradient)
    if len(rows) and size > 0:
        # min |gradient + rows^T lambda|^2, lambda >= 0: its conditions are a linear complementarity problem.
        gram = outward @ outward.T
        gram += 1e-12 * np.trace(gram) / len(rows) * np.eye(len(rows))
        found = np.maximum(np.asarray(_nonnegative(gram, outward @ gradient / size)), 0) * size
        found = np.nan_to_num(found)
    left = gradient + outward.T @ found
    constraints, low, high = np.zeros(len(slacks)), np.zeros(n), np.zeros(n)
    first, second = active.sum(), active.sum() + at_low.sum()
    constraints[active] = found[:first] / scales[active]
    low[at_low], high[at_high] = found[first:second], found[second:]
    remainder = float(np.linalg.norm(left) / max(size, unit)) if size else 0.0
    return Binding(constraints, low, high, remainder)


@jax.jit
def _nonnegative(gram, vector):
    return solve_newton(LinearComplementarity(gram, vector)).z
