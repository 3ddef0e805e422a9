"""What of a geometry the rules of a process are about: named widths, gaps, radii and thicknesses, as formulas.

Each is a number of the *etched* part that follows from the design in closed form, with derivatives. Together the
widths of a layer have its smallest one among them, and so have the gaps and radii. Sharp corners have no radius.
"""

import re

import equinox as eqx
from jax import Array

from diffmicro.shapes.bodies import Layer

WIDTH, GAP, RADIUS, THICKNESS, RELEASED, ANCHORED = KINDS = (
    "width",
    "gap",
    "radius",
    "thickness",
    "released",
    "anchored",
)
"""released: a width that the release etch has to come all the way under; anchored: one of which it has to leave
enough."""


NAMED = re.compile(rf"(?:{'|'.join(KINDS)})\([\w\[\]]+\)")
"""What a feature is called among responses: `gap(rest_gap)`."""


class Feature(eqx.Module):
    """name: of the parameter where it is one, else a word that says what it is. kind: of `KINDS`. value [m]."""

    name: str = eqx.field(static=True)
    kind: str = eqx.field(static=True)
    layer: Layer
    value: Array | float

    def __check_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                f"feature {self.name}: kind {self.kind!r} is not one of {', '.join(KINDS)}."
            )

        if not re.fullmatch(r"[\w\[\]]+", self.name):
            raise ValueError(
                f"feature {self.name!r}: its name has to be one word, such as rest_gap."
            )

    def __str__(self) -> str:
        return f"{self.kind}({self.name})"
