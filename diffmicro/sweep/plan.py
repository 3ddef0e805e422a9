"""What a sweep calculates, cut into chunks that are finished, kept and handed out as a whole.

The cut depends on the points alone, not on who calculates. So one process, several, and a sweep that
was stopped and resumed calculate the same chunks by the same compiled functions, and get the same bits.

Points from rest are independent (`lanes.cut`). With a carried state a walk along the first key is cut
into chunks of `WALK` points, each of which starts from the state that the one before left.
"""

import itertools
import json
import os
import platform
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import metadata
from typing import Literal, NamedTuple

import jax
import numpy as np

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro._sources import sources
from diffmicro.devices import source_of
from diffmicro.parameters import Fields, Value, entry_of
from diffmicro.sweep.chunks import Arrays, Load, Recipe, calculate_chunk
from diffmicro.sweep.gradients import (
    VERDICT,
    derivative_columns,
    derivative_name,
    entry_names,
    unit_per,
)
from diffmicro.sweep.grids import Axes, Batch, batches_of, fields_of, grid, point_of, side_by_side
from diffmicro.sweep.lanes import CHUNK, FEW, cut
from diffmicro.sweep.patience import ALWAYS, GAIN, KEEP
from diffmicro.sweep.table import Table

Carry = Literal["none", "up", "down", "both"]

WALK = 16
"""Points of a chunk of a walk: little to lose when it is stopped, few files for the chunks."""

PACKAGES = ("diffmicro", "jax", "jaxlib", "numpy")
"""Packages whose version may change a result."""


class Job(NamedTuple):
    """A sweep as plain data.

    axes, design, setting, carry, numerics, paired: see `run.sweep`.
    wanted: names of the responses. wrt, of: see `Recipe`.
    """

    device: Device
    axes: Axes
    design: Fields
    setting: Fields
    wanted: tuple[str, ...]
    carry: Carry
    numerics: Mapping[str, Value]
    paired: bool = False
    wrt: tuple[str, ...] = ()
    of: tuple[str, ...] = ()

    @property
    def recipe(self) -> Recipe:
        """What is calculated at each point."""
        return Recipe(self.device, self.wanted, self.numerics, self.wrt, self.of)


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
        self._start = job.design, job.setting
        self._fields = fields_of(self.device, self.columns, *self._start)
        walks = job.carry != "none"
        self._batches = [] if walks else batches_of(self.device, self._fields, *self._start)
        self.chunks = self._walks() if walks else _apart(self._batches)

    def point(self, number: int) -> tuple[Fields, Fields]:
        """Design and setting of a point."""
        return point_of(self._fields, number, *self._start)

    def load(self, chunk: Chunk) -> Load:
        """What it takes to calculate a chunk, beside the recipe and the state that it starts from."""
        if chunk.direction:
            return Load(0, [self.point(point) for point in chunk.points])
        batch = self._batches[chunk.batch]
        points = (batch.design, batch.setting)
        return Load(chunk.width, jax.tree.map(lambda x: x[chunk.lanes], points))

    def calculate(self, chunk: Chunk, state: Arrays | None) -> Arrays:
        """The chunk's arrays. `state`: those of the chunk before it on its walk."""
        return calculate_chunk(self.job.recipe, self.load(chunk), state)

    def table(self, chunk: Chunk, arrays: Arrays) -> Table:
        """Parameters, responses, derivatives and status words of a chunk; a vector takes a column an entry."""
        columns = {key: column[chunk.points] for key, column in self.columns.items()}
        shown = {key: self._units[entry_of(key)[0]] for key in columns}
        if chunk.direction:
            columns["direction"] = np.full(len(chunk.rows), chunk.direction)
        for name in self.job.wanted:
            values = arrays[name]
            entries = values.reshape(len(values), -1).T
            names = entry_names(name, len(entries)) if values.ndim > 1 else [name]
            columns |= dict(zip(names, entries, strict=True))
            shown |= dict.fromkeys(names, self._units[name])
        for of, key in itertools.product(self.job.of, self.job.wrt):
            name = derivative_name(of, key)
            own = derivative_columns(of, key, arrays[name], arrays[VERDICT + name])
            slopes = [column for column in own if not column.startswith(VERDICT)]
            columns |= own
            shown |= dict.fromkeys(slopes, unit_per(self._units[of], self._units[key]))
        return Table(tuple(self.columns), columns | {"status": arrays["status"]}, chunk.rows, shown)

    @cached_property
    def _units(self) -> dict[str, str]:
        known = self.device.keys | self.device.responses
        return {name: field.unit for name, field in known.items()}

    def _walks(self) -> list[Chunk]:
        """Walks along the first axis, one for each combination of the other keys and direction."""
        first, *others = self.columns.values()
        walks: dict[tuple, list[int]] = {}
        for point in range(len(first)):
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


def _apart(groups: Sequence[Batch]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for number, batch in enumerate(groups):
        parts = cut(len(batch.lanes))
        width = len(parts[0])
        for lanes in parts:
            rows = batch.lanes[lanes]
            chunks.append(Chunk(len(chunks), rows, rows, batch=number, lanes=lanes, width=width))
    return chunks


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


def fingerprint(job: Job) -> JsonObject:
    """All that a chunk's bits depend on, as JSON has it: words, values, precision, versions."""
    found: dict[str, Json] = {
        "device": job.device.name,
        "source of the device": source_of(job.device),
    }
    for tree in (job.design, job.setting):
        found |= {key: _plain(value) for key, value in vars(tree).items()}
    found |= {key: _plain(values) for key, values in job.axes.items()}
    found |= {
        "order of the keys": list(job.axes),
        "paired": job.paired,
        "responses": list(job.wanted),
        "derivatives": {"of": list(job.of), "by": list(job.wrt)},
        "carry": job.carry,
        "numerics": {key: str(value) for key, value in sorted(job.numerics.items())},
    }
    return json.loads(json.dumps(found | environment()))


def environment() -> JsonObject:
    """What a chunk's bits depend on in the process that calculates: precision, versions, source, flags,
    machine."""
    found = {
        "precision": 64 if jax.config.read("jax_enable_x64") else 32,
        "cut": ["even chunks", FEW, CHUNK, WALK, GAIN, KEEP, ALWAYS],
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
        "machine": f"{jax.default_backend()} on {platform.system()} {platform.machine()}",
    }
    found |= {f"version of {name}": metadata.version(name) for name in PACKAGES}
    return found | {"source of diffmicro": sources()}


def _plain(value: Value) -> Json:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return np.asarray(value).tolist()
