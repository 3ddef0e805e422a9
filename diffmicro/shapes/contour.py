"""A closed contour of straight edges and true arcs: area, moments, mirror image, and points along it.

Edge i runs from corner i to corner i + 1. Its bulge b = tan(angle / 4) says how far it turns on the way: 0 is a
straight edge, 1 a half circle, negative to the right. With chord c,

    radius = c (1 + b^2) / (4 |b|),  angle t = 4 atan b,  segment = (c (1 + b^2) / 4 b)^2 (t - sin t) / 2.

A contour runs counterclockwise. Source of the description: the bulges of DXF polylines, which need no center
and keep an arc an arc. Left out: splines.
"""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

SMALL = 1e-2
"""Bulges below have their segment's area by a series, whose error is below 1e-14 there."""


class Contour(eqx.Module):
    """Corners [m] as rows, and the bulge of the edge after each."""

    points: Array
    bulge: Array

    @property
    def chords(self) -> Array:
        """From each corner to the next."""
        return jnp.roll(self.points, -1, axis=0) - self.points

    def area(self) -> Array:
        """Area within [m^2], of arcs exactly; negative for a contour that runs clockwise."""
        after = jnp.roll(self.points, -1, axis=0)
        cross = self.points[:, 0] * after[:, 1] - after[:, 0] * self.points[:, 1]
        return jnp.sum(cross) / 2 + jnp.sum(_segments(self.chords, self.bulge)[0])

    def moment(self) -> Array:
        """Integral of x over the area [m^3]: 2 pi of it is the volume that the contour makes around x = 0."""
        x, z = self.points[:, 0], self.points[:, 1]
        after, above = jnp.roll(x, -1), jnp.roll(z, -1)
        straight = jnp.sum((x * above - after * z) * (x + after)) / 6
        area, offset = _segments(self.chords, self.bulge)
        chords = self.chords
        length = jnp.sqrt(jnp.sum(chords**2, axis=1))
        right = chords[:, 1] / jnp.where(length > 0, length, 1.0)  # x of the normal to the right
        middle = (x + after) / 2 + right * offset
        return straight + jnp.sum(area * middle)

    def mirrored(self, axis: int = 0) -> "Contour":
        """The mirror image at x = 0 (axis 0) or y = 0 (axis 1), again counterclockwise."""
        sign = jnp.ones((1, 2)).at[0, axis].set(-1.0)
        return Contour(self.points[::-1] * sign, jnp.roll(self.bulge[::-1], -1))

    def moved(self, by: Array) -> "Contour":
        """The contour in another place."""
        return Contour(self.points + jnp.asarray(by)[None, :], self.bulge)

    def polygon(self, tolerance: float) -> np.ndarray:
        """Corners of a polygon of the same area, nowhere farther from the contour than the tolerance [m].

        Corners of the contour stay where they are. Points along an arc lie outside by a third of what the
        chords between them lie inside twice, so that the area is that of the arc.
        """
        points, bulges = np.asarray(self.points, float), np.asarray(self.bulge, float)
        found = []
        for i, b in enumerate(bulges):
            found.append(points[i : i + 1])
            if b:
                found.append(_along(points[i], points[(i + 1) % len(points)], float(b), tolerance))
        return np.concatenate(found)

    def arcs(self) -> list[tuple[np.ndarray, float, float, float]]:
        """Center, radius, polar angle of the start and turn of each edge that is an arc."""
        points, bulges = np.asarray(self.points, float), np.asarray(self.bulge, float)
        ends = np.roll(points, -1, axis=0)
        return [arc_of(a, b, float(k)) for a, b, k in zip(points, ends, bulges, strict=True) if k]


def polygon(points: object) -> Contour:
    """A contour of straight edges."""
    points = jnp.asarray(points, float)
    return Contour(points, jnp.zeros_like(points[:, 0]))


def rectangle(left: object, bottom: object, right: object, top: object) -> Contour:
    """An upright rectangle by its sides."""
    left, bottom, right, top = (jnp.asarray(x, float) for x in (left, bottom, right, top))
    corners = [[left, bottom], [right, bottom], [right, top], [left, top]]
    return polygon(jnp.stack([jnp.stack(corner) for corner in corners]))


def circle(center: object, radius: object) -> Contour:
    """A circle of two half circles."""
    center, radius = jnp.asarray(center, float), jnp.asarray(radius, float)
    across = jnp.stack([radius, jnp.zeros_like(radius)])
    return Contour(jnp.stack([center - across, center + across]), jnp.ones(2))


def _segments(chords: Array, bulge: Array) -> tuple[Array, Array]:
    """Area between each arc and its chord, positive to the right of the chord (outward), and the distance of
    its centroid from the chord there."""
    square = jnp.sum(chords**2, axis=1)
    chord = jnp.sqrt(jnp.where(square > 0, square, 1.0)) * (square > 0)
    flat = jnp.abs(bulge) < SMALL
    b = jnp.where(flat, 1.0, bulge)
    ratio = (1 + b * b) / (4 * b)
    angle = 2 * jnp.arctan2(2 * b, 1 - b * b)
    share = ratio**2 * (angle - jnp.sin(angle)) / 2
    b2 = bulge * bulge
    series = bulge / 3 * (1 + b2 / 5 - b2 * b2 / 35 + b2**3 / 105)
    area = square * jnp.where(flat, series, share)
    # The centroid of a segment is 2 r sin^3(t/2) / (3 (t - sin t)) * 2 from the center.
    far = 4 * jnp.sin(angle / 2) ** 3 / (3 * (angle - jnp.sin(angle)))
    offset = chord * ratio * (far - jnp.cos(angle / 2))
    return area, jnp.where(flat, 0.2 * chord * bulge * (1 + 3 / 35 * b2), offset)


def arc_of(
    start: np.ndarray, end: np.ndarray, bulge: float
) -> tuple[np.ndarray, float, float, float]:
    chord = end - start
    length = float(np.hypot(*chord))
    radius = length * (1 + bulge * bulge) / (4 * abs(bulge))
    left = np.array([-chord[1], chord[0]]) / length
    center = (start + end) / 2 + left * length * (1 - bulge * bulge) / (4 * bulge)
    first = math.atan2(*(start - center)[::-1])
    return center, radius, first, 4 * math.atan(bulge)


def _along(start: np.ndarray, end: np.ndarray, bulge: float, tolerance: float) -> np.ndarray:
    """Points between the ends of an arc; see `Contour.polygon`."""
    center, radius, first, turn = arc_of(start, end, bulge)
    sagitta = min(1.4 * tolerance / radius, 0.3)
    count = max(2, math.ceil(abs(turn) / (2 * math.acos(1 - sagitta))))
    # (2 q + (n - 2) q^2) sin d = n d for the radius q of the inner points.
    step = abs(turn) / count
    wanted = count * step / math.sin(step)
    inner = count - 2
    q = wanted / 2 if not inner else (math.sqrt(1 + inner * wanted) - 1) / inner
    angles = first + turn * np.arange(1, count) / count
    return center + q * radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
