"""Figures of the piezo legs: circular plots (Ryou 2014, Figs. 18-19), and an animation of the foot that bounces.

A circular plot turns once per drive period; the distance from its center is the height, so repeating motions
close on themselves and bounces stand at their phase. Left out: the other feet, which the model has no ground for.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from matplotlib.projections.polar import PolarAxes

from diffmicro.devices import legs
from diffmicro.plot.stage import BLUE, GREEN, GROUND, INK, ORANGE, PALE, pace
from diffmicro.plot.states import moving, settled

FOOT = ORANGE


def circular(
    axes: PolarAxes, path: legs.Trajectory, drive_frequency: float, after: float, label: str
) -> None:
    """Height around the drive's cycle, from the time `after` [s] on."""
    time, height = np.asarray(path.time), np.asarray(path.height)
    shown = time >= after
    angle = 2 * np.pi * drive_frequency * time[shown]
    axes.plot(angle, 1e6 * height[shown], color=FOOT, linewidth=0.4, label=label)
    axes.set_title(label, fontsize=9)
    axes.tick_params(labelsize=7)


def animation(
    design: legs.Design, setting: legs.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """The bouncing foot over two drive periods of the steady motion: figure, painter, number of frames."""
    response = settled(legs.DEVICE, design, setting)
    path = legs.simulate(design, setting, periods=2, start=response.state)
    moving(legs.DEVICE, path, design, setting, response)
    duration = 2 / float(setting.drive_frequency)
    time = np.linspace(0, duration, frames)
    known = np.asarray(path.time)
    height = 1e6 * np.asarray(path.height)
    at, voltage = (np.interp(time, known, v) for v in (height, np.asarray(path.voltage)))
    touches = np.asarray(path.in_contact)[np.searchsorted(known, time).clip(0, len(known) - 1)]
    figure = Figure(figsize=(7.2, 4.4), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.subplot_mosaic("AB;AC", width_ratios=(1, 2))
    stage, trace, drive = axes["A"], axes["B"], axes["C"]
    top = 1.6 * max(float(height.max()), 0.1)
    stage.set(xlim=(0, 1), ylim=(-0.15 * top, top), ylabel="height of the foot [um]", xticks=[])
    stage.axhspan(-0.15 * top, 0, color=GROUND)
    stage.axhline(0, color=INK, linewidth=1)
    leg = Polygon(_leg(at[0], top), closed=True, facecolor=BLUE, edgecolor=INK)
    stage.add_patch(
        Rectangle((0.06, 0.84 * top), 0.88, 0.12 * top, facecolor="0.75", edgecolor=INK)
    )
    stage.text(0.5, 0.9 * top, "body", ha="center", va="center", fontsize=8)
    stage.add_patch(leg)
    # The curve on the motion's own points: impacts lie between frames.
    trace.plot(1e3 * known, height, color=ORANGE, linewidth=1.4)
    trace.axhline(0, color=INK, linewidth=0.8)
    trace.fill_between(
        1e3 * known, 0, height.max(), where=np.asarray(path.in_contact) > 0, color=PALE, zorder=0,
        label="on the ground",
    )  # fmt: skip
    trace.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 0.98))
    trace.set(ylabel="height [um]", xlim=(0, 1e3 * duration))
    trace.tick_params(labelbottom=False)
    drive.plot(1e3 * known, np.asarray(path.voltage), color=GREEN, linewidth=1.4)
    drive.set(ylabel="voltage [V]", xlabel="time [ms]", xlim=(0, 1e3 * duration))
    (now,) = trace.plot([], [], "o", color=ORANGE)
    (driven,) = drive.plot([], [], "o", color=GREEN)
    slow = pace(duration, frames)

    def draw(frame: int) -> None:
        leg.set_xy(_leg(at[frame], top))
        leg.set_facecolor(ORANGE if touches[frame] or at[frame] < 0.005 * top else BLUE)
        now.set_data([1e3 * time[frame]], [at[frame]])
        driven.set_data([1e3 * time[frame]], [voltage[frame]])
        figure.suptitle(f"{1e3 * time[frame]:.1f} ms ({slow})", fontsize=9)

    draw(0)
    return figure, draw, frames


def _leg(height: float, top: float) -> list[tuple[float, float]]:
    """A leg from the body, which hangs, to its foot: the sum of all modes is its height."""
    knee, foot = 0.84 * top, height
    return [(0.42, knee), (0.58, knee), (0.54, foot + 0.05 * top), (0.62, foot), (0.38, foot),
            (0.46, foot + 0.05 * top)]  # fmt: skip
