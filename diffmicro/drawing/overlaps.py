"""Whether a geometry can be made: no contour crosses itself, parts of one layer and height keep apart.

Parts that are joined (`Geometry.joints`) are one piece: a flexure and the plate that holds it. Their outlines
cross twice, where the one enters the other; where they cross more often they also touch elsewhere, and the part
that should be free is not.
"""

import numpy as np

from diffmicro.shapes import Contour, Geometry, Plate

CHORD = 1e-3
"""Distance of the polygons that are looked at from the contours, over the size of the geometry's smallest part."""

END = 0.5 + 1e-9
"""Where an edge ends, from its middle and in lengths of it: a little late."""

APART = 1e-3
"""Crossings nearer than this share of the smaller part are one."""

PAIRS = 4_000_000
"""Pairs of edges that are compared at once."""


def check_overlaps(where: str, geometry: Geometry) -> None:
    """ValueError with what, where and the remedy."""
    plates = geometry.plates
    shapes = {p.name: [outline(c) for c in (p.outline, *p.holes)] for p in plates}
    for plate in plates:
        at = self_crossing(shapes[plate.name][0])
        if at is None and area_within(shapes[plate.name][0]) > 0:
            continue
        place = f", near {_place(at)}" if at is not None else ""
        raise ValueError(
            f"{where}.geometry: the outline of {plate.name} crosses itself{place}; what is drawn there cannot be "
            "made. Move the parameters that you changed back towards the published ones, or make the layout's "
            "widths and spaces smaller."
        )
    joined = {frozenset(pair) for pair in geometry.joints}
    for i, one in enumerate(plates):
        for other in plates[i + 1 :]:
            if one.layer.number == other.layer.number and _same_height(one, other):
                pair = (one.name, other.name)
                joint = frozenset(pair) in joined
                _check_pair(where, pair, shapes[one.name], shapes[other.name], joint)


def outline(contour: Contour) -> np.ndarray:
    """The polygon that is looked at."""
    points = np.asarray(contour.points, float)
    size = float(np.ptp(points, axis=0).max())
    arcs = [radius for _, radius, _, _ in contour.arcs()]
    return contour.polygon(CHORD * min([size, *arcs]))


def area_within(points: np.ndarray) -> float:
    """Area of a polygon, negative where it runs clockwise."""
    x, y = points.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


def self_crossing(points: np.ndarray) -> np.ndarray | None:
    """Where a polygon crosses itself first; None where it does not."""
    places, first, second = crossings(points, points)
    count = len(points)
    apart = np.minimum((first - second) % count, (second - first) % count) > 1
    return places[apart][0] if apart.any() else None


def crossings(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where edges of two polygons cross: places, and the numbers of both edges."""
    places, first, second = [], [], []
    onward, across = np.roll(one, -1, axis=0) - one, np.roll(other, -1, axis=0) - other
    rows = max(1, PAIRS // max(len(other), 1))
    for k in range(0, len(one), rows):
        a, u = one[k : k + rows, None], onward[k : k + rows, None]
        b, v = other[None], across[None]
        bent = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
        gap = b - a
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (gap[..., 0] * v[..., 1] - gap[..., 1] * v[..., 0]) / bent
            t = (gap[..., 0] * u[..., 1] - gap[..., 1] * u[..., 0]) / bent
        # Corners count for both of their edges, so that none is lost by rounding.
        i, j = np.nonzero((abs(s - 0.5) <= END) & (abs(t - 0.5) <= END))
        places.append(one[i + k] + s[i, j, None] * onward[i + k])
        first.append(i + k)
        second.append(j)
    return np.concatenate(places), np.concatenate(first), np.concatenate(second)


def inside(point: np.ndarray, polygon: np.ndarray) -> bool:
    """Whether a point lies in a polygon."""
    x, y = polygon.T
    after_x, after_y = np.roll(x, -1), np.roll(y, -1)
    beside = (y > point[1]) != (after_y > point[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        at = x + (point[1] - y) / (after_y - y) * (after_x - x)
    return bool(np.count_nonzero(beside & (point[0] < at)) % 2)


def _check_pair(
    where: str,
    pair: tuple[str, str],
    one: list[np.ndarray],
    other: list[np.ndarray],
    joined: bool,
) -> None:
    """one, other: outline and holes of each."""
    if np.any(one[0].max(0) < other[0].min(0)) or np.any(other[0].max(0) < one[0].min(0)):
        places = np.zeros((0, 2))
    else:
        places = _distinct(
            np.concatenate([crossings(a, b)[0] for a in one for b in other]),
            APART * min(np.ptp(one[0], axis=0).max(), np.ptp(other[0], axis=0).max()),
        )
        if not len(places) and (_within(one[0][0], other) or _within(other[0][0], one)):
            places = one[0][:1]
    if len(places) == (2 if joined else 0):
        return
    text = "overlap"
    if joined:
        text = "touch beside their joint" if len(places) > 2 else "do not meet, but are one piece"
    place = f", near {_place(places[-1])}" if len(places) else ""
    raise ValueError(
        f"{where}.geometry: {pair[0]} and {pair[1]} {text}{place}. Move the parameters that you changed back "
        "towards the published ones, or make the layout's widths and spaces smaller."
    )


def _within(point: np.ndarray, rings: list[np.ndarray]) -> bool:
    """Whether a point is inside an outline and outside its holes."""
    return inside(point, rings[0]) and not any(inside(point, hole) for hole in rings[1:])


def _distinct(places: np.ndarray, apart: float) -> np.ndarray:
    """The places, one of those that are nearer to each other."""
    kept: list[np.ndarray] = []
    for place in places:
        if all(np.hypot(*(place - other)) > apart for other in kept):
            kept.append(place)
    return np.array(kept).reshape(-1, 2)


def _same_height(one: Plate, other: Plate) -> bool:
    low, high = max(one.bottom, other.bottom), min(one.top, other.top)
    return bool(float(low) < float(high))


def _place(at: np.ndarray) -> str:
    return f"x = {1e6 * at[0]:.6g} um, y = {1e6 * at[1]:.6g} um"
