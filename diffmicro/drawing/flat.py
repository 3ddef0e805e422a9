"""What of a geometry lies in the plan, by part: contours on layers, marks, and texts of the dimensions."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro.shapes import PLAN, Arrow, Contour, Geometry, Layer, Length, Plate, circle, polygon
from diffmicro.units import readable

MARKS = Layer(99, "marks")
TEXTS = Layer(100, "texts")

LINE, LETTER = 1 / 45, 0.55
"""Height of a line of text as a share of the drawing's longer side, and width of a letter in such lines."""


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
    """The dimensions of the plan by name and value, in the middle of each or on the next free line below."""
    line = LINE * extent(geometry)
    found: list[Text] = []
    for dimension in geometry.dimensions:
        if dimension.view != PLAN:
            continue
        length = isinstance(dimension, Length)
        value = readable(float(dimension.value()), "m" if length else "rad", 8)
        places = [dimension.start, dimension.end] if length else [dimension.center]
        middle = np.mean([np.asarray(place, float)[:2] for place in places], axis=0)
        text = Text(f"{dimension.name} = {value}", middle)
        while any(overlap(text, other, line) for other in found):
            text = text._replace(place=text.place - [0.0, line])
        found.append(text)
    return found


def overlap(one: Text, other: Text, line: float) -> bool:
    """Whether two texts in letters of this height cover each other, from their middles or their beginnings."""
    across, up = np.abs(one.place - other.place)
    longest = max(len(one.text), len(other.text))
    return bool(up < 0.999 * line and across < LETTER * line * longest)


def extent(geometry: Geometry) -> float:
    """The plan's longer side [m]."""
    every = np.concatenate([np.asarray(p.outline.points) for p in flat_parts(geometry)])
    return float(np.ptp(every, axis=0).max())
