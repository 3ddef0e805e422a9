"""Figure of an optimization: the response before and after, how the search went, how near the
constraint.

The caller gives the curves before and after, as what to show of a device is the device's; the
rest comes from the result. Left out: several objectives.
"""

import textwrap
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro.design.result import Result
from diffmicro.design.shown import in_units
from diffmicro.plot.searches import draw_objective, draw_room, limits_of, rows_of

BEFORE, AFTER = "#7a7a7a", "#c44e00"
FRAGILE = "#b00020"

SHOWN = 5
"""Optima that a figure shows."""


class Panel(NamedTuple):
    """Curves before and after: each (x, y, x of the design, y of the design)."""

    x_label: str
    y_label: str
    curves: list[tuple[np.ndarray, np.ndarray, float, float]]


def before_after(result: Result, panels: list[Panel], path: Path, factor: float, unit: str) -> Path:
    """Draw two panels and the search; the objective is shown times `factor`, in `unit`."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplot_mosaic("AAABBCC;AAABBDD").values())
    for axis, panel in zip(axes[:2], panels, strict=True):
        _draw(axis, panel, unit)
    rows, limits = rows_of(result), limits_of(result)
    draw_objective(axes[2], rows, result.problem.objective.response, factor, unit, limits)
    axes[2].set(xlabel="", title=f"search: {result.status}")
    optima(axes[2], result, factor)
    draw_room(axes[3], rows, limits, {name: in_units(result.problem, name) for name in limits})
    axes[3].legend(frameon=False, fontsize=8)
    mark_fragile(figure, result)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path


def mark_fragile(figure: Figure, result: Result) -> None:
    """Say under the panels that the optimum is fragile, and why first."""
    reasons = (result.surroundings or {}).get("fragile", ())
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        why = in_units(result.problem, reasons[0])
        text = textwrap.fill(f"fragile: {why}{more}", 150)
        figure.supxlabel(text, color=FRAGILE, fontsize=9)


def optima(axis: Axes, result: Result, factor: float) -> None:
    """The values of the best optimum and the runners-up, as lines across the search."""
    if len(result.optima) < 2:
        return
    for optimum in result.optima[:SHOWN]:
        axis.axhline(factor * optimum["objective"], color="black", linewidth=0.7, linestyle=":")
    shown = min(SHOWN, len(result.optima))
    axis.plot([], [], "k:", linewidth=0.7, label=f"best {shown} of {len(result.optima)} optima")
    axis.legend(frameon=False, fontsize=8)


def _draw(axis: Axes, panel: Panel, unit: str) -> None:
    looks = zip(panel.curves, (BEFORE, AFTER), ("published", "optimized"), strict=True)
    for (x, y, x0, y0), color, name in looks:
        axis.plot(x, y, color=color, linewidth=1.6, label=name)
        if np.isfinite(y0):
            label = f"{name}: {y0:.2f} {unit}"
            axis.plot(x0, y0, "o", color=color, markersize=9, markeredgecolor="black", label=label)
    axis.axhline(0, color="black", linewidth=0.6)
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
    axis.legend(frameon=False, fontsize=8)
