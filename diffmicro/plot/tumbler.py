"""Drawings of the tumbler: side view with contact, adhesion and field, its path, the body in space, animation."""

from collections.abc import Callable, Sequence

import numpy as np
from jax.typing import ArrayLike
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro._types import Real
from diffmicro.devices import tumbler
from diffmicro.devices.tumbler.body import body_outline
from diffmicro.devices.tumbler.path import Trajectory
from diffmicro.devices.tumbler.state import FACE, FLIGHT, PIECE
from diffmicro.plot.stage import GROUND, pace, scale_bar
from diffmicro.plot.states import moving, settled

BODY, HULL, ADHESION, FIELD, MAGNET = "#9fb8cc", "#345", "#c44e00", "#1a7f37", "#7a1fa2"
NAMES = {FLIGHT: "flight", PIECE: "edge", FACE: "face"}


def section(design: tumbler.Design, roll: Real, position: Real, height: Real) -> np.ndarray:
    """The body's section, turned and moved, corners as rows [m]."""
    x, z = (np.asarray(c) for c in body_outline(design))
    sine, cosine = np.sin(roll), np.cos(roll)
    return np.stack([position + x * cosine + z * sine, height - x * sine + z * cosine], axis=1)


def draw_side(axes: Axes, design: tumbler.Design, path: Trajectory, i: int) -> None:
    """Side view along the axis of rolling, the incline drawn level."""
    scale = 1e3
    corners = scale * section(design, path.roll[i], path.position[i], path.height[i])
    axes.fill(*corners.T, facecolor=BODY, edgecolor=HULL, linewidth=1.0)
    axes.axhline(0.0, color="0.4", linewidth=1.0)
    size = scale * float(np.hypot(design.length, design.thickness))
    x, z = scale * path.position[i], scale * path.height[i]
    kind = int(path.kind[i])
    lowest = corners[corners[:, 1] < 1e-4 * size]
    if kind != FLIGHT and len(lowest):
        ends = lowest[[np.argmin(lowest[:, 0]), np.argmax(lowest[:, 0])]]
        axes.plot(*ends.T, color=ADHESION, linewidth=3, marker="o", markersize=3)
    if path.adhesion[i] > 0:
        pull = 0.45 * size * path.adhesion[i] / path.adhesion.max()
        _arrow(axes, (x, z), (0, -pull), ADHESION)
    angle = path.field_angle[i]
    _arrow(axes, (x, z), 0.55 * size * np.array([np.cos(angle), np.sin(angle)]), FIELD)
    angle = float(design.offset_angle) - path.roll[i]
    _arrow(axes, (x, z), 0.4 * size * np.array([np.cos(angle), np.sin(angle)]), MAGNET)
    axes.set_aspect("equal")


def _arrow(
    axes: Axes,
    start: Sequence[ArrayLike] | np.ndarray,
    by: Sequence[ArrayLike] | np.ndarray,
    color: str,
) -> None:
    axes.annotate(
        "",
        (start[0] + by[0], start[1] + by[1]),
        (start[0], start[1]),
        arrowprops=dict(arrowstyle="-|>", color=color, linewidth=1.5, shrinkA=0, shrinkB=0),
    )


def legend(axes: Axes) -> None:
    """What the arrows of `draw_side` are."""
    for color, name in (
        (FIELD, "field"),
        (MAGNET, "magnetization"),
        (ADHESION, "adhesion, contact"),
    ):
        axes.plot([], [], color=color, label=name)
    axes.legend(loc="upper right", fontsize=8, frameon=False)


def draw_path(axes: Axes, path: Trajectory, color: str, label: str = "") -> None:
    """Distance over time, with what touches the ground below it."""
    axes.plot(path.time, 1e3 * path.position, color=color, label=label, linewidth=1.2)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("distance [mm]")


def draw_adhesion(axes: Axes, path: Trajectory, color: str = ADHESION) -> None:
    """Adhesive force over time: a step at each landing and each lift."""
    axes.step(path.time, 1e6 * path.adhesion, where="post", color=color, linewidth=1.2)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("adhesion [uN]")


def at_times(path: Trajectory, times: np.ndarray) -> Trajectory:
    """The path at even times: numbers interpolated between its points, kinds and adhesion as they last."""
    last = np.clip(np.searchsorted(path.time, times, side="right") - 1, 0, len(path.time) - 1)
    numbers = {
        name: np.interp(times, path.time, getattr(path, name))
        for name in path._fields
        if name not in ("kind", "adhesion")
    }
    return path._replace(**numbers, kind=path.kind[last], adhesion=path.adhesion[last])


def animation(
    design: tumbler.Design, setting: tumbler.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """A turn of the field in the steady motion: the body on its way, and distance and adhesion so far."""
    response = settled(tumbler.DEVICE, design, setting)
    path = tumbler.simulate(design, setting, turns=1.0, start=response.state)
    moving(tumbler.DEVICE, path, design, setting, response)
    even = at_times(path, np.linspace(path.time[0], path.time[-1], frames))
    figure = Figure(figsize=(7.6, 4.6), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.subplot_mosaic("AA;BC", height_ratios=(1.7, 1))
    slow = pace(float(path.time[-1] - path.time[0]), frames)
    draw_path(axes["B"], path, BODY)
    draw_adhesion(axes["C"], path)
    (now,) = axes["B"].plot([], [], "o", color=HULL, markersize=5)
    mark = axes["C"].axvline(0.0, color=HULL, linewidth=1.0)

    def draw(i: int) -> None:
        side = axes["A"]
        side.clear()
        draw_side(side, design, even, i)
        _stand(side, design, setting, path)
        legend(side)
        name = NAMES.get(int(even.kind[i]), "face, one end loaded")
        time = f"{1e3 * (even.time[i] - even.time[0]):.0f} ms ({slow})"
        side.set_title(f"{time}   |   on its {name}", fontsize=9)
        now.set_data([even.time[i]], [1e3 * even.position[i]])
        mark.set_xdata([even.time[i]] * 2)

    draw(0)
    return figure, draw, frames


def _stand(axes: Axes, design: tumbler.Design, setting: tumbler.Setting, path: Trajectory) -> None:
    """The whole way stays in view: where the body lay at first, the ground, gravity, a scale bar."""
    size = 1e3 * float(np.hypot(design.length, design.thickness))
    first = 1e3 * section(design, path.roll[0], path.position[0], path.height[0])
    axes.fill(*first.T, facecolor="none", edgecolor="0.6", linewidth=0.8, linestyle=":")
    low, high = (1e3 * float(f(path.position)) for f in (np.min, np.max))
    axes.set_xlim(low - 0.85 * size, high + 0.85 * size)
    axes.set_ylim(-0.5 * size, 1.25 * size)
    axes.axhspan(-0.5 * size, 0.0, color=GROUND, zorder=0)
    scale_bar(axes, (low - 0.8 * size, -0.42 * size), 0.6 * size, 1e-3)
    corner = np.array([low - 0.7 * size, 1.1 * size])
    down = 0.3 * size * np.array([-np.sin(setting.incline), -np.cos(setting.incline)])
    _arrow(axes, corner, down, "0.3")
    axes.text(corner[0] + 0.06 * size, corner[1] + down[1], "gravity", color="0.3", fontsize=8)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_visible(False)
