"""What of a geometry lies in the plan, by part: contours on layers, marks, and texts of the dimensions."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro.shapes import PLAN, Arrow, Contour, Geometry, Layer, Length, Plate, circle, polygon
from diffmicro.units import readable

MARKS = Layer(99, "marks")
TEXTS = Layer(100, "texts")


class Part(NamedTuple):
    """A part's outline and holes on its layer."""

    name: str
    layer: Layer
    outline: Contour
    holes: tuple[Contour, ...] = ()


class Text(NamedTuple):
    """A text and where it stands [m]."""

    text: str
    place: np.ndarray


def flat_parts(geometry: Geometry) -> list[Part]:
    """The parts as they are seen from above: a turned body by its largest circle."""
    found = []
    for body in geometry.bodies:
        if isinstance(body, Plate):
            found.append(Part(body.name, body.layer, body.outline, body.holes))
        else:
            radius = jnp.max(body.profile.points[:, 0])
            found.append(Part(body.name, body.layer, circle(body.center, radius)))
    found += [Part(arrow.name, MARKS, arrow_outline(arrow)) for arrow in geometry.arrows]
    return found


def arrow_outline(arrow: Arrow) -> Contour:
    """An arrow as an outline: a shaft a fortieth as wide as it is long, and a head."""
    start, end = jnp.asarray(arrow.start)[:2], jnp.asarray(arrow.end)[:2]
    way = end - start
    aside = jnp.stack([-way[1], way[0]])
    neck = start + 0.85 * way
    corners = [start - aside / 80, neck - aside / 80, neck - aside / 20, end]
    corners += [neck + aside / 20, neck + aside / 80, start + aside / 80]
    return polygon(jnp.stack(corners))


def texts(geometry: Geometry) -> list[Text]:
    """The dimensions of the plan by name and value, in the middle of each."""
    found = []
    for dimension in geometry.dimensions:
        if dimension.view != PLAN:
            continue
        length = isinstance(dimension, Length)
        value = readable(float(dimension.value()), "m" if length else "rad", 8)
        places = [dimension.start, dimension.end] if length else [dimension.center]
        middle = np.mean([np.asarray(place, float)[:2] for place in places], axis=0)
        found.append(Text(f"{dimension.name} = {value}", middle))
    return found
