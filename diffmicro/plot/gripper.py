"""Drawings of the gripper: undeformed and deformed mechanism, closing as an animation, force against opening.

Flexures are drawn as the arcs they are, bodies as straight lines from their centers to the ends of the flexures
(their outlines are not part of the model). The device calculates one half; the other is its mirror image.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from diffmicro.design import Result
from diffmicro.devices import gripper
from diffmicro.devices.gripper import lumped
from diffmicro.parameters import Value
from diffmicro.plot.design import mark_fragile, optima
from diffmicro.plot.searches import draw_objective, limits_of, rows_of
from diffmicro.plot.stage import GREEN, INK, scale_bar
from diffmicro.plot.states import moving

MM, UN = 1e3, 1e6
PATH_POINTS = 80
"""Fewest steps of an animation's path."""

REST, BENT, PATH = "tab:blue", "tab:red", "black"
COLORS = {
    "linear": "tab:green",
    "partial": "tab:blue",
    "consistent": "tab:orange",
    "exact": "tab:red",
}
"""Color of each model's curves."""


def mechanism(
    axes: Axes,
    design: gripper.Design,
    path: gripper.Trajectory,
    at: int,
    color: str = BENT,
    mirror: bool = False,
) -> list[Artist]:
    """One state of a path, [mm]; what was drawn is returned."""
    sides = (1.0, -1.0) if mirror else (1.0,)
    drawn = []
    lines = _links(design, np.asarray(path.configuration[at]), np.asarray(path.arcs[at]))
    tip = np.asarray(path.tip[at])
    for side in sides:
        for line in lines:
            drawn += axes.plot(MM * side * line[:, 0], MM * line[:, 1], color=color, linewidth=0.9)
        for arc in np.asarray(path.arcs[at]):
            drawn += axes.plot(MM * side * arc[:, 0], MM * arc[:, 1], color=color, linewidth=1.8)
        drawn += axes.plot(MM * side * tip[0], MM * tip[1], "o", color=color, markersize=4)
    return drawn


def _links(design: gripper.Design, configuration: np.ndarray, arcs: np.ndarray) -> list[np.ndarray]:
    """Lines from the bodies' centers to what they carry, and from the frame's to its flexures' ends."""
    centers = configuration.reshape(3, 3)[:, :2]
    angle = configuration.reshape(3, 3)[1, 2]
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    tip = centers[1] + turn @ np.asarray(design.tip)
    a, b, c, d = arcs
    return [
        np.stack([a[-1], centers[0], b[0]]),
        np.stack([b[-1], centers[1], c[0]]),
        np.stack([centers[1], tip]),
        np.stack([c[-1], centers[2], d[0]]),
    ]


def workspace(
    axes: Axes, design: gripper.Design, path: gripper.Trajectory, mirror: bool = False
) -> None:
    """Undeformed mechanism, the two ends of a path, and the tip's path [mm]."""
    order = np.asarray(path.force)
    rest = int(np.argmin(np.abs(order)))
    for at in (int(np.argmin(order)), int(np.argmax(order))):
        if at != rest:
            mechanism(axes, design, path, at, BENT, mirror)
    mechanism(axes, design, path, rest, REST, mirror)
    tip = MM * np.asarray(path.tip)
    axes.plot(tip[:, 0], tip[:, 1], color=PATH, linewidth=1.5)
    axes.set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal")


def force_curves(axes: Axes, paths: dict[str, gripper.Trajectory], quantity: str = "force") -> None:
    """Actuation force [uN] (or `path`: the tip's y [mm]) against the tip's x [mm], a curve per model."""
    for model, path in paths.items():
        x = MM * np.asarray(path.tip[:, 0])
        y = UN * np.asarray(path.force) if quantity == "force" else MM * np.asarray(path.tip[:, 1])
        axes.plot(x, y, color=COLORS.get(model), label=model)
    label = "actuation force [uN]" if quantity == "force" else "tip y [mm]"
    axes.set(xlabel="tip x [mm]", ylabel=label)
    axes.legend(frameon=False, fontsize=8)


def figure(design: gripper.Design, setting: gripper.Setting, points: int = 31) -> Figure:
    """The mechanism under the setting's force (closed, where that is zero), and the curves of all models."""
    drawing = Figure(figsize=(11, 5), layout="constrained")
    FigureCanvasAgg(drawing)
    left, middle, right = drawing.subplots(1, 3)
    last = _last_force(design, setting)
    forces = np.linspace(0.0, last, points)
    paths = {}
    for model in gripper.MODELS:
        seen = dataclasses.replace(setting, model=model)
        paths[model] = gripper.simulate(design, seen, forces=forces)
    workspace(left, design, paths[setting.model], mirror=True)
    left.set_title(f"{setting.model}, {UN * last:.1f} uN")
    force_curves(middle, paths, "path")
    force_curves(right, paths)
    return drawing


