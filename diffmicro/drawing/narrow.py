"""Places of a drawing that are narrower than the rules of a process allow, wherever they are: a check by polygons.

Features (`shapes.features`) are the widths and gaps that a formula names; a search keeps these. This check sees
what has no name: parts of one piece, both sides of an inner corner. As a design rule check does, it compares edges
that face each other, by less than 80 degrees from straight on. A gap is their distance. A width is the diameter of
the disc that touches one edge and reaches the other, |d|^2 / (d . n) for the way d and the normal n: of a strip
its width, of a disc its diameter. So the two sides of a corner sharper than 80 degrees count, with a width or gap
of zero. Edges inside another part are none. Told are the corners of each pair of parts, or their smallest place.

Left out: radii between edges that join smoothly, and rules between layers.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from diffmicro._device import Device
from diffmicro.devices import as_device
from diffmicro.drawing.device import geometry
from diffmicro.drawing.etching import drawn
from diffmicro.drawing.flat import Part, flat_parts
from diffmicro.drawing.overlaps import crossings
from diffmicro.parameters import Fields
from diffmicro.process.values import LayerRules, Process
from diffmicro.shapes import Geometry
from diffmicro.shapes.features import GAP, WIDTH
from diffmicro.units import readable

FACING = -np.cos(np.radians(80))
"""Largest product of the normals of two edges that face each other."""

FINE = 0.25
"""Longest piece of an edge, as a share of the rule."""

MOST = 200_000
"""Pieces of a layer, at most; they are longer where there would be more."""

CHORD = 2e-4
"""Distance of polygons from their arcs, as a share of the rule."""

TINY = 1e-7
"""Least distance of polygons from their arcs, as a share of the layer's extent."""

ROUNDED = 6e-3
"""Share of a rule by which a place may be narrower: what polygons make of arcs."""

SAME = 1e-6
"""Share of a rule by which two ends may be apart that are one corner."""


class Narrow(NamedTuple):
    """A place. parts: names of the two, or twice the same. kind: width or gap. value, bound: what it is and has to
    be [m]. rule: which of the process. layer: its name. at: x and y [m]. mask: whether it is on the mask, and not
    on the part that etching leaves of it."""

    parts: tuple[str, str]
    kind: str
    value: float
    bound: float
    rule: str
    layer: str
    at: tuple[float, float]
    mask: bool = False

    def __str__(self) -> str:
        one, other = self.parts
        whose = f"of {one}" if one == other else f"between {one} and {other}"
        where = ", ".join(
            f"{name} = {1e6 * x:.6g} um" for name, x in zip("xy", self.at, strict=True)
        )
        what = f"{self.kind} {whose}{' on the mask' if self.mask else ''}"
        size = readable(self.value, "m", 3)
        if not self.value:
            size = "none, as two edges meet in a corner below 80 degrees,"
        rule = f"{self.rule} of {self.layer} is {readable(self.bound, 'm')}"
        return f"{what}: {size} near {where}; {rule}"


def narrow_places(
    device: Device | str,
    process: Process,
    design: Fields | None = None,
    layout: Fields | None = None,
) -> tuple[Narrow, ...]:
    """Every place of a design that breaks a rule about widths or gaps, the narrowest first."""
    device = as_device(device)
    part = geometry(device, design, layout)
    found = _of(part, process, ("minimum_width", "minimum_gap"))
    if any(rules.resolution for _, rules in process.layers):
        mask = _of(drawn(device.name, part, process), process, ("resolution", "resolution"))
        found += [place._replace(mask=True) for place in mask]
    return tuple(sorted(found, key=lambda place: place.value / place.bound))


