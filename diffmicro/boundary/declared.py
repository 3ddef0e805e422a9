"""Boundaries that a device states itself: `Device.limits`.

Each is the zero of `room`, a smooth function of the response, or the place where the status changes. Along the
parameter a few points are looked at on each side; between the last one inside and the first one beyond, the
place is found by the secant method in a bracket, or by bisection where there is nothing beyond. Its derivatives
are those of an implicit function, ds/dtheta = - room_theta / room_s, from the side inside, checked by locating
it anew."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro._device import Device, Limit
from diffmicro.boundary.judged import certificate, mismatch
from diffmicro.boundary.values import Boundary, BoundaryCertificate
from diffmicro.parameters import Fields, Value, get, put
from diffmicro.results import FAILURES, RESULTS, word

LOOKS = 8
"""Points that are looked at on each side."""

CLOSE = 1e-11
"""Width of a bracket, as a share of the range, at which a root is found."""

FAILED_CLOSE = 1e-9
"""The same where nothing is calculated beyond: the place is extrapolated from inside."""

VANISHED = 1e-5
"""Room at a place that has nothing beyond it, as a share of that at the point, below which it is used up."""

INSIDE = 1e-4
"""Share of the way back to the point at which derivatives are taken where there is none at the boundary itself."""

ROUNDS = 60


class _Scene:
    """A device along a parameter, with all limits that need the same responses: each point is looked at once."""

    def __init__(
        self,
        device: Device,
        limits: tuple[Limit, ...],
        key: str,
        numerics: Mapping[str, Value],
        design: Fields,
        setting: Fields,
    ):
        self.device, self.limits, self.key = device, limits, key
        self.numerics, self.design, self.setting = numerics, design, setting
        self.rooms = tuple(limit.room for limit in limits)
        self.alone = all(limit.alone for limit in limits)
        asked = device.asking_for([name for limit in limits for name in limit.needs], numerics)
        self.arguments = tuple(sorted({**asked, "throw": False}.items()))
        self.known: dict[float, tuple[np.ndarray, str]] = {}

    def at(self, s: float) -> tuple[np.ndarray, str]:
        """All rooms, NaN where nothing was found, and the status."""
        if s not in self.known and self.alone:
            self.known[s] = np.asarray(_rooms(self.rooms, None, *self._point(s))), ""
        elif s not in self.known:
            rooms, result = _looked(
                self.device.respond, self.rooms, self.arguments, *self._point(s)
            )
            status = word(result)
            lost = status in FAILURES
            self.known[s] = (
                np.full(len(self.rooms), np.nan) if lost else np.asarray(rooms),
                status,
            )
        return self.known[s]

    def _point(self, s: float) -> tuple[Fields, Fields]:
        return put(self.design, self.setting, {self.key: jnp.asarray(s)})

    def moved(self, design: Fields, setting: Fields) -> "_Scene":
        """The same about another design and setting."""
        return _Scene(self.device, self.limits, self.key, self.numerics, design, setting)


class _One(NamedTuple):
    """One limit of a scene."""

    scene: _Scene
    number: int

    @property
    def limit(self) -> Limit:
        """Which one."""
        return self.scene.limits[self.number]

    def at(self, s: float) -> tuple[float, str]:
        """Its room, and the status."""
        rooms, status = self.scene.at(s)
        return float(rooms[self.number]), status


def declared_boundaries(
    device: Device,
    design: Fields,
    setting: Fields,
    key: str,
    low: float,
    high: float,
    wrt: Sequence[str],
    numerics: Mapping[str, Value],
) -> list[Boundary]:
    """The nearest place of each of the device's limits on either side."""
    found = []
    here = float(get(design, setting, key))
    groups: dict[tuple, list[Limit]] = {}
    for limit in device.limits:
        groups.setdefault((limit.needs, limit.alone), []).append(limit)
    for limits in groups.values():
        scene = _Scene(device, tuple(limits), key, numerics, design, setting)
        for number in range(len(limits)):
            one = _One(scene, number)
            for side, end in (("below", low), ("above", high)):
                place = nearest(one, here, end)
                if place is not None:
                    found.append(_boundary(one, here, side, place, wrt))
    return found


class _Place(NamedTuple):
    """A place: the last point inside, the first beyond, and the place itself, NaN room beyond where there is
    none."""

    inside: float
    beyond: float
    at: float
    status: str


@eqx.filter_jit
def _rooms(rooms: tuple, response: PyTree, design: Fields, setting: Fields) -> Array:
    """All rooms, NaN where a limit is none here. Without a response: of limits that look at none."""
    found = [1.0 if room is None else room(response, design, setting) for room in rooms]
    return jnp.stack([jnp.asarray(jnp.nan if x is None else x, float) for x in found])


@eqx.filter_jit
def _looked(
    respond: Callable, rooms: tuple, arguments: tuple, design: Fields, setting: Fields
) -> tuple[Array, RESULTS]:
    response = respond(design, setting, **dict(arguments))
    return _rooms(rooms, response, design, setting), response.result


@eqx.filter_jit
def _slopes(
    respond: Callable | None,
    rooms: tuple,
    arguments: tuple,
    design: Fields,
    setting: Fields,
    x: Array,
    unravel: Callable[[Array], dict[str, Array]],
) -> Array:
    def all_rooms(x: Array) -> Array:
        point = put(design, setting, unravel(x))
        return _rooms(rooms, respond and respond(*point, **dict(arguments)), *point)

    return jax.jacfwd(all_rooms)(x)


