"""The calculation of one chunk of a sweep, from what belongs to the chunk alone.

A `Recipe` says what is calculated at a point, a `Load` at which points. Both are plain data: any process that has
them, and the same packages, gets the same bits, and needs nothing else of the sweep.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.parameters import Fields, Value, as_arrays
from diffmicro.results import words
from diffmicro.sweep.gradients import (
    derivative_arrays,
    gradient_function,
    response_of,
    result_of,
    with_gradient,
)
from diffmicro.sweep.grids import Batch
from diffmicro.sweep.lanes import Build, calculate_lanes, compiled, lane_function

Arrays = dict[str, np.ndarray]
"""What a chunk's calculation gave: responses, derivatives, `status` by name, and the state that is handed on."""

STATE = "state after:"
"""Before the number of a leaf of the state that is handed on, in `Arrays`."""


class Recipe(NamedTuple):
    """What is calculated at a point.

    wanted: names of the responses. numerics: of the device's `respond`.
    of, wrt: responses to differentiate, and keys to differentiate by; none: no gradient.
    """

    device: Device
    wanted: tuple[str, ...]
    numerics: Mapping[str, Value]
    wrt: tuple[str, ...] = ()
    of: tuple[str, ...] = ()

    @property
    def build(self) -> Build:
        """Makes the function of a point, see `lanes.calculate`."""
        if self.wrt:
            return gradient_function(self.device, self.wrt, self.of, **self.numerics)
        return lane_function(self.device.respond, **self.numerics)


class Load(NamedTuple):
    """The points of a chunk.

    width: lanes of one compiled call, 1: one by one, 0: a walk, where each starts from the state before it.
    points: (design, setting) stacked, of a walk a list of them.
    starts: states stacked that the points' motions start from; None: from the setting's own start.
    """

    width: int
    points: PyTree
    starts: PyTree = None


def calculate_chunk(recipe: Recipe, load: Load, before: Arrays | None = None) -> Arrays:
    """The chunk's arrays. `before`: those of the chunk before it on its walk."""
    if not load.width:
        return _walk(recipe, load.points, before or {})
    lanes = np.arange(len(jax.tree.leaves(load.points)[0]))
    build, batch = recipe.build, Batch(lanes, *load.points)
    if load.starts is not None:
        numerics = tuple(recipe.numerics.items())
        build, batch = _from_states(recipe.device, numerics), Batch(lanes, load.starts, load.points)
    quick = dict(recipe.device.quick)
    found = list(calculate_lanes(build, batch, lanes, load.width, quick=quick, result_of=result_of))
    order = np.argsort(np.concatenate([piece.lanes for piece in found]))
    parts = [_arrays(recipe, piece.output) for piece in found]
    return {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}


@cache
def _from_states(device: Device, numerics: tuple[tuple[str, Value], ...]) -> Build:
    """Makes `(state, point) -> response`."""

    def build(**more: Value) -> Callable[..., PyTree]:
        given = {**dict(numerics), **more, "throw": False}
        return lambda state, point: device.respond(*point, start=state, **given)

    return build


def _arrays(recipe: Recipe, output: PyTree) -> Arrays:
    response = response_of(output)
    found = {name: np.asarray(getattr(response, name), float) for name in recipe.wanted}
    if recipe.wrt:
        found |= derivative_arrays(output, recipe.wrt, recipe.of)
    return found | {"status": words(response.result).astype(str)}


def _walk(recipe: Recipe, points: Sequence[tuple[Fields, Fields]], before: Arrays) -> Arrays:
    """A part of a walk; a state that is not finite is not handed on, the last good one is."""
    first = compiled(recipe.build)
    leaves = [before[name] for name in _state_names(before)]
    parts = []
    for point in points:
        design, setting = as_arrays(point)
        if leaves:
            shape = response_of(jax.eval_shape(first, design, setting)).state
            state = jax.tree.unflatten(jax.tree.structure(shape), leaves)
            numerics = tuple(recipe.numerics.items())
            follow = _follow(recipe.device, numerics, recipe.wrt, recipe.of)
            output = follow(design, setting, state)
        else:
            output = first(design, setting)
        new = [np.asarray(leaf) for leaf in jax.tree.leaves(response_of(output).state)]
        leaves = new if all(np.all(np.isfinite(leaf)) for leaf in new) else leaves
        parts.append(_arrays(recipe, jax.tree.map(lambda x: np.asarray(x)[None], output)))
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return joined | {f"{STATE}{number}": leaf for number, leaf in enumerate(leaves)}


Follow = Callable[[Fields, Fields, PyTree], PyTree]


@cache
def _follow(device: Device, numerics: tuple, wrt: tuple[str, ...], of: tuple[str, ...]) -> Follow:
    """The function of a point that starts from a state, compiled once in a process."""

    def point(design: Fields, setting: Fields, state: PyTree) -> PyTree:
        known = {**dict(numerics), "start": state}
        if wrt:
            return with_gradient(device, wrt, of, known)(design, setting)
        return device.respond(design, setting, throw=False, **known)

    return jax.jit(point)


def _state_names(arrays: Arrays) -> list[str]:
    found = [name for name in arrays if name.startswith(STATE)]
    return sorted(found, key=lambda name: int(name.removeprefix(STATE)))
