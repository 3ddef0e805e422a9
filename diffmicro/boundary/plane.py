"""A boundary as a curve in the plane of two parameters.

With both parameters counted from 0 to 1 over their ranges, the covector of a boundary gives its normal in the
plane, n = (c . q_x, c . q_y). From a point of the curve a step of some length goes along the tangent, and the
boundary is located anew on the line through there along the normal. So the curve is followed around its own
turns too. Where it is not found as what it was, the motion beside it is followed to its end: the curve is that
of the end of one motion, and its kind may change along it. A step that bends too much, or finds nothing, is
halved; a curve ends where it leaves the plane, closes, or where not even the shortest step finds an end: there
the motion itself changes."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro.dynamics.boundaries import Change, radius, relocated, walk
from diffmicro.dynamics.branches import Stride
from diffmicro.dynamics.course import WIDE, Course, Line, by_parameters
from diffmicro.dynamics.periodic import Periodic
from diffmicro.parameters import Fields

LONGEST, SHORTEST = 0.04, 1e-3
"""Steps along a curve, as shares of the plane."""

BENT = 0.9
"""Smallest cosine between two normals in a row."""

ACROSS = 0.2
"""Half of the way across the plane on which a boundary is looked for."""

BACK = (1e-3, 1e-2, 1e-1)
"""Ways back [natural units] from a known end to where the motion beside it is taken up."""

BESIDE = Stride(longest=0.25, points=40)
"""Steps of a motion to its end beside a known one."""

POINTS = 400
"""Most points of a curve in one direction."""


class Plane(NamedTuple):
    """Two parameters within their ranges; everything else is held by design and setting."""

    family: Periodic
    design: Fields
    setting: Fields
    keys: tuple[str, str]
    low: np.ndarray
    high: np.ndarray

    def value(self, share: np.ndarray) -> np.ndarray:
        """Parameters of a place in the plane."""
        return self.low + share * (self.high - self.low)

    def share(self, value: np.ndarray) -> np.ndarray:
        """Place in the plane of parameters."""
        return (value - self.low) / (self.high - self.low)

    def course(self, share: np.ndarray, way: np.ndarray, periods: int) -> Course:
        """The line through a place along a direction, with s the share of the plane from there."""
        origin, along = self.value(share), way * (self.high - self.low)
        line = Line(
            self.design,
            self.setting,
            {key: jnp.asarray(x) for key, x in zip(self.keys, origin, strict=True)},
            {key: jnp.asarray(x) for key, x in zip(self.keys, along, strict=True)},
        )
        return Course(self.family, line, -ACROSS, ACROSS, periods)

    def normal(self, course: Course, change: Change) -> np.ndarray:
        """The unit normal of a boundary in the plane."""
        assert change.covector is not None
        at = course.line.at(course.value(change.at))
        by_both, unravel = by_parameters(self.family, *at, self.keys)
        slopes = unravel(jnp.asarray(change.covector @ by_both))
        normal = np.array([float(slopes[key]) for key in self.keys]) * (self.high - self.low)
        return normal / np.linalg.norm(normal)


class Curve(NamedTuple):
    """Where one motion ends in the plane. places (points, 2): parameters; kinds: of the boundary, at each.
    periods: of the motion. ends: why the curve ends at either end: bound, closed, step_limit, changes."""

    places: np.ndarray
    kinds: tuple[str, ...]
    periods: int
    ends: tuple[str, str]


def followed_curve(
    plane: Plane, place: np.ndarray, change: Change, way: np.ndarray, periods: int
) -> Curve | None:
    """The curve through an end that was found at `place` [parameters] on a line along `way` [shares of the plane].

    None where it has no normal.
    """
    first = _on(plane, plane.share(place), _middle(change), way, periods, ACROSS)
    if first is None:
        return None
    there, end = _one_way(plane, first, periods, 1.0)
    back, start = ([first], end) if end == "closed" else _one_way(plane, first, periods, -1.0)
    spots = [first, *there, *back] if end == "closed" else [*back[::-1], first, *there]
    shares = np.array([spot.share for spot in spots])
    kinds = tuple(spot.change.kind for spot in spots)
    return Curve(plane.value(shares), kinds, periods, (start, end))


class _Spot(NamedTuple):
    """A point of a curve: where, its normal, and the end of the motion on a line through it."""

    share: np.ndarray
    normal: np.ndarray
    change: Change


def _middle(change: Change) -> Change:
    """The same in the middle of another line."""
    at = change.at.copy()
    at[-1] = WIDE / 2
    return change._replace(at=at)


def _on(
    plane: Plane, share: np.ndarray, change: Change, way: np.ndarray, periods: int, reach: float
) -> _Spot | None:
    """The end of the motion on the line through a place, within some reach, and its normal there."""
    course = plane.course(share, way, periods)
    tries = (relocated, _end_beside)
    for find in tries:
        found = find(course, change)
        if found is None or found.covector is None or abs(course.value(found.at)) > reach:
            continue
        normal = plane.normal(course, found)
        normal = normal if normal @ way >= 0 else -normal
        return _Spot(share + course.value(found.at) * way, normal, _middle(found))
    return None


def _end_beside(course: Course, change: Change) -> Change | None:
    """Where the motion on the inner side of a known end has its end, whatever kind that is now."""
    for back in BACK:
        start = course.correct(change.at - back * change.tangent, change.tangent)
        if start is not None and radius(start) < 1:
            ends = (c for c in walk(course, start, BESIDE, ends=True, until=LONGEST) if c.ends)
            return next(ends, None)
    return None


def _onward(before: _Spot, here: _Spot, length: float) -> Change:
    """The end at `here`, its motion carried on as it changed from the point before."""
    passed = float(np.linalg.norm(here.share - before.share))
    if not passed:
        return here.change
    at = here.change.at + (here.change.at - before.change.at) * (length / passed)
    return here.change._replace(at=at)


def _one_way(plane: Plane, first: _Spot, periods: int, sign: float) -> tuple[list[_Spot], str]:
    found: list[_Spot] = []
    before, here, length = first, first, LONGEST / 4
    way = sign * np.array([-first.normal[1], first.normal[0]])
    while len(found) < POINTS:
        ahead = here.share + length * way
        spot = _on(plane, ahead, _onward(before, here, length), here.normal, periods, length)
        if spot is None or spot.normal @ here.normal < BENT:
            length /= 2
            if length < SHORTEST:
                return found, "changes"
            continue
        way = sign * np.array([-spot.normal[1], spot.normal[0]])
        found.append(spot)
        if np.any(spot.share < 0) or np.any(spot.share > 1):
            found[-1] = spot._replace(share=_cut(here.share, spot.share))
            return found, "bound"
        if len(found) > 3 and np.linalg.norm(spot.share - first.share) < length:
            return found, "closed"
        before, here, length = here, spot, min(1.5 * length, LONGEST)
    return found, "step_limit"


def _cut(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Where the way from inside to outside leaves the plane."""
    step = outside - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(step > 0, (1 - inside) / step, np.where(step < 0, -inside / step, np.inf))
    return inside + min(1.0, float(np.min(shares))) * step
