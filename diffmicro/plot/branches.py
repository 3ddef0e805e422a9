"""A response, mostly the velocity, over a parameter along branches of periodic motions.

Stable motions are solid, unstable ones dashed; folds, and grazing points where an impact appears or
vanishes, are marked. Where two solid lines lie above each other the device has hysteresis.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro.boundary import Boundary
from diffmicro.dynamics.branches import AnyBranch
from diffmicro.parameters import Value
from diffmicro.plot.measured import Measured, lay_over
from diffmicro.plot.stage import GREEN, INK, PURPLE, figure_of

SOLID: dict[str, Value] = dict(color="#1f4e79", linewidth=2.0)
DASHED: dict[str, Value] = dict(color="#b3541e", linewidth=1.4, linestyle=(0, (4, 2)))
ENDS = (GREEN, PURPLE, INK)
MARK: dict[str, Value] = dict(s=42, facecolor="white", edgecolor="black", zorder=3)


def plot_branches(
    branches: Sequence[AnyBranch],
    axes: Axes | None = None,
    *,
    response: str = "velocity",
    label: str | None = None,
    scale: float = 1e3,
    unit: str = "mm/s",
    measured: Measured | None = None,
    boundaries: Sequence[Boundary] = (),
) -> Figure:
    """A response [`unit`, `scale` times SI] over the parameter, named by `label`, with measured points over it.

    boundaries: along that parameter, as lines with their kinds.
    """
    if not branches:
        raise ValueError("plot_branches: there are no branches to draw.")
    if axes is None:
        axes = Figure(figsize=(7, 4.2), layout="constrained").subplots()
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    folds, grazing = [], []
    span = float(np.ptp(np.concatenate([b.parameter for b in branches])))
    for branch in branches:
        velocity = scale * getattr(branch, response)
        for first, last, stable in _runs(branch.stable):
            # A run is drawn up to the next one's first point, so that no gap is left.
            piece = slice(first, last + 1)
            style = SOLID if stable else DASHED
            axes.plot(branch.parameter[piece], velocity[piece], **style)
        folds += [(branch.parameter[i], velocity[i]) for i in branch.folds]
        for end, at in zip(branch.ends, (0, -1), strict=True):
            if end == "grazing":
                grazing.append((branch.parameter[at], velocity[at]))
    handles: list[Artist] = [
        axes.plot([], [], **style, label=name)[0]
        for name, style in (("stable", SOLID), ("unstable", DASHED))
    ]
    for points, marker, name in ((folds, "o", "fold"), (grazing, "s", "grazing")):
        if points:
            x, y = np.transpose(points)
            handles.append(axes.scatter(x, y, marker=marker, label=name, **MARK))
            for at in _distinct(points, span):
                axes.annotate(
                    f"{at[0]:.4g}", at, textcoords="offset points", xytext=(6, 7), fontsize=8
                )
    for kind in dict.fromkeys(b.kind for b in boundaries):
        color = ENDS[len(handles) % len(ENDS)]
        for boundary in (b for b in boundaries if b.kind == kind):
            line = axes.axvline(boundary.at, color=color, linewidth=1.2, linestyle=":")
        line.set_label(kind.replace("_", " "))
        handles.append(line)
    if measured is not None:
        handles += lay_over(axes, measured, (branches[0].key, 1.0), (response, scale))
    axes.set_xlabel(label or branches[0].key.replace("_", " "))
    axes.set_ylabel(f"{response.replace('_', ' ')} [{unit}]")
    axes.legend(handles=handles, frameon=False)
    return figure_of(axes)


def _runs(flags: np.ndarray) -> list[tuple[int, int, bool]]:
    """(first, one past the last, flag) of each run of equal flags."""
    changes = np.flatnonzero(np.diff(flags.astype(int))) + 1
    bounds = [0, *changes.tolist(), len(flags)]
    return [(a, b, bool(flags[a])) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


def _distinct(points: list[tuple[float, float]], span: float) -> list[tuple[float, float]]:
    """Points whose labels would not lie over each other."""
    kept: list[tuple[float, float]] = []
    for point in points:
        if all(abs(point[0] - other[0]) > 0.03 * span for other in kept):
            kept.append(point)
    return kept
