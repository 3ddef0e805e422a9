"""The drawn geometry of a mask: that of the part, grown by what etching takes from every edge.

`geometry` is the part as it comes out, which the model calculates with. The mask shows it larger by the bias of
each layer, so that etching leaves the part. Dimensions stay those of the part, and are named so.
"""

import dataclasses

import jax

from diffmicro.drawing.overlaps import check_overlaps
from diffmicro.parameters import is_traced
from diffmicro.process.values import Process
from diffmicro.shapes import Contour, Geometry, Plate
from diffmicro.shapes.offset import grown
from diffmicro.units import readable

ETCHED = "etched"
"""What the names of dimensions begin with in a drawing of a mask."""


def drawn(where: str, geometry: Geometry, process: Process) -> Geometry:
    """The geometry to draw for this part; differentiable. ValueError where the process cannot make it."""
    bodies = tuple(
        _grown(where, body, process) if isinstance(body, Plate) else body
        for body in geometry.bodies
    )
    layers = [layer for layer in geometry.layers if process.bias(layer)]
    allowances = ", ".join(f"{readable(process.bias(each), 'm')} on {each.name}" for each in layers)
    note = f"drawn for etching: every edge outward by {allowances}" if layers else "drawn as etched"
    dimensions = tuple(
        dataclasses.replace(each, name=f"{ETCHED} {each.name}") for each in geometry.dimensions
    )
    found = dataclasses.replace(
        geometry, bodies=bodies, dimensions=dimensions, notes=(*geometry.notes, note)
    )
    if layers and not is_traced(*jax.tree.leaves(found)):
        try:
            check_overlaps(where, found)
        except ValueError as complaint:
            raise ValueError(f"{complaint} This is about the mask, {note}.") from None
    return found


def _grown(where: str, plate: Plate, process: Process) -> Plate:
    bias = process.bias(plate.layer)
    if not bias:
        return plate

    def moved(contour: Contour, by: float, what: str) -> Contour:
        try:
            return grown(contour, by)
        except ValueError as fault:
            raise ValueError(
                f"{where}.geometry: {plate.name} cannot be drawn for an etch that takes {readable(bias, 'm')} "
                f"from every edge of {plate.layer.name}: of its {what}, {fault}. Make it larger, or the etch_bias "
                "smaller."
            ) from None

    holes = tuple(moved(hole, -bias, "hole") for hole in plate.holes)
    return dataclasses.replace(plate, outline=moved(plate.outline, bias, "outline"), holes=holes)
