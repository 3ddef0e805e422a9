"""The design whose geometry a file shows: least squares on corners and arcs, by the geometry's own derivatives.

Parts are found by their names, as `draw` writes them. Every corner of a part is compared with the corner of the
file that is nearest to it, or with the one of the same number where both have as many; of an arc, what bends it
(its bulge), or, in polygons, the distance of the points along it from its circle; corners at which arcs join
smoothly do not count then. Gauss and Newton's method finds
the values. Left out: heights, which a plan does not show.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.devices import as_device
from diffmicro.drawing.device import geometry
from diffmicro.drawing.flat import Part, flat_parts
from diffmicro.drawing.reading import Shape, read_shapes
from diffmicro.parameters import Fields, Value, describe, put
from diffmicro.process.values import Process
from diffmicro.shapes import Contour
from diffmicro.shapes.contour import arc_of

ITERATIONS = 30

SETTLED = 1e-9
"""Relative change of all values at which the iterations end."""

FARTHEST = 0.2
"""Largest relative change of a value in one iteration."""

CLOSE = 1e-6
"""Least size of a singular value over the largest, for values that can be distinguished."""


SMOOTH = 1e-3
"""Change of direction [rad] from which on a corner is one."""


class Fit(NamedTuple):
    """The design, and how far the file's corners and arcs are from it at most [m]."""

    design: PyTree
    values: dict[str, float | list[float]]
    largest: float


def fit_design(
    device: Device | str,
    path: Path | str,
    keys: Sequence[str],
    design: Fields | None = None,
    layout: Fields | None = None,
    process: Process | None = None,
) -> Fit:
    """The design that a file shows, in the parameters `keys`; everything else as in `design` and `layout`.

    process: that the file was drawn for: what it shows is the design before its etch.

    ValueError where a part is missing, or where the drawing does not tell the keys apart.
    """
    device = as_device(device)
    design, _ = device.point(design, None)
    known = describe(device.Design)
    for key in keys:
        if key not in known or not known[key].differentiable:
            raise ValueError(
                f"{key} is no number of {device.name}'s Design; a drawing shows those."
            )
    shapes = {shape.name: shape for shape in read_shapes(path)}
    start = {key: jnp.asarray(getattr(design, key), float) for key in keys}

    def parts(values: Mapping[str, Array]) -> list[Part]:
        found = put(design, device.Setting(), values)[0]
        return flat_parts(geometry(device, found, layout, process))

    missing = [part.name for part in parts(start) if part.name not in shapes]
    if missing:
        raise ValueError(
            f"{path} has no part {missing[0]!r}; its parts are {', '.join(filter(None, shapes)) or 'nameless'}."
        )
    values = _least_squares(device.name, parts, shapes, start)
    apart = np.abs(np.asarray(_misfit(parts(values), shapes, _matches(parts(values), shapes))))
    found = put(design, device.Setting(), values)[0]
    return Fit(found, {k: np.asarray(v).tolist() for k, v in values.items()}, float(apart.max()))


def _least_squares(
    where: str,
    parts: Callable[[Mapping[str, Array]], list[Part]],
    shapes: Mapping[str, Shape],
    values: dict[str, Array],
) -> dict[str, Array]:
    flat, unravel = ravel_pytree(values)
    scale = np.where(np.asarray(flat) != 0, np.abs(np.asarray(flat)), 1e-6)

    def misfit(x: Array, matches: dict[str, _Match]) -> Array:
        return _misfit(parts(unravel(x)), shapes, matches)

    def with_slopes(x: Array, matches: dict[str, _Match]) -> tuple[Array, Array]:
        return jax.jacfwd(misfit)(x, matches), misfit(x, matches)

    calculate = _compiled(with_slopes, flat, _matches(parts(values), shapes))
    for _ in range(ITERATIONS):
        matches = _matches(parts(unravel(flat)), shapes)
        slopes, rest = map(np.asarray, calculate(flat, matches))
        step, _, rank, _ = np.linalg.lstsq(slopes * scale, -rest, rcond=CLOSE)
        if rank < len(scale):
            raise ValueError(
                f"{where}: the drawing does not tell {_blurred(slopes * scale, values)} apart; leave one of them "
                "out."
            )
        step = step * min(1.0, FARTHEST / max(np.abs(step).max(), FARTHEST))
        flat = flat + jnp.asarray(step * scale)
        if np.abs(step).max() < SETTLED:
            break
    return unravel(flat)


def _blurred(slopes: np.ndarray, values: Mapping[str, Value]) -> str:
    """The keys that can change together without a change of the drawing."""
    weak = np.linalg.svd(slopes)[2][-1]
    owner = np.concatenate([np.full(np.size(value), key) for key, value in values.items()])
    return ", ".join(sorted(set(owner[np.abs(weak) > 0.1])))


