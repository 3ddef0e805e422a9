"""Distances between edges of contours in closed form, with derivatives: straight pieces and arcs, each with each.

The shortest way between two edges begins at an end of one of them, or stands upright on both: on a straight piece
and an arc along the ray from the arc's center, on two arcs along the line of their centers. All of these are
calculated and the shortest is taken. Left out: edges that cross, whose ends say nothing about it; a geometry in
which parts overlap is refused elsewhere (`drawing.overlaps`).
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.shapes.contour import Contour

ROUNDED = 1e-9
"""Angle [rad] and share of a length by which a place may miss the end of its edge."""


class Edges(eqx.Module):
    """Edges of contours along the first axis. Of straight ones center, radius and angles mean nothing."""

    start: Array
    chord: Array
    bent: Array
    center: Array
    radius: Array
    first: Array
    turn: Array

    @property
    def end(self) -> Array:
        return self.start + self.chord

    def turned(self, place: Array) -> Array:
        """Whether places lie in the sector of an arc."""
        way = place - self.center
        angle = jnp.arctan2(way[..., 1], way[..., 0]) - self.first
        share = jnp.mod(jnp.sign(self.turn) * angle + ROUNDED, 2 * jnp.pi)
        return share <= jnp.abs(self.turn) + 2 * ROUNDED


def edges(contours: Sequence[Contour]) -> Edges:
    """The edges of all contours, one after another."""
    start = jnp.concatenate([jnp.asarray(c.points, float) for c in contours])
    chord = jnp.concatenate([c.chords for c in contours])
    bulge = jnp.concatenate([jnp.asarray(c.bulge, float) for c in contours])
    bent = bulge != 0
    b = jnp.where(bent, bulge, 1.0)
    left = jnp.stack([-chord[:, 1], chord[:, 0]], axis=1)
    center = start + chord / 2 + left * ((1 - b * b) / (4 * b))[:, None]
    arm = start - center
    radius = _length(chord) * (1 + b * b) / (4 * jnp.abs(b))
    first, turn = jnp.arctan2(arm[:, 1], arm[:, 0]), 2 * jnp.arctan2(2 * b, 1 - b * b)
    return Edges(start, chord, bent, center, radius, first, turn)


def distances(one: Edges, other: Edges) -> Array:
    """The distance of each edge (row) from each other edge (column) [m]."""
    a = Edges(*(x[:, None] for x in _fields(one)))
    b = Edges(*(x[None] for x in _fields(other)))
    ends = [_of_point(p, b) for p in (a.start, a.end)] + [_of_point(p, a) for p in (b.start, b.end)]
    upright = [_line_to_arc(a, b), _line_to_arc(b, a), *_arc_to_arc(a, b)]
    return jnp.min(jnp.stack([*ends, *upright]), axis=0)


def _fields(of: Edges) -> tuple[Array, ...]:
    return of.start, of.chord, of.bent, of.center, of.radius, of.first, of.turn


def _length(vectors: Array) -> Array:
    square = jnp.sum(vectors**2, axis=-1)
    some = square > 0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def _of_point(place: Array, edge: Edges) -> Array:
    square = jnp.sum(edge.chord**2, axis=-1)
    share = jnp.sum((place - edge.start) * edge.chord, axis=-1) / jnp.where(square > 0, square, 1.0)
    foot = edge.start + jnp.clip(share, 0.0, 1.0)[..., None] * edge.chord
    to_ends = jnp.minimum(_length(place - edge.start), _length(place - edge.end))
    to_arc = jnp.abs(_length(place - edge.center) - edge.radius)
    bent = jnp.where(edge.turned(place), to_arc, to_ends)
    return jnp.where(edge.bent, bent, _length(place - foot))


def _line_to_arc(line: Edges, arc: Edges) -> Array:
    square = jnp.sum(line.chord**2, axis=-1)
    share = jnp.sum((arc.center - line.start) * line.chord, axis=-1)
    share = share / jnp.where(square > 0, square, 1.0)
    foot = line.start + share[..., None] * line.chord
    fits = ~line.bent & arc.bent & (share > 0) & (share < 1) & arc.turned(foot)
    return jnp.where(fits, jnp.abs(_length(foot - arc.center) - arc.radius), jnp.inf)


def _arc_to_arc(one: Edges, other: Edges) -> list[Array]:
    way = other.center - one.center
    apart = _length(way)
    along = way / jnp.where(apart > 0, apart, 1.0)[..., None]
    found = []
    for s in (1.0, -1.0):
        for t in (1.0, -1.0):
            p = one.center + (s * one.radius)[..., None] * along
            q = other.center + (t * other.radius)[..., None] * along
            fits = one.bent & other.bent & (apart > 0) & one.turned(p) & other.turned(q)
            gap = jnp.abs(apart + t * other.radius - s * one.radius)
            found.append(jnp.where(fits, gap, jnp.inf))
    return found
