"""Progress of long calculations on stderr: a bar on a terminal, a line a minute elsewhere (as in a job's log)."""

import time
from collections import Counter
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from diffmicro.command.output import console

EVERY = 60.0
"""Seconds between two lines where there is no terminal."""

Advance = Callable[..., None]
"""`advance(count, statuses=(), fresh=True)`: so many more are done; not fresh: found, not calculated."""


class Pace:
    """How fast it goes and what came out, in words.

    The clock starts with the first piece that is calculated, which compiles; what was found does not count.
    """

    def __init__(self, total: int | None, clock: Callable[[], float] = time.monotonic):
        self.total, self.done, self.counts = total, 0, Counter[str]()
        self._clock = clock
        self._start: float | None = None
        self._since = 0

    def advance(self, count: int, statuses: Sequence[str] = (), fresh: bool = True) -> None:
        self.done += count
        self.counts.update(map(str, statuses))
        if self._start is not None:
            self._since += count if fresh else 0
        elif fresh:
            self._start = self._clock()

    @property
    def rate(self) -> float:
        """Points a second, 0 before it is known."""
        elapsed = 0.0 if self._start is None else self._clock() - self._start
        return self._since / elapsed if elapsed > 0 else 0.0

    def words(self) -> str:
        """`120 points/s, 3.5 min left, 900 ok, 12 erratic`, as far as it is known."""
        parts = [f"{self.rate:.3g} points/s"] if self.rate else []
        if self.rate and self.total is not None:
            parts.append(f"{duration((self.total - self.done) / self.rate)} left")
        return ", ".join([*parts, counted(self.counts)] if self.counts else parts)


def counted(counts: Counter[str]) -> str:
    """`9 ok, 1 erratic`."""
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))


def duration(seconds: float) -> str:
    """A time in the unit that reads well."""
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "hours")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 86400:.3g} days"


def progress(what: str, total: int | None) -> "_Bar | _Lines":
    """A context that gives `advance`, see `Advance`."""
    page = console(stderr=True)
    return _Bar(page, what, total) if page.is_terminal else _Lines(page, what, total)


class _Bar:
    """A bar on a terminal."""

    def __init__(self, page: Console, what: str, total: int | None):
        columns = (
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
        )
        self._progress = Progress(*columns, console=page, refresh_per_second=4, transient=True)
        self._task = self._progress.add_task(what, total=total, pace="")
        self._pace = Pace(total)

    def __enter__(self) -> Advance:
        self._progress.start()
        return self._advance

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def _advance(self, count: int, statuses: Sequence[str] = (), fresh: bool = True) -> None:
        self._pace.advance(count, statuses, fresh)
        self._progress.update(self._task, advance=count, pace=self._pace.words())


class _Lines:
    """A line now and then."""

    def __init__(self, page: Console, what: str, total: int | None):
        self._page, self._what = page, what
        self._pace = Pace(total)
        self._last = time.monotonic()

    def __enter__(self) -> Advance:
        return self._advance

    def __exit__(self, *_: object) -> None:
        pass

    def _advance(self, count: int, statuses: Sequence[str] = (), fresh: bool = True) -> None:
        self._pace.advance(count, statuses, fresh)
        if time.monotonic() < self._last + EVERY:
            return
        self._last = time.monotonic()
        of = "" if self._pace.total is None else f" of {self._pace.total}"
        line = f"{self._what}: {self._pace.done}{of} done, {self._pace.words()}"
        self._page.print(line.removesuffix(", "), soft_wrap=True, highlight=False)
