"""A contour grown by the same distance on all sides: what an etch takes, put on again beforehand.

Edges move outward by d: straight ones are shifted, arcs keep their centers. A corner goes to where its two moved
edges meet, found by Newton's method from d (n1 + n2) / (1 + n1 . n2), which is the place itself between straight
edges; where edges join smoothly it is d along their common normal. Outer corners stay sharp. An etch that takes d
from everything gives the contour back, but for inner corners, which it leaves round with the radius d.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.parameters import is_traced
from diffmicro.shapes.contour import Contour

NEWTON = 8
"""Steps that find a corner between arcs; each doubles the digits."""

SMOOTH = 1e-4
"""Sine of the angle between two edges below which they join smoothly."""


def grown(contour: Contour, by: Array | float) -> Contour:
    """The contour with every edge moved outward [m]; inward where `by` is negative.

    ValueError, where numbers are known, for an edge that vanishes on the way.
    """
    found, radius = _moved(contour, jnp.asarray(by, float))
    if not is_traced(contour.points, contour.bulge, by):
        _check(contour, found, radius)
    return found


@jax.jit
def _moved(contour: Contour, by: Array) -> tuple[Contour, Array]:
    """The contour with moved edges, and the radii that its arcs have then."""
    points = jnp.asarray(contour.points, float)
    before = _Edges(contour)
    moved = before.moved_corners(by)
    after = jnp.roll(moved, -1, axis=0)
    # How much farther an arc turns between its moved ends.
    turn = before.turn + _between(before.center, jnp.roll(points, -1, axis=0), after)
    turn = turn - _between(before.center, points, moved)
    bulge = jnp.where(before.bent, jnp.tan(turn / 4), 0.0)
    return Contour(moved, bulge), before.radius + before.sign * by


class _Edges:
    """Lines and circles of a contour's edges, as arrays along them."""

    def __init__(self, contour: Contour):
        bulge = jnp.asarray(contour.bulge, float)
        self.points, chord = jnp.asarray(contour.points, float), contour.chords
        self.bent = bulge != 0
        b = jnp.where(self.bent, bulge, 1.0)
        length = jnp.sqrt(jnp.sum(chord**2, axis=1))
        along = chord / length[:, None]
        left = jnp.stack([-along[:, 1], along[:, 0]], axis=1)
        self.sign = jnp.where(bulge < 0, -1.0, 1.0)
        self.radius = jnp.where(self.bent, length * (1 + b * b) / (4 * jnp.abs(b)), jnp.inf)
        place = self.points + chord / 2 + left * (length * (1 - b * b) / (4 * b))[:, None]
        self.center = jnp.where(self.bent[:, None], place, self.points - left)
        self.turn = jnp.where(self.bent, 2 * jnp.arctan2(2 * b, 1 - b * b), 0.0)
        self.right = -left  # outward of a straight edge: contours run counterclockwise

    def outward(self, edge: Array, at: Array) -> tuple[Array, Array]:
        """Distance of points outside of edges, and the normals there."""
        way = at - self.center[edge]
        reach = jnp.sqrt(jnp.sum(way**2, axis=1))
        bent, sign = self.bent[edge], self.sign[edge]
        radius = jnp.where(bent, self.radius[edge], 0.0)
        straight = jnp.sum((at - self.points[edge]) * self.right[edge], axis=1)
        normal = jnp.where(bent[:, None], sign[:, None] * way / reach[:, None], self.right[edge])
        return jnp.where(bent, sign * (reach - radius), straight), normal

    def moved_corners(self, by: Array | float) -> Array:
        """Corners between edges that are moved outward."""
        n = self.points.shape[0]
        own = jnp.arange(n)
        last = (own - 1) % n
        (_, first), (_, second) = self.outward(last, self.points), self.outward(own, self.points)
        cross = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
        sharp = jnp.abs(cross) > SMOOTH
        cosine = jnp.sum(first * second, axis=1)
        step = by * (first + second) / jnp.where(cosine > -0.999, 1 + cosine, 1.0)[:, None]
        found = self.points + step

        def nearer(_: Array | int, found: Array) -> Array:
            (f, u), (g, v) = self.outward(last, found), self.outward(own, found)
            det = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
            det = jnp.where(sharp & (jnp.abs(det) > SMOOTH / 10), det, 1.0)
            f, g = f - by, g - by
            move = jnp.stack([f * v[:, 1] - g * u[:, 1], g * u[:, 0] - f * v[:, 0]], axis=1)
            return found - jnp.where(sharp[:, None], move / det[:, None], 0.0)

        return jax.lax.fori_loop(0, NEWTON, nearer, found)


def _between(center: Array, one: Array, other: Array) -> Array:
    """Angle about a center from one point to another."""
    a, b = one - center, other - center
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return jnp.arctan2(cross, jnp.sum(a * b, axis=1))


def _check(old: Contour, new: Contour, radius: Array) -> None:
    ways = np.sum(np.asarray(old.chords) * np.asarray(new.chords), axis=1)
    bent = np.asarray(old.bulge) != 0
    turned = np.asarray(old.bulge) * np.asarray(new.bulge)
    # A wide arc's chord may turn back; a straight one's may not.
    bad = np.where(bent, (turned <= 0) | (np.asarray(radius) <= 0), ways <= 0)
    finite = np.all(np.isfinite(np.asarray(new.points)), axis=1)
    if np.any(bad | ~finite):
        edge = int(np.flatnonzero(bad | ~finite)[0])
        x, y = 1e6 * np.asarray(old.points)[edge]
        what = "an arc" if bent[edge] else "an edge"
        raise ValueError(f"{what} that begins at x = {x:.6g} um, y = {y:.6g} um vanishes")
