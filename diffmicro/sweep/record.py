"""What the file of a sweep holds, noted beside it, so that a whole table is known and no part of one replaces it.

`FILE.sweep.json` has the digest of FILE, how many points of the sweep it holds, the unit of each column, and all
that the numbers depend on (the sweep's fingerprint). A file without a record, or changed since, may be anything:
it counts as whole, and as of no known sweep.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diffmicro._files import digest, replace
from diffmicro._json import Json
from diffmicro.sweep.table import Table, read, writer

SHARD = "shard"
"""In a fingerprint: which part of the sweep this is."""


class Record(NamedTuple):
    """What was noted of a file when it was written.

    digest: of its bytes, SHA-256. points: those it holds, of `count`. keys, units: of its table.
    sweep: the fingerprint. rows: places of its rows in the whole sweep, as runs (first, step, how many), where it
    is a part for one of several programs. words: of the command that made it.
    """

    digest: str
    points: int
    count: int
    keys: tuple[str, ...]
    units: Mapping[str, str]
    sweep: Mapping[str, Json]
    rows: Sequence[Sequence[int]] = ()
    words: str = ""

    @property
    def whole(self) -> bool:
        """Whether no point is missing."""
        return self.points == self.count


def record_of(out: Path) -> Record | None:
    """What is known of a file as it is now."""
    try:
        noted = Record(**json.loads(_place(out).read_text()))
        return noted if noted.digest == _digest(out) else None
    except (OSError, ValueError, TypeError):
        return None


def keep(
    table: Table, out: Path, count: int, fingerprint: Mapping[str, Json], words: str = ""
) -> bool:
    """Write a sweep's table, or the part that is finished, and its record; False where that would lose a table.

    A part of a table replaces nothing but a part of one that is no longer.
    """
    there = record_of(out)
    whole_there = out.exists() and (there is None or there.whole)
    if len(table) < count and (whole_there or (there and there.points > len(table))):
        return False
    about = {**fingerprint, "words": words} if words else fingerprint
    writer(out)(dataclasses.replace(table, about=about), out)
    rows = _runs(table.rows) if SHARD in fingerprint else ()
    noted = Record(
        _digest(out), len(table), count, table.keys, table.units, fingerprint, rows, words
    )
    replace(_place(out), (json.dumps(noted._asdict(), indent=1) + "\n").encode())
    return True


def recorded(out: Path, there: Record) -> Table:
    """The table of a file that has a record."""
    table = read(out, tuple(there.keys), there.units)
    if not there.rows:
        return table
    rows = [first + step * np.arange(count) for first, step, count in there.rows]
    return dataclasses.replace(table, rows=np.concatenate(rows))


def _runs(rows: np.ndarray) -> list[tuple[int, int, int]]:
    """Rows as runs of even steps: (first, step, how many)."""
    found: list[tuple[int, int, int]] = []
    for row in rows.tolist():
        if found:
            first, step, count = found[-1]
            step = row - first if count == 1 else step
            if row == first + step * count:
                found[-1] = (first, step, count + 1)
                continue
        found.append((row, 1, 1))
    return found


def _place(out: Path) -> Path:
    return out.with_name(out.name + ".sweep.json")


def _digest(out: Path) -> str:
    return digest(out.read_bytes()).hex()
