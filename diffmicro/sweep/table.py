"""The result of a sweep: a column for each parameter and response, a row for each point; CSV, NPZ.

A number that is not there is NaN in a column and in NPZ, and an empty cell in CSV; `status` says
why.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Table:
    """Columns of one length.

    keys: names of the columns that were varied, the first axis first.
    columns: values by name: the keys, `direction` (up, down) where a state was carried, responses,
        `status`.
    rows: position of each row in the sweep.
    units: unit by column, where there is one.
    """

    keys: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    rows: np.ndarray
    units: Mapping[str, str]

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
    return Table(first.keys, columns, rows[order], first.units)


def write_csv(table: Table, path: Path) -> None:
    """Columns as CSV with one line of names. Numbers keep all their digits."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(table.columns)
        for row in zip(*table.columns.values(), strict=True):
            lines.writerow([_cell(value) for value in row])


def write_npz(table: Table, path: Path) -> None:
    """Columns as arrays by name; words become strings, so that no pickle is needed to read them."""
    arrays = {
        name: column.astype(str) if column.dtype == object else column
        for name, column in table.columns.items()
    }
    np.savez(path, allow_pickle=False, **arrays)


WRITERS: dict[str, Callable[[Table, Path], None]] = {".csv": write_csv, ".npz": write_npz}


def writer(path: Path) -> Callable[[Table, Path], None]:
    """The writer that belongs to the ending of a file's name."""
    if path.suffix.lower() not in WRITERS:
        raise ValueError(f"{path}: the ending has to be one of {', '.join(WRITERS)}.")
    return WRITERS[path.suffix.lower()]


def _cell(value: object) -> object:
    if not isinstance(value, float):  # np.float64 is one
        return value
    return "" if np.isnan(value) else repr(float(value))