def nearest(one: _One, here: float, end: float) -> _Place | None:
    """The first place from here to the end of the range; None where there is none, or nothing is known here."""
    first, status = one.at(here)
    if not np.isfinite(first) or here == end or (one.limit.alone and first <= 0):
        return None
    before = here
    for s in np.linspace(here, end, LOOKS + 1)[1:]:
        room, there = one.at(float(s))
        if _beyond(one.limit, first, room, there, status):
            return _narrowed(one, before, float(s), first, status)
        if not np.isfinite(room):
            return None  # it fails for another reason
        before = float(s)
    return None


def _beyond(limit: Limit, first: float, room: float, there: str, status: str) -> bool:
    """Whether a point lies on the other side of the limit."""
    if limit.status and there == limit.status and status != limit.status:
        return True
    if limit.alone and not np.isfinite(room):  # too far beyond: halved until it is known
        return True
    return bool(np.isfinite(room) and room * first <= 0 and first != 0)


def _narrowed(one: _One, inside: float, beyond: float, first: float, status: str) -> _Place:
    """The bracket made small: by secants (Illinois) where room is known on both sides, else by halves."""
    width = abs(beyond - inside)
    left, _ = one.at(inside)
    right, there = one.at(beyond)
    kept, last = 0, np.nan
    for _ in range(ROUNDS):
        known = np.isfinite(left) and np.isfinite(right) and left * right < 0
        if abs(beyond - inside) < (CLOSE if known else FAILED_CLOSE) * width or left == 0:
            break
        middle = (
            (inside * right - beyond * left) / (right - left) if known else 0.5 * (inside + beyond)
        )
        room, word_there = one.at(float(middle))
        if known and (room == 0 or abs(middle - last) < CLOSE * width):
            # The place is known, however wide the bracket still is; the other side is a hair away.
            hair, last = CLOSE * width * np.sign(beyond - inside), middle
            inside, beyond = (
                (middle, middle + hair) if room * first >= 0 else (middle - hair, middle)
            )
            break
        last = middle
        if _beyond(one.limit, first, room, word_there, status) or not np.isfinite(room):
            beyond, right, there = middle, room, word_there
            left = left / 2 if kept == 1 else left
            kept = 1
        else:
            inside, left = middle, room
            right = right / 2 if kept == -1 else right
            kept = -1
    at = last if np.isfinite(right) and np.isfinite(last) else 0.5 * (inside + beyond)
    return _Place(inside, beyond, float(at), there)


def _boundary(one: _One, here: float, side: str, place: _Place, wrt: Sequence[str]) -> Boundary:
    limit, scene, key = one.limit, one.scene, one.scene.key
    make = partial(Boundary, key, side, limit.name, place.at, here)
    residual = abs(place.beyond - place.inside) / (abs(place.at) or 1.0)
    sides = {"before": limit.meaning, "behind": place.status}
    if limit.room is None:
        why = f"seen by the status alone, bracketed by {place.inside:.10g} and {place.beyond:.10g}"
        judged = BoundaryCertificate("refused", why, residual, None, np.nan, **sides)
        return make({}, True, place.status, judged)
    if not _vanishes(one, here, place):
        why = "what the device does ends here, but its room is not used up: no derivative is known"
        judged = BoundaryCertificate("refused", why, residual, None, np.nan, **sides)
        return make({}, True, place.status, judged)
    slopes, unravel, x = _derivatives(one, place.inside, wrt)
    if slopes is None:  # beside grazing, say, not even the motion inside has one
        near = place.inside + INSIDE * (here - place.inside)
        slopes, unravel, x = _derivatives(one, near, wrt)
    if slopes is None:
        why = "the room that is left does not change along the parameter here, or has no derivative"
        judged = BoundaryCertificate("refused", why, residual, None, np.nan, **sides)
        return make({}, True, place.status, judged)

    def moved(values: np.ndarray) -> float | None:
        point = put(scene.design, scene.setting, unravel(jnp.asarray(values)))
        there = _One(scene.moved(*point), one.number)
        reach = 4 * abs(place.at) * 1e-3 + 2 * abs(place.beyond - place.inside)
        way = np.sign(place.at - here) or 1.0
        found = nearest(there, place.at - way * reach, place.at + way * reach)
        return None if found is None else found.at

    off = mismatch(slopes, x, moved)
    judged = certificate(limit.name, residual, None, off, **sides)
    grad = {name: np.asarray(slope) for name, slope in unravel(jnp.asarray(slopes)).items()}
    return make(grad, True, place.status, judged)


def _vanishes(one: _One, here: float, place: _Place) -> bool:
    """Whether the room is zero at the place; where there is room beyond, it changed its sign."""
    first, inside, beyond = (one.at(s)[0] for s in (here, place.inside, place.beyond))
    return bool(np.isfinite(beyond) or abs(inside) < VANISHED * abs(first))


def _derivatives(
    one: _One, s: float, wrt: Sequence[str]
) -> tuple[np.ndarray | None, Callable[[Array], dict[str, Array]], np.ndarray]:
    """ds/dtheta, the way back from its raveled form, and the parameters."""
    scene = one.scene
    design, setting = put(scene.design, scene.setting, {scene.key: jnp.asarray(s)})
    names = (*sorted(wrt), scene.key)
    values = {n: jnp.asarray(get(design, setting, n), float) for n in names}
    both, unravel = ravel_pytree(values)
    rows = _slopes(
        None if scene.alone else scene.device.respond,
        scene.rooms,
        scene.arguments,
        design,
        setting,
        both,
        unravel,
    )[one.number]
    rows = unravel(rows)
    along = float(rows.pop(scene.key))
    values.pop(scene.key)
    x, back = ravel_pytree(values)
    slopes = np.asarray(ravel_pytree(rows)[0])
    if not along or not np.all(np.isfinite(slopes)) or not np.isfinite(along):
        return None, back, np.asarray(x)
    return -slopes / along, back, np.asarray(x)
