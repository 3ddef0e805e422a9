"""Designs and settings that differ in one number, between two ends: what branches are followed along."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
from jax import Array

from diffmicro.parameters import Fields, as_arrays, one_number, put
from diffmicro.rules import Rule, check_point


class Stretch(eqx.Module):
    """A number of a design or setting that moves.

    lump: (design, setting) -> the vector that the motion depends on.
    """

    design: Fields
    setting: Fields
    key: str = eqx.field(static=True)
    lump: Callable[..., Array] = eqx.field(static=True)

    def at(self, value: Array | float) -> tuple[Any, Any]:
        """Design and setting with this value of the number."""
        return put(self.design, self.setting, {self.key: value})

    def __call__(self, value: Array) -> Array:
        return self.lump(*self.at(value))


def stretch(
    where: str,
    rules: Sequence[Rule],
    lump: Callable[..., Array],
    point: tuple[Fields, Fields],
    key: str,
    start: float,
    stop: float,
) -> Stretch:
    """The stretch of `key` from `start` to `stop`; ValueError for what is no number or not allowed at an end."""
    one_number(where, *point, key)
    if not start < stop:
        raise ValueError(f"{where}: need start < stop, got {start} and {stop}.")
    design, setting = as_arrays(point)
    found = Stretch(design, setting, key, lump)
    for end in (start, stop):
        check_point(where, rules, *found.at(end))
    return found
