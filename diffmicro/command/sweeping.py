"""The subcommand `sweep`: axes from words, progress on the terminal, files and a figure at the end.

Finished chunks are kept beside the file (`FILE.part/`) until all are there, so that `--resume` goes on
after whatever stopped the sweep. One that is stopped by Ctrl-C, or loses a process, also writes the points
that are finished to the file.
"""

import inspect
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from diffmicro._parameters import describe
from diffmicro.command import words
from diffmicro.command.output import console
from diffmicro.command.words import BadInput
from diffmicro.devices import DEVICES
from diffmicro.sweep import (
    Store,
    StoreError,
    Table,
    WorkerDied,
    beside,
    join,
    size,
    sweep,
    writer,
)

DIRECTIONS = ("none", "up", "down", "both")

INTERRUPTED, FAILED = 130, 1


class Options(NamedTuple):
    """What `sweep` is told beside the device and its words."""

    out: Path
    carry: str = "none"
    plot: Path | None = None
    response: str | None = None
    workers: int = 1
    resume: bool = False


def run_sweep(
    device: str, pairs: Sequence[str], options: Options, numerics: Mapping[str, Any]
) -> int:
    """Run the sweep and write it; 130 when it was interrupted, 1 when a process died."""
    module = words.device(device)
    carry, out, plot = options.carry, options.out, options.plot
    _check_carry(module, carry)
    check_files(out, plot)
    axes, fixed = _axes(module, pairs)
    wanted = words.names(options.response, words.responses(module), "response") or None
    # With a value of each axis: a device may derive what is not given from what is.
    first = {key: values[0] for key, values in axes.items()}
    start = words.point(module, fixed | first | dict(numerics))
    _check_workers(options.workers, axes, carry)
    store = Store(beside(out), options.resume)
    if options.resume and not store.path.exists():
        _note(f"There is nothing to resume in {store.path}: starting with the first chunk.")
    pieces: list[Table] = []
    code, problem = 0, ""
    parts = sweep(
        module,
        axes,
        design=start.design,
        setting=start.setting,
        responses=wanted,
        carry=carry,  # type: ignore[arg-type]
        workers=options.workers,
        store=store,
        **start.numerics,
    )
    count = size(axes, carry)  # type: ignore[arg-type]
    try:
        with closing(parts), progress("sweep", count) as advance:
            for piece in parts:
                pieces.append(piece)
                advance(len(piece))
    except KeyboardInterrupt:
        code, problem = INTERRUPTED, "Interrupted."
    except WorkerDied as death:
        code, problem = FAILED, str(death)
    except StoreError as complaint:
        raise BadInput(str(complaint)) from None
    except ValueError as complaint:
        words.raise_if_numerics(complaint, start.numerics)
        raise
    if store.kept:
        _note(f"{store.kept} finished chunks were there already.")
    if store.torn:
        _note(f"{store.torn} chunks were torn and were calculated again.")
    if pieces:
        _write(join(pieces), count, out, plot)
    if not code:
        store.remove()
        return code
    kept = f" What is finished is in {store.path}: --resume goes on from there." if pieces else ""
    print(f"diffmicro: {problem}{kept}", file=sys.stderr)
    return code


def check_files(out: Path, plot: Path | None) -> None:
    """`BadInput` for files that cannot be written, before anything is calculated."""
    try:
        writer(out)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    if plot and plot.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise BadInput(f"--plot {plot}: the ending has to be one of .png, .pdf, .svg.")
    for path in filter(None, (out, plot)):
        if not path.parent.is_dir():
            raise BadInput(f"The folder {path.parent} does not exist.")
        if path.is_dir():
            raise BadInput(f"{path} is a folder, not a file.")
        if not os.access(path.parent, os.W_OK):
            raise BadInput(f"The folder {path.parent} may not be written to.")


def _check_workers(workers: int, axes: Mapping[str, Any], carry: str) -> None:
    """`BadInput` for no processes; a note where more were asked for than help."""
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


def _write(table: Table, count: int, out: Path, plot: Path | None) -> None:
    writer(out)(table, out)
    if plot:
        from diffmicro.plot.sweep import save_sweep_figure

        save_sweep_figure(table, plot)
    statuses, counts = np.unique(table["status"], return_counts=True)
    told = ", ".join(f"{n} {status}" for status, n in zip(statuses, counts, strict=True))
    of = "" if len(table) == count else f" of {count}"
    _note(f"{len(table)}{of} points to {out}: {told}")


def _note(text: str) -> None:
    console(stderr=True).print(text, soft_wrap=True)


def _axes(module: ModuleType, pairs: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Words with several values as axes, the others as they are. Every value is checked here."""
    axes: dict[str, Any] = {}
    fixed: dict[str, Any] = {}
    for key, text in words.split(pairs).items():
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
    _check_points(module, axes, fixed)
    return axes, fixed


def _check_points(module: ModuleType, axes: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
    """`BadInput` where a value is out of range, or words contradict each other."""
    numbers = {key: values for key, values in axes.items() if isinstance(values, np.ndarray)}
    others = {key: values for key, values in axes.items() if key not in numbers}
    first = {key: values[0] for key, values in numbers.items()}
    for combination in itertools.product(*others.values()):
        chosen = dict(fixed) | first | dict(zip(others, combination, strict=True))
        words.point(module, chosen)
        # Ranges are intervals: where both ends lie inside, all values do.
        for key, values in numbers.items():
            for end in (values.min(), values.max()):
                words.point(module, chosen | {key: end})


def _check_carry(module: ModuleType, carry: str) -> None:
    if carry not in DIRECTIONS:
        raise BadInput(
            f"--carry {carry} is not allowed; it has to be one of {', '.join(DIRECTIONS)}."
        )
    if carry != "none" and not carries(module):
        able = ", ".join(name for name in DEVICES if carries(words.device(name)))
        raise BadInput(
            f"--carry {carry}: {words.short_name(module)} starts from no state, so none can be "
            f"carried; the devices that do are {able}."
        )


def carries(module: ModuleType) -> bool:
    """Whether a device can start from the state in which it ended."""
    known = describe(module.Response)
    return "state" in known and "start" in inspect.signature(module.respond).parameters


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
