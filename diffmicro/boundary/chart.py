"""A map of the motions of a device in the plane of two parameters: where each of them is, and where it ends.

On some rows of the plane the motions that simulations from the start settle to are followed to their ends. Each end
is followed through the plane (`plane`), unless a curve found before passes there. So every row has stretches on which
one motion is stable, between two ends; between rows the ends move along their curves. `motions_at` asks which motions
there are at a point, without another simulation: several where there is hysteresis.

What no simulation on a row leads to is not on the map, nor are motions that are not periodic.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro._device import Device, hooked
from diffmicro.boundary.find import span
from diffmicro.boundary.orbit import followed, respond_from
from diffmicro.boundary.plane import Curve, Plane, followed_curve
from diffmicro.devices import as_device
from diffmicro.dynamics.boundaries import Change, walk
from diffmicro.dynamics.branches import SAME, Point
from diffmicro.dynamics.course import Course
from diffmicro.dynamics.periodic import impacts
from diffmicro.parameters import as_arrays, put
from diffmicro.results import NoResult

ROWS, STARTS = 13, 9
"""Rows of the second parameter, and simulations on each."""

ON_CURVE = 0.01
"""Distance [shares of the plane] from a curve within which an end belongs to it."""


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
        rows = np.array([stretch.row for stretch in self.stretches])
        if not len(rows):
            return frozenset()
        nearest = rows[np.argmin(np.abs(rows - y))]
        found = set()
        for stretch in self.stretches:
            if stretch.row != nearest:
                continue
            low = self._moved(stretch.curves[0], stretch.low, stretch.row, y)
            high = self._moved(stretch.curves[1], stretch.high, stretch.row, y)
            if low <= x <= high:
                share = (x - low) / (high - low) if high > low else 0.0
                at = stretch.low + share * (stretch.high - stretch.low)
                found.add(stretch.kinds[max(0, int(np.searchsorted(stretch.begins, at)) - 1)])
        return frozenset(found)

    def _moved(self, curve: int | None, end: float, row: float, y: float) -> float:
        """An end of a stretch, moved along its curve from its row to y."""
        if curve is None:
            return end
        crossings = _crossings(self.curves[curve].places, y)
        if not len(crossings):
            return end
        return float(crossings[np.argmin(np.abs(crossings - end))])

    def distance(self, x: float, y: float) -> float:
        """Distance to the nearest curve, in shares of the plane."""
        at = (np.array([x, y]) - self.low) / (self.high - self.low)
        shares = [(c.places - self.low) / (self.high - self.low) for c in self.curves]
        return min((_distance(places, at) for places in shares), default=np.inf)


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
    design: Any = None,
    setting: Any = None,
    *,
    ranges: dict[str, tuple[float, float]],
    rows: int = ROWS,
    starts: int = STARTS,
    steps: int | None = None,
    watch: Callable[[int], None] = lambda found: None,
) -> Chart:
    """The map over two parameters, name -> (low, high), the first one along its rows.

    rows: of the second parameter. starts: simulations on each. `watch` is told of curves as they are found.
    """
    device = as_device(device)
    design = device.published_design() if design is None else design
    setting = device.published_setting() if setting is None else setting
    if device.orbits is None:
        raise ValueError(f"{device.name}: a map needs periodic motions, which this device has none of.")
    if len(ranges) != 2:
        raise ValueError(f"a map has two parameters with a range each, not {len(ranges)}.")
    keys = tuple(ranges)
    for key, (low, high) in ranges.items():
        middle = put(design, setting, {key: 0.5 * (low + high)})
        span(device, *middle, key, (low, high))
    design, setting = as_arrays((design, setting))
    low, high = np.array(list(ranges.values()), float).T
    plane = Plane(hooked(device.orbits)(design, setting, steps), design, setting, keys, low, high)
    survey = _Survey(device, plane, steps, watch)
    for y in np.linspace(low[1], high[1], rows):
        survey.row(float(y), starts)
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

    def row(self, y: float, starts: int) -> None:
        """All motions that simulations on a row lead to."""
        plane = self.plane
        design, setting = put(plane.design, plane.setting, {plane.keys[1]: jnp.asarray(y)})
        own: list[Stretch] = []
        for x in np.linspace(plane.low[0], plane.high[0], starts):
            point = put(design, setting, {plane.keys[0]: jnp.asarray(x)})
            family = plane.family
            start = family.natural(*point, None)
            response = respond_from(self.device, family, *point, start)
            self.simulations += 1
            if not int(response.period_multiple):
                continue
            z = np.asarray(family.natural(*point, response.state))
            if any(_holds(stretch, x, z) for stretch in own):
                continue
            try:
                own.append(self._stretch(point, response, float(x), y))
            except NoResult:
                continue
        self.stretches += own

    def _stretch(self, point: tuple[Any, Any], response: Any, x: float, y: float) -> Stretch:
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


def _holds(stretch: Stretch, x: float, z: np.ndarray) -> bool:
    """Whether a state at x belongs to the motion of a stretch."""
    if not stretch.low <= x <= stretch.high or stretch.states.shape[1] != len(z):
        return False
    between = [np.interp(x, stretch.places, column) for column in stretch.states.T]
    return bool(np.max(np.abs(np.array(between) - z)) < SAME)


def kinds_of(found: Sequence[frozenset[Kind]]) -> list[frozenset[Kind]]:
    """The different sets of motions, those with the fewest first."""
    return sorted(set(found), key=lambda kinds: (len(kinds), sorted(kinds)))
