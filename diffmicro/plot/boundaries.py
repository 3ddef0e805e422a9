"""Boundaries along a parameter: where they are, and what moves those at which the motion ends.

Above: the parameter, the point itself, and a line for each boundary, labeled by its kind. Below: by how many
percent each of the most important parameters moves the nearest ends, for one percent of itself."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro.boundary import Boundary
from diffmicro.parameters import Value

END: dict[str, Value] = dict(color="#b3541e", linewidth=2.2)
START: dict[str, Value] = dict(color="#7a4fa3", linewidth=1.6, linestyle=(0, (4, 2)))
CHANGE: dict[str, Value] = dict(color="0.6", linewidth=1.0)
BARS = 8
"""Most parameters in the lower part."""


def plot_boundaries(
    found: Sequence[Boundary], key: str, unit: str, values: Mapping[str, float]
) -> Figure:
    """The figure. values: of the parameters, for elasticities."""
    ending = [b for b in found if b.ends and b.grad]
    figure = Figure(figsize=(7.5, 5.2 if ending else 2.6), layout="constrained")
    parts = figure.subplots(2 if ending else 1, 1, height_ratios=[1, 1.4] if ending else [1])
    top = parts[0] if ending else parts
    _places(top, found, key, unit, values.get(key))
    if ending:
        _bars(parts[1], ending, key, values)
    return figure


def _places(axes: Axes, found: Sequence[Boundary], key: str, unit: str, here: float | None) -> None:
    places = [b.at for b in found] + ([here] if here is not None else [])
    room = 0.06 * (max(places) - min(places) or abs(places[0]) or 1.0) if places else 1.0
    for number, b in enumerate(found):
        style = END if b.ends else START if b.kind == "start_lost" else CHANGE
        axes.axvline(b.at, **style)
        label = b.kind.replace("_", " ") + (f"\n({b.beyond})" if b.beyond else "")
        height = 0.97 - 0.15 * (number % 6)
        axes.annotate(
            label,
            (b.at, height),
            xycoords=("data", "axes fraction"),
            xytext=(3, 0),
            textcoords="offset points",
            fontsize=8,
            va="top",
            color=style["color"],
            # Readable where the next line passes through it.
            bbox=dict(facecolor="white", edgecolor="none", pad=1),
            zorder=3,
        )
    if not found:
        axes.text(0.5, 0.5, "no boundary found", ha="center", va="center", transform=axes.transAxes)
    if here is not None:
        axes.plot(
            [here],
            [0.06],
            "^",
            color="#1f4e79",
            markersize=10,
            transform=axes.get_xaxis_transform(),
            label="the point looked at",
        )
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=8)
    if places:
        axes.set_xlim(min(places) - room, max(places) + 3 * room)
    axes.set_yticks([])
    axes.set_xlabel(key.replace("_", " ") + ("" if unit in ("", "-") else f" [{unit}]"))


def _bars(axes: Axes, ending: Sequence[Boundary], key: str, values: Mapping[str, float]) -> None:
    def share(b: Boundary, name: str) -> float:
        return float(b.grad[name]) * values[name] / b.at if b.at else 0.0

    names = [n for n in ending[0].grad if n in values and np.ndim(ending[0].grad[n]) == 0]
    names = sorted(names, key=lambda n: -max(abs(share(b, n)) for b in ending))[:BARS][::-1]
    width = 0.8 / len(ending)
    for number, b in enumerate(ending):
        rows = np.arange(len(names)) + (number - (len(ending) - 1) / 2) * width
        color = ("#1f4e79", "#b3541e")[number % 2]
        label = f"{b.kind.replace('_', ' ')} at {b.at:.4g}"
        axes.barh(rows, [share(b, n) for n in names], height=width, color=color, label=label)
    axes.axvline(0, color="0.3", linewidth=0.8)
    axes.set_yticks(np.arange(len(names)), [n.replace("_", " ") for n in names], fontsize=8)
    axes.set_xlabel(
        f"percent of {key.replace('_', ' ')} at the boundary for one percent of the parameter"
    )
    axes.legend(frameon=False, fontsize=8)
