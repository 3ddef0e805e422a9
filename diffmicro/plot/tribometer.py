"""Drawings of the tribometer: a period of its motion, friction over velocity, and the probe at work.

The animation shows the probe from the side, its displacement exaggerated; arrows are the friction force on the
probe and, out of plane, the normal force. Left out: the springs of law mdr, one by one.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from diffmicro.devices import tribometer
from diffmicro.plot.stage import BLUE, GREEN, GROUND, INK, ORANGE, pace, scale_bar
from diffmicro.plot.states import moving

WORDS = {"oop": "out of plane", "ipi": "in plane, in line", "ipp": "in plane, across"}
SHOWN = 1.5
"""Lengths that the probe travels in the animation, in units of its drawing."""


def draw_curve(
    axes: Axes, velocity: np.ndarray, ratio: np.ndarray, critical: float | None, label: str
) -> None:
    """Friction over velocity; up to the critical velocity it is reduced."""
    (line,) = axes.plot(1e3 * velocity, ratio, label=label)
    if critical is not None:
        axes.axvline(1e3 * critical, color=line.get_color(), linestyle=":", linewidth=0.8)
    axes.set(xlabel="mean sliding velocity [mm/s]", ylabel="friction over unreduced")


def animation(
    design: tribometer.Design, setting: tribometer.Setting, frames: int = 120
) -> tuple[Figure, Callable[[int], None], int]:
    """The probe over two periods: figure, the function that draws frame i, and the number of frames."""
    path = moving(tribometer.DEVICE, tribometer.simulate(design, setting), design, setting)
    period = 1 / float(setting.frequency)
    time = np.asarray(path.time) / period
    columns = (path.position, path.normal_force, path.friction_force, path.stick_share)
    moved, load, friction, stick = (np.asarray(values) for values in columns)
    step = float(moved[-1])
    room = max(2 * abs(step), float(np.ptp(moved)), 1e-300)
    scale = SHOWN / room
    figure = Figure(figsize=(7.2, 5.2), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    side, forces, ways = figure.subplots(3, 1, height_ratios=(2, 1, 1))
    twice = np.concatenate([time, 1 + time])
    micro = 1e6 * period
    forces.plot(micro * twice, np.tile(load, 2), color=BLUE, label="normal force")
    forces.plot(micro * twice, np.tile(friction, 2), color=ORANGE, label="friction")
    forces.set(ylabel="force [N]", xlim=(0, 2 * micro), ylim=(0, 1.4 * load.max()))
    forces.tick_params(labelbottom=False)
    forces.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    way = np.concatenate([moved, step + moved])
    ways.plot(micro * twice, 1e9 * way, color=GREEN)
    ways.set(ylabel="way [nm]", xlabel="time [us]", xlim=(0, 2 * micro))
    marks = [axes.axvline(0, color=INK, linewidth=1) for axes in (forces, ways)]
    greatest = float(max(load.max(), np.abs(friction).max()))
    slow = pace(2 * period, frames)

    def draw(frame: int) -> None:
        turns, phase = divmod(2 * frame / frames, 1.0)
        place, normal, pull, sticks = (
            float(np.interp(phase, time, values)) for values in (moved, load, friction, stick)
        )
        side.clear()
        _stage(side, scale)
        x = scale * (place + turns * step)
        _probe(side, setting.direction, x, phase, normal / float(load.mean()))
        _force(side, (x, 1.1 + 0.9 * normal / greatest), (x, 1.1), BLUE, f"{normal:.1f} N")
        _force(side, (x, 0.02), (x - 0.9 * pull / greatest, 0.02), ORANGE, f"{pull:.1f} N")
        word = (
            "sticks" if sticks > 0.999 else "slips" if sticks < 0.001 else f"sticks to {sticks:.0%}"
        )
        now = f"{micro * (phase + turns):.1f} us ({slow})"
        words = (WORDS[setting.direction], now, word)
        side.set_title("   |   ".join(words), fontsize=9)
        for mark in marks:
            mark.set_xdata([micro * (phase + turns)] * 2)

    draw(0)
    return figure, draw, frames


def _stage(axes: Axes, scale: float) -> None:
    """The disc, where the probe began, and a scale bar of its way."""
    axes.set(xlim=(-1.6, SHOWN + 1.6), ylim=(-0.5, 2.15), aspect="equal")
    axes.axis("off")
    axes.add_patch(Rectangle((-3, -1), 9, 1, color=GROUND))
    axes.plot([0, 0], [-0.12, 0], color=INK, linewidth=1)
    scale_bar(axes, (-1.5, -0.42), 0.8, 1 / scale)


def _probe(axes: Axes, direction: str, x: float, phase: float, load: float) -> None:
    """Probe and carrier; the vibration itself is drawn far too large."""
    alone = direction == "oop"
    swing = 0.12 * np.sin(2 * np.pi * phase)
    sink = 0.06 * (load - 1) if alone else 0.0
    offsets = [0.0] if alone else [-0.5 - swing, 0.5 + swing]
    for offset in offsets:
        axes.add_patch(Circle((x + offset, 0.3 - sink), 0.3, facecolor="#e3b778", edgecolor=INK))
    width = 0.8 if alone else 1.6 + 2 * swing
    body = Rectangle((x - width / 2, 0.6 - sink), width, 0.5, facecolor="0.75", edgecolor=INK)
    axes.add_patch(body)


def _force(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str, text: str
) -> None:
    look = dict(arrowstyle="-|>", color=color, linewidth=2.2, shrinkA=0, shrinkB=0)
    axes.annotate("", end, start, arrowprops=look)
    level = start[1] == end[1]
    place, shift = (end, (-4, -11)) if level else (start, (5, -2))
    axes.annotate(
        text, place, shift, textcoords="offset points", color=color, fontsize=9,
        ha="right" if level else "left",
    )  # fmt: skip
