"""Drawings of devices as files: masks (GDS), polylines with true arcs (DXF), solids (STL), pictures (SVG, PNG).

`geometry(device, design)` is the device as data, `draw` writes it to a file, and `fit_design` finds the design
whose geometry a file shows. Given a `process`, all three are about the mask that its etch makes the design of.
`narrow_places` finds what the rules of a process do not allow.
"""

from diffmicro.drawing.device import geometry
from diffmicro.drawing.export import FORMATS, draw
from diffmicro.drawing.fitting import Fit, fit_design
from diffmicro.drawing.narrow import Narrow, narrow_places
from diffmicro.drawing.reading import read_shapes

__all__ = [
    "FORMATS",
    "Fit",
    "Narrow",
    "draw",
    "fit_design",
    "geometry",
    "narrow_places",
    "read_shapes",
]
