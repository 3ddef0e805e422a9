"""Semismooth Newton for box complementarity, up to about 30 unknowns.

With the Fischer-Burmeister function phi(a, b) = sqrt(a^2 + b^2) - a - b, zero exactly when a >= 0,
b >= 0 and a b = 0, the box problem is the square system of Billups (1995)

    Phi_i(z) = phi(z_i - lower_i, phi(upper_i - z_i, -w_i)) = 0,     w = M z + q,

for infinite bounds phi(inf, b) = -b. Each iteration solves with an element of the generalized
Jacobian, -(diag(s) + diag(t) M) with s, t >= 0 (De Luca, Facchinei and Kanzow 1996), and takes from
a grid of step lengths along the Newton direction and along steepest descent the one with the
smallest |Phi|: one safeguard, the same for every lane of a batch. The end is sharpened on the
active set.

Finds the solution of P-matrix problems (inverse masses, friction with given bound). For other
matrices it may end in a local minimum of |Phi|, and for problems without a solution it must: status
`not_converged`, z NaN. Left out: nonmonotone line search, restarts, sparsity.
"""

import jax
import jax.numpy as jnp

from diffmicro import _loops as loops
from diffmicro._types import Vector
from diffmicro.nonsmooth.elimination import solve
from diffmicro.nonsmooth.exact import default_tolerance, finish
from diffmicro.nonsmooth.problems import (
    Complementarity,
    Solution,
    as_box,
    natural_units,
    nondimensional,
    residual,
)

STEP_LENGTHS = tuple(0.5**k for k in range(16))  # shares of the Newton step that are tried
DESCENT_LENGTHS = tuple(4.0 ** (2 - k) for k in range(12))  # multiples of the Cauchy step


def solve_newton(
    problem: Complementarity,
    guess: Vector | None = None,
    *,
    tolerance: float | None = None,
    max_iterations: int = 100,
) -> Solution:
    """Solve a box or linear complementarity problem.

    `guess` is a start for z (default: the admissible z closest to zero); nothing depends on it to
    first order. `tolerance` is the largest accepted `residual`, by default the square root of the
    number format's eps; the active-set step at the end makes solutions right to rounding.
    Differentiable with respect to matrix, vector and bounds; jit and vmap at will.
    """
    box = as_box(problem)
    if tolerance is None:
        tolerance = default_tolerance(box.vector.dtype)
    if guess is None:
        guess = jnp.zeros_like(box.vector)
    elif jnp.shape(guess) != box.vector.shape:
        raise ValueError(
            f"solve_newton: guess must have the shape of the vector {box.vector.shape}, got "
            f"{jnp.shape(guess)}."
        )
    fixed = jax.lax.stop_gradient(box)
    units = natural_units(fixed)
    scaled = nondimensional(fixed, units)
    start = jax.lax.stop_gradient(jnp.asarray(guess, box.vector.dtype)) / units.z
    start = jnp.clip(start, scaled.lower, scaled.upper)

    def unfinished(state):
        _, merit, defect, count = state
        return (defect > tolerance) & jnp.isfinite(merit) & (count < max_iterations)

    def iterate(state):
        z, merit, _, count = state
        candidates = _candidates(scaled, z)
        merits = jax.vmap(lambda trial: _merit(scaled, trial))(candidates)
        merits = jnp.where(jnp.isnan(merits), jnp.inf, merits)
        best = jnp.argmin(merits)
        improved = merits[best] < merit
        z = jnp.where(improved, candidates[best], z)
        count = jnp.where(improved, count + 1, max_iterations)  # a stationary point: give up
        return z, jnp.where(improved, merits[best], merit), residual(scaled, z), count

    state = (start, _merit(scaled, start), residual(scaled, start), jnp.asarray(0))
    z, _, _, count = loops.while_loop(unfinished, iterate, state)
    return finish(box, z * units.z, count, tolerance)


def _candidates(problem, z):
    """Trial points along the Newton direction and along steepest descent of |Phi|^2 / 2."""
    value, s, t = _fischer_burmeister(problem, z)
    jacobian = -(jnp.diag(s) + t[:, None] * problem.matrix)
    newton = solve(jacobian, -value)
    gradient = jacobian.T @ value
    curvature = jnp.sum((jacobian @ gradient) ** 2)
    cauchy = jnp.sum(gradient**2) / jnp.where(curvature > 0, curvature, 1)
    lengths = jnp.asarray(STEP_LENGTHS, z.dtype)[:, None]
    descent_lengths = jnp.asarray(DESCENT_LENGTHS, z.dtype)[:, None]
    downhill = -cauchy * gradient
    steps = [lengths * newton[None, :], descent_lengths * downhill[None, :]]
    return z[None, :] + jnp.concatenate(steps, axis=0)


def _merit(problem, z):
    return jnp.sum(_fischer_burmeister(problem, z)[0] ** 2)


def _fischer_burmeister(problem, z):
    """Phi and the diagonals s, t >= 0 of its generalized Jacobian -(diag(s) + diag(t) M)."""
    w = problem.matrix @ z + problem.vector
    below, slope_below, slope_w = _phi(problem.upper - z, -w)
    value, slope_above, slope_inner = _phi(z - problem.lower, below)
    # d below = -slope_below dz - slope_w dw; all slopes lie in [-2, 0]
    return value, -slope_above + slope_inner * slope_below, slope_inner * slope_w


def _phi(a, b):
    """phi(a, b) without cancellation, and its slopes; phi(inf, b) = -b."""
    unbounded = jnp.isinf(a)
    a = jnp.where(unbounded, 0, a)
    radius = jnp.sqrt(a**2 + b**2)
    total = a + b
    positive = total > 0
    value = jnp.where(positive, -2 * a * b / jnp.where(positive, total + radius, 1), radius - total)
    corner = radius == 0  # any unit vector gives a generalized slope; take the diagonal one
    safe = jnp.where(corner, 1, radius)
    slope_a = jnp.where(corner, jnp.sqrt(0.5), a / safe) - 1
    slope_b = jnp.where(corner, jnp.sqrt(0.5), b / safe) - 1
    return (
        jnp.where(unbounded, -b, value),
        jnp.where(unbounded, 0, slope_a),
        jnp.where(unbounded, -1, slope_b),
    )
