"""Flexures, feet, hubs and bands of the gripper's plates, around one hinge.

Polar around a hinge: a flexure of radius r and height h runs from `start` by `turn`; e is the ray to one of its
ends, q the direction along the arc's tangent away from it, into the open sector. A foot lies between the rays at
0 and at w along q, so that the flexure ends on its side; the flexure reaches w / 2 into it. A band runs on the
circle of radius R = r + h / 2 + clearance + w / 2.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.shapes import Band, Contour


class Ring(eqx.Module):
    """A flexure and the room around it [m, rad]; width, clearance: of plates."""

    hinge: Array
    radius: Array
    start: Array
    turn: Array
    height: Array
    width: Array | float
    clearance: Array | float

    @property
    def around(self) -> Array:
        """Radius of a band's center line around the flexure."""
        return self.radius + self.height / 2 + self.clearance + self.width / 2

    def ray(self, angle: Array) -> Array:
        """Unit vector at a polar angle."""
        return jnp.stack([jnp.cos(angle), jnp.sin(angle)])

    def at(self, distance: Array, angle: Array) -> Array:
        """A point by its polar coordinates about the hinge."""
        return self.hinge + distance * self.ray(angle)

    def end(self, which: int) -> tuple[Array, Array, Array, int]:
        """Of end 0 or 1: polar angle, ray, direction into the open sector, and its sense (+1 counterclockwise)."""
        angle, sense = (self.start, -1) if which == 0 else (self.start + self.turn, 1)
        ray = self.ray(angle)
        return angle, ray, sense * jnp.stack([-ray[1], ray[0]]), sense

    def flexure(self) -> Contour:
        """The arc with straight roots at both ends."""
        _, first, back, _ = self.end(0)
        _, last, on, _ = self.end(1)
        outer, inner = self.radius + self.height / 2, self.radius - self.height / 2
        root = self.width / 2
        bulge = jnp.tan(self.turn / 4)
        points = [outer * first, outer * last, outer * last + root * on, inner * last + root * on]
        points += [
            inner * last,
            inner * first,
            inner * first + root * back,
            outer * first + root * back,
        ]
        bulges = jnp.zeros(8).at[0].set(bulge).at[4].set(-bulge)
        return Contour(jnp.stack(points) + self.hinge[None, :], bulges)


def hub(ring: Ring, which: int, radius: Array | float) -> Contour:
    """The anchored disc inside a flexure, with a foot for one of its ends."""
    _, ray, aside, sense = ring.end(which)
    radius, w = jnp.asarray(radius, float), ring.width
    tip = ring.radius + w / 2
    along = jnp.sqrt(radius**2 - w**2)
    near, far = [radius * ray, tip * ray], [along * ray + w * aside, tip * ray + w * aside]
    bulge = jnp.tan((2 * jnp.pi - jnp.arcsin(w / radius)) / 4)
    points = [*near[:1], *far, near[1]] if sense < 0 else [far[0], *near, far[1]]
    return Contour(jnp.stack(points) + ring.hinge[None, :], jnp.zeros(4).at[0].set(bulge))


def band(ring: Ring, which: int, center: Array) -> Band:
    """The band from a body's center to the foot for one end of a flexure: straight, or around the flexure."""
    angle, ray, aside, _ = ring.end(which)
    toward, reach = _polar(center - ring.hinge)
    free = jnp.abs(_wrapped(toward - angle)) <= jnp.arccos(ring.around / reach)
    w = ring.width
    middle = ring.hinge + w / 2 * aside
    direct = [middle + ring.around * ray, middle + (ring.radius - w / 2) * ray]
    return _either(free, _straight(center, direct, w), _around(ring, which, center))


def _around(ring: Ring, which: int, center: Array) -> Band:
    """The band that goes around the flexure, over the arc itself: the other foot is in the open sector."""
    angle, ray, aside, sense = ring.end(which)
    around, w = ring.around, ring.width
    toward, reach = _polar(center - ring.hinge)
    touch = toward + sense * jnp.arccos(around / reach)
    touch = angle - sense * jnp.mod(-sense * (touch - angle), 2 * jnp.pi)
    outer, inner = around + w / 2, around - w / 2
    corner = angle + sense * jnp.arcsin(w / outer)
    foot = ring.hinge + (ring.radius - w / 2) * ray
    side = [ring.at(inner, touch), ring.at(inner, angle), foot]
    other = [foot + w * aside, ring.at(outer, corner), ring.at(outer, touch)]
    swing, wide = jnp.tan((touch - angle) / 4), jnp.tan((touch - corner) / 4)
    zero = jnp.zeros_like(swing)
    direction = _unit(ring.at(around, touch) - center)
    if sense < 0:  # outward the band turns clockwise: its inner side is on the right
        bulges = [-swing, zero, zero, zero, wide, zero]
        return Band(direction, jnp.stack(side + other), jnp.stack(bulges))
    bulges = [-wide, zero, zero, zero, swing, zero]
    return Band(direction, jnp.stack((side + other)[::-1]), jnp.stack(bulges))


