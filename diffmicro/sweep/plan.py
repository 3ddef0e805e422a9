"""What a sweep calculates, cut into chunks that are finished, kept and handed out as a whole.

The cut depends on the points alone, not on who calculates. So one process, several, and a sweep that
was stopped and resumed calculate the same chunks by the same compiled functions, and get the same bits.

Points from rest are independent (`lanes.cut`). With a carried state a walk along the first key is cut
into chunks of `WALK` points, each of which starts from the state that the one before left.
"""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib import metadata
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from diffmicro._device import Device
from diffmicro.parameters import as_arrays, entry_of
from diffmicro.results import words
from diffmicro.sweep.grids import Axes, Batch, batches, grid, points_of, side_by_side
from diffmicro.sweep.lanes import (
    CHUNK,
    FEW,
    calculate_lanes,
    compiled,
    cut,
    lane_function,
)
from diffmicro.sweep.patience import ALWAYS, GAIN, KEEP
from diffmicro.sweep.table import Table

Carry = Literal["none", "up", "down", "both"]

Arrays = dict[str, np.ndarray]
"""What a chunk's calculation gave: responses and `status` by name, and the state that is handed on."""

WALK = 16
"""Points of a chunk of a walk: little to lose when it is stopped, few files for the chunks."""

STATE = "state after:"
"""Before the number of a leaf of the state that is handed on, in `Arrays`."""

PACKAGES = ("diffmicro", "jax", "jaxlib", "numpy")
"""Packages whose version may change a result."""


class Job(NamedTuple):
    """A sweep as plain data, which other processes understand.

    axes, design, setting, carry, numerics, paired: see `run.sweep`.
    wanted: names of the responses.
    """

    device: Device
    axes: Axes
    design: Any
    setting: Any
    wanted: tuple[str, ...]
    carry: Carry
    numerics: Mapping[str, Any]
    paired: bool = False


class Chunk(NamedTuple):
    """Points that are calculated as a whole.

    number: position among the chunks. rows: their rows in the sweep's table.
    points: their positions among the points. direction: of a walk, else empty.
    after: number of the chunk whose state this one starts from; None: from rest.
    batch, lanes, width: which lanes of which batch, for points from rest; see `calculate_lanes`.
    """

    number: int
    rows: np.ndarray
    points: np.ndarray
    direction: str = ""
    after: int | None = None
    batch: int = 0
    lanes: np.ndarray = np.zeros(0, int)
    width: int = 1