def _of(shown: Geometry, process: Process, names: tuple[str, str]) -> list[Narrow]:
    """names: of the rules for widths and for gaps."""
    parts, found = flat_parts(shown), []
    for layer in dict.fromkeys(part.layer for part in parts):
        rules = process.of(layer)
        own = [part for part in parts if part.layer == layer]
        for kind, name in zip((WIDTH, GAP), names, strict=True) if rules else ():
            bound = _bound(rules, name)
            if bound > 0:
                found += [
                    Narrow(pair, kind, value, bound, name, layer.name, at)
                    for pair, value, at in _below(own, kind, bound)
                ]
    return found


def _bound(rules: LayerRules | None, name: str) -> float:
    return float(getattr(rules, name))


class _Pieces(NamedTuple):
    """Pieces of the outlines of a layer: ends, normals out of the part, and numbers of their parts."""

    start: np.ndarray
    end: np.ndarray
    normal: np.ndarray
    part: np.ndarray

    @property
    def middle(self) -> np.ndarray:
        return (self.start + self.end) / 2


Place = tuple[tuple[str, str], float, tuple[float, float]]


def _below(parts: Sequence[Part], kind: str, bound: float) -> Iterable[Place]:
    """Names of parts, value and place, the smallest of each pair of parts."""
    from scipy.spatial import KDTree

    corners = np.concatenate([np.asarray(part.outline.points, float) for part in parts])
    chord = max(CHORD * bound, TINY * float(np.ptp(corners, axis=0).max()))
    rings = [_rings(part, chord) for part in parts]
    pieces = _outside(_cut(rings, bound), rings)
    longest = float(np.max(np.hypot(*(pieces.end - pieces.start).T)))
    near = KDTree(pieces.middle).query_pairs(bound + longest, output_type="ndarray")
    i, j = np.asarray(near).T
    facing = np.sum(pieces.normal[i] * pieces.normal[j], axis=1) < FACING
    i, j = i[facing], j[facing]
    values, at = (_widths if kind == WIDTH else _gaps)(pieces, i, j)
    for one, other in ((pieces.start[i], pieces.end[j]), (pieces.end[i], pieces.start[j])):
        corner = (np.hypot(*(other - one).T) < SAME * bound) & np.isfinite(values)
        values[corner], at[corner] = 0.0, one[corner]
    least: dict[tuple[int, ...], int] = {}
    for k in np.flatnonzero(values < (1 - ROUNDED) * bound):
        pair = sorted((int(pieces.part[i[k]]), int(pieces.part[j[k]])))
        corner = () if values[k] else np.round(at[k] / (CHORD * bound)).astype(int).tolist()
        key = (*pair, *corner)
        if key not in least or values[k] < values[least[key]]:
            least[key] = int(k)
    for key, k in least.items():
        if values[k] and any(other[:2] == key and len(other) > 2 for other in least):
            continue  # beside a sharp corner everything is narrow
        x, y = at[k]
        names = parts[key[0]].name, parts[key[1]].name
        yield names, float(values[k]), (float(x), float(y))


def _rings(part: Part, tolerance: float) -> list[np.ndarray]:
    """Outline and holes with the part on their left."""
    return [part.outline.polygon(tolerance), *(h.polygon(tolerance)[::-1] for h in part.holes)]


def _cut(rings: Sequence[Sequence[np.ndarray]], bound: float) -> _Pieces:
    """All edges, cut where they cross edges of other parts and into short pieces."""
    around = sum(np.sum(np.hypot(*(np.roll(r, -1, axis=0) - r).T)) for own in rings for r in own)
    length = max(FINE * bound, float(around) / MOST)
    starts, ends, owners = [], [], []
    for number, own in enumerate(rings):
        others = [r for k, far in enumerate(rings) if k != number and _meet(own, far) for r in far]
        for ring in own:
            cuts = [crossings(ring, other)[:2] for other in others]
            at = np.concatenate([ring, *(places for places, _ in cuts)])
            edge = np.concatenate([np.arange(len(ring)), *(edges for _, edges in cuts)])
            order = np.lexsort((np.hypot(*(at - ring[edge]).T), edge))
            at = at[order]
            onward = np.roll(at, -1, axis=0) - at
            count = np.maximum(1, np.ceil(np.hypot(*onward.T) / length)).astype(int)
            which = np.repeat(np.arange(len(at)), count)
            share = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
            step = onward[which] / count[which, None]
            starts.append(at[which] + share[:, None] * step)
            ends.append(starts[-1] + step)
            owners.append(np.full(len(which), number))
    start, end, owner = (np.concatenate(x) for x in (starts, ends, owners))
    long = np.hypot(*(end - start).T)
    some = long > 1e-9 * length
    start, end, owner, long = start[some], end[some], owner[some], long[some]
    along = (end - start) / long[:, None]
    return _Pieces(start, end, np.stack([along[:, 1], -along[:, 0]], axis=1), owner)


