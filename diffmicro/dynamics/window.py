"""Statistics of motions that do not settle: a mean displacement over a window, with its spread.

The window is cut into `BATCHES` parts; the standard error is that of their means (Fishman 1978), which
counts slow correlations that the spread of single periods would miss. Such a mean has no derivative here:
sensitivity of an erratic motion grows exponentially with the window.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops

BATCHES = 10
"""Parts of a window, from whose means the spread is estimated."""


class WindowMean(NamedTuple):
    """Mean displacement per period, its standard error, and the state at the end."""

    mean: Array
    spread: Array
    state: Array


def window_mean(
    advance: Callable[[Array, Array], tuple[Array, Array]],
    start: Array,
    periods: int,
    needed: Array | bool = True,
) -> WindowMean:
    """Mean of `advance(state, n) -> (state, displacement)` over about `periods` periods from `start`.

    Where it is not `needed`, nothing is simulated and the numbers mean nothing.
    """
    count = jnp.where(needed, -(-periods // BATCHES), 0).astype(jnp.int32)

    def batch(state, _):
        state, displacement = advance(state, count)
        return state, displacement / jnp.maximum(count, 1)

    end, means = loops.scan(batch, jax.lax.stop_gradient(start), None, length=BATCHES)
    spread = jnp.std(means) * (BATCHES / (BATCHES - 1)) ** 0.5 / BATCHES**0.5
    return WindowMean(jnp.mean(means), spread, end)


def share(spent: Array, whole: Array | float) -> Array:
    """Share of the whole time that was spent; the sum of all its parts may exceed it by a rounding."""
    return jnp.minimum(spent / whole, 1.0)
