"""The tribometer as it is drawn: the probe's hemisphere on its carrier, on a disc.

The model knows the radius alone; disc and carrier are ours. Where the direction of vibration is in plane the
probe touches with two points, whose place the model does not use: one is drawn.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.tribometer.design import Design
from diffmicro.parameters import is_traced, parameter
from diffmicro.shapes import (
    FRONT,
    PLAN,
    Geometry,
    Layer,
    Length,
    Plate,
    circle,
    hemisphere,
    point,
    rectangle,
)

DISC, PROBE, CARRIER = Layer(1, "disc"), Layer(2, "hemisphere"), Layer(3, "carrier")

OURS = "ours"


class Layout(eqx.Module):
    """What the drawing needs beside the design: disc and carrier."""

    disc_radius: Array | float = parameter(20e-3, "radius of the disc", "m", source=OURS, above=0)
    disc_thickness: Array | float = parameter(
        3e-3, "thickness of the disc", "m", source=OURS, above=0
    )
    track_radius: Array | float = parameter(
        14e-3, "distance of the contact from the disc's axis", "m", source=OURS, above=0
    )
    carrier_side: Array | float = parameter(10e-3, "side of the carrier", "m", source=OURS, above=0)
    carrier_thickness: Array | float = parameter(
        2e-3, "thickness of the carrier", "m", source=OURS, above=0
    )


def geometry(design: Design, layout: Layout) -> Geometry:
    """The disc's axis at x = y = 0, its top at z = 0; the probe stands on the x axis and drags along y."""
    radius = jnp.asarray(design.radius, float)
    _check(design, layout)
    tip = 0.0 if design.tip_radius is None else design.tip_radius
    reach = radius if design.tip_radius is None else jnp.sqrt(radius**2 - tip**2)
    track, half, thickness = layout.track_radius, layout.carrier_side / 2, layout.carrier_thickness
    side = rectangle(track - half, -half, track + half, half)
    disc = circle(jnp.zeros(2), layout.disc_radius)
    bodies = (
        Plate("disc", DISC, disc, -layout.disc_thickness, 0.0),
        hemisphere(
            "hemisphere", PROBE, radius, point(track, 0.0, reach), tip_radius=tip, down=True
        ),
        Plate("carrier", CARRIER, side, reach, reach + thickness),
    )
    top = reach + thickness
    places = {
        "track_radius": ((0.0, 0.0, 0.0), (track, 0.0, 0.0), PLAN),
        "carrier_side": ((track - half, half, top), (track + half, half, top), PLAN),
        "radius": ((track, 0.0, reach), (track - radius, 0.0, reach), FRONT),
        "disc_thickness": (
            (layout.disc_radius, 0, -layout.disc_thickness),
            (layout.disc_radius, 0, 0),
            FRONT,
        ),
        "carrier_thickness": ((track + half, 0.0, reach), (track + half, 0.0, top), FRONT),
    }
    dimensions = [Length(n, point(*a), point(*b), view) for n, (a, b, view) in places.items()]
    edge = layout.disc_radius * jnp.asarray([-1.0, 1.0]) * 0.5**0.5
    dimensions.append(Length("disc_radius", point(0, 0), point(edge[0], edge[1]), of_radius=True))
    return Geometry(
        bodies, tuple(dimensions), notes=("drag along y",), axes=("across", "drag", "up")
    )


def _check(design: Design, layout: Layout) -> None:
    numbers = (design.radius, layout.carrier_side, layout.track_radius, layout.disc_radius)
    if is_traced(*numbers):
        return
    radius, side, track, disc = map(float, numbers)
    if not 2 * radius <= side:
        raise ValueError(
            f"tribometer.geometry: Layout.carrier_side = {side} m is not allowed; it has to be at least "
            f"{2 * radius:.3g} m to carry a hemisphere of radius {radius} m."
        )
    if not track < disc:
        raise ValueError(
            f"tribometer.geometry: Layout.track_radius = {track} m is not allowed; it has to be below "
            f"disc_radius = {disc} m, or the probe misses the disc."
        )
