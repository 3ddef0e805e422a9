"""Loops that run inside `jax.shard_map` too: those of `jax.lax`, with carries that vary as the data does.

Inside `shard_map` the type of an array lists the axes of the mesh over which it varies, and a loop's carry
keeps its type. Most carries start from constants (a counter, a flag, zeros), which vary over none, and come
back mixed with data, which varies. So inside `shard_map` whatever enters a loop, and whatever its body returns,
is cast to vary over all axes. Outside nothing is changed.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import PyTree

from diffmicro._types import Tree

Seen = TypeVar("Seen")


def varying(tree: Tree) -> Tree:
    """The tree, its arrays cast to vary over all axes of the mesh that `shard_map` is working on, if any."""
    axes = mesh_axes()
    return jax.tree.map(lambda x: _cast(x, axes), tree) if axes else tree


def mesh_axes() -> tuple[str, ...]:
    """Axes of the mesh that `shard_map` is working on; none elsewhere."""
    return tuple(jax.sharding.get_abstract_mesh().manual_axes)


def _cast(x: ArrayLike, axes: tuple[str, ...]) -> Array:
    x = jnp.asarray(x)
    kind = jax.typeof(x)
    mat = getattr(kind, "mat", None)
    over = getattr(kind, "vma", ()) if mat is None else mat.varying  # `vma` before JAX 0.10
    missing = tuple(axis for axis in axes if axis not in over)
    return jax.lax.pcast(x, missing, to="varying") if missing else x


def while_loop(
    goes_on: Callable[[Tree], ArrayLike], body: Callable[[Tree], Tree], carry: Tree
) -> Tree:
    """`jax.lax.while_loop`."""
    if not mesh_axes():
        return jax.lax.while_loop(goes_on, body, carry)
    return jax.lax.while_loop(goes_on, lambda c: varying(body(c)), varying(carry))


def fori_loop(
    first: Array | int,
    last: Array | int,
    body: Callable[[Array, Tree], Tree],
    carry: Tree,
    **options: bool | int | None,
) -> Tree:
    """`jax.lax.fori_loop`."""
    if not mesh_axes():
        return jax.lax.fori_loop(first, last, body, carry, **options)
    first, last = varying((first, last)) if isinstance(last, Array) else (first, last)
    return jax.lax.fori_loop(
        first, last, lambda i, c: varying(body(i, c)), varying(carry), **options
    )


def scan(
    body: Callable[[Tree, PyTree], tuple[Tree, Seen]],
    carry: Tree,
    *given: PyTree,
    **options: bool | int | None,
) -> tuple[Tree, Seen]:
    """`jax.lax.scan`."""
    if not mesh_axes():
        return jax.lax.scan(body, carry, *given, **options)

    def whole(carry: Tree, x: PyTree) -> tuple[Tree, Seen]:
        after, seen = body(carry, x)
        return varying(after), seen

    return jax.lax.scan(whole, varying(carry), *given, **options)
