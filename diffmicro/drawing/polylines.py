"""Polylines in DXF: every contour closed and on its layer, arcs as true arcs (bulges), in micrometers.

Each carries the name of its part as extended data. Dimensions of the plan are texts on a layer of their own.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from diffmicro.drawing.extra import package
from diffmicro.drawing.flat import LINE, TEXTS, extent, flat_parts, texts
from diffmicro.shapes import Contour, Geometry

APPLICATION = "DIFFMICRO"
"""Under which name extended data is kept."""

MICROMETER = 1e-6

MICRONS = 13
"""DXF's number for micrometers."""

UNITS = {1: 0.0254, 4: 1e-3, 5: 1e-2, 6: 1.0, 12: 1e-9, MICRONS: MICROMETER}
"""Meters of DXF's units by their numbers."""


def write_dxf(geometry: Geometry, path: Path) -> None:
    """Write the polylines."""
    ezdxf = package("ezdxf", "DXF")
    file = ezdxf.new("R2010", units=MICRONS)
    file.appids.add(APPLICATION)
    space = file.modelspace()
    known = set()
    letter = 0.7 * LINE * extent(geometry) / MICROMETER
    for part in flat_parts(geometry):
        layer = f"{part.layer.number}_{part.layer.name.replace(' ', '_')}"
        if layer not in known:
            known.add(layer)
            file.layers.add(layer, color=1 + len(known) % 6)
        for number, contour in enumerate((part.outline, *part.holes)):
            corners = np.asarray(contour.points, float) / MICROMETER
            rows = [
                (float(x), float(y), float(b))
                for (x, y), b in zip(corners, np.asarray(contour.bulge, float), strict=True)
            ]
            line = space.add_lwpolyline(rows, format="xyb", close=True, dxfattribs={"layer": layer})
            name = part.name + (f", hole {number}" if number else "")
            line.set_xdata(APPLICATION, [(1000, name)])
    file.layers.add(TEXTS.name, color=8)
    for text in texts(geometry):
        entity = space.add_text(text.text, height=letter)
        entity.set_placement(tuple(float(x) for x in text.place / MICROMETER))
        entity.dxf.layer = TEXTS.name
    file.saveas(path)


def read_dxf(path: Path) -> list[tuple[str, str, Contour]]:
    """Name, layer and contour [m] of every closed polyline and circle."""
    ezdxf = package("ezdxf", "DXF")
    try:
        file = ezdxf.readfile(path)
    except (ezdxf.DXFError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path} is no DXF file that can be read: {problem}.") from None
    unit = UNITS.get(file.units, MICROMETER)
    found = []
    for line in file.modelspace().query("LWPOLYLINE"):
        if not line.closed:
            continue
        rows = np.array([row for row in line.get_points("xyb")])
        name = ""
        if line.has_xdata(APPLICATION):
            name = next((tag.value for tag in line.get_xdata(APPLICATION) if tag.code == 1000), "")
        contour = Contour(jnp.asarray(rows[:, :2] * unit), jnp.asarray(rows[:, 2]))
        found.append((name, line.dxf.layer, contour))
    for circle in file.modelspace().query("CIRCLE"):
        center = np.array(circle.dxf.center)[:2]
        ends = np.stack([center - [circle.dxf.radius, 0], center + [circle.dxf.radius, 0]]) * unit
        found.append(("", circle.dxf.layer, Contour(jnp.asarray(ends), jnp.ones(2))))
    return found
