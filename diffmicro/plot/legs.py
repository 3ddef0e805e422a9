"""Figures of the piezo legs: height over time, circular plots (Ryou 2014, Figs. 18-19), and an animation of
all feet.

A circular plot turns once per drive period; the distance from its center is the height, so repeating motions
close on themselves and bounces stand at their phase. The other feet of the animation follow assumed
mode shapes when the design has none, and the picture is labeled so.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes

from diffmicro.devices import legs
from diffmicro.devices.legs.feet import HEXAPOD_SHAPES

FOOT, DRIVE, GROUND = "#c44e00", "#7a7a7a", "#3a3a3a"


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


def feet_heights(design: legs.Design, setting: legs.Setting, path: legs.Trajectory) -> np.ndarray:
    """Heights (times, feet) of all feet; the first is the one that bounces."""
    shape = HEXAPOD_SHAPES if design.mode_shape is None else design.mode_shape
    shape = np.asarray(shape, float)
    modal = np.asarray(path.displacement)
    if shape.shape[1] != modal.shape[1]:
        shape = np.ones((1, modal.shape[1]))
    return float(setting.gap) + modal @ (shape / shape[:1]).T


def animation(
    design: legs.Design, setting: legs.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """All feet over two drive periods of the steady motion: figure, function that draws a frame, their number."""
    response = legs.respond(design, setting, throw=False)
    path = legs.simulate(design, setting, periods=2, start=response.state)
    time = np.linspace(0, 2 / float(setting.drive_frequency), frames)
    motion = feet_heights(design, setting, path)
    heights = _resampled(path, motion, time)
    voltage = _resampled(path, np.asarray(path.voltage)[:, None], time)[:, 0]
    feet = heights.shape[1]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    stage, trace = figure.subplots(2, 1, height_ratios=(2, 1))
    top = 1.15e6 * max(motion.max(), 1e-7)
    stage.set(xlim=(-0.7, feet - 0.3), ylim=(-0.12 * top, top), ylabel="height [um]")
    stage.axhspan(-0.12 * top, 0, color="0.8")
    words = "" if design.mode_shape is not None else "; other feet: assumed mode shapes"
    stage.set_title(f"foot 1 bounces{words}", fontsize=9)
    stage.set_xticks(range(feet), [f"foot {i + 1}" for i in range(feet)])
    stems = stage.vlines(np.arange(feet), 0, heights[0] * 1e6, color=DRIVE, linewidth=1)
    colors = [FOOT] + [DRIVE] * (feet - 1)
    dots = stage.scatter(np.arange(feet), heights[0] * 1e6, c=colors, s=90, marker="s", zorder=3)
    # The curve on the motion's own points: impacts lie between frames.
    trace.plot(1e3 * np.asarray(path.time), 1e6 * motion[:, 0], color=FOOT, linewidth=1)
    trace.axhline(0, color=GROUND, linewidth=0.8)
    trace.set(xlabel="time [ms]", ylabel="foot 1 [um]")
    (now,) = trace.plot([0], [1e6 * heights[0, 0]], "o", color=FOOT)
    text = stage.text(0.99, 0.95, "", transform=stage.transAxes, ha="right", va="top", fontsize=9)

    def draw(frame: int) -> None:
        at = 1e6 * heights[frame]
        dots.set_offsets(np.column_stack([np.arange(feet), at]))
        stems.set_segments([np.array([[i, 0.0], [i, h]]) for i, h in enumerate(at)])
        now.set_data([1e3 * time[frame]], [at[0]])
        text.set_text(f"{1e3 * time[frame]:5.1f} ms, {voltage[frame]:+5.1f} V")

    draw(0)
    return figure, draw, frames


def _resampled(path: Any, values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Values at other times, by straight lines between the steps."""
    known = np.asarray(path.time)
    columns = [np.interp(time, known, column) for column in values.T]
    return np.stack(columns, axis=1)