def arm(rings: Sequence[Ring], center: Array, tip: Array) -> Band:
    """The band from a body's center to the tip, around the first flexure that is in the way."""
    width = rings[0].width
    way = tip - center
    # The corners along a straight arm lie where the other bands of the body have ended.
    found = _straight(center, [center + 0.8 * way, tip], width)
    for ring in reversed(rings):
        toward, reach = _polar(center - ring.hinge)
        leaving, length = _polar(tip - ring.hinge)
        outside = (ring.around < reach) & (ring.around < length)
        to_hinge = ring.hinge - center
        cross = way[0] * to_hinge[1] - way[1] * to_hinge[0]
        sense = jnp.where(
            cross > 0, 1.0, -1.0
        )  # with the hinge on the left it turns counterclockwise
        first = toward + sense * jnp.arccos(jnp.where(outside, ring.around / reach, 0.5))
        last = leaving - sense * jnp.arccos(jnp.where(outside, ring.around / length, 0.5))
        turn = _wrapped(sense * (last - first))
        bent = _bent(ring, center, tip, (first, first + sense * turn), sense)
        found = _either(outside & (turn > 0) & (turn < jnp.pi), bent, found)
    return found


def _bent(ring: Ring, center: Array, tip: Array, ends: tuple[Array, Array], sense: Array) -> Band:
    """A band that goes around a flexure from the polar angle `ends[0]` to `ends[1]` and on to the tip."""
    first, last = ends
    half = ring.width / 2
    along = _unit(tip - ring.at(ring.around, last))
    aside = half * jnp.stack([-along[1], along[0]])
    # The right side is the outer one where the hinge is on the left.
    right, left = ring.around + sense * half, ring.around - sense * half
    points = [ring.at(right, first), ring.at(right, last), tip - aside, tip + aside]
    points += [ring.at(left, last), ring.at(left, first)]
    swing = jnp.tan((last - first) / 4)
    zero = jnp.zeros_like(swing)
    direction = _unit(ring.at(ring.around, first) - center)
    return Band(direction, jnp.stack(points), jnp.stack([swing, zero, zero, zero, -swing, zero]))


def _straight(center: Array, path: Sequence[Array], width: Array | float) -> Band:
    """A band of two straight pieces with a sharp corner and a cut-off end.

    The middle of the second piece counts as a corner on both sides: every band has six, so that which way a band
    takes may depend on traced numbers.
    """
    places = [center, *path]
    ways = [_unit(b - a) for a, b in zip(places, path, strict=False)]
    sides = [jnp.stack([-way[1], way[0]]) for way in ways]
    both = sides[0] + sides[1]
    offsets = [both / jnp.sum(both**2) * width, sides[1] * width / 2]
    right = [p - offset for p, offset in zip(path, offsets, strict=True)]
    left = [p + offset for p, offset in zip(path, offsets, strict=True)]
    onward = [right[0], (right[0] + right[1]) / 2, right[1]]
    back = [left[1], (left[0] + left[1]) / 2, left[0]]
    return Band(ways[0], jnp.stack([*onward, *back]), jnp.zeros(6))


def _either(first: Array, one: Band, other: Band) -> Band:
    """The one band or the other."""
    return jax.tree.map(lambda a, b: jnp.where(first, a, b), one, other)


def _polar(vector: Array) -> tuple[Array, Array]:
    return jnp.arctan2(vector[1], vector[0]), jnp.sqrt(jnp.sum(vector**2))


def _unit(vector: Array) -> Array:
    return vector / jnp.sqrt(jnp.sum(vector**2))


def _wrapped(angle: Array) -> Array:
    """The angle between -pi and pi."""
    return angle - 2 * jnp.pi * jax.lax.stop_gradient(jnp.round(angle / (2 * jnp.pi)))
