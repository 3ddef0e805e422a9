"""Keeping XLA from computing the same thing many times inside a time loop.

XLA's fusion on CPU copies a cheap operation into every consumer. In a Taylor step almost every value
has many consumers, and the copies multiply: a WRMMA step of 1700 operations became 11000, three times
slower in one lane and four times in a batch. `jax.lax.optimization_barrier` does not help, because
XLA's CPU pipeline removes it before it fuses. A branch stays, so values are kept whole by passing
them through one whose condition XLA cannot know. Results are the same with and without; only speed
depends on it.
"""

from collections.abc import Sequence
from typing import NamedTuple

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