def animation(
    design: gripper.Design, setting: gripper.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """Closing from rest to the setting's force (to closing, where that is zero): figure, painter, frames."""
    # Every `each`-th state is a frame; those between make the tip's path a curve for any number of frames.
    each = -(-PATH_POINTS // (frames - 1))
    forces = np.linspace(0.0, _last_force(design, setting), each * (frames - 1) + 1)
    path = gripper.simulate(design, setting, forces=forces)
    moving(gripper.DEVICE, path, design, setting)
    drawing = Figure(figsize=(5.6, 6.0), layout="constrained", dpi=100)
    FigureCanvasAgg(drawing)
    axes = drawing.subplots()
    mechanism(axes, design, path, 0, "0.8", mirror=True)
    reach = 1.15 * MM * float(np.nanmax(np.abs(np.asarray(path.arcs))))
    axes.set(xlim=(-reach, reach), ylim=(-0.3 * reach, 1.75 * reach), aspect="equal")
    axes.axis("off")
    scale_bar(axes, (-0.95 * reach, -0.25 * reach), 0.4 * reach, 1 / MM)
    top = MM * float(np.asarray(path.tip)[:, 1].max())
    if setting.object_half_width is not None:
        half = MM * float(setting.object_half_width)
        size = (2 * half, 0.16 * reach)
        axes.add_patch(
            Rectangle(
                (-half, top - size[1] / 2), *size, facecolor="#e3b778", edgecolor=INK, zorder=0
            )
        )
        axes.text(0, top + 0.12 * reach, "object", ha="center", fontsize=8)
    shown: list[Artist] = []

    def paint(frame: int) -> None:
        while shown:
            shown.pop().remove()
        at = each * frame
        shown.extend(mechanism(axes, design, path, at, BENT, mirror=True))
        tip = MM * np.asarray(path.tip[: at + 1])
        shown.extend(axes.plot(tip[:, 0], tip[:, 1], color=PATH, linewidth=1))
        body = MM * np.asarray(path.configuration[at]).reshape(3, 3)[lumped.ACTUATED, :2]
        size = 0.35 * reach * forces[at] / max(np.abs(forces).max(), 1e-300)
        for side in (1, -1):
            shown.append(_pull(axes, side * body[0], body[1], size))
        grip = float(np.asarray(path.grip_force)[at])
        words = [
            f"force {UN * forces[at]:.1f} uN on each half",
            f"jaws {2 * tip[-1, 0]:.3f} mm apart",
        ]
        if setting.object_half_width is not None:
            words.append(f"grip {UN * grip:.1f} uN")
        axes.set_title("   |   ".join(words), fontsize=9)

    paint(0)
    return drawing, paint, frames


def _pull(axes: Axes, x: float, y: float, size: float) -> Artist:
    """The arrow of the actuation force, which ends where it acts."""
    look = dict(arrowstyle="-|>", color=GREEN, linewidth=2.2, shrinkA=0, shrinkB=0)
    return axes.annotate("", (x, y), (x, y - size), arrowprops=look)


def _last_force(design: gripper.Design, setting: gripper.Setting) -> float:
    force = float(np.asarray(setting.force))
    if force != 0:
        return force
    closed = gripper.respond(design, setting, extra=("closing_force",), throw=False)
    force = float(np.asarray(closed.closing_force))
    return force if np.isfinite(force) else 1e-5


def before_after(result: Result, path: Path, driven_by: str, factor: float, unit: str) -> Path:
    """Figure of a study: published and optimized gripper at rest and driven, and how the search went.

    `driven_by` names the response or setting that is the actuation force. The objective is shown times `factor`.
    """
    found = result.json("")
    drawing = Figure(figsize=(12, 4.6), layout="constrained")
    FigureCanvasAgg(drawing)
    grid = drawing.subplots(1, 3)
    for axes, name in zip(grid[:2], ("published", "optimized"), strict=True):
        side = found[name]
        design, setting = gripper.Design(**side["design"]), gripper.Setting(**side["setting"])
        numbers: dict[str, Value] = {**side["setting"], **side["response"]}
        last = numbers.get(driven_by)
        if last is None:
            last = _last_force(design, setting)
        states = gripper.simulate(design, setting, forces=np.linspace(0.0, last, 21))
        workspace(axes, design, states, mirror=True)
        axes.set_title(f"{name}, {UN * last:.1f} uN")
    objective, limits = result.problem.objective.response, limits_of(result)
    draw_objective(grid[2], rows_of(result), objective, factor, unit, limits)
    grid[2].set(title=f"search: {result.status}")
    optima(grid[2], result, factor)
    mark_fragile(drawing, result)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=130)
    return path
