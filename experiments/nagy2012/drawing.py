"""What the paper's figures have in common."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from diffmicro.plot.stage import parted
from experiments.nagy2012.motion import RATIOS

RESONANCES = ("f1", "f2")


def velocity_axes(axes: Axes, *resonances: float, unit: str = "mm/s") -> None:
    """Frequency over velocity, with dashed lines at the resonances, f1 first."""
    axes.axhline(0, color="0.7", linewidth=0.8)
    for ratio, name in zip(resonances, RESONANCES, strict=False):
        axes.axvline(ratio, color="0.4", linestyle="--", linewidth=0.8)
        axes.annotate(
            name, (ratio, 1), (2, -2), xycoords=("data", "axes fraction"),
            textcoords="offset points", va="top", fontsize=8,
        )  # fmt: skip
    axes.set_xlim(RATIOS[0], RATIOS[-1])
    axes.set_xlabel("drive frequency over tethered frequency")
    axes.set_ylabel(f"robot velocity [{unit}]")


def sweep_lines(axes: Axes, up: np.ndarray, down: np.ndarray, color: str, label: str) -> None:
    """Both directions of a sweep in mm/s: up solid, down dotted; no line joins what jumps."""
    axes.plot(
        *parted(RATIOS, 1e3 * up), color=color, marker=">", markersize=3, linewidth=1, label=label
    )
    axes.plot(
        *parted(RATIOS, 1e3 * down), color=color, marker="<", markersize=3, linewidth=1, linestyle=":",
        markerfacecolor="white", markeredgewidth=0.7,
    )  # fmt: skip


def sweep_legend(axes: Axes, **where: Any) -> None:
    """The legend of `sweep_lines`, with what solid and dotted mean."""
    handles, labels = axes.get_legend_handles_labels()
    style: dict[str, Any] = dict(color="0.3", markersize=4, linewidth=1)
    handles += [
        Line2D([], [], marker=">", **style),
        Line2D([], [], marker="<", linestyle=":", markerfacecolor="white", **style),
    ]
    axes.legend(handles, [*labels, "swept up", "swept down"], fontsize=8, **where)


def as_table(axes: Axes, heads: list[str], rows: list[list[str]]) -> None:
    """A table that fills the figure; columns of single digits keep a width."""
    axes.axis("off")
    wide = [[f"{cell:<6}" for cell in row] for row in rows]
    table = axes.table(cellText=wide, colLabels=heads, loc="center", cellLoc="left")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.auto_set_column_width(list(range(len(heads))))
    table.scale(1, 1.3)
