"""The subcommand `sweep`: axes from words, progress on the terminal, files and a figure at the end.

Finished chunks are kept beside the file (`FILE.part/`) until all are there, so that `--resume` goes on
after whatever stopped the sweep. One that is stopped by Ctrl-C, or loses a process, also writes the points
that are finished to the file, unless a whole table is there. A record next to the file identifies the sweep.
"""

import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from diffmicro._device import Device
from diffmicro._files import told
from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.options import note_cautions
from diffmicro.command.output import console
from diffmicro.command.words import BadInput
from diffmicro.devices import OWN
from diffmicro.sweep import (
    Store,
    StoreError,
    Table,
    WorkerDied,
    beside,
    check_size,
    join,
    size,
    sweep,
    writer,
)
from diffmicro.sweep.grids import points_of
from diffmicro.sweep.plan import fingerprint
from diffmicro.sweep.record import keep, record_of, recorded
from diffmicro.sweep.run import job_of
from diffmicro.sweep.store import differences

DIRECTIONS = ("none", "up", "down", "both")


class Options(NamedTuple):
    """Options of `sweep`, apart from the device and its parameters."""

    out: Path
    carry: str = "none"
    plot: Path | None = None
    response: str | None = None
    workers: int = 1
    resume: bool = False


def run_sweep(device: str, given: Mapping[str, str], options: Options) -> int:
    """Run the sweep and write it; 130 when it was interrupted, 1 when a process died."""
    module = words.device(device)
    carry, out, plot = options.carry, options.out, options.plot
    _check_carry(module, carry)
    check_files(out, plot)
    axes, fixed = _axes(module, given)
    try:
        check_size(axes, carry)  # type: ignore[arg-type]
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    wanted = words.names(options.response, words.responses(module), "response") or None
    # With a value of each axis: a device may derive what is not given from what is.
    first = {key: values[0] for key, values in axes.items()}
    start = words.point(module, fixed | first)
    note_cautions(module, start, axes)
    _check_points(module, axes, start)
    _check_workers(options.workers, axes, carry)
    asked: dict[str, Any] = dict(
        design=start.design, setting=start.setting, responses=wanted, carry=carry
    )
    mark = fingerprint(job_of(module, axes, numerics=start.numerics, **asked))
    held = ", ".join(f"{key}={value}" for key, value in fixed.items())
    file = _File(out, size(axes, carry), mark, plot, f"{device}: {held}" if held else device)  # type: ignore[arg-type]
    store = Store(beside(out), options.resume)
    if options.resume and _done_already(file, store):
        return Code.OK
    parts = sweep(module, axes, workers=options.workers, store=store, **asked, **start.numerics)
    pieces: list[Table] = []
    code, problem = Code.OK, ""
    try:
        with closing(parts), progress("sweep", file.count) as advance:
            for piece in parts:
                pieces.append(piece)
                advance(len(piece))
    except KeyboardInterrupt:
        code, problem = Code.INTERRUPTED, "Interrupted."
    except WorkerDied as death:
        code, problem = Code.DIED, str(death)
    except StoreError as complaint:
        raise BadInput(str(complaint)) from None
    except ValueError as complaint:
        raise words.refusal(module, complaint, start.numerics) or complaint from None
    except OSError as full:
        kept = f" What is finished is in {store.path}: --resume goes on from there."
        raise BadInput(f"{told(full)}{kept if pieces else ''}") from None
    if store.kept:
        _note(f"{store.kept} finished chunks were there already.")
    if store.torn:
        _note(f"{store.torn} chunks were torn and were calculated again.")
    if pieces:
        _write(join(pieces), file)
    if not code:
        store.remove()
        return code
    kept = f" What is finished is in {store.path}: --resume goes on from there." if pieces else ""
    print(f"diffmicro: {problem}{kept}", file=sys.stderr)
    return code


class _File(NamedTuple):
    """What a sweep leaves behind: `count` points in `out`, of the sweep with this fingerprint, and a figure."""

    out: Path
    count: int
    sweep: Mapping[str, Any]
    plot: Path | None
    title: str


def _done_already(file: _File, store: Store) -> bool:
    """Whether the file holds this whole sweep; then its figure is drawn. Else what `--resume` finds is noted."""
    there = record_of(file.out)
    if there is None or not there.whole or there.sweep != file.sweep:
        if not store.path.exists():
            _note(f"There is nothing to resume in {store.path}: starting with the first chunk.")
        if there is not None and there.whole:
            other = differences(there.sweep, file.sweep)[0]
            _note(
                f"{file.out} is of another sweep ({other}); this one replaces it when it is complete."
            )
        return False
    if store.path.exists():
        try:
            store.begin(file.sweep, 0)
        except StoreError as complaint:
            raise BadInput(str(complaint)) from None
        store.remove()
    _draw(recorded(file.out, there), file)
    _note(f"All {file.count} points of this sweep are in {file.out}: nothing is calculated again.")
    return True


