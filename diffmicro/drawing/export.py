"""A device's drawing as a file, in the format of its ending."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from diffmicro._device import Device
from diffmicro.devices import as_device
from diffmicro.drawing.device import geometry
from diffmicro.drawing.masks import write_gds
from diffmicro.drawing.meshes import write_stl
from diffmicro.drawing.polylines import write_dxf
from diffmicro.parameters import Fields
from diffmicro.process.values import Process
from diffmicro.shapes import Geometry

FORMATS = (".gds", ".dxf", ".stl", ".svg", ".png", ".pdf")
"""Endings of files, in the order in which help texts name them."""

TOLERANCE = {".gds": 0.5e-9, ".stl": 200e-9}
"""How far polygons may be from their arcs where nothing else is said [m]."""

GRID = 1e-10
"""Of the coordinates in a mask where nothing else is said [m]."""


def draw(
    device: Device | str,
    path: Path | str,
    design: Fields | None = None,
    layout: Fields | None = None,
    *,
    tolerance: float | None = None,
    grid: float = GRID,
    process: Process | None = None,
) -> Geometry:
    """Write the drawing of a design to a file, whole or not at all; what was drawn is returned.

    process: what is drawn for it, so that its etch leaves the design; without it the design itself.
    tolerance: of polygons to arcs, for .gds and .stl [m]. grid: of coordinates in .gds [m].
    """
    device, path = as_device(device), Path(path)
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{path}: the ending has to be one of {', '.join(FORMATS)}.")
    tolerance = TOLERANCE.get(ending, 1e-9) if tolerance is None else tolerance
    for name, size in (("tolerance", tolerance), ("grid", grid)):
        if not 1e-12 <= size <= 1e-3:
            raise ValueError(f"{name} = {size} m is not allowed; it has to be from 1 pm to 1 mm.")
    found = geometry(device, design, layout, process)
    write: dict[str, Callable[[Path], object]] = {
        ".gds": lambda to: write_gds(found, to, device.name, tolerance=tolerance, grid=grid),
        ".dxf": lambda to: write_dxf(found, to),
        ".stl": lambda to: write_stl(found, to, tolerance=tolerance),
    }
    with TemporaryDirectory(dir=path.parent) as folder:
        partial = Path(folder) / path.name
        write.get(ending, lambda to: _picture(device, found, to))(partial)
        os.replace(partial, path)
    return found


def _picture(device: Device, found: Geometry, path: Path) -> None:
    from diffmicro.drawing.picture import drawing

    drawing(found, titled(device)).savefig(path)


def titled(device: Device) -> str:
    """Name and title, without saying the name twice."""
    return (
        device.title
        if device.title.startswith(f"{device.name}:")
        else f"{device.name}: {device.title}"
    )
