"""Weighted sums of several rows at once.

On a CPU one product with a matrix is quickest in one lane, and a dot product a row in many lanes. So each way of
calling has its own form. Sums differ by rounding.
"""

import jax
import jax.numpy as jnp
from jax import Array

Rows = tuple[Array, ...]


@jax.custom_jvp
def dots(weights: Array, rows: Rows) -> Rows:
    """The sum of weights times each row, over the last axis."""
    return _by_matrix(weights, rows)


@dots.defjvp
def _dots_jvp(primals: tuple[Array, Rows], tangents: tuple[Array, Rows]) -> tuple[Rows, Rows]:
    (weights, rows), (weights_rate, rates) = primals, tangents
    changes = tuple(
        _dot(weights_rate, row) + _dot(weights, rate) for row, rate in zip(rows, rates, strict=True)
    )
    return dots(weights, rows), changes


@jax.custom_batching.custom_vmap
def _by_matrix(weights: Array, rows: Rows) -> Rows:
    return tuple(jnp.einsum("...i,j...i->j...", weights, jnp.stack(rows)))


@_by_matrix.def_vmap
def _one_by_one(size: int, batched: tuple, weights: Array, rows: Rows) -> tuple[Rows, Rows]:
    axes = jax.tree.map(lambda has_lanes: 0 if has_lanes else None, tuple(batched))
    each = jax.vmap(lambda w, r: tuple(_dot(w, row) for row in r), axes, axis_size=size)
    sums = each(weights, rows)
    return sums, jax.tree.map(lambda _: True, sums)


def _dot(weights: Array, row: Array) -> Array:
    # a dot product is added up in many parts at once; a plain sum is not
    return jnp.einsum("...i,...i->...", weights, row)
