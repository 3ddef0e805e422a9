"""Keeping XLA from computing the same thing many times inside a time loop, or what no lane needs.

XLA's fusion on CPU copies a cheap operation into every consumer. In a Taylor step almost every value
has many consumers, and the copies multiply: a WRMMA step of 1700 operations became 11000, three times
slower in one lane and four times in a batch. `jax.lax.optimization_barrier` does not help, because
XLA's CPU pipeline removes it before it fuses. A branch stays, so values are kept whole by passing
them through one whose condition XLA cannot know. Results are the same with and without; only speed
depends on it.

On a GPU each branch is a round trip to the host, and copies are cheap: there the conditions are constants,
which XLA's GPU compiler folds, branches and all.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import PyTree

from diffmicro._types import Tree


class Kernel(NamedTuple):
    """Conditions of branches that are there for speed. Make it outside the loop, by `kernel`.

    always: true without XLA knowing; elsewhere than on a CPU XLA knows. everywhere: whether work that few
    lanes need is done in all steps, which costs a GPU less than finding out.
    """

    always: Array
    everywhere: Array

    def keep(self, values: Sequence[Array | float]) -> list[Array]:
        """The values, each computed once and stored."""
        return list(
            jax.lax.cond(
                self.always,
                lambda kept: kept,
                lambda kept: tuple(jnp.zeros_like(v) for v in kept),
                tuple(values),
            )
        )

    def where_needed(
        self, needed: Array, compute: Callable[..., Tree], spare: Tree, *operands: PyTree
    ) -> Tree:
        """`compute(*operands)`, scalars, where `needed`, else `spare`; not computed when no lane needs it.

        `jax.lax.cond` under `vmap` computes both sides in every lane, however rare the need. `compute` may not
        use traced values that are not operands, and carries no derivative.
        """
        return _where_needed(self.everywhere, needed, compute, spare, *operands)


def kernel() -> Kernel:
    """A fresh `Kernel`. Call it outside every loop and `vmap`ped data, as this does by construction."""
    yes, no = jnp.asarray(True), jnp.asarray(False)
    return Kernel(
        always=jax.lax.platform_dependent(
            cpu=lambda: jax.lax.optimization_barrier(yes), default=lambda: yes
        ),
        everywhere=jax.lax.platform_dependent(cpu=lambda: no, default=lambda: yes),
    )


def _where_needed(
    everywhere: Array, needed: Array, compute: Callable[..., Tree], spare: Tree, *operands: PyTree
) -> Tree:
    @jax.custom_batching.custom_vmap
    def chosen(everywhere: Array, needed: Array, spare: Tree, operands: tuple) -> Tree:
        anywhere = everywhere | jnp.any(needed)
        computed = jax.lax.cond(anywhere, lambda: compute(*operands), lambda: spare)
        return jax.tree.map(lambda c, s: jnp.where(needed, c, s), computed, spare)

    @chosen.def_vmap
    def _lanes(
        size: int, batched: list, everywhere: Array, needed: Array, spare: Tree, operands: tuple
    ) -> tuple:
        def in_lanes(x: ArrayLike, has_lanes: bool) -> Array:
            x = jnp.asarray(x)
            return x if has_lanes else jnp.broadcast_to(x, (size, *x.shape))

        needed = in_lanes(needed, batched[1])
        spare = jax.tree.map(in_lanes, spare, batched[2])
        axes = jax.tree.map(lambda has_lanes: 0 if has_lanes else None, batched[3])
        wide = jax.vmap(compute, in_axes=tuple(axes), axis_size=size)
        # The same for all lanes; it is never data of one.
        everywhere = jnp.all(everywhere)
        result = _where_needed(everywhere, needed, wide, spare, *operands)
        return result, jax.tree.map(lambda _: True, result)

    return chosen(everywhere, needed, spare, operands)
