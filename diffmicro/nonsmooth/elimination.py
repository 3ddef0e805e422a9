"""Small dense linear systems without LAPACK: M X = R by unrolled Gauss-Jordan elimination.

Rows are divided by their largest entry (so rows may have different units), pivots are chosen by
column with branch-free row exchanges, lane by lane: a batch of small systems runs as fused kernels,
where a LAPACK call costs more than its arithmetic. The elimination gives the inverse, X is the
product with R and one step of refinement. Systems above `UNROLLED_UP_TO` unknowns use LAPACK's LU on a
CPU, and the same elimination in a loop elsewhere: no call of a GPU library stands between fused kernels.

A pivot below n eps of its row is rounding error: the lane's solution is NaN, never a number that
looks fine. Derivatives follow from d(M^-1) = -M^-1 dM M^-1 (forward, reverse and higher), so they
cost products only and no further elimination.

Left out: structure (symmetric, banded), condition estimates.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from diffmicro import _loops as loops

UNROLLED_UP_TO = 4  # above, the unrolled code takes seconds to compile (6 unknowns: 2 s)


def solve(
    matrix: Float[Array, "... n n"], rhs: Float[Array, "... n"] | Float[Array, "... n k"]
) -> Array:
    """The solution X of matrix @ X = rhs, for leading batch axes; NaN in lanes that are singular.

    `rhs` is one right side (..., n), or k of them as columns (..., n, k).
    """
    n = matrix.shape[-1]
    columns = rhs.ndim == matrix.ndim
    if matrix.ndim < 2 or matrix.shape[-2] != n:
        raise ValueError(f"solve: matrix must be square (..., n, n), got shape {matrix.shape}.")
    if not columns and rhs.ndim != matrix.ndim - 1:
        raise ValueError(
            f"solve: rhs must be (..., n) or (..., n, k) with the batch axes of the matrix "
            f"{matrix.shape}, got {rhs.shape}. Broadcast the batch axes, or use jax.vmap."
        )
    if rhs.shape[matrix.ndim - 2] != n:
        raise ValueError(f"solve: rhs {rhs.shape} does not have the {n} rows of the matrix.")
    dtype = jnp.result_type(matrix, rhs, float)
    matrix, rhs = matrix.astype(dtype), rhs.astype(dtype)
    rhs = rhs if columns else rhs[..., None]
    inverse = _inverse(matrix)
    solution = inverse @ rhs
    solution = solution + inverse @ (rhs - matrix @ solution)
    return solution if columns else solution[..., 0]


@jax.custom_jvp
def _inverse(matrix):
    size = jnp.max(jnp.abs(matrix), axis=-1, keepdims=True)
    size = jnp.where(size > 0, size, 1)
    if matrix.shape[-1] <= UNROLLED_UP_TO:
        inverse = _eliminate(matrix / size)
    else:
        inverse = jax.lax.platform_dependent(matrix / size, cpu=_factorize, default=_clear_columns)
    return inverse / jnp.swapaxes(size, -1, -2)


@_inverse.defjvp
def _inverse_jvp(primals, tangents):
    inverse = _inverse(*primals)
    return inverse, -inverse @ tangents[0] @ inverse


def _smallest_pivot(matrix):
    return matrix.shape[-1] * jnp.finfo(matrix.dtype).eps


def _identity(matrix):
    return jnp.broadcast_to(jnp.eye(matrix.shape[-1], dtype=matrix.dtype), matrix.shape)


def _factorize(matrix):
    factors, exchanges = jax.scipy.linalg.lu_factor(matrix)
    pivots = jnp.abs(jnp.diagonal(factors, axis1=-2, axis2=-1))
    sound = jnp.min(pivots, axis=-1)[..., None, None] > _smallest_pivot(matrix)
    inverse = jax.scipy.linalg.lu_solve((factors, exchanges), _identity(matrix))
    return jnp.where(sound, inverse, jnp.nan)


def _clear_columns(matrix):
    """The inverse by the elimination below, in a loop over the columns."""
    each = _clear_columns_of_one
    for _ in range(matrix.ndim - 2):
        each = jax.vmap(each)
    return each(matrix)


def _clear_columns_of_one(matrix):
    n = matrix.shape[0]
    row = jnp.arange(n)

    def clear(k, system):
        found = jnp.argmax(jnp.where(row < k, -1.0, jnp.abs(system[:, k])))
        picked = system[found]
        system = jnp.where((row == found)[:, None], system[k][None, :], system)
        sound = jnp.abs(picked[k]) > _smallest_pivot(matrix)
        own = jnp.where(sound, picked / jnp.where(sound, picked[k], 1), jnp.nan)
        others = system[:, k][:, None] * own[None, :]
        return jnp.where((row == k)[:, None], own[None, :], system - others)

    system = jnp.concatenate([matrix, _identity(matrix)], axis=1)
    return loops.fori_loop(0, n, clear, system)[:, n:]


def _eliminate(matrix):
    n = matrix.shape[-1]
    identity = _identity(matrix)
    # one array per entry: every operation runs along the batch
    rows = [
        [matrix[..., i, j] for j in range(n)] + [identity[..., i, j] for j in range(n)]
        for i in range(n)
    ]
    for step in range(n):
        for i in range(step + 1, n):
            exchange = jnp.abs(rows[i][step]) > jnp.abs(rows[step][step])
            rows[step], rows[i] = _exchanged(rows[step], rows[i], exchange)
        pivot = rows[step][step]
        sound = jnp.abs(pivot) > _smallest_pivot(matrix)
        inverse = jnp.where(sound, 1 / jnp.where(sound, pivot, 1), jnp.nan)
        rows[step] = [entry * inverse for entry in rows[step]]
        for i in range(n):
            if i != step:
                factor = rows[i][step]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[step], strict=True)]
    return jnp.stack([jnp.stack(row[n:], axis=-1) for row in rows], axis=-2)


def _exchanged(first, second, exchange):
    pairs = list(zip(first, second, strict=True))
    return (
        [jnp.where(exchange, b, a) for a, b in pairs],
        [jnp.where(exchange, a, b) for a, b in pairs],
    )
