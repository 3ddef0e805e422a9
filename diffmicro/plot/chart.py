"""A map of motions in the plane of two parameters: regions by the stable motions there, and where these end.

Regions with several colors' names have coexisting motions: there the motion depends on the history. White: no
periodic motion that the map knows.
"""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from diffmicro._json import Json
from diffmicro.boundary.chart import Chart, Kind
from diffmicro.parameters import Value
from diffmicro.plot.measured import Measured, lay_over
from diffmicro.plot.stage import figure_of

FILLS = ("#cfe0ee", "#f4d9c6", "#dcd0e8", "#d5e8d0", "#f3e6b3", "#e8c9c9", "#c9e4e4", "#e4e4e4")
LINES: dict[str, dict[str, Value]] = {
    "fold": dict(color="#b3541e"),
    "grazing": dict(color="#1f4e79"),
    "period_doubling": dict(color="#7a4fa3"),
    "torus": dict(color="#7a4fa3", linestyle="--"),
}
OTHER: dict[str, Value] = dict(color="0.35", linestyle="-.")
RASTER = 140
"""Points of the raster of regions in each direction."""


def plot_chart(
    chart: Chart,
    labels: tuple[str, str],
    axes: Axes | None = None,
    measured: Measured | None = None,
) -> Figure:
    """The figure; labels: of the two axes. measured: points whose places are drawn over it."""
    if axes is None:
        axes = Figure(figsize=(8, 5), layout="constrained").subplots()
    handles = _regions(axes, chart)
    shown: dict[str, Json] = {}
    for curve in chart.curves:
        for first, last, kind in _runs(curve.kinds):
            style = LINES.get(kind, OTHER)
            piece = curve.places[first : last + 1]
            (line,) = axes.plot(*piece.T, linewidth=1.8, **style)
            shown.setdefault(kind, line)
    axes.set_xlim(chart.low[0], chart.high[0])
    axes.set_ylim(chart.low[1], chart.high[1])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    names = [kind.replace("_", " ") for kind in shown]
    handles += list(shown.values())
    names = [str(h.get_label()) for h in handles[: len(handles) - len(shown)]] + names
    if measured is not None:
        first, second = chart.keys
        over = lay_over(axes, measured, (first, 1.0), (second, 1.0))
        handles += over
        names += [str(points.get_label()) for points in over]
    axes.legend(
        handles, names, frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return figure_of(axes)


def _regions(axes: Axes, chart: Chart) -> list[Artist]:
    """Colors by the set of motions, the most frequent sets first; the rest is gray."""
    xs, ys = (np.linspace(chart.low[i], chart.high[i], RASTER) for i in range(2))
    sets = [[chart.motions_at(float(x), float(y)) for x in xs] for y in ys]
    counts: dict[frozenset[Kind], int] = {}
    for row in sets:
        for found in row:
            counts[found] = counts.get(found, 0) + 1
    order = [s for s in sorted(counts, key=lambda s: -counts[s]) if s][: len(FILLS)]
    number = {kinds: i for i, kinds in enumerate(order)}
    colors = np.ones((RASTER, RASTER, 3))
    for j, row in enumerate(sets):
        for i, found in enumerate(row):
            if found in number:
                code = FILLS[number[found]]
                colors[j, i] = [int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    extent = (chart.low[0], chart.high[0], chart.low[1], chart.high[1])
    axes.imshow(colors, origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    return [Patch(color=FILLS[i], label=named(kinds)) for kinds, i in number.items()]


def named(kinds: frozenset[Kind]) -> str:
    """A region in words."""
    return " or ".join(str(kind) for kind in sorted(kinds)) or "no periodic motion known"


def _runs(kinds: tuple[str, ...]) -> list[tuple[int, int, str]]:
    """(first, last, kind) of each run of one kind, up to the first point of the next."""
    found = []
    first = 0
    for i in range(1, len(kinds) + 1):
        if i == len(kinds) or kinds[i] != kinds[first]:
            found.append((first, min(i, len(kinds) - 1), kinds[first]))
            first = i
    return found