def _meet(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> bool:
    """Whether the boxes around two parts overlap."""
    a, b = one[0], other[0]
    return bool(np.all(a.max(0) >= b.min(0)) and np.all(b.max(0) >= a.min(0)))


def _outside(pieces: _Pieces, rings: Sequence[Sequence[np.ndarray]]) -> _Pieces:
    """The pieces that lie in no other part."""
    middle, hidden = pieces.middle, np.zeros(len(pieces.part), bool)
    for number, own in enumerate(rings):
        low, high = own[0].min(0), own[0].max(0)
        close = np.all((middle > low) & (middle < high), axis=1) & (pieces.part != number)
        places = np.flatnonzero(close)
        hidden[places] |= _inside(middle[places], own)
    return _Pieces(*(part[~hidden] for part in pieces))


def _inside(points: np.ndarray, rings: Sequence[np.ndarray]) -> np.ndarray:
    """Which points a part holds: an upright ray crosses its outlines an odd number of times."""
    odd = np.zeros(len(points), bool)
    for ring in rings:
        for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            beside = (a[1] > points[:, 1]) != (b[1] > points[:, 1])
            if beside.any():
                at = a[0] + (points[beside, 1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
                odd[beside] ^= points[beside, 0] < at
    return odd


def _gaps(pieces: _Pieces, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances of pieces that see each other over a gap, infinite of others, and places in the middle."""
    ways = [(i, j, pieces.start), (i, j, pieces.end), (j, i, pieces.start), (j, i, pieces.end)]
    least, at = np.full(len(i), np.inf), np.zeros((len(i), 2))
    for one, other, ends in ways:
        place = ends[one]
        foot = _nearest(place, pieces.start[other], pieces.end[other])
        far = np.hypot(*(foot - place).T)
        nearer = far < least
        least[nearer], at[nearer] = far[nearer], ((place + foot) / 2)[nearer]
    way = pieces.middle[j] - pieces.middle[i]
    sees = (np.sum(way * pieces.normal[i], 1) > 0) & (np.sum(way * pieces.normal[j], 1) < 0)
    return np.where(sees, least, np.inf), at


def _widths(pieces: _Pieces, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Diameters of discs inside a part that touch one piece in its middle and reach the other."""
    least, at = np.full(len(i), np.inf), np.zeros((len(i), 2))
    for one, other in ((i, j), (j, i)):
        place, inward = pieces.middle[one], -pieces.normal[one]
        foot = _nearest(place, pieces.start[other], pieces.end[other])
        way = foot - place
        deep, across = np.sum(way * inward, 1), np.sum(way * pieces.normal[other], 1)
        inside = (deep > 0) & (across > 0)
        size = np.where(inside, np.sum(way**2, 1) / np.where(inside, deep, 1.0), np.inf)
        nearer = size < least
        least[nearer], at[nearer] = size[nearer], ((place + foot) / 2)[nearer]
    return least, at


def _nearest(place: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The point of each piece that is nearest to a place."""
    along = end - start
    share = np.sum((place - start) * along, 1) / np.sum(along**2, 1)
    return start + np.clip(share, 0.0, 1.0)[:, None] * along
