"""Drawings of the stick-slip drive: motion, where contacts slide, force over stroke, an animation.

The animation shows runner, hemispheres and sensor with displacements exaggerated, and below it the springs of
both contacts: force over friction limit from the middle of the contact outwards. The picture of stick and slip
needs law mdr. Left out: normal deformation to scale.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from diffmicro.devices import stickslip

GROUPS = ("two upper contacts", "four lower contacts")


def animation(
    design: stickslip.Design, setting: stickslip.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """Two periods from rest: runner, hemispheres, sensor, and the springs of both contacts."""
    path = stickslip.simulate(design, replace(setting, law="mdr"), periods=2)
    time = np.asarray(path.time)
    shown = np.searchsorted(time, np.linspace(time[0], time[-1], frames))
    scale = 0.6 / float(setting.amplitude)  # drawn way of a full stroke
    figure = Figure(figsize=(7.0, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    side, below = figure.subplots(2, 1, gridspec_kw={"height_ratios": [3, 2]})
    lines = []
    radius = np.linspace(0, 1, np.asarray(path.sliding).shape[2])
    for name in GROUPS:
        lines += below.plot(radius, 0 * radius, label=name)
    below.set(ylim=(-1.1, 1.1), xlabel="radius / contact radius", ylabel="force / limit")
    below.legend(frameon=False, fontsize=8)

    def draw(frame: int) -> None:
        n = int(shown[frame])
        x = scale * float(path.position[n])
        side.clear()
        side.set(xlim=(-4, 5), ylim=(-2, 2), aspect="equal", title=f"{1e3 * time[n]:.2f} ms")
        side.axis("off")
        side.add_patch(Rectangle((x - 3, -0.5), 6, 1, color="0.75"))
        for place, height, group in (
            (-1.5, 1.0, 0),
            (1.5, 1.0, 0),
            (-2, -1, 1),
            (-1, -1, 1),
            (1, -1, 1),
            (2, -1, 1),
        ):
            shift = scale * float(path.drive[n, group])
            side.add_patch(Circle((place + shift, height), 0.5, color="crimson", alpha=0.7))
        side.plot(
            np.linspace(x + 3, 5, 9),
            0.2 * np.array([0, 0, 1, -1, 1, -1, 1, 0, 0]),
            "k",
            linewidth=1,
        )
        for group, line in enumerate(lines):
            line.set_ydata(np.asarray(path.sliding)[n, group])

    return figure, draw, frames
