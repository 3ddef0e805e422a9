"""Figure of a sweep: a response over one key, one line for each combination of the others.

The key with most values is drawn along x, of walks the key that they go along. Walks up are solid with markers
that point right, walks down dashed with markers that point left, in colors of their own while there are few; so
hysteresis shows as two lines, and no walk hides the other. Points whose status is not `ok` keep their place and
are marked by it, and no line goes through them; those without a number sit on the lower edge.
"""

import itertools
import math
import textwrap
from collections.abc import Mapping
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from diffmicro.parameters import Value
from diffmicro.plot.measured import Measured, lay_over
from diffmicro.plot.stage import parted
from diffmicro.sweep.table import Table

STYLES = {"": "-", "up": "-", "down": "--"}
POINTERS = {"": ".", "up": ">", "down": "<"}
"""Markers of directions."""

FEW = 5
"""Combinations up to which a walk down has a color of its own."""

MARKS = {"erratic": "x", "stalled": "s", "gap_collapsed": "v", "out_of_range": "P", "no_orbit": "D"}
"""Marks of statuses; all others share one."""

OTHER_MARK = "*"
MOST_LINES = 20
"""Lines in a legend; with more, a bar of colors or a note names them."""

PREFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
PREFIXED_UNITS = ("m", "m/s", "N", "T", "Hz", "s", "Pa", "V", "rad")


Color = tuple[float, ...] | str


