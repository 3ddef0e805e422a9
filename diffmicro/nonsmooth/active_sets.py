"""Linear complementarity with up to four unknowns by trying every active set, for time loops.

    w = M z + q >= 0,   z >= 0,   z.w = 0.

For each subset of unknowns M_ff z_f = -q_f is solved, z = 0 elsewhere; the subset that violates the
signs least is the solution; where several violate none (friction can make M no P-matrix), the one with
the smallest loads, diag(M).z. All subsets are one batch of unrolled eliminations, so there is no
branch, no start and no iteration, and every lane costs the same. Unlike `closed_form` it needs no
P-matrix, unlike `solve_newton` it makes no judgment: the caller measures what the answer leaves.
Derivatives are those at the chosen active set.
"""

import itertools

import jax.numpy as jnp
import numpy as np

from diffmicro._types import PerUnknown, Square
from diffmicro.nonsmooth.elimination import solve

MOST_UNKNOWNS = 4  # sixteen subsets; each further unknown doubles them
ROUNDING = 100  # times eps, over the largest of q: a violation that is none


def solve_every_active_set(matrix: Square, vector: PerUnknown) -> PerUnknown:
    """z >= 0 complementary to matrix z + vector, where its diagonal is positive."""
    n = vector.shape[-1]
    if n > MOST_UNKNOWNS:
        raise ValueError(
            f"solve_every_active_set: at most {MOST_UNKNOWNS} unknowns, got {n}. Use solve_newton."
        )
    active = np.array(list(itertools.product((False, True), repeat=n)))
    identity = np.eye(n, dtype=bool)
    both = active[:, :, None] & active[:, None, :]
    rows = jnp.where(both, matrix[None], jnp.asarray(identity, matrix.dtype)[None])
    trials = solve(rows, jnp.where(active, -vector[None], 0))
    diagonal = jnp.diagonal(matrix)
    w = jnp.sum(matrix[None] * trials[:, None, :], axis=-1) + vector[None]
    wrong = jnp.where(active, -trials * diagonal[None], -w)
    worst = jnp.max(jnp.where(jnp.isfinite(wrong), wrong, jnp.inf), axis=-1)
    fits = worst <= ROUNDING * jnp.finfo(matrix.dtype).eps * jnp.max(jnp.abs(vector))
    load = jnp.sum(jnp.where(fits[:, None], jnp.maximum(trials, 0) * diagonal[None], 0), axis=-1)
    best = jnp.argmin(jnp.where(fits, -1 / (1 + load), jnp.maximum(worst, 0)))
    return jnp.maximum(trials[best], 0)
