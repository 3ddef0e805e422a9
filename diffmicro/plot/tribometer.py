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
    path = tribometer.simulate(design, setting)
    time = np.asarray(path.time) * float(setting.frequency)
    moved, load, friction, stick = (
        np.asarray(values)
        for values in (path.position, path.normal_force, path.friction_force, path.stick_share)
    )
    step = moved[-1]
    scale = SHOWN / (2 * step) if step > 0 else 1.0
    force = 0.7 / float(load.max())
    grip = 0.7 / max(float(np.abs(friction).max()), 1e-300)

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set(
        xlim=(-1.2, SHOWN + 1.2), ylim=(-0.5, 2.2), aspect="equal", title=WORDS[setting.direction]
    )
    axes.set_yticks([])
    axes.set_xlabel(f"displacement [one unit is {1e9 / scale:.3g} nm]")
    axes.add_patch(Rectangle((-3, -1), 9, 1, color="0.85"))
    alone = setting.direction == "oop"
    feet = [Circle((0, 0.3), 0.3, color="C0") for _ in range(1 if alone else 2)]
    body = Rectangle((0, 0.6), 0.8, 0.5, color="0.5")
    for patch in (*feet, body):
        axes.add_patch(patch)
    arrows = axes.quiver(
        [0, 0],
        [1.1, 0.02],
        [0, 0],
        [0, 0],
        color=["C3", "C1"],
        angles="xy",
        scale_units="xy",
        scale=1,
    )
    caption = axes.text(0.02, 0.95, "", transform=axes.transAxes, va="top", fontsize=9)

    def draw(frame: int) -> None:
        turns, phase = divmod(2 * frame / frames, 1.0)
        place, normal, pull, sticks = (
            np.interp(phase, time, v) for v in (moved, load, friction, stick)
        )
        x = scale * (place + turns * step)
        # the vibration itself, drawn far too large
        swing = 0.12 * np.sin(2 * np.pi * phase)
        sink = 0.06 * (normal / load.mean() - 1) if alone else 0.0
        offsets = [0.0] if alone else [-0.5 - swing, 0.5 + swing]
        for foot, offset in zip(feet, offsets, strict=True):
            foot.center = (x + offset, 0.3 - sink)
        width = 0.8 if alone else 1.6 + 2 * swing
        body.set_bounds(x - width / 2, 0.6 - sink, width, 0.5)
        arrows.set_offsets([[x, 1.1 + force * normal], [x, 0.02]])
        arrows.set_UVC([0, -grip * pull], [-force * normal, 0])
        caption.set_text(
            f"normal {normal:.2f} N, friction {pull:.2f} N, sticks {100 * sticks:.0f} %"
        )

    draw(0)
    return figure, draw, frames