def sweep_figure(
    table: Table, response: str = "velocity", title: str = "", measured: Measured | None = None
) -> Figure:
    """`response` (the first one of the table if it has no such column) over the key with most values.

    `title` names what all points share. measured: points that are drawn over it.
    """
    names = [name for name in table.units if name not in table.keys]
    response = response if response in names else names[0]
    figure = Figure(figsize=(8.0, 5.0), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    along = _longest(table)
    if len(table) > 1 and len(_curves(table, along)) == len(table):
        _cloud(figure, table, response, title, measured)
        return figure
    axes = figure.add_subplot()
    x, x_label = _scaled(table, along)
    y, y_label = _scaled(table, response)
    curves = _curves(table, along)
    combinations = list(dict.fromkeys(others for others, _ in curves))
    colors = dict(zip(combinations, _colors(len(combinations)), strict=True))
    for (others, direction), rows in curves.items():
        label = _combination(table, others, direction)
        color = colors[others]
        if direction == "down" and len(combinations) <= FEW:
            color = f"C{len(combinations) + combinations.index(others)}"
        _draw(axes, x[rows], y[rows], table["status"][rows], direction, color, label)
    for status in np.unique(table["status"][table["status"] != "ok"]):
        axes.plot([], [], _mark(status), color="0.3", markerfacecolor="none", label=status)
    if measured is not None:
        lay_over(
            axes, measured, (along, _factor(table, along)), (response, _factor(table, response))
        )
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    axes.grid(color="0.92", zorder=0)
    axes.set_axisbelow(True)
    axes.set_title(textwrap.fill(title, 90, break_long_words=False), fontsize=9)
    _explain(figure, axes, table, colors, [key for key in table.keys if key != along])
    return figure


def _cloud(
    figure: Figure, table: Table, response: str, title: str, measured: Measured | None
) -> None:
    """Points that are on no grid: the response over each key of numbers, side by side."""
    keys = [key for key in table.keys if _is_number(table[key])] or list(table.keys)
    columns = min(len(keys), 3)
    figure.set_size_inches(3.4 * columns + 1, 3.2 * math.ceil(len(keys) / columns))
    parts = figure.subplots(math.ceil(len(keys) / columns), columns, sharey=True, squeeze=False)
    y, y_label = _scaled(table, response)
    for axes, key in itertools.zip_longest(parts.flat, keys):
        if key is None:
            axes.remove()
            continue
        x, x_label = _scaled(table, key)
        for status in np.unique(table["status"]):
            rows = (table["status"] == status) & np.isfinite(y)
            look = "." if status == "ok" else _mark(status)
            color = "C0" if status == "ok" else "0.4"
            style = dict(color=color, markersize=4, markerfacecolor="none", label=status)
            axes.plot(x[rows], y[rows], look, linestyle="", **style)
        if measured is not None and key in measured.columns:
            lay_over(
                axes, measured, (key, _factor(table, key)), (response, _factor(table, response))
            )
        axes.set_xlabel(x_label)
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
    for row in parts:
        row[0].set_ylabel(y_label)
    handles, words = parts[0, 0].get_legend_handles_labels()
    count = {word: np.sum(table["status"] == word) for word in words}
    counted = [f"{word} ({count[word]})" if count[word] else word for word in words]
    figure.legend(handles, counted, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.suptitle(textwrap.fill(title, 90), fontsize=9)


def _explain(
    figure: Figure, axes: Axes, table: Table, colors: dict[tuple, Color], others: list[str]
) -> None:
    """Say what the lines are: by a legend; many, by a bar of colors or, for several keys, by a note."""
    known = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    lines = [label for label in known if label not in table["status"]]
    if len(lines) > MOST_LINES:
        known = {label: handle for label, handle in known.items() if label not in lines}
        if len(others) == 1 and _is_number(table[others[0]]):
            values, label = _scaled(table, others[0])
            _bar(figure, axes, list(dict.fromkeys(values)), list(colors.values()), label)
        else:
            words = " and ".join(key.replace("_", " ") for key in others)
            known = {
                f"{len(colors)} combinations of\n{words}": axes.plot([], [], color="0.3")[0]
            } | known
    if known:
        place = "outside right upper" if len(lines) <= MOST_LINES else "outside lower center"
        figure.legend(
            known.values(),
            known.keys(),
            loc=place,
            frameon=False,
            fontsize=9,
            ncols=1 if "right" in place else 4,
        )


def _bar(figure: Figure, axes: Axes, values: list[Value], colors: list[Color], label: str) -> None:
    """A bar of the lines' colors, with some of their values."""
    order = np.argsort(values)
    edges = np.arange(len(values) + 1) - 0.5
    shown = ScalarMappable(
        BoundaryNorm(edges, len(values)), ListedColormap([colors[i] for i in order])
    )
    ticks = np.unique(np.linspace(0, len(values) - 1, 6).round().astype(int))
    bar = figure.colorbar(shown, ax=axes, label=label, ticks=ticks, spacing="uniform")
    bar.minorticks_off()
    bar.ax.set_yticklabels([f"{values[order[i]]:.4g}" for i in ticks])


def save_sweep_figure(
    table: Table,
    path: Path,
    response: str = "velocity",
    title: str = "",
    measured: Measured | None = None,
) -> None:
    """Draw the sweep into a file, in the format of its ending."""
    sweep_figure(table, response, title, measured).savefig(path)


def _longest(table: Table) -> str:
    """The key to draw along x: of numbers the one with most values, the first of several; of walks theirs."""
    numbers = [key for key in table.keys if _is_number(table[key])]
    if "direction" in table.columns or not numbers:
        return table.keys[0]
    return max(numbers, key=lambda key: len(np.unique(table[key])))


def _is_number(column: np.ndarray) -> bool:
    return column.ndim == 1 and column.dtype.kind in "fiu"


def _curves(table: Table, along: str) -> dict[tuple[tuple, str], np.ndarray]:
    """Rows of each line, sorted along its key: by the other keys' values and direction."""
    directions = table.columns.get("direction", np.full(len(table), ""))
    found: dict[tuple[tuple, str], list[int]] = {}
    for row in range(len(table)):
        others = tuple((key, table[key][row]) for key in table.keys if key != along)
        found.setdefault((others, str(directions[row])), []).append(row)
    x = table[along]
    return {line: np.array(sorted(rows, key=lambda row: x[row])) for line, rows in found.items()}


def _draw(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    status: np.ndarray,
    direction: str,
    color: Color,
    label: str | None,
) -> None:
    # A point that is not ok interrupts the line, as a jump does: nothing joins what was not calculated.
    line = parted(x, np.where(status == "ok", y, np.nan))
    look: dict[str, Value] = dict(color=color, marker=POINTERS[direction], markersize=4)
    look |= dict(markerfacecolor="white") if direction == "down" else {}
    axes.plot(*line, STYLES[direction], label=label, linewidth=1.4, **look)
    edge = axes.get_xaxis_transform()  # height as a share of the axes, for what has no number
    for word in np.unique(status[status != "ok"]):
        look = dict(color=color, markerfacecolor="none", markersize=5)
        shown = (status == word) & np.isfinite(y)
        axes.plot(x[shown], y[shown], _mark(word), **look)
        lost = (status == word) & ~np.isfinite(y)
        axes.plot(x[lost], np.full(lost.sum(), 0.02), _mark(word), transform=edge, **look)


def _mark(status: str) -> str:
    return MARKS.get(status, OTHER_MARK)


def _colors(count: int) -> list[Color]:
    if count <= 10:
        return [f"C{i}" for i in range(count)]
    return list(matplotlib.colormaps["viridis"](np.linspace(0, 0.9, count)))


def _scaled(table: Table, name: str) -> tuple[np.ndarray, str]:
    """A column in a handy multiple of its unit, and its label."""
    values, unit = table[name], table.units[name]
    words = name.replace("_", " ")
    if unit in ("", "-"):
        return values, words
    power = _power(table, name)
    scaled = values if power == 0 else values / 10.0**power
    return scaled, f"{words} [{PREFIXES[power]}{unit}]"


def _power(table: Table, name: str) -> int:
    """The power of ten that a column is shown in."""
    values, unit = table[name], table.units[name]
    finite = np.abs(values[np.isfinite(values)]) if values.dtype != object else np.zeros(0)
    largest = finite.max(initial=0.0)
    if unit not in PREFIXED_UNITS or largest == 0:
        return 0
    return min(max(3 * math.floor(math.log10(largest) / 3 + 1e-9), -9), 9)


def _factor(table: Table, name: str) -> float:
    """The factor from SI to what is shown of a column."""
    return 10.0 ** -_power(table, name)


def _combination(table: Table, others: tuple, direction: str) -> str | None:
    words = ", ".join(_value(key, value, table.units) for key, value in others)
    if direction:
        words = f"{words} ({direction})" if words else direction
    return words or None


def _value(name: str, value: Value, units: Mapping[str, str]) -> str:
    number = f"{value:.4g}" if isinstance(value, int | float) else str(value)
    unit = "" if units[name] in ("", "-") else f" {units[name]}"
    return f"{name.replace('_', ' ')} {number}{unit}"
