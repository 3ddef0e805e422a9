"""Rules between fields of a Design and a Setting: each written once, as message for numbers and mask for lanes.

A range of one field belongs to its `parameter`. What several fields have to keep together is a `Rule`, whose
test is evaluated on numbers, where a breach is a `ValueError` with the rule's message, and on traced values,
where a lane that breaks it is `out_of_range`: it runs on harmless numbers (`spare`), so that it ends, and is
blanked afterwards.
"""

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from diffmicro._loops import mesh_axes
from diffmicro._types import Tree
from diffmicro.parameters import DesignT, Fields, Value, check, describe, is_traced, valid


class Rule(NamedTuple):
    """A condition that fields have to keep together.

    test: (design, setting) -> whether they do, a flag or several; of numbers or traced values, or, for what is
    None or a word, of the structure alone. It is False, not an error, where values are not finite. message:
    (design, setting) -> what is not allowed, the allowed range and the remedy, for numbers.
    """

    test: Callable[..., ArrayLike]
    message: Callable[..., str]


def check_point(where: str, rules: Sequence[Rule], design: Fields, setting: Fields) -> None:
    """Raise ValueError for numbers out of range and for the first rule that they break; traced values pass."""
    check(where, design, setting)
    # Python's own numbers raise an error where arrays overflow.
    arrays = jax.tree.map(_as_array, (design, setting))
    # Numbers stay numbers while something else is traced; `shard_map` knows no such mixture.
    numbers = nullcontext if mesh_axes() else jax.ensure_compile_time_eval
    for rule in rules:
        with numbers(), np.errstate(all="ignore"):
            kept = rule.test(*arrays)
            broken = not is_traced(kept) and not np.all(np.asarray(kept))
            if broken:
                raise ValueError(f"{where}: {rule.message(*arrays)}")


def _as_array(value: Value) -> Value:
    return np.float64(value) if isinstance(value, float | int) else value


def legal(rules: Sequence[Rule], design: Fields, setting: Fields) -> Array:
    """Whether all values are in range and keep the rules, for traced values."""
    good = valid(design, setting)
    for rule in rules:
        good = good & jnp.all(rule.test(design, setting))
    return good


def check_requests(where: str, extra: Sequence[str], known: Sequence[str]) -> None:
    """Raise ValueError for a response in `extra` that is none of those on request."""
    for name in extra:
        if name not in known:
            raise ValueError(f"{where}: extra = {name!r} is not one of {', '.join(known)}.")


def where_legal(legal: Array, given: Tree, other: Tree) -> Tree:
    """The tree given, or where it is not legal the other one."""
    return jax.tree.map(lambda a, b: jnp.where(legal, a, jnp.asarray(b, a.dtype)), given, other)


def spare(given: DesignT, **own: Value) -> DesignT:
    """The same tree with numbers that make sense: those in `own`, else the defaults of its class.

    A number whose default is None becomes 1, or the end of its range that is next to 1.
    """
    numbers = {}
    for name, known in describe(type(given)).items():
        value = getattr(given, name)
        if value is None or not known.differentiable:
            continue
        number = own.get(name, known.default)
        if number is None:
            number = min(max(1.0, known.low), known.high)
        value = jnp.asarray(value)
        number = jnp.asarray(number, value.dtype)
        if number.shape not in ((), value.shape):
            number = number.reshape(-1)[0]
        numbers[name] = jnp.broadcast_to(number, value.shape)
    return dataclasses.replace(given, **numbers)  # pyright: ignore[reportArgumentType]
