"""Measured points, as figures need them: along which key, in which series, and laid over a figure of the
model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from diffmicro._device import Device
from diffmicro.identification.data import Data
from diffmicro.parameters import entry_of

MOST_LINES = 8
"""Series that a legend names."""

MARKS: Mapping[str, Any] = {"": "o", "up": "^", "down": "v"}
"""Points of a sweep up point up."""


def unit_of(device: Device, name: str) -> str:
    """SI unit of a parameter, an alias or a response."""
    field = entry_of(name)[0]
    if field in device.aliases:
        field = device.aliases[field].times
    known = {**device.responses, **device.parameters}[field]
    return known.unit.split(", ")[0]


def along_of(data: Data) -> str:
    """The key to draw along x: of numbers the one with most values, the first of several."""
    numbers = [key for key, column in data.keys.items() if column.dtype != object]
    if not numbers:
        return next(iter(data.keys))
    return max(numbers, key=lambda key: len(np.unique(data.keys[key])))


def series(data: Data, along: str) -> dict[str, np.ndarray]:
    """Rows of each combination of the other keys and the direction, by a label, sorted along the key."""
    found: dict[tuple, list[int]] = {}
    varied = [k for k in data.keys if k != along and len(set(data.keys[k])) > 1]
    for row in range(len(data)):
        words = tuple((key, data.keys[key][row]) for key in varied)
        found.setdefault((*words, ("", data.ways[row])), []).append(row)
    return {
        _label(words): np.array(sorted(rows, key=lambda row: data.keys[along][row]))
        for words, rows in found.items()
    }


def _label(words: tuple) -> str:
    parts = [
        f"{key.replace('_', ' ')} {value:.4g}" if isinstance(value, float) else str(value)
        for key, value in words
    ]
    return ", ".join(part for part in parts if part)


def lay_over(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    error: np.ndarray | None = None,
    ways: np.ndarray | None = None,
) -> None:
    """Draw measured points over a figure, in the units of its axes."""
    ways = np.full(len(x), "") if ways is None else ways
    for way in dict.fromkeys(ways):
        rows = ways == way
        name = f"data ({way})" if way else "data"
        axes.errorbar(
            x[rows],
            y[rows],
            None if error is None else error[rows],
            fmt=MARKS[way],
            color="black",
            markerfacecolor="white",
            markersize=4.5,
            elinewidth=0.9,
            linestyle="none",
            zorder=4,
            label=name,
        )
