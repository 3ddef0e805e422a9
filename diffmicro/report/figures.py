"""The figures of a report as SVG: elasticities, distances to ends, drawings."""

import base64
import io
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from diffmicro._device import Device
from diffmicro.parameters import Fields, Value
from diffmicro.plot.bars import elasticity_bars
from diffmicro.report.claims import Claim

MOST = 14
"""Elasticities that are shown, the largest first."""


def embedded(figure: Figure, text: str, width: str = "100%") -> str:
    """The figure as an image inside the page; `text` for who does not see it."""
    packed = io.BytesIO()
    figure.savefig(packed, format="svg")
    content = base64.b64encode(packed.getvalue()).decode()
    source = f"data:image/svg+xml;base64,{content}"
    return f'<img src="{source}" alt="{text}" style="width:{width}">'


def bars_figure(claims: Sequence[Claim], of: str) -> Figure:
    """The elasticities of a response as horizontal bars with their verdicts, the largest on top."""
    shares = {c.name: c.value for c in claims if c.topic == "elasticity"}
    known = {name: np.nan if share is None else share for name, share in shares.items()}
    order = sorted(known, key=lambda name: -abs(np.nan_to_num(known[name])))[:MOST]
    verdicts = {c.name: str(c.value) for c in claims if c.topic == "elasticity verdict"}
    return elasticity_bars({name: known[name] for name in order}, verdicts, of)


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
