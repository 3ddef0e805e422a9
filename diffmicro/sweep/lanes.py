"""One calculation on many points: one by one when they are few, in chunks when they are many.

Compiling a batch takes as long as some hundred single points, so few points are looped over one
compiled function. Many go in chunks with a cheap search first, because under `vmap` every lane pays
for the longest search; what the cheap search did not find is looped over with the full one, and so is a lane
that the others waited for too long (`patience`).

Which lanes go together depends on their number alone (`cut`), so it does not matter who calculates
them: see `sweep.cluster` for several processes.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro import _executables
from diffmicro._types import Tree
from diffmicro.parameters import Fields, Value
from diffmicro.results import FAILURES, RESULTS, words
from diffmicro.sweep.grids import Batch
from diffmicro.sweep.patience import patient

CHUNK = 256
"""Most lanes of one batched call: enough for the vector units, small enough for the cache."""

FEW = 256
"""Up to so many points a loop beats compiling a batch (WRMMA on CPU: 5 ms a point against 15 s)."""

HASTY = {"xla_backend_optimization_level": 0}
"""Options of XLA for one point: compiling takes two thirds of the time, calculating 3 to 20 times as long, which
is less for most devices."""


class Piece(NamedTuple):
    """Finished points: their positions among all points, and what was calculated, stacked."""

    lanes: np.ndarray
    output: PyTree


Build = Callable[..., Callable[[PyTree, PyTree], PyTree]]
"""From numerics to the function of a lane: (design, setting) -> what is calculated."""


def calculate(
    build: Build,
    batch: Batch,
    *,
    quick: dict[str, Value],
    result_of: Callable[[PyTree], RESULTS] = lambda response: response.result,
    few: int = FEW,
    chunk: int = CHUNK,
) -> Iterator[Piece]:
    """Calculate `build(**numerics)(design, setting)` on every lane, yielding what is finished.

    `quick`: numerics of the cheap search, tried first on more than `few` lanes; without any, what
    fails there is not repeated.
    """
    parts = cut(len(batch.lanes), few, chunk)
    for lanes in parts:
        width = len(parts[0])
        yield from calculate_lanes(build, batch, lanes, width, quick=quick, result_of=result_of)


def cut(count: int, few: int = FEW, chunk: int = CHUNK) -> list[np.ndarray]:
    """The lanes of `count` that are calculated in one go: one by one up to `few`, else in even chunks.

    The first chunk is as long as any, the others are at most one lane shorter.
    """
    parts = -(-count // chunk) if count > few else count
    return np.array_split(np.arange(count), parts)


def calculate_lanes(
    build: Build,
    batch: Batch,
    lanes: np.ndarray,
    width: int,
    *,
    quick: dict[str, Value],
    result_of: Callable[[PyTree], RESULTS] = lambda response: response.result,
) -> Iterator[Piece]:
    """`calculate` on some lanes of a batch; `width`: lanes of one compiled call, 1: no batch."""
    if width == 1:
        yield from _loop(build, batch, lanes)
        return
    mapped = compiled_batch(build, tuple(quick.items()))
    # A shorter chunk is filled up with its last lane, which does not count: one shape, one compilation.
    known = np.arange(len(lanes))
    filled = np.append(lanes, np.full(width - len(lanes), lanes[-1]))
    counts = np.arange(width) < len(lanes)
    output, left = _on_host(mapped(counts, *_take((batch.design, batch.setting), filled)))
    failed = np.isin(words(result_of(output))[known].astype(str), FAILURES) & bool(quick)
    failed |= left[known]
    if not failed.all():
        yield Piece(batch.lanes[lanes[~failed]], _take(output, known[~failed]))
    yield from _loop(build, batch, lanes[failed])


def calculate_one(
    build: Build,
    batch: Batch,
    *,
    lone: dict[str, Value],
    result_of: Callable[[PyTree], RESULTS] = lambda response: response.result,
    hasty: bool = True,
    name: str | None = None,
) -> Piece:
    """`calculate` for a single one-off point: least time to compile and run.

    `lone`: numerics for that, tried first, then without the cheaper search that they may name. The numbers are
    those of `calculate` up to rounding.
    `hasty`: whether it is compiled without optimization.
    `name`: whatever decides what `build` makes; with it the executable is kept for other processes.
    """
    only = _take((batch.design, batch.setting), 0)
    surely = {name: value for name, value in lone.items() if name == "share"}
    for numerics in (lone, surely) if surely != lone else (lone,):
        known = name and f"{name} {numerics}"
        options = HASTY if hasty else {}
        function = _made(build, tuple(numerics.items()))
        output = _on_host(_executables.call(function, only, options, known))
        if words(result_of(output)).item() not in FAILURES:
            break
    return Piece(batch.lanes, jax.tree.map(lambda x: x[None], output))


@cache
def lane_function(respond: Callable, **fixed: Value) -> Build:
    """Makes `(design, setting) -> response` from `respond`, for `calculate`. Nothing is raised."""

    def build(**numerics: Value) -> Callable[[Fields, Fields], PyTree]:
        return lambda design, setting: respond(design, setting, throw=False, **fixed, **numerics)

    return build


@cache
def _made(build: Callable, numerics: tuple[tuple[str, Value], ...]) -> Callable:
    """`build(**numerics)`, one function in a process, so that it is compiled once."""
    return build(**dict(numerics))


@cache
def compiled(build: Callable, numerics: tuple[tuple[str, Value], ...] = ()) -> Callable:
    """`build(**numerics)`, compiled once in a process."""
    return jax.jit(_made(build, numerics))


@cache
def compiled_batch(build: Callable, numerics: tuple[tuple[str, Value], ...] = ()) -> Callable:
    """`build(**numerics)` on a batch, compiled once in a process; see `patient`."""
    return jax.jit(patient(_made(build, numerics)))


def _loop(build: Callable, batch: Batch, lanes: np.ndarray) -> Iterator[Piece]:
    single = compiled(build)
    for lane in lanes:
        output = _on_host(single(*_take((batch.design, batch.setting), lane)))
        yield Piece(batch.lanes[lane : lane + 1], jax.tree.map(lambda x: x[None], output))


def _take(tree: Tree, lanes: int | np.ndarray) -> Tree:
    return jax.tree.map(lambda x: x[lanes], tree)


def _on_host(tree: Tree) -> Tree:
    return jax.tree.map(np.asarray, tree)
