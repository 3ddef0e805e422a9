"""Values with a derivative of our own: how a root or an orbit is differentiated without how it was found.

`known(rule, value, given)` is `value`, whose derivative is what `rule` says. The rule may use `known` again,
so derivatives of any order follow, forward and reverse, in loops, batches and compiled functions.

Why not `jax.custom_jvp`: reverse mode drops its rule wherever it cuts a compiled piece (the body of a `scan`,
a `jit`, a `checkpoint`) into what comes before and after, because a derivative was taken already. The next
derivative is then that of the plain function, and where that only hands on what a search found, it is zero
without a word. An operation of JAX has its rule for good, so here is one. It costs nothing when it runs.
`custom_jvp` remains right where the plain function has the same derivative and the rule is only quicker.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.typing import ArrayLike
from jaxtyping import PyTree

from diffmicro._types import Tree

Given = TypeVar("Given")

Changes = Sequence[PyTree]
"""Tangents of the leaves of a tree, arrays; None for a leaf that does not move. One moves at least."""

Rule = Callable[[PyTree, PyTree, Changes], PyTree]
"""(value, given, changes of the leaves of given) -> change of value, of the same structure. All traced values
that it uses have to come through its arguments."""


def known(rule: Rule, value: Tree, given: PyTree) -> Tree:
    """`value` (floating point), with the derivative by `given` that the rule has; how `value` was calculated
    has none."""
    values, value_tree = jax.tree.flatten(jax.tree.map(jnp.asarray, value))
    leaves, given_tree = jax.tree.flatten(jax.tree.map(jnp.asarray, given))
    flat = _Flat(rule, value_tree, given_tree)
    # Its own tangents are not used: none are carried.
    stopped = [jax.lax.stop_gradient(v) for v in values]
    return value_tree.unflatten(_operation.bind(*stopped, *leaves, rule=flat, count=len(values)))


def change_along(function: Callable[[Given], Tree], given: Given, changes: Changes) -> Tree:
    """Change of function(given) along `changes`: no arithmetic for what does not move."""
    leaves, tree = jax.tree.flatten(given)
    moved = [i for i, change in enumerate(changes) if change is not None]

    def along(*values: Array) -> Tree:
        new = dict(zip(moved, values, strict=True))
        return function(tree.unflatten([new.get(i, leaf) for i, leaf in enumerate(leaves)]))

    if not moved:
        return jax.tree.map(jnp.zeros_like, function(given))
    return jax.jvp(along, [leaves[i] for i in moved], [changes[i] for i in moved])[1]


def substitute(value: Array, original: Array) -> Array:
    """`value` in the place of `original`, with the derivative of `original`.

    For a mean that stands where an orbit was refused: the refusal, a derivative that is NaN, remains.
    """
    return known(lambda _value, _original, changes: changes[0], value, original)


def explicit(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function` (vector, others) -> array with derivatives by the vector of any order and mode from its
    forward mode alone. The others carry none."""

    def wrapped(x: Array, *others: PyTree) -> Array:
        value = function(*jax.lax.stop_gradient((x, *others)))
        return known(partial(_explicit_rule, function), value, (x, others))

    return wrapped


def _explicit_rule(function: Callable[..., Array], value: Array, given: PyTree, changes: Changes):
    x, others = given
    if changes[0] is None:
        return jnp.zeros_like(value)
    return explicit(jax.jacfwd(function))(x, *others) @ changes[0]


class _Flat(NamedTuple):
    """A rule on lists of leaves; those of `given` may be constants of NumPy."""

    rule: Rule
    value_tree: Any  # `jax.tree.structure` gives it, and names no type of its own
    given_tree: Any

    def __call__(
        self, values: Sequence[Array], leaves: Sequence[ArrayLike], changes: Changes
    ) -> Sequence:
        value, given = self.value_tree.unflatten(values), self.given_tree.unflatten(leaves)
        return self.value_tree.flatten_up_to(self.rule(value, given, changes))


class _Lanes(NamedTuple):
    """A rule on lists of leaves in lanes. axes: 0 where a leaf of `given` has lanes, else None."""

    rule: "_FlatRule"
    axes: tuple[int | None, ...]

    def __call__(
        self, values: Sequence[Array], leaves: Sequence[ArrayLike], changes: Changes
    ) -> Sequence[Array]:
        along = {i: change for i, change in enumerate(changes) if change is not None}

        def one(
            values: Sequence[Array], leaves: Sequence[ArrayLike], along: dict[int, Array]
        ) -> Sequence[Array]:
            return self.rule(values, leaves, [along.get(i) for i in range(len(leaves))])

        axes = {i: self.axes[i] for i in along}
        return jax.vmap(one, in_axes=(0, list(self.axes), axes))(list(values), list(leaves), along)


_FlatRule = _Flat | _Lanes

Value = TypeVar("Value")
"""An array where numbers are calculated, its shape where only shapes are."""

_operation = Primitive("known")
_operation.multiple_results = True


@_operation.def_impl
def _first(*operands: Value, rule: _FlatRule, count: int) -> list[Value]:
    del rule
    return list(operands[:count])


_operation.def_abstract_eval(_first)


def _jvp(
    primals: Sequence[ArrayLike],
    tangents: Sequence[Array | ad.Zero],
    *,
    rule: _FlatRule,
    count: int,
):
    values = _operation.bind(*primals, rule=rule, count=count)
    changes = [None if isinstance(t, ad.Zero) else t for t in tangents[count:]]
    return values, rule(values, list(primals[count:]), changes)


def _batch(operands: Sequence[Array], axes: Sequence[int | None], *, rule: _FlatRule, count: int):
    (size,) = {x.shape[a] for x, a in zip(operands, axes, strict=True) if a is not None}
    lanes = [x if a is None else jnp.moveaxis(x, a, 0) for x, a in zip(operands, axes, strict=True)]
    values = [
        jnp.broadcast_to(x, (size, *x.shape)) if a is None else x
        for x, a in zip(lanes[:count], axes[:count], strict=True)
    ]
    given_axes = tuple(None if a is None else 0 for a in axes[count:])
    out = _operation.bind(*values, *lanes[count:], rule=_Lanes(rule, given_axes), count=count)
    return out, [0] * count


ad.primitive_jvps[_operation] = _jvp
batching.primitive_batchers[_operation] = _batch
mlir.register_lowering(_operation, mlir.lower_fun(_first, multiple_results=True))
