"""Many lanes that are no sweep: parts of a yield, starts of a basin, here or shared by processes.

The lanes are cut as those of a sweep, so the numbers are the same to the bit, whoever calculates them. Up to one
chunk stays in this process, which has compiled for it already.
"""

import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro._types import Tree
from diffmicro.sweep.chunks import Arrays, Load, Recipe, calculate_chunk
from diffmicro.sweep.cluster import Processes
from diffmicro.sweep.lanes import CHUNK, cut
from diffmicro.sweep.remote import parcel_of


def calculated(
    recipe: Recipe, points: PyTree, starts: PyTree = None, processes: Processes | None = None
) -> Arrays:
    """Responses and `status` by name, a row for each lane.

    points: (design, setting) stacked. starts: see `Load`.
    """
    count = len(jax.tree.leaves(points)[0])
    parts = cut(count)
    width = len(parts[0])

    def load(part: int) -> Load:
        lanes = parts[part]
        return Load(width, _rows(points, lanes), _rows(starts, lanes))

    numbers = range(len(parts))
    if processes is None or count <= CHUNK:
        found = {number: calculate_chunk(recipe, load(number)) for number in numbers}
    else:
        first = _rows(points, 0)

        def packed(part: int) -> bytes:
            return parcel_of(recipe, load(part), first, None)

        def named(part: int) -> str:
            return f"the lanes {parts[part][0]} to {parts[part][-1]} of {count}"

        found = dict(processes.each(numbers, packed, named))
    return {name: np.concatenate([found[n][name] for n in numbers]) for name in found[0]}


def _rows(tree: Tree, lanes: np.ndarray | int) -> Tree:
    return jax.tree.map(lambda x: np.asarray(x)[lanes], tree)
