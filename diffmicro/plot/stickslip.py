"""The stick-slip drive at work: runner, hemispheres and sensor, their way over time, the springs of the contacts.

Displacements are drawn larger than the robot, with a scale bar of their own; the back step, which is over in a
moment, is shown slower than the rest. Below, the force of each spring over its friction limit, from the middle of
the contact outwards: what slides is at one. The springs need law mdr. Left out: normal deformation to scale.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from diffmicro.devices import stickslip
from diffmicro.plot.stage import BLUE, GREEN, INK, ORANGE, scale_bar
from diffmicro.plot.states import moving

GROUPS = ("two upper contacts", "four lower contacts")
PLACES = ((-1.8, 1.0, 0), (1.8, 1.0, 0), (-2.3, -1, 1), (-1.3, -1, 1), (1.3, -1, 1), (2.3, -1, 1))
"""Where the hemispheres are drawn, and of which group they are."""

PERIODS, STROKE = 3, 1.2
"""Periods from rest, and the drawn way of a full stroke."""

NM = 1e9


def animation(
    design: stickslip.Design, setting: stickslip.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """Three periods from rest: figure, function that draws a frame, number of frames."""
    shown = replace(setting, law="mdr")
    path = stickslip.simulate(design, shown, periods=PERIODS)
    moving(stickslip.DEVICE, path, design, shown)
    time, place = np.asarray(path.time), np.asarray(path.position)
    drive, sliding = np.asarray(path.drive), np.asarray(path.sliding)
    steps = _frames(time, drive[:, 0], frames)
    zoom = STROKE / float(setting.amplitude)
    figure = Figure(figsize=(7.2, 6.0), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    side, course, springs = figure.subplots(3, 1, height_ratios=(1.7, 1.2, 1))
    course.plot(1e3 * time, NM * drive[:, 0], color=ORANGE, linewidth=1.2, label="hemispheres")
    course.plot(1e3 * time, NM * place, color=BLUE, linewidth=1.6, label="runner")
    course.set(xlabel="time [ms]", ylabel="place [nm]", xlim=(0, 1e3 * time[-1]))
    course.legend(frameon=False, fontsize=8, loc="upper left")
    mark = course.axvline(0, color=INK, linewidth=1.0)
    radius = np.linspace(0, 1, sliding.shape[2])
    lines = []
    for name, color in zip(GROUPS, (GREEN, ORANGE), strict=True):
        lines += springs.plot(radius, 0 * radius, color=color, label=name)
    springs.set(ylim=(-1.15, 1.15), xlabel="radius over contact radius", ylabel="force over limit")
    springs.legend(
        frameon=False, fontsize=8, loc="lower center", ncols=2, bbox_to_anchor=(0.5, 0.98)
    )
    speed = np.gradient(drive[:, 0])

    def draw(frame: int) -> None:
        n = int(steps[frame])
        side.clear()
        ends = _stage(side, zoom * place)
        scale_bar(side, (ends[0] - 1.4, -2.1), 2.0, 1 / zoom)
        side.text(ends[0] + 0.8, -2.1, "displacements; bodies are not to scale", fontsize=8)
        _robot(side, ends, zoom * place[n], zoom * drive[n], np.sign(speed[n]))
        slides = np.abs(sliding[n]).min() > 0.999
        word = "contacts carry the runner" if speed[n] >= 0 else "the back step begins"
        word = "all contacts slide" if slides else word
        time_now = f"{1e3 * time[n]:.3f} ms (back steps shown slower)"
        side.set_title(f"{time_now}   |   runner {NM * place[n]:+.1f} nm   |   {word}", fontsize=9)
        mark.set_xdata([1e3 * time[n]] * 2)
        for group, line in enumerate(lines):
            line.set_ydata(sliding[n, group])

    draw(0)
    return figure, draw, frames


def _frames(time: np.ndarray, drive: np.ndarray, count: int) -> np.ndarray:
    """Steps to show: half by the time that passes, half by the way of the drive, so that back steps are seen."""
    passed = (time - time[0]) / (time[-1] - time[0])
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(drive)))])
    clock = 0.5 * passed + 0.5 * way / max(way[-1], 1e-300)
    return np.searchsorted(clock, np.linspace(0, 1, count)).clip(0, len(time) - 1)


def _stage(axes: Axes, places: np.ndarray) -> tuple[float, float]:
    """What stands still: the wall of the sensor, a mark where the runner began. The ends of the runner there.

    It is long enough that no hemisphere leaves it.
    """
    left, right = -3.4 - max(places.max(), 0.0), 3.4 - min(places.min(), 0.0)
    wall = right + 1.8 + max(places.max(), 0.0)
    axes.set(xlim=(left - 1.6, wall + 0.6), ylim=(-2.2, 2.0), aspect="equal")
    axes.axis("off")
    axes.plot([left, left], [-0.9, 0.9], color="0.5", linewidth=1, linestyle=":")
    axes.plot([wall, wall], [-0.7, 0.7], color=INK, linewidth=3)
    axes.text(wall, 0.85, "sensor", ha="center", fontsize=8)
    return left, right


def _robot(
    axes: Axes, ends: tuple[float, float], place: float, drive: np.ndarray, way: float
) -> None:
    """Runner, hemispheres with the way they move, and the spring of the sensor."""
    left, right = ends[0] + place, ends[1] + place
    axes.add_patch(Rectangle((left, -0.5), right - left, 1, facecolor=BLUE, edgecolor=INK))
    axes.text((left + right) / 2, 0, "runner", color="white", ha="center", va="center", fontsize=9)
    for x, y, group in PLACES:
        center = (x + drive[group], y)
        axes.add_patch(Circle(center, 0.5, facecolor=ORANGE, edgecolor=INK, alpha=0.9))
    if way:
        arrow = dict(arrowstyle="-|>", color=ORANGE, linewidth=2)
        x = float(drive[0])
        axes.annotate("", (x + 0.8 * way, 1.8), (x - 0.8 * way, 1.8), arrowprops=arrow)
    wave = 0.2 * np.array([0, 0, 1, -1, 1, -1, 1, 0, 0])
    across = np.linspace(right, axes.get_xlim()[1] - 0.6, 9)
    axes.plot(across, wave, color=INK, linewidth=1.2)
