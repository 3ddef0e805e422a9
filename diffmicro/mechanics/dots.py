"""Weighted sums of several rows at once.

On a CPU one product with a matrix is quickest in one lane, and a dot product a row in many lanes. So each way of
calling has its own form. Sums differ by rounding.
"""

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.autodiff.rules import Changes, known

Rows = tuple[Array, ...]


def dots(weights: Array, rows: Rows) -> Rows:
    """The sum of weights times each row, over the last axis."""
    # A choice by lanes has no derivative that can be mapped again, so none is taken of it.
    sums = _by_matrix(*jax.lax.stop_gradient((weights, rows)))
    return known(_change, sums, (weights, rows))


def _change(sums: Rows, given: tuple[Array, Rows], changes: Changes) -> Rows:
    weights, rows = given
    weights_rate, *rates = changes
    found = []
    for total, row, rate in zip(sums, rows, rates, strict=True):
        by_row = jnp.zeros_like(total) if rate is None else _dot(weights, rate)
        found.append(by_row if weights_rate is None else by_row + _dot(weights_rate, row))
    return tuple(found)


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
