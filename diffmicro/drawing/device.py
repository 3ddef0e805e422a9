"""The geometry of a device's design, checked: parts of one layer keep apart, no contour crosses itself, and
sizes can be drawn."""

import jax
import numpy as np

from diffmicro._device import Device, hooked
from diffmicro.devices import as_device
from diffmicro.drawing.etching import drawn
from diffmicro.drawing.overlaps import check_overlaps
from diffmicro.drawing.sizes import check_sizes
from diffmicro.parameters import Fields, check, is_traced
from diffmicro.process.values import Process
from diffmicro.rules import check_point
from diffmicro.shapes import Geometry


def geometry(
    device: Device | str,
    design: Fields | None = None,
    layout: Fields | None = None,
    process: Process | None = None,
) -> Geometry:
    """What a design looks like, in SI; differentiable. layout: what the drawing needs beside it, see `Device`.

    process: the geometry to draw, so that its etch leaves the design; without it that of the etched part.
    ValueError for a geometry that cannot be, where its numbers are known.
    """
    device = as_device(device)
    if device.geometry is None or device.Layout is None:
        raise ValueError(
            f"{device.name} has no geometry to draw. Give its Device geometry= and Layout=; see docs/drawing.md."
        )
    design, layout = device.part(design, layout)
    check_point(f"{device.name}.geometry", device.rules, design, device.published_setting())
    check(f"{device.name}.geometry", layout)
    found = hooked(device.geometry)(design, layout)
    leaves = jax.tree.leaves(found)
    if not is_traced(*leaves):
        if not all(np.all(np.isfinite(np.asarray(leaf))) for leaf in leaves):
            raise ValueError(
                f"{device.name}.geometry: some of its places are not finite. Move the design towards the "
                "published one."
            )
        check_sizes(device.name, found)
        check_overlaps(device.name, found)
    return found if process is None else drawn(device.name, found, process)
