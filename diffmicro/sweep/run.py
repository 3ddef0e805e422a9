"""Sweeps: the responses of a device over a grid, each point from rest or from its neighbor.

From rest, points are independent. With a carried state the first axis is walked up or down, and
each point starts where the one before ended: so an experiment sweeps a frequency, and so hysteresis
is seen. Each walk starts from rest. A state that is not finite is not handed on; the last good one
is.

Results come in pieces as they are finished, so that an interrupted sweep has something to save. With a
`Store` they are also kept on disk, and a later call goes on from there.
"""

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import numpy as np

from diffmicro._device import Device
from diffmicro.devices import as_device
from diffmicro.parameters import Fields, Value, whole_number
from diffmicro.sweep.chunks import Arrays
from diffmicro.sweep.cluster import spread
from diffmicro.sweep.grids import Axes
from diffmicro.sweep.plan import Carry, Chunk, Job, Shard, Work, fingerprint
from diffmicro.sweep.store import Store
from diffmicro.sweep.table import Table

MOST_POINTS = 10_000_000
"""Most points of a sweep: the table of all of them is held in memory."""

WHOLE = Shard(1, 1)

BYTES, SECONDS = 400, 5e-3
"""Memory and time of a point, for messages: with a table of ten columns and its file, and usual on one core of a
CPU."""


def sweep(
    device: Device | str,
    axes: Axes,
    *,
    design: Fields | None = None,
    setting: Fields | None = None,
    responses: Sequence[str] | None = None,
    carry: Carry = "none",
    workers: int = 1,
    cluster: str | None = None,
    store: Store | None = None,
    paired: bool = False,
    shard: Shard = WHOLE,
    wrt: Sequence[str] = (),
    of: Sequence[str] = (),
    **numerics: Value,
) -> Generator[Table]:
    """The responses of `device` on the grid of `axes` (key -> values) in pieces, for `join`.

    `design`, `setting`: what no axis names; the published ones by default.
    `responses`: which ones, all by default. `numerics` go to the device's `respond`.
    `workers`: processes; with 1 this one calculates. The numbers are the same to the bit. A program
    that uses several starts its own work under `if __name__ == "__main__":`, and calls `configure` first.
    `cluster`: address of a dask scheduler instead, or the file that it wrote. Both need the extra `cluster`.
    `store`: where finished chunks are kept, and are looked for first.
    `paired`: no grid, but as many points as each key has values (`drawn` makes them). `shard`: a part of it.
    `wrt`: keys to differentiate by, `of`: the responses to differentiate, by default the first one. Each
    derivative becomes a column, with the verdict of its certificate in another (see `gradients`).
    """
    if not axes:
        raise ValueError("sweep: no axis is given. Name at least one parameter and its values.")
    check_size(axes, carry, paired)
    workers = whole_number("sweep: workers", workers, 1, 1)
    job = job_of(device, axes, design, setting, responses, carry, numerics, paired, wrt, of)
    work = Work(job)
    own = shard.chunks(work.chunks)
    missing, states = own, {}
    with _released(store):
        if store is not None:
            store.begin(fingerprint(job), len(own))
            missing, followed = [], _followed(own)
            for chunk in own:
                arrays = store.load(chunk.number)
                if arrays is None:
                    missing.append(chunk)
                    continue
                if chunk.number in followed:
                    states[chunk.number] = arrays
                yield work.table(chunk, arrays)
        with closing(_finished(work, missing, states, workers, cluster)) as finished:
            for chunk, arrays in finished:
                if store is not None:
                    store.save(chunk.number, arrays)
                yield work.table(chunk, arrays)


@contextmanager
def _released(store: Store | None) -> Iterator[None]:
    """However the sweep ends, its folder is free for other programs."""
    try:
        yield
    finally:
        if store is not None:
            store.release()


def job_of(
    device: Device | str,
    axes: Axes,
    design: Fields | None,
    setting: Fields | None,
    responses: Sequence[str] | None,
    carry: Carry,
    numerics: Mapping[str, Value],
    paired: bool = False,
    wrt: Sequence[str] = (),
    of: Sequence[str] = (),
) -> Job:
    """What `sweep` calculates with these arguments, with what they leave out."""
    device = as_device(device)
    if carry != "none":
        device.check_carries(f"sweep: carry = {carry}", numerics.get("method"))
    wanted = tuple(responses or device.usual_responses)
    of = tuple(of or (next(iter(device.responses)),) if wrt else ())
    return Job(
        device,
        dict(axes),
        *device.point(design, setting),
        wanted,
        carry,
        device.asking_for((*wanted, *of), numerics),
        paired,
        tuple(wrt),
        of,
    )


def size(axes: Axes, carry: Carry = "none", paired: bool = False) -> int:
    """Number of points that a sweep calculates."""
    counts = [len(values) for values in axes.values()]
    return (counts[0] if paired else math.prod(counts)) * (2 if carry == "both" else 1)


def check_size(axes: Axes, carry: Carry = "none", paired: bool = False) -> None:
    """Raise ValueError for more points than a sweep holds, before there is anything of their number, and for
    values side by side with a carried state."""
    if paired and carry != "none":
        raise ValueError(
            "sweep: points that are not on a grid have no neighbor to carry a state from."
        )
    count = size(axes, carry, paired)
    if count <= MOST_POINTS:
        return
    product = " x ".join(str(len(values)) for values in axes.values())
    hours = count * SECONDS / 3600
    raise ValueError(
        f"sweep: {product} values are {count} points; they would need some {count * BYTES / 1e9:.3g} GB of "
        f"memory and, at {1e3 * SECONDS:g} ms a point, {hours:.3g} hours. A sweep has {MOST_POINTS} points at "
        f"most: take fewer values of {max(axes, key=lambda key: len(axes[key]))}, or sweep the parts into files "
        "of their own."
    )


def rows_of(job: Job, shard: Shard) -> np.ndarray:
    """The rows of the whole sweep that are in this part, in their order."""
    chunks = shard.chunks(Work(job).chunks)
    return np.sort(np.concatenate([chunk.rows for chunk in chunks])) if chunks else np.zeros(0, int)


def _finished(
    work: Work,
    chunks: Sequence[Chunk],
    states: dict[int, Arrays],
    workers: int,
    cluster: str | None,
) -> Generator[tuple[Chunk, Arrays]]:
    """Each chunk with its arrays as soon as it has them."""
    if workers > 1 or cluster is not None:
        yield from spread(work, chunks, states, workers, cluster, lambda chunk: _name(work, chunk))
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
    given = ", ".join(f"{key} = {value}" for key, value in first.items())
    way = f", {chunk.direction}" if chunk.direction else ""
    count = len(chunk.points)
    return (
        f"chunk {chunk.number + 1} of {len(work.chunks)} ({count} point{'s' if count > 1 else ''} "
        f"from {given}{way})"
    )
