"""A leg as it is drawn: a clamped bimorph, two active halves with electrodes below, between and above them.

Only a leg that is given by its dimensions (`leg_length` and those beside it) can be drawn: the published set is
modes, fitted to measurements. The electrodes keep a margin from the edges and lead into the clamp. Their
thickness comes on top of the leg's, except for the middle one, which both halves give up evenly: the beam model
leaves electrodes out.
"""

import equinox as eqx
from jax import Array

from diffmicro._types import Real
from diffmicro.devices.legs.design import Design
from diffmicro.parameters import is_traced, parameter
from diffmicro.shapes import FRONT, PLAN, Geometry, Layer, Length, Plate, point, rectangle

PIEZO = Layer(1, "piezo")
BELOW, BETWEEN, ABOVE = (
    Layer(number, f"{name} electrode")
    for number, name in ((10, "lower"), (11, "middle"), (12, "upper"))
)
BASE = Layer(20, "base")

EXAMPLE = "leg_length=5mm leg_thickness=0.15mm leg_width=1mm leg_young=62GPa leg_density=7750"


class Layout(eqx.Module):
    """What the drawing needs beside the design: electrodes and clamp."""

    electrode_thickness: Array | float = parameter(
        0.3e-6, "thickness of each electrode", "m", source="ours: sputtered", above=0
    )
    electrode_margin: Array | float = parameter(
        50e-6, "distance of the electrodes from the edges", "m", source="ours: diced", above=0
    )
    clamp_length: Array | float = parameter(
        1e-3, "length of the leg inside its clamp", "m", source="ours", above=0
    )
    base_thickness: Array | float = parameter(
        0.5e-3, "thickness of the base below it", "m", source="ours: a wafer", above=0
    )


Place = tuple[Real, Real, Real]


def sizes(design: Design) -> tuple[Real, Real, Real]:
    """Length, width and thickness of the leg [m]; ValueError for a design that has none."""
    if design.leg_length is None or design.leg_thickness is None or design.leg_width is None:
        raise ValueError(
            "legs.geometry: the design is a set of modes and has no dimensions to draw. Give the leg by them, as "
            f"in {EXAMPLE}."
        )
    return design.leg_length, design.leg_width, design.leg_thickness


def geometry(design: Design, layout: Layout) -> Geometry:
    """The leg along x from the clamp's edge at x = 0, its width along y."""
    length, width, thickness = sizes(design)
    film, margin = layout.electrode_thickness, layout.electrode_margin
    _check(width, thickness, film, margin)
    back = -layout.clamp_length
    leg = rectangle(back, -width / 2, length, width / 2)
    inner = margin - width / 2
    sheet = rectangle(back, inner, length - margin, -inner)
    middle = thickness / 2
    base = rectangle(back, -width / 2 - margin, 0.0, width / 2 + margin)
    plates = (
        Plate("base", BASE, base, -film - layout.base_thickness, -film),
        Plate("lower electrode", BELOW, sheet, -film, 0.0),
        Plate("lower half", PIEZO, leg, 0.0, middle - film / 2),
        Plate("middle electrode", BETWEEN, sheet, middle - film / 2, middle + film / 2),
        Plate("upper half", PIEZO, leg, middle + film / 2, thickness),
        Plate("upper electrode", ABOVE, sheet, thickness, thickness + film),
    )
    places: dict[str, tuple[Place, Place, str]] = {
        "leg_length": ((0.0, -width / 2, 0.0), (length, -width / 2, 0.0), PLAN),
        "clamp_length": ((back, -width / 2, 0.0), (0.0, -width / 2, 0.0), PLAN),
        "leg_width": ((length, -width / 2, 0.0), (length, width / 2, 0.0), PLAN),
        "electrode_margin": ((length - margin, inner, 0.0), (length, inner, 0.0), PLAN),
        "leg_thickness": ((length, 0.0, 0.0), (length, 0.0, thickness), FRONT),
        "base_thickness": (
            (back, 0.0, -film - layout.base_thickness),
            (back, 0.0, -film),
            FRONT,
        ),
    }
    dimensions = tuple(Length(n, point(*a), point(*b), view) for n, (a, b, view) in places.items())
    return Geometry(
        plates,
        dimensions,
        notes=("clamped for x < 0; each half carries the drive's voltage over its thickness",),
        axes=("along the leg", "across", "up"),
    )


def _check(width: Real, thickness: Real, film: Real, margin: Real) -> None:
    if is_traced(width, thickness, film, margin):
        return
    if not 2 * margin < width:
        raise ValueError(
            f"legs.geometry: Layout.electrode_margin = {margin} m is not allowed; it has to be below half of "
            f"leg_width = {width} m, or no electrode is left."
        )
    if not film < thickness:
        raise ValueError(
            f"legs.geometry: Layout.electrode_thickness = {film} m is not allowed; it has to be below "
            f"leg_thickness = {thickness} m."
        )