def check_files(out: Path, plot: Path | None) -> None:
    """`BadInput` for files that cannot be written, before anything is calculated."""
    try:
        writer(out)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    if out is not None:
        _check_place(out)
    check_figure(plot)


def check_figure(plot: Path | None) -> None:
    """`BadInput` for a figure that cannot be written."""
    if plot is None:
        return
    if plot.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise BadInput(f"--plot {plot}: the ending has to be one of .png, .pdf, .svg.")
    _check_place(plot)


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise BadInput(f"The folder {path.parent} does not exist.")
    if path.is_dir():
        raise BadInput(f"{path} is a folder, not a file.")
    if not os.access(path.parent, os.W_OK):
        raise BadInput(f"The folder {path.parent} may not be written to.")


def _check_workers(workers: int, axes: Mapping[str, Any], carry: str) -> None:
    """`BadInput` for no processes; a note where there are more than help."""
    if workers < 1:
        raise BadInput(f"--workers {workers} is not allowed; it has to be at least 1.")
    most = processors()
    if workers > most:
        _note(f"{workers} processes share {most} processors; more than {most} are not faster.")
    walks = size(dict(list(axes.items())[1:])) * (2 if carry == "both" else 1)
    if carry != "none" and workers > walks:
        _note(
            f"With --carry {carry} these words make {walks} walk{'s' if walks > 1 else ''} along "
            f"{next(iter(axes))}, each in one process; more than {walks} are not faster."
        )


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _write(table: Table, file: _File) -> None:
    statuses, counts = np.unique(table["status"], return_counts=True)
    counted = ", ".join(f"{n} {status}" for status, n in zip(statuses, counts, strict=True))
    of = "" if len(table) == file.count else f" of {file.count}"
    if not keep(table, file.out, file.count, file.sweep):
        _note(f"{len(table)}{of} points are finished. {file.out} has a table already, which stays.")
        return
    _draw(table, file)
    _note(f"{len(table)}{of} points to {file.out}: {counted}")


def _draw(table: Table, file: _File) -> None:
    if file.plot:
        from diffmicro.plot.sweep import save_sweep_figure

        save_sweep_figure(table, file.plot, title=file.title)


def _note(text: str) -> None:
    console(stderr=True).print(text, soft_wrap=True)


def _axes(module: Device, given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Words with several values as axes, the others as they are. Every value is checked here."""
    axes: dict[str, Any] = {}
    fixed: dict[str, Any] = {}
    for key, text in given.items():
        # Commas part values, but the numbers of what is a vector anyway.
        several = ":" in text or ("," in text and not words.is_vector(module, key))
        if key in words.NUMERICS:
            if several:
                raise BadInput(f"{key}={text}: {key} takes one value for the whole sweep.")
            fixed[key] = text
        elif several:
            values = words.axis(module, key, text)
            axes |= {key: values} if len(values) > 1 else {}
            fixed |= {key: values[0]} if len(values) == 1 else {}
        else:
            fixed[key] = text
    if not axes:
        raise BadInput("No key has several values; try key=start:stop:count or key=a,b,c.")
    return axes, fixed


def _check_points(module: Device, axes: Mapping[str, Any], start: words.Point) -> None:
    """`BadInput` where a point of the sweep is out of range, or contradicts itself.

    Ranges are intervals: where both ends of numbers lie inside, all of them do.
    """
    ends: dict[str, list[Any]] = {}
    others: dict[str, Sequence[Any]] = {}
    for key, values in axes.items():
        if all(isinstance(value, int | float) for value in values):
            ends[key] = [values[0], min(values), max(values)]
        else:
            others[key] = values
    for combination in itertools.product(*others.values()):
        chosen = {key: values[0] for key, values in ends.items()}
        chosen |= dict(zip(others, combination, strict=True))
        looked_at = [chosen, *(chosen | {key: end} for key in ends for end in ends[key][1:])]
        for point in looked_at:
            row = {key: [value] for key, value in point.items()}
            ((design, setting),) = points_of(module, row, start.design, start.setting)
            words.check_ranges(module, design, setting)


def _check_carry(module: Device, carry: str) -> None:
    if carry not in DIRECTIONS:
        raise BadInput(
            f"--carry {carry} is not allowed; it has to be one of {', '.join(DIRECTIONS)}."
        )
    if carry != "none" and not module.carries:
        able = ", ".join(name for name in OWN if words.device(name).carries)
        raise BadInput(
            f"--carry {carry}: {module.name} starts from no state, so none can be "
            f"carried; the devices that do are {able}."
        )


def progress(what: str, total: int | None) -> Any:
    """A bar on stderr where that is a terminal: a context that gives `advance(count)`."""
    page = console(stderr=True)
    if not page.is_terminal:
        return nullcontext(lambda count: None)
    return _Bar(page, what, total)


class _Bar:
    """A progress bar as a context."""

    def __init__(self, page: Any, what: str, total: int | None):
        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=page, refresh_per_second=4, transient=True)
        self._task = self._progress.add_task(what, total=total)

    def __enter__(self) -> Any:
        self._progress.start()
        return lambda count: self._progress.advance(self._task, count)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
