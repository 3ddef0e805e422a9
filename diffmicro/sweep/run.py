"""Sweeps: the responses of a device over a grid, each point from rest or from its neighbor.

From rest, points are independent. With a carried state the first axis is walked up or down, and
each point starts where the one before ended: so an experiment sweeps a frequency, and so hysteresis
is seen. Each walk starts from rest. A state that is not finite is not handed on; the last good one
is.

Results come in pieces as they are finished, so that an interrupted sweep has something to save. With a
`Store` they are also kept on disk, and a later call goes on from there.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from types import ModuleType
from typing import Any

import numpy as np

from diffmicro._parameters import describe
from diffmicro.devices import asking_for, on_request
from diffmicro.sweep.grids import Axes
from diffmicro.sweep.plan import Arrays, Carry, Chunk, Job, Work, fingerprint
from diffmicro.sweep.store import Store
from diffmicro.sweep.table import Table
from diffmicro.sweep.workers import spread


def sweep(
    device: ModuleType,
    axes: Axes,
    *,
    design: Any = None,
    setting: Any = None,
    responses: Sequence[str] | None = None,
    carry: Carry = "none",
    workers: int = 1,
    store: Store | None = None,
    **numerics: Any,
) -> Generator[Table]:
    """The responses of `device` on the grid of `axes` (key -> values) in pieces, for `join`.

    `design`, `setting`: what no axis names; the published ones by default.
    `responses`: which ones, all by default. `numerics` go to the device's `respond`.
    `workers`: processes; with 1 this one calculates. The numbers are the same to the bit. A program
    that asks for several starts its own work under `if __name__ == "__main__":`.
    `store`: where finished chunks are kept, and are looked for first.
    """
    if not axes:
        raise ValueError("sweep: no axis is given. Name at least one parameter and its values.")
    if workers < 1:
        raise ValueError(f"sweep: workers = {workers} is not allowed; it has to be at least 1.")
    known = describe(device.Response)
    usual = (name for name in known if known[name].unit and name not in on_request(device))
    wanted = tuple(responses or usual)
    job = Job(
        device.__name__,
        dict(axes),
        device.published_design() if design is None else design,
        device.published_setting() if setting is None else setting,
        wanted,
        carry,
        asking_for(device, wanted, numerics),
    )
    work = Work(job)
    missing, states = work.chunks, {}
    if store is not None:
        store.begin(fingerprint(job), len(work.chunks))
        missing, followed = [], _followed(work.chunks)
        for chunk in work.chunks:
            arrays = store.load(chunk.number)
            if arrays is None:
                missing.append(chunk)
                continue
            if chunk.number in followed:
                states[chunk.number] = arrays
            yield work.table(chunk, arrays)
    with closing(_finished(work, missing, states, workers)) as finished:
        for chunk, arrays in finished:
            if store is not None:
                store.save(chunk.number, arrays)
            yield work.table(chunk, arrays)


def size(axes: Axes, carry: Carry = "none") -> int:
    """Number of points that a sweep calculates."""
    return int(np.prod([len(values) for values in axes.values()])) * (2 if carry == "both" else 1)


def _finished(
    work: Work, chunks: Sequence[Chunk], states: dict[int, Arrays], workers: int
) -> Generator[tuple[Chunk, Arrays]]:
    """Each chunk with its arrays as soon as it has them."""
    if workers > 1:
        yield from spread(work.job, chunks, states, workers, lambda chunk: _name(work, chunk))
        return
    followed = _followed(chunks)
    for chunk in chunks:  # a chunk's predecessor has a smaller number
        before = None if chunk.after is None else states.pop(chunk.after)
        arrays = work.calculate(chunk, before)
        if chunk.number in followed:
            states[chunk.number] = arrays
        yield chunk, arrays


def _followed(chunks: Sequence[Chunk]) -> set[int | None]:
    """Numbers of the chunks from whose state another one starts."""
    return {chunk.after for chunk in chunks}


def _name(work: Work, chunk: Chunk) -> str:
    """A chunk for people: its number and its first point."""
    first = {key: column[chunk.points[0]] for key, column in work.columns.items()}
    told = ", ".join(f"{key} = {value}" for key, value in first.items())
    way = f", {chunk.direction}" if chunk.direction else ""
    count = len(chunk.points)
    return (
        f"chunk {chunk.number + 1} of {len(work.chunks)} ({count} point{'s' if count > 1 else ''} "
        f"from {told}{way})"
    )
