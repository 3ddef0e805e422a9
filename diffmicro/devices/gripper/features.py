"""What of the gripper the rules of a process are about, and the design of a part that was etched too much.

Gaps are the smallest distances in closed form between straight edges and arcs: of each flexure from everything but
the feet that it ends on (the plates that it is one piece with are as near as the layout's clearance), of each body
from other bodies and hubs, of the two halves from each other. No formula has the corners in which the bands of one
body meet; `drawing.narrow` finds those that are too sharp. The device layer has to come free where it moves and to
stay at the hubs. An etch changes the flexures' height in the plane, and nothing else that the model knows.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._types import Real
from diffmicro.devices.gripper.bands import Ring
from diffmicro.devices.gripper.design import Design
from diffmicro.devices.gripper.layout import (
    ANCHOR,
    DEVICE_LAYER,
    FLEXURES,
    Layout,
    geometry,
    rings_of,
)
from diffmicro.devices.gripper.lumped import PAIRS
from diffmicro.mechanics.linkage import GROUND
from diffmicro.parameters import Value
from diffmicro.shapes import Feature, Geometry
from diffmicro.shapes.distances import Edges, distances, edges

HUBS = [i for i, pair in enumerate(PAIRS) if GROUND in pair]
"""The flexures that hold on to the frame."""

ROUNDED = 1e-6
"""Share of a foot's width by which a place may lie beside it."""


def features(design: Design, layout: Layout) -> tuple[Feature, ...]:
    """Widths, gaps, radii, thicknesses, and what the release etch has to do."""
    heights, widths = (_each(x) for x in (design.section_height, design.section_width))
    radius = jnp.asarray(design.beam_radius, float)
    tall = jnp.broadcast_to(jnp.asarray(design.section_height, float), (4,))
    hinges = jnp.asarray(design.hinge, float)[jnp.array(HUBS)]
    apart = jnp.sqrt(jnp.sum((hinges[0] - hinges[1]) ** 2))
    across = 2 * jnp.minimum(jnp.min(hinges[:, 0]), apart / 2)
    return (
        *(Feature(f"section_height{n}", "width", DEVICE_LAYER, x) for n, x in heights),
        Feature("plate_width", "width", DEVICE_LAYER, layout.plate_width),
        *_gaps(geometry(design, layout), rings_of(design, layout)),
        *(
            Feature(f"inside_flexure_{letter}", "radius", DEVICE_LAYER, radius[i] - tall[i] / 2)
            for i, letter in enumerate(FLEXURES)
        ),
        Feature("hub_radius", "radius", DEVICE_LAYER, layout.hub_radius),
        *(Feature(f"section_width{n}", "thickness", DEVICE_LAYER, x) for n, x in widths),
        Feature("plate_width", "released", DEVICE_LAYER, layout.plate_width),
        Feature("hubs", "anchored", DEVICE_LAYER, 2 * layout.hub_radius),
        Feature("anchors", "width", ANCHOR, 2 * layout.anchor_radius),
        Feature("between_anchors", "gap", ANCHOR, across - 2 * layout.anchor_radius),
        Feature("anchor_radius", "radius", ANCHOR, layout.anchor_radius),
        Feature("anchor_height", "thickness", ANCHOR, layout.anchor_height),
    )


def etched(design: Design, layout: Layout, taken: Mapping[str, Array]) -> Design:
    """The design of a part of which the etch took so much more from every edge."""
    del layout
    thinner = jnp.asarray(design.section_height, float) - 2 * taken[DEVICE_LAYER.name]
    return dataclasses.replace(design, section_height=thinner)


def _each(value: Value) -> list[tuple[str, Real]]:
    """One number for all flexures, or one each, with what its name ends in."""
    if not jnp.ndim(value):
        return [("", value)]
    return [(f"[{i}]", x) for i, x in enumerate(jnp.asarray(value, float))]


def _gaps(shown: Geometry, rings: Sequence[Ring]) -> list[Feature]:
    plates = {p.name.removesuffix(", right"): p.outline for p in shown.plates if "right" in p.name}
    names = [name for name in _order() if name in plates]
    contours = [plates[name] for name in names]
    every = edges(contours)
    owner = np.repeat(np.arange(len(names)), [len(c.points) for c in contours])
    joined = {frozenset(name.rpartition(",")[0] for name in pair) for pair in shown.joints}
    apart = np.array([[frozenset((a, b)) not in joined for b in names] for a in names])
    np.fill_diagonal(apart, False)
    free = jnp.asarray(apart[owner[:, None], owner[None, :]])
    for i, (ring, pair) in enumerate(zip(rings, PAIRS, strict=True)):
        for end, of in enumerate(pair):
            held = names.index(f"hub {FLEXURES[i]}" if of == GROUND else f"body {of + 2}")
            beside = (owner == held) & ~_foot(ring, end, every)
            free = free | ((owner == i) & every.bent)[:, None] & beside[None, :]
    near = distances(every, every)
    found = []
    for i, name in enumerate(names):
        later = (owner[:, None] == i) & (owner[None, :] > i)
        if later.any():
            gap = jnp.min(jnp.where(free & later, near, jnp.inf))
            found.append(Feature(name.replace(" ", "_"), "gap", DEVICE_LAYER, gap))
    mirrored = edges([contour.mirrored() for contour in contours])
    found.append(Feature("halves", "gap", DEVICE_LAYER, jnp.min(distances(every, mirrored))))
    return found


def _foot(ring: Ring, end: int, of: Edges) -> Array:
    """Which edges are those of the foot that an end of a flexure stands on: they lie in its straight strip."""
    _, ray, aside, _ = ring.end(end)
    inside = ~of.bent
    for place in (of.start, of.end):
        way = place - ring.hinge[None, :]
        across = way @ aside / ring.width
        inside = inside & (abs(across - 0.5) <= 0.5 + ROUNDED) & (way @ ray > 0)
    return inside


def _order() -> list[str]:
    """Parts of the device layer; each gap counts for the first of its two parts."""
    bodies = [f"body {number}" for number in (2, 3, 4)]
    return [*(f"flexure {x}" for x in FLEXURES), *bodies, *(f"hub {FLEXURES[i]}" for i in HUBS)]
