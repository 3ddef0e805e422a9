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

    def in_some_lane(self, needed: Array) -> Array:
        """Whether any lane needs something: a condition of `jax.lax.cond` that stays one branch for all lanes.

        With a condition of its own in each lane, `cond` under `vmap` computes both sides in every lane, however
        rare the need. Derivatives go through the branches as they do with any condition.
        """
        return self.everywhere | _in_some_lane(needed)

    def where_needed(
        self, needed: Array, compute: Callable[..., Tree], spare: Tree, *operands: PyTree
    ) -> Tree:
        """`compute(*operands)` where `needed`, else `spare`; not computed when no lane needs it."""
        computed = jax.lax.cond(
            self.in_some_lane(needed), lambda: compute(*operands), lambda: spare
        )
        return jax.tree.map(lambda c, s: jnp.where(needed, c, s), computed, spare)


def kernel() -> Kernel:
    """A fresh `Kernel`. Call it outside every loop and `vmap`ped data, as this does by construction."""
    yes, no = jnp.asarray(True), jnp.asarray(False)
    return Kernel(
        always=jax.lax.platform_dependent(
            cpu=lambda: jax.lax.optimization_barrier(yes), default=lambda: yes
        ),
        everywhere=jax.lax.platform_dependent(cpu=lambda: no, default=lambda: yes),
    )


@jax.custom_batching.custom_vmap
def _in_some_lane(needed: Array) -> Array:
    return needed


@_in_some_lane.def_vmap
def _for_all_lanes(size: int, batched: Sequence[bool], needed: Array) -> tuple[Array, bool]:
    return _in_some_lane(jnp.any(needed, axis=0)), False
