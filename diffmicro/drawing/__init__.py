"""Drawings of devices as files: masks (GDS), polylines with true arcs (DXF), solids (STL), pictures (SVG, PNG).

`geometry(device, design)` is the device as data, `draw` writes it to a file, and `fit_design` finds the design
whose geometry a file shows. Given a `process`, all three are about the mask that its etch makes the design of.
"""

from diffmicro.drawing.device import geometry
from diffmicro.drawing.export import FORMATS, draw
from diffmicro.drawing.fitting import Fit, fit_design
from diffmicro.drawing.reading import read_shapes

__all__ = ["FORMATS", "Fit", "draw", "fit_design", "geometry", "read_shapes"]