def _compiled(function: Callable[..., PyTree], *like: PyTree) -> Callable[..., PyTree]:
    """The function compiled, or as it is where numbers decide what it does."""
    try:
        eqx.filter_eval_shape(function, *like)
    except jax.errors.JAXTypeError:
        return function
    return eqx.filter_jit(function)


class _Match(NamedTuple):
    """corners: of the file, for each corner of the part, and weights: zero where the part has no real corner.
    points: of a polygon, all corners; edges: of the part, which each of them lies along."""

    corners: Array
    weights: Array
    points: Array
    edges: Array


def _matches(parts: Sequence[Part], shapes: Mapping[str, Shape]) -> dict[str, _Match]:
    return {part.name: _match(part.outline, shapes[part.name]) for part in parts}


def _match(contour: Contour, shape: Shape) -> _Match:
    own, given = np.asarray(contour.points), np.asarray(shape.contour.points)
    if len(own) == len(given):
        return _Match(jnp.asarray(given), jnp.ones(len(own)), jnp.zeros((0, 2)), jnp.zeros(0, int))
    nearest = np.linalg.norm(own[:, None] - given[None], axis=2).argmin(1)
    edges = np.abs(_from_edges(contour, given)).argmin(1)
    corners = map(jnp.asarray, (given[nearest], _sharp(contour), given, edges))
    return _Match(*corners)


def _sharp(contour: Contour) -> np.ndarray:
    """One for each corner at which the contour turns, zero for those where an arc goes on smoothly."""
    chords, turns = np.asarray(contour.chords), 4 * np.arctan(np.asarray(contour.bulge))
    heading = np.arctan2(chords[:, 1], chords[:, 0])
    bend = heading - turns / 2 - np.roll(heading + turns / 2, 1)
    return (np.abs(np.remainder(bend + np.pi, 2 * np.pi) - np.pi) > SMOOTH).astype(float)


def _from_edges(contour: Contour, points: np.ndarray) -> np.ndarray:
    """Distance of points (rows) from edges (columns)."""
    start, chords = np.asarray(contour.points), np.asarray(contour.chords)
    found = []
    for a, chord, b in zip(start, chords, np.asarray(contour.bulge), strict=True):
        length = max(float(np.hypot(*chord)), 1e-15)
        if b:
            center, radius, first, turn = arc_of(a, a + chord, float(b))
            way = points - center
            share = np.remainder(
                (np.arctan2(way[:, 1], way[:, 0]) - first) * np.sign(turn), 2 * np.pi
            )
            off, beside = np.abs(np.linalg.norm(way, axis=1) - radius), share <= abs(turn)
        else:
            share = (points - a) @ chord / length**2
            off, beside = (
                np.abs((points - a) @ [-chord[1], chord[0]]) / length,
                abs(share - 0.5) <= 0.5,
            )
        ends = np.minimum(*(np.linalg.norm(points - p, axis=1) for p in (a, a + chord)))
        found.append(np.where(beside, off, ends))
    return np.stack(found, axis=1)


def _misfit(
    parts: Sequence[Part], shapes: Mapping[str, Shape], matches: Mapping[str, _Match]
) -> Array:
    """Distances of corners and arcs [m]."""
    found = []
    for part in parts:
        match, shape, own = matches[part.name], shapes[part.name], part.outline
        found.append(jnp.ravel(match.weights[:, None] * (own.points - match.corners)))
        lengths = jnp.sqrt(jnp.sum(jax.lax.stop_gradient(own.chords) ** 2, axis=1))
        if shape.exact:
            # Arcs of one chord differ at their tops by chord times bulge / 2.
            found.append((own.bulge - shape.contour.bulge) * lengths / 2)
        found.append(_off_circles(own, match.edges, match.points))
    return jnp.concatenate(found)


def _off_circles(contour: Contour, edges: Array, points: Array) -> Array:
    """Distance of points from the circles of their edges; zero for straight ones."""
    start, chord, bulge = contour.points[edges], contour.chords[edges], contour.bulge[edges]
    bent = bulge != 0
    b = jnp.where(bent, bulge, 1.0)
    left = jnp.stack([-chord[:, 1], chord[:, 0]], axis=1)
    center = start + chord / 2 + left * ((1 - b * b) / (4 * b))[:, None]
    radius = jnp.sqrt(jnp.sum(chord**2, axis=1)) * (1 + b * b) / (4 * jnp.abs(b))
    away = jnp.sqrt(jnp.sum((points - center) ** 2, axis=1))
    return jnp.where(bent, away - radius, 0.0)
