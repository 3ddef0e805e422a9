"""A function without the operations that its result does not need.

Forward mode takes derivatives of all that a compiled piece calculates, also of what nobody wants; XLA removes the
straight ones of them at once, those in loops only after it has worked on them for long. Here they never reach it.
"""

from collections.abc import Callable

import jax
from jax import Array
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.interpreters.partial_eval import dce_jaxpr

from diffmicro._types import Tree


def pruned(function: Callable[[Array], Tree]) -> Callable[[Array], Tree]:
    """The same function of an array, traced and rid of what is unused."""

    def needed(x: Array) -> Tree:
        traced, shape = jax.make_jaxpr(function, return_shape=True)(x)
        wanted = [True] * len(traced.out_avals)
        program, _ = dce_jaxpr(traced.jaxpr, wanted, instantiate=True)
        leaves = jaxpr_as_fun(ClosedJaxpr(program, traced.consts))(x)
        return jax.tree.unflatten(jax.tree.structure(shape), leaves)

    return needed
