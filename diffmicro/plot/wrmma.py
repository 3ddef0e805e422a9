"""The WRMMA in motion: hammer and body from the side, and the speeds over one drive period.

The gap is drawn to scale with the device; the drift of one period is far smaller than both.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from diffmicro.devices import wrmma

BODY, HAMMER = "#4878a8", "#c44e00"


def animation(
    design: wrmma.Design, setting: wrmma.Setting, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """One period of the steady motion: figure, function that draws a frame, number of frames."""
    response = wrmma.respond(design, setting, throw=False)
    path = wrmma.simulate(design, setting, start=response.state, steps=400)
    period = float(wrmma.drive_period(design, setting))
    time = np.asarray(path.time) / period
    at = np.linspace(0, 1, frames)
    gap, drift = (np.interp(at, time, 1e6 * np.asarray(x)) for x in (path.gap, path.body_position))
    sticks = np.interp(at, time, np.asarray(path.sticks, float)) > 0.5
    total = 1e6 * float(design.device_length - design.rest_gap)
    body = total / (1 + float(design.mass_ratio))
    height = 1e6 * float(design.height)
    figure = Figure(figsize=(5.2, 3.8), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    side, curve = figure.subplots(2, 1, height_ratios=(1, 1.4))

    def draw(i: int) -> None:
        side.clear()
        side.add_patch(Rectangle((drift[i], 0), body, height, color=BODY))
        side.add_patch(Rectangle((drift[i] + body + gap[i], 0), total - body, height, color=HAMMER))
        side.axhline(0, color="black", linewidth=1)
        side.text(drift[i] + 4, height / 2, "sticks" if sticks[i] else "slides", va="center")
        side.set(
            xlim=(-20, total + 80), ylim=(-10, 1.6 * height), xlabel="position [um]", yticks=[]
        )
        side.set_aspect("equal")
        curve.clear()
        curve.plot(time, 1e6 * np.asarray(path.gap), color=HAMMER, label="gap [um]")
        speeds = 1e3 * np.asarray(path.body_speed)
        curve.plot(time, speeds, color=BODY, label="body speed [mm/s]")
        curve.axvline(at[i], color="0.5", linewidth=0.8)
        curve.axhline(0, color="0.7", linewidth=0.6)
        curve.set(xlabel="time / drive period [-]", xlim=(0, 1))
        curve.legend(frameon=False, fontsize=8, loc="upper right")

    return figure, draw, frames
