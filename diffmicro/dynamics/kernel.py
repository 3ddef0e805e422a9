"""Keeping XLA from computing the same thing many times inside a time loop, or what no lane needs.

XLA's fusion on CPU copies a cheap operation into every consumer. In a Taylor step almost every value
has many consumers, and the copies multiply: a WRMMA step of 1700 operations became 11000, three times
slower in one lane and four times in a batch. `jax.lax.optimization_barrier` does not help, because
XLA's CPU pipeline removes it before it fuses. A branch stays, so values are kept whole by passing
them through one whose condition XLA cannot know. Results are the same with and without; only speed
depends on it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Kernel(NamedTuple):
    """The condition that is always true, without XLA knowing. Make it outside the loop."""

    always: Array

    def keep(self, values: Sequence[Array]) -> list[Array]:
        """The values, each computed once and stored."""
        return list(
            jax.lax.cond(
                self.always,
                lambda kept: kept,
                lambda kept: tuple(jnp.zeros_like(v) for v in kept),
                tuple(values),
            )
        )


def kernel() -> Kernel:
    """A fresh `Kernel`. Call it outside every loop and `vmap`ped data, as this does by construction."""
    return Kernel(jax.lax.optimization_barrier(jnp.asarray(True)))


def where_needed(needed: Array, compute: Callable[..., Any], spare: Any, *operands: Any) -> Any:
    """`compute(*operands)`, scalars, where `needed`, else `spare`; not computed when no lane needs it.

    `jax.lax.cond` under `vmap` computes both sides in every lane, however rare the need. `compute` may not
    use traced values that are not operands, and carries no derivative.
    """

    @jax.custom_batching.custom_vmap
    def chosen(needed: Array, spare: Any, operands: tuple) -> Any:
        computed = jax.lax.cond(jnp.any(needed), lambda: compute(*operands), lambda: spare)
        return jax.tree.map(lambda c, s: jnp.where(needed, c, s), computed, spare)

    @chosen.def_vmap
    def _lanes(size: int, batched: list, needed: Array, spare: Any, operands: tuple) -> tuple:
        def in_lanes(x: Array, has_lanes: bool) -> Array:
            return x if has_lanes else jnp.broadcast_to(x, (size, *jnp.shape(x)))

        needed = in_lanes(needed, batched[0])
        spare = jax.tree.map(in_lanes, spare, batched[1])
        axes = jax.tree.map(lambda has_lanes: 0 if has_lanes else None, batched[2])
        wide = jax.vmap(compute, in_axes=tuple(axes), axis_size=size)
        result = where_needed(needed, wide, spare, *operands)
        return result, jax.tree.map(lambda _: True, result)

    return chosen(needed, spare, operands)
