"""A design as a drawing with its dimensions, or several designs as outlines over each other, seen from above."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import PyTree
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro._device import Device
from diffmicro.devices import as_device
from diffmicro.drawing import geometry
from diffmicro.drawing.picture import drawing, outlines
from diffmicro.plot.stage import BLUE, GREEN, INK, ORANGE, PURPLE, figure_of, scale_bar

COLORS = (INK, ORANGE, BLUE, GREEN, PURPLE)


def plot_outline(
    device: Device | str, design: PyTree = None, layout: PyTree = None, axes: Axes | None = None
) -> Figure:
    """The drawing of a design with the names of its dimensions; of {label: design} the outlines from above."""
    device = as_device(device)
    if not isinstance(design, Mapping):
        return drawing(geometry(device, design, layout), f"{device.name}: {device.title}")
    if axes is None:
        axes = Figure(figsize=(6.0, 4.6), layout="constrained").subplots()
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for number, (label, one) in enumerate(design.items()):
        color = COLORS[number % len(COLORS)]
        for i, edge in enumerate(outlines(geometry(device, one, layout))):
            closed = np.vstack([edge, edge[:1]])
            axes.plot(*closed.T, color=color, linewidth=1.2, label=label if i == 0 else None)
            low, high = np.minimum(low, edge.min(0)), np.maximum(high, edge.max(0))
    size = high - low
    axes.set_aspect("equal")
    axes.set(xlim=(low[0] - 0.05 * size[0], high[0] + 0.05 * size[0]), xticks=[], yticks=[])
    axes.set_ylim(low[1] - 0.05 * size[1] - 0.14 * size.max(), high[1] + 0.05 * size[1])
    scale_bar(axes, (low[0], low[1] - 0.13 * size.max()), 0.3 * size[0])
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure_of(axes)
