"""The WRMMA as it is drawn: body and hammer of nickel on a gold layer with two folded springs.

The model knows the stiffness k = m_H (2 pi f)^2 and no spring. Two equal folded springs, one on each side, make
k / 2 each; their folds are as long as beam theory says (`mechanics.springs`). The ends of each stand on the
body's and on the hammer's edge; the gap alone lies between. The layout is ours: the paper gives a gold spring
and overall dimensions of about 300 x 300 x 50 um. Left out: the frame under the body.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.devices.wrmma.design import Design
from diffmicro.devices.wrmma.lumped import masses
from diffmicro.mechanics.springs import folded_path, length_for, width_for
from diffmicro.parameters import is_traced, parameter
from diffmicro.shapes import (
    FRONT,
    PLAN,
    Contour,
    Geometry,
    Layer,
    Length,
    Plate,
    point,
    rectangle,
    stroke,
)

NICKEL, GOLD = Layer(1, "nickel"), Layer(2, "gold")

OURS = "ours: electroplated gold"


class Layout(eqx.Module):
    """What the drawing needs beside the design: the springs."""

    spring_width: Array | float = parameter(
        2e-6, "width of the springs' beams, where spring_length is None", "m", source=OURS, above=0
    )
    spring_length: Array | float | None = parameter(
        None,
        "length of the folds, which sets the beams' width; None: it follows from the stiffness",
        "m",
        source=OURS,
        above=0,
    )
    spring_folds: int = parameter(
        4, "folds of each spring, an even number", "-", source=OURS, low=2, high=100, whole=True
    )
    spring_thickness: Array | float = parameter(
        5e-6, "thickness of the springs' layer", "m", source=OURS, above=0
    )
    spring_space: Array | float = parameter(
        4e-6, "smallest space between beams and to the parts", "m", source=OURS, above=0
    )
    spring_young: Array | float = parameter(
        79e9, "Young's modulus of the springs", "Pa", source="usual for gold", above=0
    )
    pad: Array | float = parameter(
        10e-6, "side of the pads that hold the springs under the parts", "m", source=OURS, above=0
    )


def spring_sizes(design: Design, layout: Layout) -> tuple[Real, Real, Real]:
    """Width of the beams, length and pitch of the folds of each spring [m]."""
    stiffness = masses(design)[1] * (2 * jnp.pi * design.tethered_frequency) ** 2 / 2
    folds, space = layout.spring_folds, layout.spring_space
    material = (layout.spring_young, layout.spring_thickness)
    # The outer folds stand half a width behind the parts' edges, or farther where they would be too close.
    if layout.spring_length is None:
        width = layout.spring_width
        pitch = _pitch(design, layout, width)
        length = length_for(stiffness, folds, pitch, space, *material, width)
    else:
        length = layout.spring_length
        pitch = _pitch(design, layout, layout.spring_width)
        width = width_for(stiffness, folds, pitch, space, *material, length)
    return width, length, pitch


def _pitch(design: Design, layout: Layout, width: Real) -> Array:
    over_gap = (design.rest_gap + 2 * width) / (layout.spring_folds - 1)
    return jnp.maximum(over_gap, width + layout.spring_space)


def geometry(design: Design, layout: Layout) -> Geometry:
    """Body, gap and hammer along x, a spring on each side of them, below them."""
    _check_folds(layout)
    width, length, pitch = spring_sizes(design, layout)
    _check_length(length, pitch)
    bars = design.device_length - design.rest_gap
    edge = bars / (1 + design.mass_ratio)
    far = edge + design.rest_gap
    half, height = design.width / 2, design.height
    plates = [
        Plate("body", NICKEL, rectangle(0.0, -half, edge, half), 0.0, height),
        Plate("hammer", NICKEL, rectangle(far, -half, design.device_length, half), 0.0, height),
    ]
    spring, first, last = _spring(layout, (edge + far) / 2, half, (width, length, pitch))
    start, end, base = first + width, last - width, half - layout.pad
    own = {
        "spring": spring,
        "pad of the body": rectangle(start - layout.pad, base, start, half),
        "pad of the hammer": rectangle(end, base, end + layout.pad, half),
    }
    joints = []
    for side in ("upper", "lower"):
        for name, contour in own.items():
            placed = contour if side == "upper" else contour.mirrored(1)
            bottom = -layout.spring_thickness
            plates.append(Plate(f"{side} {name}", GOLD, placed, bottom, 0.0))
        joints += [(f"{side} spring", f"{side} pad of the {part}") for part in ("body", "hammer")]
    return Geometry(
        tuple(plates),
        _dimensions(design, layout, (edge, far), (first, last, width, length)),
        joints=tuple(joints),
        notes=("field, motion and drift along x", "parts are 1 : mass_ratio long"),
    )


def _spring(
    layout: Layout, middle: Real, side: Real, sizes: tuple[Real, Real, Real]
) -> tuple[Contour, Real, Real]:
    """The upper spring with its ends rooted in the pads, and the places of its outer folds."""
    width, length, pitch = sizes
    first = middle - (layout.spring_folds - 1) * pitch / 2
    path = folded_path(layout.spring_folds, length, pitch, layout.spring_space)
    path = path + jnp.stack([first, side])[None, :]
    root = jnp.asarray([0.0, -0.5]) * layout.pad
    path = path.at[0].add(root).at[-1].add(root)
    return stroke(path, width), path[0, 0], path[-1, 0]


def _dimensions(
    design: Design, layout: Layout, gap: tuple[Real, Real], spring: tuple[Real, Real, Real, Real]
) -> tuple[Length, ...]:
    (edge, far), (first, last, width, length) = gap, spring
    half, top = design.width / 2, design.height
    foot = half + layout.spring_space
    places = {
        "device_length": ((0.0, -half, top), (design.device_length, -half, top)),
        "rest_gap": ((edge, -half, top), (far, -half, top)),
        "width": ((0.0, -half, top), (0.0, half, top)),
        "spring_length": ((last, foot, 0.0), (last, foot + length, 0.0)),
        "spring_width": ((first - width / 2, foot, 0.0), (first + width / 2, foot, 0.0)),
        "height": ((0.0, -half, 0.0), (0.0, -half, top)),
        "spring_thickness": ((first, half, -layout.spring_thickness), (first, half, 0.0)),
    }
    front = ("height", "spring_thickness")
    return tuple(
        Length(name, point(*start), point(*end), FRONT if name in front else PLAN)
        for name, (start, end) in places.items()
    )


def _check_folds(layout: Layout) -> None:
    if layout.spring_folds % 2:
        raise ValueError(
            f"wrmma.geometry: Layout.spring_folds = {layout.spring_folds} is not allowed; it has to be even, "
            "so that a spring begins and ends beside the parts."
        )


def _check_length(length: Real, pitch: Real) -> None:
    if not is_traced(length, pitch) and not length > 2 * pitch:
        raise ValueError(
            f"wrmma.geometry: the springs' folds would be {1e6 * float(length):.3g} um long, at a pitch of "
            f"{1e6 * float(pitch):.3g} um; they have to be at least twice as long. The spring is too stiff for "
            "beams this thin: raise spring_width or spring_folds, or lower tethered_frequency."
        )
