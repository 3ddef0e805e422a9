"""The tumbler as it is drawn: its section, drawn in the plane, times its width; an arrow for the magnetization.

The section is the body's own, spikes and all; a smooth outline is the chain of arcs that the model rolls on, so
that its arcs are true ones.
"""

import equinox as eqx
import jax.numpy as jnp

from diffmicro.devices.tumbler.body import core_of, outline_of
from diffmicro.devices.tumbler.design import Design
from diffmicro.mechanics import outlines
from diffmicro.shapes import (
    FRONT,
    PLAN,
    Arrow,
    Contour,
    Geometry,
    Layer,
    Length,
    Plate,
    point,
    polygon,
)

MAGNETIC = Layer(1, "magnetic polymer")

ARROW = 0.35
"""Length of the magnetization's arrow over that of the body."""


class Layout(eqx.Module):
    """What the drawing needs beside the design: nothing."""


def section(design: Design) -> Contour:
    """The section of the body, x forward and y up [m]."""
    if design.outline.startswith("spiked"):
        length, thickness, top = core_of(design)
        middle = design.outline == "spiked"
        corners = outlines.spiked_corners(
            design.length, top, length, thickness, design.spike_base, middle=middle
        )
        return polygon(jnp.stack(corners, axis=1))
    outline = outline_of(design)
    if design.outline == "box":
        return polygon(jnp.stack([outline.x, outline.z], axis=1))
    # A chain of arcs, each from its normal (sin, -cos) to the next one's.
    arms = jnp.stack([jnp.sin(outline.normal), -jnp.cos(outline.normal)], axis=1)
    centers = jnp.stack([outline.x, outline.z], axis=1)
    turn = jnp.roll(outline.normal, -1) - outline.normal
    turn = jnp.where(turn < 0, turn + 2 * jnp.pi, turn)
    return Contour(centers + outline.radius[:, None] * arms, jnp.tan(turn / 4))


def geometry(design: Design, layout: Layout) -> Geometry:
    """The section in the plane of x (forward) and y (up at roll 0), extruded along the axis of rolling."""
    del layout
    outline = section(design)
    width, half = jnp.asarray(design.width, float), design.length / 2
    spiked = design.outline.startswith("spiked")
    top = core_of(design)[2] / 2 if spiked else design.thickness / 2
    places = {
        "length": ((-half, -top, width), (half, -top, width)),
        "thickness": ((half, -top, width), (half, top, width)),
        "width": ((half, 0.0, 0.0), (half, 0.0, width)),
    }
    if spiked:
        length, thickness, _ = core_of(design)
        tip, foot, side = (
            (length - design.spike_base) / 2,
            length / 2 - design.spike_base,
            thickness / 2,
        )
        places |= {
            "spike_base": ((foot, -side, width), (length / 2, -side, width)),
            "spike_height": ((-tip, side, width), (-tip, top, width)),
        }
    dimensions = tuple(
        Length(name, point(*a), point(*b), FRONT if name == "width" else PLAN)
        for name, (a, b) in places.items()
    )
    cosine, sine = jnp.cos(design.offset_angle), jnp.sin(design.offset_angle)
    tip = ARROW * design.length / 2
    arrow = Arrow(
        "magnetization", point(-tip * cosine, -tip * sine), point(tip * cosine, tip * sine)
    )
    return Geometry(
        (Plate("body", MAGNETIC, outline, 0.0, width),),
        dimensions,
        (arrow,),
        notes=("the section is drawn in the plane; the axis of rolling is normal to it",),
        axes=("forward", "up at roll 0", "axis of rolling"),
    )
