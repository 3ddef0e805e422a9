"""Results as a table: a column for each parameter and response, a row for each point; files of it and back.

A number that is not there is NaN in a column and in NPZ, an empty cell in CSV, and null in JSON lines;
in a sweep `status` gives the reason. A file is there whole or not at all. NetCDF is in `labeled`.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from diffmicro._files import packed, replace
from diffmicro._json import Json, plain


@dataclass(frozen=True)
class Table:
    """Columns of one length.

    keys: names of the columns that were varied, the first axis first.
    columns: values by name: the keys, `direction` (up, down) where a state was carried, responses,
        `status`.
    rows: position of each row in the sweep.
    units: unit by column, where there is one.
    about: what the numbers depend on, for formats that have a place for it.
    """

    keys: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    rows: np.ndarray
    units: Mapping[str, str]
    about: Mapping[str, Json] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]


def join(pieces: Sequence[Table]) -> Table:
    """Parts of one sweep as one table, in the order of the sweep."""
    first = pieces[0]
    rows = np.concatenate([piece.rows for piece in pieces])
    order = np.argsort(rows, kind="stable")
    columns = {
        name: np.concatenate([piece[name] for piece in pieces])[order] for name in first.columns
    }
    return Table(first.keys, columns, rows[order], first.units, first.about)


def write_csv(table: Table, path: Path) -> None:
    """Columns as CSV with one line of names. Numbers keep all their digits; 1 and 0 are yes and no."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(table.columns)
    for row in zip(*table.columns.values(), strict=True):
        lines.writerow([_cell(value) for value in row])
    replace(path, text.getvalue().encode())


def write_npz(table: Table, path: Path) -> None:
    """Columns as arrays by name; words become strings, so that no pickle is needed to read them."""
    arrays = {
        name: column.astype(str) if column.dtype == object else column
        for name, column in table.columns.items()
    }
    replace(path, packed(arrays))


def write_jsonl(table: Table, path: Path) -> None:
    """One JSON object a row. Numbers keep all their digits."""
    names = list(table.columns)
    rows = zip(*table.columns.values(), strict=True)
    lines = (
        json.dumps(dict(zip(names, map(plain, row), strict=True)), allow_nan=False) for row in rows
    )
    replace(path, "".join(line + "\n" for line in lines).encode())


def _write_labeled(table: Table, path: Path) -> None:
    from diffmicro.sweep.labeled import write_nc  # imports this module

    write_nc(table, path)


WRITERS: dict[str, Callable[[Table, Path], None]] = {
    ".csv": write_csv,
    ".npz": write_npz,
    ".jsonl": write_jsonl,
    ".nc": _write_labeled,
}


def writer(path: Path) -> Callable[[Table, Path], None]:
    """The writer that belongs to the ending of a file's name; ValueError without one, or its package."""
    ending = path.suffix.lower()
    if ending not in WRITERS:
        raise ValueError(f"{path}: the ending has to be one of {', '.join(WRITERS)}.")
    if ending == ".nc":
        from diffmicro.sweep.labeled import check_installed

        check_installed()
    return WRITERS[ending]


def read(path: Path, keys: Sequence[str], units: Mapping[str, str]) -> Table:
    """The table of a file; columns are of numbers where all their entries are, else of text."""
    ending = path.suffix.lower()
    if ending == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            columns = dict(arrays)
    elif ending == ".nc":
        from diffmicro.sweep.labeled import read_nc

        columns = read_nc(path)
    else:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file) if ending == ".csv" else map(json.loads, file))
        columns = {name: _column([row[name] for row in rows]) for name in rows[0]}
    return Table(tuple(keys), columns, np.arange(len(columns["status"])), units)


def _column(values: Sequence[object]) -> np.ndarray:
    try:
        return np.array([math.nan if value in ("", None) else value for value in values], float)
    except ValueError:
        return np.array(values, object)


def _cell(value: object) -> object:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, float):
        return value
    return "" if math.isnan(value) else repr(value)
