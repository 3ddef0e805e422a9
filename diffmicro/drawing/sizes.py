"""Bodies that are far too small or too large to be drawn, as where a unit was left out."""

import numpy as np

from diffmicro.shapes import Geometry, Plate, Turned
from diffmicro.units import readable

SMALLEST, LARGEST = 1e-9, 0.1
"""Sizes of a body that every format holds [m]."""


def check_sizes(where: str, found: Geometry) -> None:
    """ValueError for a body that is far smaller or larger than what the formats were made for."""
    for body in found.bodies:
        for size in _sizes(body):
            if not SMALLEST <= size <= LARGEST:
                raise ValueError(
                    f"{where}.geometry: {body.name} measures {readable(size, 'm', 3)}, which cannot be drawn; "
                    f"length, width, height and arcs have to be from {readable(SMALLEST, 'm')} to "
                    f"{readable(LARGEST, 'm')}. Numbers without a unit are meters; write 20um."
                )


def _sizes(body: Plate | Turned) -> list[float]:
    """Length, width and height of a body, and the diameter of its smallest arc [m]."""
    outline = body.outline if isinstance(body, Plate) else body.profile
    points, bulge = np.asarray(outline.points, float), np.asarray(outline.bulge, float)
    across = np.ptp(points, axis=0)
    heights = [float(body.top) - float(body.bottom)] if isinstance(body, Plate) else []
    if not bulge.any():
        return [*across.tolist(), *heights]
    chords = np.hypot(*(np.roll(points, -1, axis=0) - points).T)[bulge != 0]
    bulge = np.abs(bulge[bulge != 0])
    arc = float(np.min(chords * (1 + bulge**2) / (2 * bulge)))
    return [*np.maximum(across, arc).tolist(), *heights, arc]
