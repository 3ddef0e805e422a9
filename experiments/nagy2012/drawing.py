"""What the paper's figures have in common."""

import numpy as np
from matplotlib.axes import Axes

from experiments.nagy2012.motion import RATIOS


def velocity_axes(axes: Axes, *resonances: float, unit: str = "mm/s") -> None:
    """Frequency over velocity, with dashed lines at the resonances."""
    axes.axhline(0, color="0.7", linewidth=0.8)
    for ratio in resonances:
        axes.axvline(ratio, color="0.4", linestyle="--", linewidth=0.8)
    axes.set_xlim(RATIOS[0], RATIOS[-1])
    axes.set_xlabel("drive frequency over tethered frequency")
    axes.set_ylabel(f"robot velocity [{unit}]")


def sweep_lines(axes: Axes, up: np.ndarray, down: np.ndarray, color: str, label: str) -> None:
    """Both directions of a sweep in mm/s: up solid, down dotted."""
    axes.plot(RATIOS, 1e3 * up, color=color, marker=">", markersize=3, linewidth=1, label=label)
    axes.plot(RATIOS, 1e3 * down, color=color, marker="<", markersize=3, linewidth=1, linestyle=":")


def as_table(axes: Axes, heads: list[str], rows: list[list[str]]) -> None:
    """A table that fills the figure."""
    axes.axis("off")
    table = axes.table(cellText=rows, colLabels=heads, loc="center", cellLoc="left")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.auto_set_column_width(list(range(len(heads))))
    table.scale(1, 1.3)
