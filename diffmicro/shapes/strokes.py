"""Contours of bands: a band of even width along a path, and a body of several bands that meet in one point.

A `Band` is two sides from the point where bands meet to its far end. Its right side runs outward, its left side
back. `star` joins bands to one contour: between neighbors runs the bisector, at (w / 2) / sin(half their angle).
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.shapes.contour import Contour, polygon


def stroke(path: object, width: Array | float) -> Contour:
    """The band of even width along a path of straight pieces, with sharp corners and cut-off ends."""
    path = jnp.asarray(path, float)
    steps = path[1:] - path[:-1]
    along = steps / jnp.sqrt(jnp.sum(steps**2, axis=1))[:, None]
    left = jnp.stack([-along[:, 1], along[:, 0]], axis=1)
    first, last = left[:1], left[-1:]
    sums = left[1:] + left[:-1]
    corners = 2 * sums / jnp.sum(sums**2, axis=1)[:, None]
    offsets = jnp.concatenate([first, corners, last]) * (width / 2)
    return polygon(jnp.concatenate([path - offsets, (path + offsets)[::-1]]))


class Band(eqx.Module):
    """A band that leaves a point in `direction` (unit vector).

    points, bulge: its contour from the right side at the point around its far end to the left side, without
    the two corners at the point itself; bulge[i] belongs to the edge after points[i].
    """

    direction: Array
    points: Array
    bulge: Array


def star(center: Array, bands: Sequence[Band], width: Array | float) -> Contour:
    """The body of bands in counterclockwise order of their directions, two or more."""
    points, bulges = [], []
    for i, band in enumerate(bands):
        before = bands[i - 1]
        points += [_corner(center, before.direction, band.direction, width), band.points]
        bulges += [jnp.zeros(1), band.bulge]
    return Contour(jnp.concatenate(points), jnp.concatenate(bulges))


def _corner(center: Array, first: Array, second: Array, width: Array | float) -> Array:
    """Where the left side of the first band meets the right side of the second, as a row."""
    left = jnp.stack([-first[1], first[0]])
    right = jnp.stack([second[1], -second[0]])
    both = left + right
    return (center + width * both / jnp.sum(both**2))[None, :]
