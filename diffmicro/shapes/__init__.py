"""What a device looks like, as data: contours of straight edges and true arcs, plates, turned bodies, dimensions.

All in SI, as pytrees: what follows from a design by a formula has a derivative by the design.
"""

from diffmicro.shapes.bodies import (
    FRONT,
    PLAN,
    Angle,
    Arrow,
    Geometry,
    Layer,
    Length,
    Plate,
    Turned,
    hemisphere,
    point,
)
from diffmicro.shapes.contour import Contour, circle, polygon, rectangle
from diffmicro.shapes.features import Feature
from diffmicro.shapes.strokes import Band, star, stroke

__all__ = [
    "FRONT",
    "PLAN",
    "Angle",
    "Arrow",
    "Band",
    "Contour",
    "Feature",
    "Geometry",
    "Layer",
    "Length",
    "Plate",
    "Turned",
    "circle",
    "hemisphere",
    "point",
    "polygon",
    "rectangle",
    "star",
    "stroke",
]
