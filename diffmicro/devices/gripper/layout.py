"""The gripper as it is drawn: both mirrored halves, flexures as true arcs, bodies as plates between their ends.

The model knows flexures, hinges and the bodies' centers; the plates are ours. Every flexure ends on the radial
side of a foot, in the sector that its arc leaves open. Feet of the frame reach in to a hub, which is anchored;
those of moving bodies reach out to a band that goes straight to the body's center, or first around the flexure,
at a distance (conjugate surfaces). The bands of a body meet in its center.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.gripper.bands import Ring, arm, band, hub
from diffmicro.devices.gripper.design import Design
from diffmicro.devices.gripper.lumped import HOLDING, PAIRS
from diffmicro.mechanics.linkage import GROUND
from diffmicro.parameters import is_traced, parameter
from diffmicro.shapes import (
    FRONT,
    Angle,
    Contour,
    Geometry,
    Layer,
    Length,
    Plate,
    circle,
    point,
    star,
)

DEVICE_LAYER, ANCHOR = Layer(1, "device layer"), Layer(2, "anchors")

FLEXURES = "abcd"
OURS = "ours: silicon on insulator"


class Layout(eqx.Module):
    """What the drawing needs beside the design: plates and anchors."""

    plate_width: Array | float = parameter(
        30e-6, "width of the bands that bodies are made of", "m", source=OURS, above=0
    )
    clearance: Array | float = parameter(
        20e-6, "distance of bands and hubs from flexures", "m", source=OURS, above=0
    )
    hub_radius: Array | float = parameter(
        100e-6, "radius of the anchored hubs", "m", source=OURS, above=0
    )
    anchor_radius: Array | float = parameter(
        80e-6, "radius of the anchors below them", "m", source=OURS, above=0
    )
    anchor_height: Array | float = parameter(
        2e-6, "thickness of the anchors' layer", "m", source=OURS, above=0
    )


def geometry(design: Design, layout: Layout) -> Geometry:
    """Both halves, x = 0 the line between them; the device layer stands on z = 0."""
    rings = rings_of(design, layout)
    _check(rings, layout)
    half: list[Plate] = []
    joints: list[tuple[str, str]] = []
    height = jnp.broadcast_to(jnp.asarray(design.section_width, float), (4,))
    tall = jnp.max(height)
    for i, ring in enumerate(rings):
        name = f"flexure {FLEXURES[i]}"
        half.append(Plate(name, DEVICE_LAYER, ring.flexure(), 0.0, height[i]))
        for end, owner in enumerate(PAIRS[i]):
            joints.append((name, f"hub {FLEXURES[i]}" if owner == GROUND else f"body {owner + 2}"))
            if owner == GROUND:
                plates = hub(ring, end, layout.hub_radius)
                half.append(Plate(f"hub {FLEXURES[i]}", DEVICE_LAYER, plates, 0.0, tall))
                foot = circle(ring.hinge, layout.anchor_radius)
                anchor = Plate(f"anchor {FLEXURES[i]}", ANCHOR, foot, -layout.anchor_height, 0.0)
                half.append(anchor)
    half += [
        Plate(f"body {row + 2}", DEVICE_LAYER, _body(design, layout, rings, row), 0.0, tall)
        for row in range(3)
    ]
    both = [_on(plate, side) for side in ("right", "left") for plate in half]
    sides = [(f"{a}, {s}", f"{b}, {s}") for s in ("right", "left") for a, b in joints]
    return Geometry(
        tuple(both),
        _dimensions(design, layout, rings),
        joints=tuple(sides),
        notes=("the frame's ends of flexures a and d are on anchored hubs",),
        axes=("closing", "actuation", "up"),
    )


def rings_of(design: Design, layout: Layout) -> list[Ring]:
    """The four flexures."""
    tall = jnp.broadcast_to(jnp.asarray(design.section_height, float), (4,))
    radius, start, turn = (
        jnp.asarray(x, float) for x in (design.beam_radius, design.start_angle, design.beam_angle)
    )
    hinges = jnp.asarray(design.hinge, float)
    return [
        Ring(hinges[i], radius[i], start[i], turn[i], tall[i], layout.plate_width, layout.clearance)
        for i in range(4)
    ]


def _body(design: Design, layout: Layout, rings: list[Ring], row: int) -> Contour:
    """The plate of a body: its bands to the feet of flexures, and to the tip."""
    center = jnp.asarray(design.body, float)[row]
    bands = [
        band(ring, end, center)
        for ring, pair in zip(rings, PAIRS, strict=True)
        for end, owner in enumerate(pair)
        if owner == row
    ]
    if row == HOLDING:
        bands.append(arm(rings, center, center + jnp.asarray(design.tip)))
    every = jax.tree.map(lambda *parts: jnp.stack(parts), *bands)
    order = jnp.argsort(jnp.arctan2(every.direction[:, 1], every.direction[:, 0]))
    around = [jax.tree.map(lambda part, i=i: part[order[i]], every) for i in range(len(bands))]
    return star(center, around, layout.plate_width)


def _on(plate: Plate, side: str) -> Plate:
    outline = plate.outline if side == "right" else plate.outline.mirrored()
    return Plate(f"{plate.name}, {side}", plate.layer, outline, plate.bottom, plate.top)


def _dimensions(design: Design, layout: Layout, rings: list[Ring]) -> tuple[Length | Angle, ...]:
    found: list[Length | Angle] = []
    for i, ring in enumerate(rings):
        name, middle = f"[{i}]", flat(ring.hinge)
        out = ring.at(ring.radius, ring.start + 0.4 * ring.turn)
        found.append(Length(f"beam_radius{name}", middle, flat(out), of_radius=True))
        arc = (0.55 * ring.radius, ring.start, ring.turn)
        found.append(Angle(f"beam_angle{name}", middle, *arc))
    first = rings[0]
    # The hub of flexure a, its foot, and the flexure itself, near its end on the moving body.
    across = first.start + 0.9 * first.turn
    beam = [first.at(first.radius + side * first.height / 2, across) for side in (-1, 1)]
    tip = jnp.asarray(design.body)[HOLDING] + jnp.asarray(design.tip)
    tall = jnp.max(jnp.asarray(design.section_width, float))
    found += [
        Length("section_height", flat(beam[0]), flat(beam[1])),
        Length("section_width", flat(tip), flat(tip, tall), FRONT),
    ]
    del layout
    return tuple(found)


def flat(place: Array, height: Array | float = 0.0) -> Array:
    """A point of the plan in space."""
    return point(place[0], place[1], height)


def _check(rings: list[Ring], layout: Layout) -> None:
    """Hubs have room inside their flexures, and anchors below hubs; traced numbers pass."""
    if is_traced(*jax.tree.leaves((rings, layout))):
        return
    for letter, ring, pair in zip(FLEXURES, rings, PAIRS, strict=True):
        room = float(ring.radius - ring.height / 2 - ring.clearance)
        low, hub_radius = float(layout.plate_width), float(layout.hub_radius)
        if GROUND in pair and not low < hub_radius <= room:
            raise ValueError(
                f"gripper.geometry: Layout.hub_radius = {hub_radius} m is not allowed; it has to be above "
                f"plate_width = {low} m and at most {room:.3g} m, to stay {float(layout.clearance)} m inside "
                f"flexure {letter}. Change it, plate_width or clearance."
            )
    if not float(layout.anchor_radius) <= float(layout.hub_radius):
        raise ValueError(
            f"gripper.geometry: Layout.anchor_radius = {layout.anchor_radius} m is not allowed; it has to be at "
            f"most hub_radius = {layout.hub_radius} m, below which it lies."
        )
