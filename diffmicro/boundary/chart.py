"""A map of the motions of a device in the plane of two parameters: where each of them is, and where it ends.

On some rows of the plane the motions that simulations settle to, from the start and from the motions of the
rows beside, are followed to their ends. Each end is followed through the plane (`plane`), unless a curve found
before passes there. So every row has stretches on which one motion is stable, between two ends; between rows
the ends move along their curves. `motions_at` gives the motions at a point, without another
simulation: several where there is hysteresis.

What no simulation on a row leads to is not on the map, nor are motions that are not periodic.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device, hooked
from diffmicro.boundary.find import span
from diffmicro.boundary.orbit import followed, respond_from
from diffmicro.boundary.plane import Curve, Plane, followed_curve
from diffmicro.devices import as_device
from diffmicro.dynamics.boundaries import Change, walk
from diffmicro.dynamics.branches import SAME, Point
from diffmicro.dynamics.course import Course
from diffmicro.dynamics.periodic import impacts
from diffmicro.parameters import Fields, as_arrays, put
from diffmicro.results import NoResult

ROWS, STARTS = 13, 9
"""Rows of the second parameter, and simulations on each."""

ON_CURVE = 0.01
"""Distance [shares of the plane] from a curve within which an end belongs to it."""


MOVED = 0.1
"""Distance [natural units] within which a motion and one of the next row are taken for the same."""


class Kind(NamedTuple):
    """A kind of motion: its period in those of the drive, and impacts in it."""

    periods: int
    impacts: int

    def __str__(self) -> str:
        hits = {0: "no impact", 1: "1 impact"}.get(self.impacts, f"{self.impacts} impacts")
        return f"period {self.periods}, {hits}"


class Stretch(NamedTuple):
    """One motion on one row: from low to high [first parameter], by points between; curves: number of the curve at
    each end, None at the bound of the plane or where there is none. kinds: along it, with where each begins."""

    row: float
    low: float
    high: float
    curves: tuple[int | None, int | None]
    begins: np.ndarray
    kinds: tuple[Kind, ...]
    states: np.ndarray
    places: np.ndarray


class Chart(NamedTuple):
    """A map. simulations: how many it took."""

    keys: tuple[str, str]
    low: np.ndarray
    high: np.ndarray
    curves: tuple[Curve, ...]
    stretches: tuple[Stretch, ...]
    simulations: int

    def motions_at(self, x: float, y: float) -> frozenset[Kind]:
        """The kinds of stable motions at a point."""
        rows = sorted({stretch.row for stretch in self.stretches}, key=lambda row: abs(row - y))
        # The nearer row whose ends all reach y along their curves: else a motion ends in between.
        for row in rows[:2]:
            own = [self._at(stretch, y) for stretch in self.stretches if stretch.row == row]
            if None not in own:
                return frozenset(kind for ends in own if ends and (kind := ends.kind(x)))
        own = (
            [self._at(s, y, rough=True) for s in self.stretches if s.row == rows[0]] if rows else []
        )
        return frozenset(kind for ends in own if ends and (kind := ends.kind(x)))

    def _at(self, stretch: Stretch, y: float, rough: bool = False) -> "_Moved | None":
        """A stretch moved from its row to y; None where a curve of its ends does not reach there, unless
        `rough`."""
        ends = []
        for curve, end in zip(stretch.curves, (stretch.low, stretch.high), strict=True):
            moved = self._moved(curve, end, y)
            if moved is None and not rough:
                return None
            ends.append(end if moved is None else moved)
        return _Moved(stretch, ends[0], ends[1])

    def _moved(self, curve: int | None, end: float, y: float) -> float | None:
        """An end of a stretch, moved along its curve to y; None where the curve does not reach there."""
        if curve is None:
            return end
        crossings = _crossings(self.curves[curve].places, y)
        if not len(crossings):
            return None
        return float(crossings[np.argmin(np.abs(crossings - end))])

    def distance(self, x: float, y: float) -> float:
        """Distance to the nearest curve, in shares of the plane."""
        at = (np.array([x, y]) - self.low) / (self.high - self.low)
        shares = [(c.places - self.low) / (self.high - self.low) for c in self.curves]
        return min((_distance(places, at) for places in shares), default=np.inf)


class _Moved(NamedTuple):
    """A stretch between other ends."""

    stretch: Stretch
    low: float
    high: float

    def kind(self, x: float) -> Kind | None:
        """The kind of the motion at x; None outside."""
        if not self.low <= x <= self.high:
            return None
        share = (x - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        at = self.stretch.low + share * (self.stretch.high - self.stretch.low)
        number = int(np.searchsorted(self.stretch.begins, at)) - 1
        return self.stretch.kinds[max(0, number)]


def _crossings(places: np.ndarray, y: float) -> np.ndarray:
    """Where a polygon crosses a row."""
    before, after = places[:-1], places[1:]
    hit = ((before[:, 1] - y) * (after[:, 1] - y) <= 0) & (before[:, 1] != after[:, 1])
    share = (y - before[hit, 1]) / (after[hit, 1] - before[hit, 1])
    return before[hit, 0] + share * (after[hit, 0] - before[hit, 0])


def _distance(places: np.ndarray, at: np.ndarray) -> float:
    """Distance of a point from a polygon."""
    if len(places) < 2:
        return float(np.linalg.norm(places[0] - at))
    way = np.diff(places, axis=0)
    square = np.maximum(np.sum(way**2, axis=1), 1e-300)
    share = np.clip(np.sum((at - places[:-1]) * way, axis=1) / square, 0, 1)
    nearest = places[:-1] + share[:, None] * way
    return float(np.min(np.linalg.norm(nearest - at, axis=1)))


def chart(
    device: Device | str,
    design: Fields | None = None,
    setting: Fields | None = None,
    *,
    ranges: dict[str, tuple[float, float]],
    rows: int = ROWS,
    starts: int = STARTS,
    steps: int | None = None,
    watch: Callable[[int], None] = lambda found: None,
) -> Chart:
    """The map over two parameters, name -> (low, high), the first one along its rows.

    rows: of the second parameter. starts: simulations on each. `watch` gets curves as they are found.
    """
    device = as_device(device)
    design, setting = device.point(design, setting)
    if device.orbits is None:
        raise ValueError(
            f"{device.name}: a map needs periodic motions, which this device has none of."
        )
    if len(ranges) != 2:
        raise ValueError(f"a map has two parameters with a range each, not {len(ranges)}.")
    first, second = ranges
    keys = (first, second)
    for key, (low, high) in ranges.items():
        middle = put(design, setting, {key: 0.5 * (low + high)})
        span(device, *middle, key, (low, high))
    point = as_arrays((design, setting))
    low, high = np.array(list(ranges.values()), float).T
    plane = Plane(hooked(device.orbits)(*point, steps), point[0], point[1], keys, low, high)
    survey = _Survey(device, plane, steps, watch)
    lines = [float(y) for y in np.linspace(low[1], high[1], rows)]
    for before, y in zip([None, *lines], lines, strict=False):
        survey.row(y, np.linspace(low[0], high[0], starts), before)
    for after, y in zip(lines[::-1], lines[-2::-1], strict=False):
        survey.row(y, np.array([]), after)
    return Chart(
        keys,
        low,
        high,
        tuple(survey.curves),
        tuple(survey.stretches),
        survey.simulations,
    )


class _Survey:
    """A map while it is made."""

    def __init__(
        self, device: Device, plane: Plane, steps: int | None, watch: Callable[[int], None]
    ):
        self.device, self.plane, self.steps, self.watch = device, plane, steps, watch
        self.curves: list[Curve] = []
        self.stretches: list[Stretch] = []
        self.simulations = 0

    def row(self, y: float, starts: np.ndarray, beside: float | None) -> None:
        """The motions on a row that simulations from the start lead to, and those from the motions on another
        row."""
        plane = self.plane
        design, setting = put(plane.design, plane.setting, {plane.keys[1]: jnp.asarray(y)})
        carried = [s for s in self.stretches if s.row == beside]
        seeds: list[tuple[float, PyTree]] = [(float(x), None) for x in starts]
        for stretch in carried:
            for quarter in (2, 1, 3):
                at = quarter * (len(stretch.places) - 1) // 4
                seeds.append((float(stretch.places[at]), stretch.states[at]))
        for x, z in seeds:
            if z is not None and any(_holds(s, x, z, MOVED) for s in self.stretches if s.row == y):
                continue
            point = put(design, setting, {plane.keys[0]: jnp.asarray(x)})
            family = plane.family
            response = respond_from(self.device, family, *point, z)
            self.simulations += 1
            if not int(response.period_multiple):
                continue
            z = np.asarray(family.natural(*point, response.state))
            if any(_holds(s, x, z, SAME) for s in self.stretches if s.row == y):
                continue
            try:
                self.stretches.append(self._stretch(point, response, x, y))
            except NoResult:
                continue

    def _stretch(
        self, point: tuple[Fields, Fields], response: PyTree, x: float, y: float
    ) -> Stretch:
        plane = self.plane
        motion = followed(
            self.device, *point, plane.keys[0], plane.low[0], plane.high[0], self.steps, response
        )
        sides: list[tuple[list[Point], Change | None]] = []
        for sign in (-1.0, 1.0):
            first = motion.first._replace(
                tangent=sign * motion.first.tangent, side=sign * motion.first.side
            )
            trail = [first]
            changes = list(walk(motion.course, first, watch=trail.append, ends=True))
            sides.append((trail, changes[-1] if changes else None))
        (down, below), (up, above) = sides
        course = motion.course
        points = [p for p in [*down[:0:-1], *up] if course.inside(p.at)]
        ends = [
            bound if change is None else course.value(change.at)
            for change, bound in ((below, plane.low[0]), (above, plane.high[0]))
        ]
        curves = tuple(self._curve(course, change, y) for change in (below, above))
        values = np.array([course.value(p.at) for p in points])
        kinds = [Kind(course.periods, impacts(plane.family, p.observed)) for p in points]
        new = [i for i, kind in enumerate(kinds) if i == 0 or kind != kinds[i - 1]]
        return Stretch(
            y,
            float(ends[0]),
            float(ends[1]),
            (curves[0], curves[1]),
            values[new],
            tuple(kinds[i] for i in new),
            np.array([p.at[:-1] for p in points]),
            values,
        )

    def _curve(self, course: Course, change: Change | None, y: float) -> int | None:
        """The number of the curve of an end, which is followed if it is new."""
        if change is None or change.covector is None:
            return None
        plane = self.plane
        place = np.array([course.value(change.at), y])
        share = plane.share(place)
        for number, curve in enumerate(self.curves):
            near = _distance(plane.share(curve.places), share) < ON_CURVE
            if near and curve.periods == course.periods and change.kind in curve.kinds:
                return number
        found = followed_curve(plane, place, change, np.array([1.0, 0.0]), course.periods)
        if found is None:
            return None
        self.curves.append(found)
        self.watch(1)
        return len(self.curves) - 1


def _holds(stretch: Stretch, x: float, z: np.ndarray, within: float) -> bool:
    """Whether a state at x belongs to the motion of a stretch, to some distance."""
    if not stretch.low <= x <= stretch.high or stretch.states.shape[1] != len(z):
        return False
    between = [np.interp(x, stretch.places, column) for column in stretch.states.T]
    return bool(np.max(np.abs(np.array(between) - z)) < within)
