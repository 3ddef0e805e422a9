"""The walker in motion: body, two legs and their pads over four periods of the gait, and how far each got.

Body and place are to one scale, the motions of feet and body are drawn `ZOOM` times larger. A pad that carries is
pressed flat between its foot and the ground, so that nothing is under the ground. The motion is simulated from
rest until it repeats; how it got there is not shown.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import PyTree
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from diffmicro.devices.legs.walker import WALKER
from diffmicro.parameters import Value
from diffmicro.plot.stage import BLUE, GREEN, GROUND, INK, ORANGE, pace, scale_bar
from diffmicro.plot.states import NoMotion
from diffmicro.units import round_below

BEFORE, SHOWN = 24, 4
"""Periods from rest until the gait repeats, and periods that are shown."""

MM, UM, MS = 1e3, 1e6, 1e3
ROOM = 0.2
"""Height of a pad that carries nothing, as a share of the distance of the feet."""


class Gait:
    """Four periods of the gait, SI: places and heights of body and feet over time."""

    def __init__(self, design: PyTree, setting: PyTree) -> None:
        path = WALKER.simulate(design, setting, periods=BEFORE + SHOWN)  # pyright: ignore[reportOptionalCall]
        period = 1 / float(setting.frequency)
        columns = {name: np.asarray(column) for name, column in path._asdict().items()}
        if not np.isfinite(columns["fore"][-1]):
            raise NoMotion(
                f"{WALKER.name}: the gait has too many contacts to follow it over {BEFORE + SHOWN} periods; "
                "there is nothing to draw."
            )
        self.period = period
        self.time = np.linspace(0, SHOWN * period, 801)
        known = {
            n: np.interp(self.time + BEFORE * period, columns["time"], c)
            for n, c in columns.items()
        }
        phase = 2 * np.pi * self.time / period
        lift = float(setting.lift)
        self.feet = {"fore": known["fore"], "hind": known["hind"]}
        start = known["walk"][0]
        self.places = {"fore": known["walk"] - start, "hind": known["follow"] - start}
        self.body = known["walk"] + known["reach"] - start
        self.body -= self.body[0]
        fore_hip = known["fore"] - lift * np.cos(phase)
        hind_hip = known["hind"] - lift * np.cos(phase + float(setting.gait))
        self.hips = {"fore": fore_hip, "hind": hind_hip}

    @property
    def velocity(self) -> float:
        """Mean over the periods [m/s]."""
        return float(self.places["fore"][-1] / self.time[-1])


def animation(
    design: PyTree, setting: PyTree, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """The gait: figure, function that draws a frame, number of frames."""
    gait = Gait(design, setting)
    at = np.linspace(0, gait.time[-1], frames)
    figure = Figure(figsize=(7.2, 5.2), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    side, heights, places = figure.subplots(3, 1, height_ratios=(1.7, 1, 1))
    _curves(heights, places, gait)
    marks = [axes.axvline(0, color=INK, linewidth=1.0) for axes in (heights, places)]
    slow, zoom = pace(gait.time[-1], frames), _zoom(design, gait)
    speed = f"{MM * gait.velocity:.3g} mm/s"

    def draw(i: int) -> None:
        side.clear()
        _robot(side, design, gait, zoom, at[i])
        body = UM * float(np.interp(at[i], gait.time, gait.body))
        side.set_title(
            f"{MS * at[i]:.2f} ms ({slow})   |   body {body:+.1f} um   |   velocity {speed}",
            fontsize=9,
        )
        for mark in marks:
            mark.set_xdata([MS * at[i]] * 2)

    draw(0)
    return figure, draw, frames


def _zoom(design: PyTree, gait: Gait) -> float:
    """How much larger motions are drawn than the robot: 1, 2 or 5 times a power of ten."""
    largest = max(
        float(np.abs(np.concatenate(list(gait.feet.values()))).max()),
        0.15 * float(np.ptp(gait.body)),
        1e-9,
    )
    return round_below(0.6 * ROOM * 0.5 * float(design.half_length) / largest)


def _robot(axes: Axes, design: PyTree, gait: Gait, zoom: float, time: float) -> None:
    """The robot at this time, the ground, and a scale bar; lengths in mm."""

    def now(values: np.ndarray) -> float:
        return MM * zoom * float(np.interp(time, gait.time, values))

    half = MM * float(design.half_length)
    pad, width, knee = ROOM * 0.5 * half, 0.09 * half, 0.55 * half
    thick = 0.22 * half
    hips = {}
    for name, side, color in (("hind", -1, ORANGE), ("fore", 1, BLUE)):
        foot = (side * half + now(gait.places[name]), pad + now(gait.feet[name]))
        hip = (side * half + now(gait.body), pad + knee + now(gait.hips[name]))
        hips[name] = hip
        bottom = max(foot[1] - pad, 0.0)
        look: dict[str, Value] = dict(
            facecolor=GREEN if bottom == 0 else "0.8", edgecolor=INK, linewidth=0.8
        )
        axes.add_patch(Rectangle((foot[0] - width, bottom), 2 * width, foot[1] - bottom, **look))
        axes.plot(*zip(hip, foot, strict=True), color=color, linewidth=6, solid_capstyle="round")
    (x0, y0), (x1, y1) = hips["hind"], hips["fore"]
    corners = [
        (x0 - width, y0),
        (x1 + width, y1),
        (x1 + width, y1 + thick),
        (x0 - width, y0 + thick),
    ]
    axes.add_patch(
        Polygon(corners, closed=True, facecolor="0.75", edgecolor=INK, linewidth=1, zorder=3)
    )
    ahead = MM * zoom * float(gait.body.max())
    back = MM * zoom * float(gait.body.min())
    left, right = -1.3 * half + back, 1.3 * half + ahead
    axes.axhspan(-0.35 * half, 0, color=GROUND, zorder=0)
    axes.axhline(0, color=INK, linewidth=1)
    scale_bar(axes, (left + 0.05 * half, -0.3 * half), 0.4 * half, 1 / MM)
    note = f"motions {zoom:g} times larger than the robot; a green pad carries"
    axes.set_xlabel(note, fontsize=8)
    axes.set(
        xlim=(left, right), ylim=(-0.35 * half, pad + knee + 2.2 * thick), xticks=[], yticks=[]
    )
    axes.set_aspect("equal")
    for spine in axes.spines.values():
        spine.set_visible(False)


def _curves(heights: Axes, places: Axes, gait: Gait) -> None:
    """Heights of the feet, and how far they and the body got."""
    time = MS * gait.time
    for name, color in (("hind", ORANGE), ("fore", BLUE)):
        heights.plot(time, UM * gait.feet[name], color=color, linewidth=1.4, label=f"{name} foot")
        places.plot(time, UM * gait.places[name], color=color, linewidth=1.4)
    places.plot(time, UM * gait.body, color=INK, linewidth=1.2, linestyle="--", label="body")
    heights.axhline(0, color=INK, linewidth=0.8)
    heights.set(ylabel="height of the\nfeet [um]", xlim=(0, time[-1]))
    heights.tick_params(labelbottom=False)
    places.set(ylabel="place [um]", xlabel="time [ms]", xlim=(0, time[-1]))
    lines = [*heights.lines[:2], places.lines[-1]]
    places.legend(
        lines, ["hind foot", "fore foot", "body"], frameon=False, fontsize=8, loc="upper left"
    )
