"""The stick-slip drive as it is drawn: two hemispheres above and four below hold the runner; their carriers.

The runner is a plate of the design's mass: its thickness follows from density, length and width. Where the
hemispheres stand and what carries them is ours: the model knows their radius and how the load is shared alone.
Contacts touch in one point (a flat tip in its circle): indentation is not drawn.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.stickslip.design import Design
from diffmicro.parameters import is_traced, parameter
from diffmicro.shapes import (
    FRONT,
    PLAN,
    Geometry,
    Layer,
    Length,
    Plate,
    Turned,
    hemisphere,
    point,
    rectangle,
)

RUNNER, RUBY, CARRIER = Layer(1, "runner"), Layer(2, "hemispheres"), Layer(3, "carriers")

OURS = "ours"


class Layout(eqx.Module):
    """What the drawing needs beside the design: runner and carriers."""

    runner_length: Array | float = parameter(
        20e-3, "length of the runner", "m", source=OURS, above=0
    )
    runner_width: Array | float = parameter(10e-3, "width of the runner", "m", source=OURS, above=0)
    runner_density: Array | float = parameter(
        7850.0, "density of the runner", "kg/m^3", source="usual for steel", above=0
    )
    contact_length: Array | float = parameter(
        12e-3, "distance of contacts along the motion", "m", source=OURS, above=0
    )
    contact_width: Array | float = parameter(
        6e-3, "distance of the lower contacts across", "m", source=OURS, above=0
    )
    carrier_thickness: Array | float = parameter(
        1e-3, "thickness of the carriers", "m", source=OURS, above=0
    )


def geometry(design: Design, layout: Layout) -> Geometry:
    """The drive with its motion along x, the lower carrier's top at z = 0."""
    radius, tip = jnp.asarray(design.radius, float), design.tip_radius
    _check(design, layout)
    long, wide = layout.runner_length, layout.runner_width
    thickness = design.runner_mass / (layout.runner_density * long * wide)
    reach = jnp.sqrt(radius**2 - tip**2)
    top = reach + thickness
    ceiling = top + reach
    dx, dy = layout.contact_length / 2, layout.contact_width / 2
    slab = rectangle(-dx - 2 * radius, -wide / 2, dx + 2 * radius, wide / 2)
    bodies: list[Plate | Turned] = [
        Plate("lower carrier", CARRIER, slab, -layout.carrier_thickness, 0.0),
        Plate("runner", RUNNER, rectangle(-long / 2, -wide / 2, long / 2, wide / 2), reach, top),
        Plate("upper carrier", CARRIER, slab, ceiling, ceiling + layout.carrier_thickness),
    ]
    for i, (x, y) in enumerate(((-dx, -dy), (dx, -dy), (dx, dy), (-dx, dy))):
        name = f"lower hemisphere {i + 1}"
        bodies.append(hemisphere(name, RUBY, radius, point(x, y), tip_radius=tip))
    for i, x in enumerate((-dx, dx)):
        name = f"upper hemisphere {i + 1}"
        center = point(x, 0.0, ceiling)
        bodies.append(hemisphere(name, RUBY, radius, center, tip_radius=tip, down=True))
    places = {
        "runner_length": ((-long / 2, -wide / 2, top), (long / 2, -wide / 2, top), PLAN),
        "contact_length": ((-dx, -dy, 0.0), (dx, -dy, 0.0), PLAN),
        "runner_width": ((long / 2, -wide / 2, top), (long / 2, wide / 2, top), PLAN),
        "contact_width": ((dx, -dy, 0.0), (dx, dy, 0.0), PLAN),
        "radius": ((-dx, -dy, 0.0), (-dx - radius, -dy, 0.0), FRONT),
        "carrier_thickness": ((dx, 0.0, -layout.carrier_thickness), (dx, 0.0, 0.0), FRONT),
    }
    dimensions = tuple(Length(n, point(*a), point(*b), view) for n, (a, b, view) in places.items())
    return Geometry(
        tuple(bodies),
        dimensions,
        notes=("the runner is as thick as its mass says",),
        axes=("motion", "across", "up"),
    )


def _check(design: Design, layout: Layout) -> None:
    numbers = (design.radius, design.tip_radius, layout.contact_length, layout.contact_width)
    if is_traced(*numbers):
        return
    radius, tip, long, wide = map(float, numbers)
    if not tip < radius:
        raise ValueError(
            f"stickslip.geometry: Design.tip_radius = {tip} m is not allowed; it has to be below radius = "
            f"{radius} m, of which it is a part."
        )
    if not 2 * radius < min(long, wide):
        raise ValueError(
            f"stickslip.geometry: hemispheres of radius {radius} m overlap at contact_length = {long} m and "
            f"contact_width = {wide} m; both have to be above {2 * radius:.3g} m."
        )
