"""Masks in GDS: polygons of the same area as the contours, with the part's name as a property, and dimensions as
labels. Coordinates are multiples of a grid. Left out: hierarchy (one cell holds all)."""

from pathlib import Path

import numpy as np

from diffmicro._extras import Foreign
from diffmicro.drawing.extra import package
from diffmicro.drawing.flat import TEXTS, flat_parts, texts
from diffmicro.shapes import Contour, Geometry

NAME = 1
"""Number of the property that is the name of a part."""

CORNERS = 8190
"""Most corners of a polygon that every reader of GDS takes."""

MICROMETER = 1e-6


def write_gds(geometry: Geometry, path: Path, name: str, *, tolerance: float, grid: float) -> None:
    """Write the mask. tolerance: of arcs [m]. grid: multiple that coordinates are rounded to [m]."""
    gdstk = package("gdstk", "GDS")
    library = gdstk.Library(name, unit=MICROMETER, precision=grid)
    cell = library.new_cell(name)
    for part in flat_parts(geometry):
        outer, *inner = (
            gdstk.Polygon(_micrometers(c, tolerance), layer=part.layer.number)
            for c in (part.outline, *part.holes)
        )
        pieces = [outer]
        if inner:
            options = dict(precision=grid / MICROMETER / 10, layer=part.layer.number)
            pieces = gdstk.boolean(outer, inner, "not", **options)
        for piece in pieces:
            piece.set_gds_property(NAME, part.name)
        cell.add(*pieces)
    for text in texts(geometry):
        place = tuple(float(x) for x in text.place / MICROMETER)
        cell.add(gdstk.Label(text.text, place, layer=TEXTS.number))
    library.write_gds(str(path), max_points=CORNERS)


def read_gds(path: Path) -> list[tuple[str, int, np.ndarray]]:
    """Name, layer and corners [m] of every polygon of the file's top cells; no name where it has none."""
    gdstk = package("gdstk", "GDS")
    library = gdstk.read_gds(str(path), unit=MICROMETER)
    pieces: dict[tuple[str, int], list[Foreign]] = {}
    for cell in library.top_level():
        for polygon in cell.get_polygons():
            pieces.setdefault((_name(polygon), polygon.layer), []).append(polygon)
    found = []
    for (name, layer), own in pieces.items():
        # Parts with too many corners for one polygon were cut when they were written.
        whole = gdstk.boolean(own, [], "or", precision=1e-6) if name and len(own) > 1 else own
        found += [(name, layer, polygon.points * MICROMETER) for polygon in whole]
    return found


def _name(polygon: Foreign) -> str:
    kept = polygon.get_gds_property(NAME)
    text = kept.decode() if isinstance(kept, bytes) else kept or ""
    return text.rstrip("\0")  # GDS fills up to an even length


def _micrometers(contour: Contour, tolerance: float) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in contour.polygon(tolerance) / MICROMETER]
