"""Measured points, as figures need them: along which key, in which series, and laid over a figure of the
model."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from diffmicro._device import Device
from diffmicro.identification.data import Data
from diffmicro.parameters import Fields, entry_of, get

MOST_LINES = 8
"""Series that a legend names."""

ROW = "row"
"""What is drawn along x where no key was set."""

MARKS: Mapping[str, str] = {"": "o", "up": "^", "down": "v"}
"""Points of a sweep up point up."""


def unit_of(device: Device, name: str) -> str:
    """SI unit of a parameter, an alias or a response; the number of a row has none."""
    if name == ROW:
        return "-"
    known = {**device.responses, **device.keys}[entry_of(name)[0]]
    return known.unit.split(", ")[0]


def along_of(data: Data) -> str:
    """The key to draw along x: of numbers the one with most values, the first of several; `ROW` without keys."""
    numbers = [key for key, column in data.keys.items() if column.dtype != object]
    if not numbers:
        return next(iter(data.keys), ROW)
    return max(numbers, key=lambda key: len(np.unique(data.keys[key])))


def column_of(data: Data, along: str) -> np.ndarray:
    """The values of a key, or the numbers of the rows."""
    return data.lines.astype(float) if along == ROW else data.keys[along]


def series(data: Data, along: str) -> dict[str, np.ndarray]:
    """Rows of each combination of the other keys and the direction, by a label, sorted along the key."""
    found: dict[tuple, list[int]] = {}
    varied = [k for k in data.keys if k != along and len(set(data.keys[k])) > 1]
    for row in range(len(data)):
        words = tuple((key, data.keys[key][row]) for key in varied)
        found.setdefault((*words, ("", data.ways[row])), []).append(row)
    return {
        _label(words): np.array(sorted(rows, key=lambda row: column_of(data, along)[row]))
        for words, rows in found.items()
    }


def _label(words: tuple) -> str:
    parts = [
        f"{key.replace('_', ' ')} {value:.4g}" if isinstance(value, float) else str(value)
        for key, value in words
    ]
    return ", ".join(part for part in parts if part)


class Measured(NamedTuple):
    """Measured points to be drawn over a figure, in SI. columns: of parameters and responses; responses: which of
    them are measured. See `Data`."""

    columns: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray | None]
    ways: np.ndarray
    responses: tuple[str, ...]


def measured_points(data: Data, device: Device, design: Fields, setting: Fields) -> Measured:
    """The points with aliases as the parameters that they stand for, at a design and setting."""
    columns = {**data.keys, **data.values}
    for name in data.keys.keys() & device.aliases.keys():
        alias = device.aliases[name]
        columns[alias.of] = data.keys[name] / float(get(design, setting, alias.times))
    return Measured(columns, data.errors, data.ways, tuple(data.values))


def lay_over(
    axes: Axes,
    measured: Measured,
    x: tuple[str, float],
    y: tuple[str, float],
) -> list[Artist]:
    """Draw the points over a figure. x, y: names of columns, and factors to the units of the axes.

    A column that the points have not is a ValueError. Returns the handles for a legend.
    """
    for name, _ in (x, y):
        if name not in measured.columns:
            raise ValueError(f"the figure shows {name}, of which the data have no column.")
    handles = []
    for way in dict.fromkeys(measured.ways):
        rows = measured.ways == way
        error = measured.errors.get(y[0])
        drawn = axes.errorbar(
            measured.columns[x[0]][rows] * x[1],
            measured.columns[y[0]][rows] * y[1],
            None if error is None else error[rows] * y[1],
            fmt=MARKS[way],
            color="black",
            markerfacecolor="white",
            markersize=4.5,
            elinewidth=0.9,
            linestyle="none",
            zorder=4,
            label=f"data ({way})" if way else "data",
        )
        handles.append(drawn)
    return handles
