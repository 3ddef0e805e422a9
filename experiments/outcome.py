"""What an experiment answers with, how each of its statements is judged, and how it is written down.

A statement is the source's: it has a place there and the source's words, and it is reproduced or contradicted.
What the source
does not give in numbers or words that decide it is `not comparable`, with the reason. A comparison with a
calculation of ours is an
`own reference`: it is named and never counted as reproduced.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.table import Table
from matplotlib.text import Text

from experiments.reading import half_digit

NUMBER, ORDER, SHAPE, OWN = "number", "sign or order", "shape", "own reference"
KINDS = (NUMBER, ORDER, SHAPE, OWN)

REPRODUCED, CONTRADICTED, INCOMPARABLE = "reproduced", "contradicted", "not comparable"
PARTLY = "partly"
WORDS = (REPRODUCED, CONTRADICTED, INCOMPARABLE, OWN)
"""What a statement's verdict can be."""


class Said(NamedTuple):
    """A place of the source (section, figure, table, equation or page) and its words there, a few of them."""

    page: str
    words: str


class Check(NamedTuple):
    """One statement against what was measured. `holds` is None where nothing can be compared."""

    statement: str
    stated: str
    measured: str
    holds: bool | None
    page: str
    words: str
    kind: str

    @property
    def verdict(self) -> str:
        """The word for it, of `WORDS`."""
        if self.kind == OWN:
            return OWN
        if self.holds is None:
            return INCOMPARABLE
        return REPRODUCED if self.holds else CONTRADICTED


def _check(statement, stated, measured, holds, said: Said, kind) -> Check:
    for what, text in (("place", said.page), ("words", said.words), ("statement", statement)):
        if not text.strip():
            raise ValueError(f"{statement!r} has no {what}; say where the source says so.")
    holds = None if holds is None else bool(holds)
    return Check(statement, stated, measured, holds, said.page, said.words, kind)


def number(
    said: Said,
    statement: str,
    printed: str,
    measured: Any,
    unit: str = "",
    *,
    about: float = 0.0,
    more: float = 0.0,
    note: str = "",
) -> Check:
    """Holds when the measured number is the printed one to half a unit of its last digit.

    `about` is the share that a word as "approximately" allows instead where it is more, `more` what is added
    for the step of a grid.
    """
    stated, measured = float(printed), float(measured)
    within = max(half_digit(printed), about * abs(stated)) + more
    unit = f" {unit}" if unit else ""
    return _check(
        statement,
        f"{printed}{unit} (within {within:.2g})",
        f"{measured:.4g}{unit}" + (f"; {note}" if note else ""),
        abs(measured - stated) <= within * (1 + 1e-9),
        said,
        NUMBER,
    )


def numbers(said: Said, statement: str, stated: str, measured: str, holds: Any) -> Check:
    """Several printed numbers in one statement, as the entries of a table, each to its last digit."""
    return _check(statement, stated, measured, holds, said, NUMBER)


def order(said: Said, statement: str, stated: str, measured: str, holds: Any) -> Check:
    """A statement on a sign, on which of two is larger, or on whether something happens at all."""
    return _check(statement, stated, measured, holds, said, ORDER)


def shape(said: Said, statement: str, stated: str, measured: str, holds: Any) -> Check:
    """A statement on the course of a curve."""
    return _check(statement, stated, measured, holds, said, SHAPE)


def own(reference: str, statement: str, stated: str, measured: str, holds: Any) -> Check:
    """A comparison with a calculation of ours, which has a name."""
    return _check(statement, stated, measured, holds, Said("-", reference), OWN)


def own_number(
    reference: str, statement: str, stated: float, measured: Any, within: float, unit: str = ""
) -> Check:
    """A number of ours from two calculations."""
    unit = f" {unit}" if unit else ""
    return own(
        reference,
        statement,
        f"{stated:.4g}{unit} (within {within:.2g})",
        f"{measured:.4g}{unit}",
        abs(measured - stated) <= within * (1 + 1e-9),
    )


def incomparable(said: Said, statement: str, why: str) -> Check:
    """A statement that nothing can be compared with, and why."""
    return _check(statement, "-", why, None, said, NUMBER)


class Outcome(NamedTuple):
    """What an experiment found: statements, numbers for the file, and its figure."""

    checks: list[Check]
    data: dict[str, Any]
    draw: Callable[[Figure], None]


class Experiment(NamedTuple):
    """A figure or table of a source. `size` of its drawing is in inches."""

    title: str
    run: Callable[[], Outcome]
    size: tuple[float, float] = (6.0, 4.0)


def verdict(words: Iterable[str]) -> str:
    """Of an experiment, from its statements' verdicts: those of the source decide, where there are any."""
    words = set(words)
    if {REPRODUCED, CONTRADICTED} <= words:
        return PARTLY
    return next(word for word in (REPRODUCED, CONTRADICTED, INCOMPARABLE, OWN) if word in words)


def counts(words: Sequence[str]) -> dict[str, int]:
    """How many statements have each verdict."""
    return {word: list(words).count(word) for word in WORDS}


def reason(checks: Iterable[Check]) -> str:
    """What was measured where the source is contradicted; empty when it is not."""
    return "; ".join(f"{c.statement}: {c.measured}" for c in checks if c.verdict == CONTRADICTED)


def record(name: str, experiment: Experiment, found: Outcome) -> dict[str, Any]:
    """The outcome as an object for JSON."""
    return {
        "experiment": name,
        "title": experiment.title,
        "verdict": verdict(check.verdict for check in found.checks),
        "reason": reason(found.checks),
        "checks": [{**check._asdict(), "verdict": check.verdict} for check in found.checks],
        "data": _plain(found.data),
    }


MICRO = re.compile(r"\bu(?=(m|N|s|V|A)\b)")
"""The letter that stands for a millionth in the words of the code."""


def write(name: str, experiment: Experiment, found: Outcome, folder: Path) -> dict[str, Any]:
    """Write NAME.json and NAME.png into the folder; the record is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    known = record(name, experiment, found)
    (folder / f"{name}.json").write_text(json.dumps(known, indent=1, allow_nan=False) + "\n")
    figure = Figure(figsize=experiment.size, layout="constrained")
    FigureCanvasAgg(figure)
    found.draw(figure)
    cells = (
        cell.get_text()
        for table in figure.findobj(Table)
        for cell in cast(Table, table).get_celld().values()
    )
    for text in (*figure.findobj(Text), *cells):
        text.set_text(MICRO.sub("µ", text.get_text()))
    figure.savefig(folder / f"{name}.png", dpi=130, bbox_inches="tight", pad_inches=0.08)
    return known


def _plain(value: Any) -> Any:
    """Numbers and lists for JSON; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, str | bool | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    array = np.asarray(value)
    if array.ndim:
        return [_plain(entry) for entry in array]
    number = array.item()
    if isinstance(number, float):
        return float(f"{number:.9g}") if math.isfinite(number) else None
    return number
