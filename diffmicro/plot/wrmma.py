"""The WRMMA in motion: the robot from the side over as many periods as its drift needs to be seen, gap and speed.

Body and hammer, the gap and the drift are to one scale. The spring is drawn as a zigzag above both parts; what
drives is the field's arrow, as long as the field is strong.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from diffmicro.devices import wrmma
from diffmicro.parameters import Value
from diffmicro.plot.stage import BLUE, GREEN, GROUND, INK, ORANGE, PALE, pace, scale_bar
from diffmicro.plot.states import moving, settled

BODY, HAMMER = BLUE, ORANGE
UM, MS, SPEED = 1e6, 1e3, 1e3

SEEN, MOST_PERIODS = 0.12, 8
"""Share of the robot's length that the drift shown should be, and the most drive periods shown for it."""


class Motion(NamedTuple):
    """The steady motion over whole drive periods, SI: arrays over time, `period` a number. sticks: flags."""

    time: np.ndarray
    gap: np.ndarray
    speed: np.ndarray
    position: np.ndarray
    sticks: np.ndarray
    field: np.ndarray
    period: float


def steady_motion(
    design: wrmma.Design, setting: wrmma.Setting, periods: int | None = None
) -> Motion:
    """The motion that the response is of; periods: as many as its drift needs if None."""
    response = settled(wrmma.DEVICE, design, setting)
    period = float(wrmma.drive_period(design, setting))
    multiple = max(int(response.period_multiple), 1)
    if periods is None:
        drift = abs(float(np.nan_to_num(response.velocity))) * period
        wanted = SEEN * float(design.device_length) / max(drift, 1e-12)
        periods = multiple * int(
            np.clip(np.ceil(wanted / multiple), 1, max(MOST_PERIODS // multiple, 1))
        )
    known = np.all(np.isfinite(np.asarray(response.state.gap)))
    start = response.state if known else None
    path = wrmma.simulate(design, setting, start=start, periods=periods, steps=400)
    moving(wrmma.DEVICE, path, design, setting, response)
    time = np.asarray(path.time)
    until = int(np.argmax(time >= time.max())) + 1  # what follows repeats the end
    columns = (path.gap, path.body_speed, path.body_position, path.sticks)
    gap, speed, position, sticks = (np.asarray(column)[:until] for column in columns)
    time = time[:until]
    field = field_over(design, setting, time / period)
    return Motion(time, gap, speed, position, sticks, field, period)


def field_over(design: wrmma.Design, setting: wrmma.Setting, turns: np.ndarray) -> np.ndarray:
    """The applied field B (s + offset) / 2 [T] at these drive periods, from the motion's own schedule."""
    motion = wrmma.lump(design, setting)
    phase = turns % 1.0
    if motion.sinusoidal:
        shape = 4 / np.pi * np.sin(2 * np.pi * phase) + float(motion.offset)
        return float(setting.field) / 2 * shape
    schedule = motion.schedule()
    ends = np.array([float(end) for end in schedule.ends])
    starts, finishes = (
        np.array([float(drive.field) for drive in drives])
        for drives in (schedule.starts, schedule.finishes)
    )
    before = np.concatenate([[0.0], ends[:-1]])
    segment = np.minimum(np.searchsorted(ends, phase, side="right"), len(ends) - 1)
    lengths = np.maximum(ends - before, 1e-300)[segment]
    share = np.clip((phase - before[segment]) / lengths, 0, 1)
    return float(setting.field) / 2 * (starts[segment] + share * (finishes - starts)[segment])


def draw_robot(
    axes: Axes, design: wrmma.Design, position: float, gap: float, alpha: float = 1.0
) -> float:
    """Body, hammer and spring with the body's left edge at `position` [m]; the right end is returned [um]."""
    total = UM * float(design.device_length - design.rest_gap)
    body = total / (1 + float(design.mass_ratio))
    height = UM * float(design.height)
    left, foot = UM * position, 0.07 * height
    right = left + body + UM * gap
    look: dict[str, Value] = dict(alpha=alpha, linewidth=0.8, edgecolor=INK)
    axes.add_patch(Rectangle((left, 0), body, height, facecolor=BODY, **look))
    axes.add_patch(Rectangle((right, foot), total - body, height - foot, facecolor=HAMMER, **look))
    reach = 0.22 * total  # posts of the spring on both parts
    first, last = left + body - reach, right + reach
    wave = np.array([0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0]) * 0.10 * height
    level = 1.25 * height
    across = np.interp(np.linspace(0, 1, 12), [0, 0.09, 0.91, 1], [0, 0.04, 0.96, 1])
    across = first + (last - first) * across
    for x in (first, last):
        axes.plot([x, x], [height, level], color=INK, linewidth=1.2, alpha=alpha)
    axes.plot(across, level + wave, color=INK, linewidth=1.2, alpha=alpha)
    return right + total - body


def animation(
    design: wrmma.Design, setting: wrmma.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """The steady motion: figure, function that draws a frame, number of frames."""
    motion = steady_motion(design, setting)
    at = np.linspace(0, motion.time[-1], frames)
    gap, place, field = (
        np.interp(at, motion.time, values) for values in (motion.gap, motion.position, motion.field)
    )
    sticks = motion.sticks[np.searchsorted(motion.time, at).clip(0, len(motion.time) - 1)]
    figure = Figure(figsize=(7.2, 5.0), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    side, gaps, speeds = figure.subplots(3, 1, height_ratios=(1.7, 1, 1))
    speeds.sharex(gaps)
    curves(gaps, speeds, motion)
    marks = [axes.axvline(0, color=INK, linewidth=1.0) for axes in (gaps, speeds)]
    strongest = max(float(np.abs(motion.field).max()), 1e-12)
    slow = pace(motion.time[-1], frames)

    def draw(i: int) -> None:
        side.clear()
        stage(side, design, motion)
        draw_robot(side, design, motion.position[0], motion.gap[0], alpha=0.15)
        draw_robot(side, design, place[i], gap[i])
        height = UM * float(design.height)
        share = field[i] / strongest
        word = f"field {1e3 * field[i]:.1f} mT"
        side.annotate(
            "", (100 * share, 1.85 * height), (0, 1.85 * height),
            arrowprops=dict(arrowstyle="-|>", color=GREEN, linewidth=2.5, shrinkA=0, shrinkB=0),
        )  # fmt: skip
        side.text(108, 1.85 * height, word, color=GREEN, va="center", fontsize=9)
        drift = UM * (place[i] - motion.position[0])
        state = "body sticks" if sticks[i] else "body slides"
        side.set_title(
            f"{MS * at[i]:.3f} ms ({slow})   |   {state}   |   drift {drift:+.1f} um", fontsize=9
        )
        for mark in marks:
            mark.set_xdata([MS * at[i]] * 2)

    draw(0)
    return figure, draw, frames


def stage(axes: Axes, design: wrmma.Design, motion: Motion) -> None:
    """The ground, a scale bar, and room for the whole motion."""
    height, total = UM * float(design.height), UM * float(design.device_length)
    low, high = UM * motion.position.min(), UM * motion.position.max()
    left, right = low - 0.06 * total, high + total + UM * float(np.ptp(motion.gap))
    axes.axhspan(-0.5 * height, 0, color=GROUND, zorder=0)
    axes.axhline(0, color=INK, linewidth=1)
    scale_bar(axes, (left + 0.02 * total, -0.4 * height), 0.2 * total, 1 / UM)
    axes.set(xlim=(left, right), ylim=(-0.5 * height, 2.15 * height), yticks=[], xticks=[])
    axes.set_aspect("equal")
    for spine in axes.spines.values():
        spine.set_visible(False)


def curves(gaps: Axes, speeds: Axes, motion: Motion) -> None:
    """Gap and body speed over time, shaded where the body sticks; a gap of zero is an impact."""
    time = MS * motion.time
    gaps.plot(time, UM * motion.gap, color=HAMMER, linewidth=1.4)
    gaps.axhline(0, color=INK, linewidth=0.8)
    gaps.set(ylabel="gap [um]", xlim=(0, time[-1]))
    gaps.tick_params(labelbottom=False)
    speeds.plot(time, SPEED * motion.speed, color=BODY, linewidth=1.4)
    speeds.axhline(0, color=INK, linewidth=0.6)
    speeds.set(ylabel="body speed\n[mm/s]", xlabel="time [ms]")
    if motion.sticks.any():
        low, high = speeds.get_ylim()
        speeds.fill_between(
            time, low, high, where=motion.sticks.astype(bool), color=PALE, zorder=0, label="sticks"
        )
        speeds.set_ylim(low, high)
        speeds.legend(frameon=False, fontsize=8, loc="upper right")
