"""The picture of a device that has none of its own: its states over time, with a line that moves along.

One panel for each quantity of the trajectory that `simulate` gives: numbers as curves in SI units, flags and
directions of sliding as steps. A device that carries states is shown in its steady motion, over one period of it;
any other from its start.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro._device import Device
from diffmicro.results import message, word

MOST_PANELS = 8
"""Quantities that are drawn; those after them are left out."""


def animation(
    device: Device, design: Any, setting: Any, frames: int
) -> tuple[Figure, Callable[[int], None], int]:
    """Figure, function that draws a frame, number of frames."""
    path = _trajectory(device, design, setting)
    time = np.asarray(path["time"])
    last = int(np.argmax(time >= time.max()))  # what follows repeats the end
    columns = {
        name: np.asarray(values)[: last + 1]
        for name, values in path.items()
        if name != "time" and np.shape(values) == time.shape
    }
    names = list(columns)[:MOST_PANELS]
    time = time[: last + 1]
    figure = Figure(figsize=(6.4, 1.0 + 1.15 * len(names)), layout="constrained", dpi=100)
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for name, axes in zip(names, panels, strict=True):
        _draw(axes, time, columns[name], name)
    figure.suptitle(f"{device.title} (SI units)", fontsize=10)
    panels[-1].set_xlabel("time [s]")
    panels[-1].set_xlim(time[0], time[-1])
    marks = [axes.axvline(time[0], color="#c44e00", linewidth=1.2) for axes in panels]
    at = np.linspace(time[0], time[-1], frames)

    def draw(i: int) -> None:
        for mark in marks:
            mark.set_xdata([at[i], at[i]])

    return figure, draw, frames


def _trajectory(device: Device, design: Any, setting: Any) -> dict[str, Any]:
    """The motion by name, as `simulate` gives it."""
    if device.simulate is None:
        raise ValueError(
            f"{device.name} has no `simulate`, so there is no motion to draw. Give its Device one, or an "
            "`animation` of its own."
        )
    if not device.carries:
        return device.simulate(design, setting)._asdict()
    response = device.respond(design, setting, throw=False)
    if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(response.state)):
        raise ValueError(
            f"{device.name}: {word(response.result)}. {message(response.result)} There is nothing to draw."
        )
    periods = max(int(response.period_multiple), 1)
    return device.simulate(design, setting, start=response.state, periods=periods)._asdict()


def _draw(axes: Axes, time: np.ndarray, values: np.ndarray, name: str) -> None:
    axes.set_ylabel(name.replace("_", "\n"), rotation=0, ha="right", va="center", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(color="0.93")
    if values.dtype == bool or set(np.unique(values)) <= {-1.0, 0.0, 1.0}:
        axes.step(time, values.astype(float), where="post", color="0.35", linewidth=1.0)
        axes.set_ylim((-0.15, 1.15) if values.dtype == bool else (-1.2, 1.2))
        return
    axes.plot(time, values, color="#4878a8", linewidth=1.3)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    axes.yaxis.get_offset_text().set_fontsize(7)
