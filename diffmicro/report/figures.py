"""The figures of a report as SVG: elasticities, distances to ends, drawings."""

import base64
import io
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro._device import Device
from diffmicro.parameters import Fields, Value
from diffmicro.report.claims import SMALL, Claim

UP, DOWN = "#2c6e8f", "#c44e00"

MOST = 14
"""Elasticities that are shown, the largest first."""


def embedded(figure: Figure, text: str, width: str = "100%") -> str:
    """The figure as an image inside the page; `text` for who does not see it."""
    packed = io.BytesIO()
    figure.savefig(packed, format="svg")
    content = base64.b64encode(packed.getvalue()).decode()
    source = f"data:image/svg+xml;base64,{content}"
    return f'<img src="{source}" alt="{text}" style="width:{width}">'


def bars_figure(claims: Sequence[Claim], label: str) -> Figure:
    """Numbers as horizontal bars, the largest on top."""
    rows = [c for c in claims if isinstance(c.value, int | float)]
    rows = sorted(rows, key=lambda c: -abs(c.value))[:MOST]
    figure = Figure(figsize=(7.2, 0.6 + 0.27 * max(len(rows), 2)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    # What is zero but for rounding is shown as zero.
    largest = max((abs(c.value) for c in rows), default=0.0)
    values = [float(c.value) if abs(c.value) > SMALL * largest else 0.0 for c in rows]
    colors = [UP if value >= 0 else DOWN for value in values]
    axes.barh(range(len(rows)), values, color=colors, height=0.62)
    axes.set_yticks(range(len(rows)), [c.name for c in rows])
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    reach = max(map(abs, values), default=1.0) or 1.0
    for i, value in enumerate(values):
        side = "left" if value >= 0 else "right"
        axes.text(
            value + np.copysign(0.015 * reach, value),
            i,
            f"{value:.3g}",
            ha=side,
            va="center",
            fontsize=8,
        )
    low, high = min([0.0, *values]), max([0.0, *values])
    axes.set_xlim(low - 0.14 * reach * (low < 0), high + 0.14 * reach * (high > 0))
    axes.set(xlabel=label)
    for edge in ("top", "right"):
        axes.spines[edge].set_visible(False)
    return figure


def design_drawing(
    device: Device, values: Mapping[str, Value], layout: Fields | None = None
) -> Figure | None:
    """The drawing of a side of the question; None where the device or its design has none."""
    from diffmicro.drawing import geometry
    from diffmicro.drawing.picture import drawing
    from diffmicro.report.claims import point_of

    if device.geometry is None:
        return None
    try:
        return drawing(geometry(device, point_of(device, values)[0], layout))
    except ValueError:
        return None