class Work:
    """The chunks of a job, and how to calculate them in this process."""

    def __init__(self, job: Job):
        self.job = job
        self.device = job.device
        columns = side_by_side(job.axes) if job.paired else grid(job.axes)
        self.columns = {key: columns[key] for key in job.axes}
        self.points = points_of(self.device, self.columns, job.design, job.setting)
        self._build = lane_function(self.device.respond, **job.numerics)
        self._batches = [] if job.carry != "none" else batches(self.points)
        self.chunks = self._walks() if job.carry != "none" else _apart(self._batches)

    def calculate(self, chunk: Chunk, state: Arrays | None) -> Arrays:
        """The chunk's arrays. `state`: those of the chunk before it on its walk."""
        if chunk.direction:
            return self._walk(chunk, state or {})
        pieces = calculate_lanes(
            self._build,
            self._batches[chunk.batch],
            chunk.lanes,
            chunk.width,
            quick=dict(self.device.quick),
        )
        found = list(pieces)
        order = np.argsort(np.concatenate([piece.lanes for piece in found]))
        parts = [self._arrays(piece.output) for piece in found]
        return {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}

    def table(self, chunk: Chunk, arrays: Arrays) -> Table:
        """Parameters, responses and status words of a chunk; a vector takes a column an entry."""
        columns = {key: column[chunk.points] for key, column in self.columns.items()}
        shown = {key: self._units[entry_of(key)[0]] for key in columns}
        if chunk.direction:
            columns["direction"] = np.full(len(chunk.rows), chunk.direction)
        for name in self.job.wanted:
            values = arrays[name]
            entries = values.reshape(len(values), -1).T
            numbered = [f"{name}_{n}" for n in range(1, len(entries) + 1)]
            names = numbered if values.ndim > 1 else [name]
            columns |= dict(zip(names, entries, strict=True))
            shown |= dict.fromkeys(names, self._units[name])
        return Table(tuple(self.columns), columns | {"status": arrays["status"]}, chunk.rows, shown)

    @cached_property
    def _units(self) -> dict[str, str]:
        known = self.device.parameters | self.device.responses
        return {name: field.unit for name, field in known.items()}

    def _arrays(self, output: Any) -> Arrays:
        found = {name: np.asarray(getattr(output, name), float) for name in self.job.wanted}
        return found | {"status": words(output.result).astype(str)}

    def _walks(self) -> list[Chunk]:
        """Walks along the first axis, one for each combination of the other keys and direction."""
        first, *others = self.columns.values()
        walks: dict[tuple, list[int]] = {}
        for point in range(len(self.points)):
            walks.setdefault(tuple(column[point] for column in others), []).append(point)
        directions = ("up", "down") if self.job.carry == "both" else (self.job.carry,)
        chunks: list[Chunk] = []
        row = 0
        for points in walks.values():
            rising = sorted(points, key=lambda point: first[point])
            for direction in directions:
                way = np.array(rising if direction == "up" else rising[::-1])
                for start in range(0, len(way), WALK):
                    part = way[start : start + WALK]
                    rows = np.arange(row, row + len(part))
                    number, row = len(chunks), row + len(part)
                    after = number - 1 if start else None
                    chunks.append(Chunk(number, rows, part, direction, after))
        return chunks

    def _walk(self, chunk: Chunk, before: Arrays) -> Arrays:
        """A part of a walk; a state that is not finite is not handed on, the last good one is."""
        leaves = [before[name] for name in _state_names(before)]
        parts = []
        for point in chunk.points:
            design, setting = as_arrays(self.points[point])
            if leaves:
                shape = jax.eval_shape(compiled(self._build), design, setting).state
                state = jax.tree.unflatten(jax.tree.structure(shape), leaves)
                response = self._follow(design, setting, state)
            else:
                response = compiled(self._build)(design, setting)
            new = [np.asarray(leaf) for leaf in jax.tree.leaves(response.state)]
            leaves = new if all(np.all(np.isfinite(leaf)) for leaf in new) else leaves
            parts.append(self._arrays(jax.tree.map(lambda x: np.asarray(x)[None], response)))
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return joined | {f"{STATE}{number}": leaf for number, leaf in enumerate(leaves)}

    @property
    def _follow(self) -> Any:
        return _follow(self.device.respond, tuple(self.job.numerics.items()))


@cache
def _follow(respond: Any, numerics: tuple) -> Any:
    """`respond` from a state, compiled once in a process."""
    return jax.jit(
        lambda design, setting, state: respond(
            design, setting, start=state, throw=False, **dict(numerics)
        )
    )


def _apart(groups: Sequence[Batch]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for number, batch in enumerate(groups):
        parts = cut(len(batch.lanes))
        width = len(parts[0])
        for lanes in parts:
            rows = batch.lanes[lanes]
            chunks.append(Chunk(len(chunks), rows, rows, batch=number, lanes=lanes, width=width))
    return chunks


def _state_names(arrays: Arrays) -> list[str]:
    found = [name for name in arrays if name.startswith(STATE)]
    return sorted(found, key=lambda name: int(name.removeprefix(STATE)))


class Shard(NamedTuple):
    """A share of a sweep for one of several programs: the `number`th of `of` parts, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def chunks(self, whole: Sequence[Chunk]) -> list[Chunk]:
        """The chunks of this part; a walk stays together."""
        walks: list[list[Chunk]] = []
        for chunk in whole:
            if chunk.after is None:
                walks.append([])
            walks[-1].append(chunk)
        first, last = (len(walks) * n // self.of for n in (self.number - 1, self.number))
        return [chunk for walk in walks[first:last] for chunk in walk]


def fingerprint(job: Job) -> dict[str, Any]:
    """All that a chunk's bits depend on, as JSON has it: words, values, precision, versions."""
    found: dict[str, Any] = {"device": job.device.name}
    for tree in (job.design, job.setting):
        found |= {key: _plain(value) for key, value in vars(tree).items()}
    found |= {key: _plain(values) for key, values in job.axes.items()}
    found |= {
        "order of the keys": list(job.axes),
        "paired": job.paired,
        "responses": list(job.wanted),
        "carry": job.carry,
        "numerics": {key: str(value) for key, value in sorted(job.numerics.items())},
        "precision": 64 if jax.config.read("jax_enable_x64") else 32,
        "cut": ["even chunks", FEW, CHUNK, WALK, GAIN, KEEP, ALWAYS],
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
        "machine": f"{jax.default_backend()} on {platform.system()} {platform.machine()}",
    }
    found |= {f"version of {name}": metadata.version(name) for name in PACKAGES}
    return json.loads(json.dumps(found))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return np.asarray(value).tolist()
