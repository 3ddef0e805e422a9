"""Many calculations that are no sweep: parts of a yield, starts of a basin, places of a search.

This process or others carry them out, with the same bits: lanes are cut as those of a sweep, and a call is the
same compiled program in every process.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro._types import Tree
from diffmicro.sweep.chunks import Arrays, Load, Recipe, calculate_chunk
from diffmicro.sweep.cluster import Processes
from diffmicro.sweep.lanes import CHUNK, cut
from diffmicro.sweep.remote import Call


def calculated(
    recipe: Recipe,
    points: PyTree,
    starts: PyTree = None,
    processes: Processes | None = None,
    watch: Callable[[int], None] = lambda count: None,
) -> Arrays:
    """Responses and `status` by name, a row for each lane.

    Up to one chunk stays in this process, which has compiled for it already.
    points: (design, setting) stacked. starts: see `Load`. watch: gets how many lanes each finished call had, where
    this process calculates them; else all at the end.
    """
    count = len(jax.tree.leaves(points)[0])
    parts = cut(count)
    width = len(parts[0])

    def call(lanes: np.ndarray) -> Call:
        load = Load(width, rows(points, lanes), rows(starts, lanes))
        return Call(recipe.device, calculate_chunk, (recipe, load))

    def named(part: int) -> str:
        return f"the lanes {parts[part][0]} to {parts[part][-1]} of {count}"

    if processes is None or count <= CHUNK:
        found = []
        for lanes in parts:
            found.append(call(lanes).here())
            watch(len(lanes))
    else:
        found = all_of([call(lanes) for lanes in parts], named, processes)
        watch(count)
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


def all_of(
    calls: Sequence[Call], named: Callable[[int], str], processes: Processes | None
) -> list[Any]:
    """What each call gives, in their order. named: how one, by its number, is called in a message."""
    if processes is None:
        return [call.here() for call in calls]
    found = dict(processes.each(range(len(calls)), calls.__getitem__, named))
    return [found[number] for number in range(len(calls))]


def rows(tree: Tree, lanes: np.ndarray | int) -> Tree:
    """Some lanes of a batch."""
    return jax.tree.map(lambda x: np.asarray(x)[lanes], tree)
