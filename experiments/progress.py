"""What an experiment that takes long is at: a line on the terminal, and nothing where there is none.

`shown` is around an experiment; inside, `counted` goes through its points and says how many are done.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

T = TypeVar("T")

_DISPLAY: ContextVar[Progress | None] = ContextVar("display", default=None)


@contextmanager
def shown(name: str) -> Iterator[None]:
    """A line with the experiment's name and the time that it has taken, gone when it ends."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as display:
        display.add_task(name, total=None)
        token = _DISPLAY.set(display)
        try:
            yield
        finally:
            _DISPLAY.reset(token)


def counted(points: Iterable[T], what: str) -> Iterator[T]:
    """The points one after the other; the line says how many of them are done."""
    display = _DISPLAY.get()
    if display is None:
        yield from points
        return
    points = points if isinstance(points, Sequence) else list(points)
    task = display.add_task(what, total=len(points))
    for point in points:
        yield point
        display.advance(task)
    display.remove_task(task)
