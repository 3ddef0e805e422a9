"""The subcommand `sweep`: axes from words, progress on the terminal, files and a figure at the end.

An interrupted sweep writes the points that are finished.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from diffmicro.command import words
from diffmicro.command.output import console
from diffmicro.command.words import BadInput
from diffmicro.sweep import Table, join, size, sweep, writer

DIRECTIONS = ("none", "up", "down", "both")


def run_sweep(
    device: str,
    pairs: Sequence[str],
    out: Path,
    carry: str,
    plot: Path | None,
    response: str | None,
    numerics: Mapping[str, Any],
) -> int:
    """Run the sweep and write it; 130 when it was interrupted."""
    module = words.device(device)
    if carry not in DIRECTIONS:
        raise BadInput(
            f"--carry {carry} is not allowed; it has to be one of {', '.join(DIRECTIONS)}."
        )
    try:
        write = writer(out)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    for path in filter(None, (out, plot)):
        if not path.parent.is_dir():
            raise BadInput(f"The folder {path.parent} does not exist.")
    axes, fixed = _axes(module, pairs)
    wanted = words.names(response, words.responses(module), "response") or None
    if plot and plot.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise BadInput(f"--plot {plot}: the ending has to be one of .png, .pdf, .svg.")
    start = words.point(module, fixed | dict(numerics))
    pieces: list[Table] = []
    interrupted = False
    try:
        parts = sweep(
            module,
            axes,
            design=start.design,
            setting=start.setting,
            responses=wanted,
            carry=carry,  # type: ignore[arg-type]
            **start.numerics,
        )
        with _progress(size(axes, carry)) as advance:  # type: ignore[arg-type]
            for piece in parts:
                pieces.append(piece)
                advance(len(piece))
    except KeyboardInterrupt:
        interrupted = True
    except ValueError as complaint:
        words.raise_if_numerics(complaint, start.numerics)
        raise
    if pieces:
        table = join(pieces)
        write(table, out)
        if plot:
            from diffmicro.plot.sweep import save_sweep_figure

            save_sweep_figure(table, plot)
        statuses, counts = np.unique(table["status"], return_counts=True)
        told = ", ".join(
            f"{count} {status}" for status, count in zip(statuses, counts, strict=True)
        )
        console(stderr=True).print(f"{len(table)} points to {out}: {told}")
    return 130 if interrupted else 0


def _axes(module: ModuleType, pairs: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Words with several values as axes, the others as they are. Every value is checked here."""
    axes: dict[str, Any] = {}
    fixed: dict[str, Any] = {}
    for key, text in words.split(pairs).items():
        if key in words.NUMERICS:
            fixed[key] = text
            continue
        values = words.axis(module, key, text)
        # Ranges are intervals: where both ends lie inside, all values do.
        ends = (values.min(), values.max()) if isinstance(values, np.ndarray) else values
        for end in ends:
            words.point(module, {key: end})
        if len(values) == 1:
            fixed[key] = values[0]
        else:
            axes[key] = values
    if not axes:
        raise BadInput("No key has several values; try key=start:stop:count or key=a,b,c.")
    return axes, fixed


def _progress(total: int) -> Any:
    """A bar on stderr where that is a terminal: a context that gives `advance(count)`."""
    page = console(stderr=True)
    if not page.is_terminal:
        return nullcontext(lambda count: None)
    return _Bar(page, total)


class _Bar:
    """A progress bar as a context."""

    def __init__(self, page: Any, total: int):
        columns = (TextColumn("sweep"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=page, refresh_per_second=4, transient=True)
        self._task = self._progress.add_task("sweep", total=total)

    def __enter__(self) -> Any:
        self._progress.start()
        return lambda count: self._progress.advance(self._task, count)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
