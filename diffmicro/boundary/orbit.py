"""Boundaries of devices whose motion is a periodic one of the hybrid engine: they need no line of their own.

The motion that the device settles to from its start is followed both ways along the parameter
(`dynamics.boundaries`) until it ends. Derivatives by every parameter come from the covector of each boundary;
each is checked by locating the boundary anew. What the start leads to is looked at along the way."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro._device import Device, hooked
from diffmicro.boundary.judged import certificate, mismatch
from diffmicro.boundary.values import Boundary, BoundaryCertificate
from diffmicro.dynamics.boundaries import SMOOTH_KINDS, Change, radius, relocated, walk
from diffmicro.dynamics.branches import SAME, Point
from diffmicro.dynamics.course import WIDE, Course, Line, Unravel, along, by_parameters
from diffmicro.dynamics.orbits import STABLE
from diffmicro.dynamics.periodic import Look, Periodic, in_words
from diffmicro.dynamics.sequence import ROOM
from diffmicro.parameters import Fields, Value, get, put
from diffmicro.results import NoResult, message, word

BEYOND = 1e-4
"""How far beyond a boundary the motion is looked at, as a share of the range."""

LOOKS = 12
"""How often it is looked at whether the start still leads to the motion, on each side, before bisecting."""

BISECTIONS = 12
"""Bisections between a place where it does and one where it does not."""

FLAT_ON_LINE = 1e-10
"""Share of what all parameters move below which a boundary has no single place on the line."""


class Motion(NamedTuple):
    """The motion that a device settles to, on the course along a parameter. start: where from; None: as usual."""

    device: Device
    course: Course
    key: str
    here: float
    first: Point
    start: PyTree = None


def settled(
    device: Device,
    design: Fields,
    setting: Fields,
    key: str,
    low: float,
    high: float,
    steps: int | None,
    start: PyTree = None,
) -> Motion:
    """The motion from `start`; `NoResult` where it does not settle."""
    assert device.orbits is not None
    family: Periodic = hooked(device.orbits)(design, setting, steps)
    z = None if start is None else family.natural(design, setting, start)
    response = respond_from(device, family, design, setting, z)
    return followed(device, design, setting, key, low, high, steps, response, start)


def followed(
    device: Device,
    design: Fields,
    setting: Fields,
    key: str,
    low: float,
    high: float,
    steps: int | None,
    response: PyTree,
    start: PyTree = None,
) -> Motion:
    """The motion that a response has found; `NoResult` where it has none."""
    assert device.orbits is not None
    family: Periodic = hooked(device.orbits)(design, setting, steps)
    periods = int(response.period_multiple)
    if not periods:
        raise NoResult(
            f"{device.name}.boundaries: {word(response.result)}. There is no periodic motion here whose "
            f"boundaries could be looked for. {message(response.result)}"
        )
    course = Course(family, along(design, setting, key), low, high, periods)
    here = float(get(design, setting, key))
    first = course.settle(family.natural(design, setting, response.state), here)
    if first is None:
        raise NoResult(
            f"{device.name}.boundaries: the motion was found, but Newton's method does not stay on it: it is at "
            "a boundary already. Move a little away from here."
        )
    if not watched(first.observed):
        raise NoResult(f"{device.name}.boundaries: {unwatched(course)}")
    return Motion(device, course, key, here, first, start)


def watched(seen: Look) -> bool:
    """Whether all events of a pass are known."""
    return seen.events is not None


def unwatched(course: Course) -> str:
    """Why a motion is not followed any further."""
    rounds = f" ({course.periods} drive periods)" if course.periods > 1 else ""
    return (
        f"the motion has {ROOM} or more events a round{rounds}. So many are not followed; take a "
        "point with fewer impacts a period."
    )


def respond_from(
    device: Device, family: Periodic, design: Fields, setting: Fields, z: PyTree
) -> PyTree:
    """The response from the state z; from the start that the setting says without one."""
    if z is None:
        return device.respond(design, setting, throw=False)
    start = family.physical(design, setting, jnp.asarray(z))
    return device.respond(design, setting, start=start, throw=False)


def orbit_boundaries(
    motion: Motion, wrt: Sequence[str], starts: bool, look: bool = True
) -> list[Boundary]:
    """The boundaries on both sides, each side from the nearest on, up to the first at which the motion ends.
    `look`: what the device does beyond that one."""
    found: list[Boundary] = []
    for side, sign in (("below", -1.0), ("above", 1.0)):
        first = motion.first._replace(
            tangent=sign * motion.first.tangent, side=sign * motion.first.side
        )
        trail: list[Point] = [first]
        changes = list(walk(motion.course, first, watch=trail.append))
        if starts:
            lost = _start_lost(motion, trail, side)
            found += [lost] if lost is not None else []
        found += [boundary_of(motion, change, side, wrt, look) for change in changes]
    return found


def slopes_of(
    motion: Motion, change: Change, wrt: Sequence[str]
) -> tuple[np.ndarray | None, Unravel]:
    """Derivatives of the place by the parameters, raveled, and the way back; None where it has none."""
    course = motion.course
    s = course.value(change.at)
    by_all, unravel = by_parameters(course.motions, *course.line.at(s), tuple(wrt))
    if change.covector is None:
        return None, unravel
    q, rate = course.parameters(s)
    along_line = float(change.covector @ rate)
    # Parameters have units: what each moves by its own size is compared.
    scale = float(np.linalg.norm(change.covector * np.asarray(q))) / (abs(s) or 1.0)
    if not abs(along_line) > FLAT_ON_LINE * scale:
        return None, unravel
    return -(change.covector @ by_all) / along_line, unravel


def boundary_of(
    motion: Motion, change: Change, side: str, wrt: Sequence[str], look: bool = True
) -> Boundary:
    """A change as a boundary, with derivatives and their certificate. `look`: what the device does beyond an
    end."""
    course = motion.course
    s = course.value(change.at)
    slopes, unravel = slopes_of(motion, change, wrt)
    words = {
        "before": in_words(course.motions, change.here),
        "behind": "" if change.behind is None else in_words(course.motions, change.behind),
    }
    grad: dict[str, Value] = {}
    if slopes is None:
        why = "it has no derivative of its own"
        if change.kind == "lost":
            busy = change.behind is not None and not watched(change.behind)
            why = unwatched(course) if busy else "the motion was lost"
        if change.covector is not None:
            why = "it does not cross the line of the parameter, but touches it"
        judged = BoundaryCertificate(
            "refused", why, change.residual, change.separation, np.nan, **words
        )
    else:
        grad = {name: np.asarray(x) for name, x in unravel(jnp.asarray(slopes)).items()}
        off = mismatch(
            slopes, values_on(course.line, s, wrt), lambda x: anew(motion, change, wrt, x)
        )
        separation = change.separation if change.kind in SMOOTH_KINDS else None
        judged = certificate(change.kind, change.residual, separation, off, **words)
    beyond = _beyond(motion, change, side) if change.ends and look else ""
    return Boundary(
        motion.key, side, change.kind, s, motion.here, grad, change.ends, beyond, judged
    )


def values_on(line: Line, s: float, wrt: Sequence[str]) -> np.ndarray:
    design, setting = line.at(s)
    values = {name: jnp.asarray(get(design, setting, name), float) for name in wrt}
    return np.asarray(ravel_pytree(values)[0])


def anew(motion: Motion, change: Change, wrt: Sequence[str], x: np.ndarray) -> float | None:
    """Where the boundary is on the line of a device whose parameters `wrt` are x."""
    course = motion.course
    line = course.line
    given = {name: jnp.asarray(get(line.design, line.setting, name), float) for name in wrt}
    moved = ravel_pytree(given)[1](jnp.asarray(x))
    moved = {name: value for name, value in moved.items() if name != motion.key}
    design, setting = put(line.design, line.setting, moved)
    other = Course(
        course.motions,
        along(design, setting, motion.key),
        course.low,
        course.low + course.span * WIDE,
        course.periods,
    )
    found = relocated(other, change)
    return None if found is None else other.value(found.at)


def _beyond(motion: Motion, change: Change, side: str) -> str:
    """How the motion that came from this side ends up a little beyond."""
    course = motion.course
    step = BEYOND * WIDE * course.span * (1.0 if side == "above" else -1.0)
    design, setting = course.line.at(course.value(change.at) + step)
    response = respond_from(motion.device, course.motions, design, setting, change.at[:-1])
    return word(response.result)


def _start_lost(motion: Motion, trail: list[Point], side: str) -> Boundary | None:
    """Where the start stops to lead to the motion, between two points of its branch."""
    course = motion.course
    inside = [p for p in trail if course.inside(p.at)]
    picked = sorted({round(i) for i in np.linspace(0, len(inside) - 1, LOOKS + 1)} - {0})
    good = inside[0]
    bad = None
    for number in picked:
        if not _leads_there(motion, inside[number]):
            bad = inside[number]
            break
        good = inside[number]
    if bad is None:
        return None
    near, far = course.value(good.at), course.value(bad.at)
    for _ in range(BISECTIONS):
        middle = 0.5 * (near + far)
        share = (middle - course.value(good.at)) / (course.value(bad.at) - course.value(good.at))
        guess = good.at + share * (bad.at - good.at)
        point = course.settle(guess[:-1], middle)
        if point is None or not _leads_there(motion, point):
            far = middle
        else:
            near = middle
    judged = BoundaryCertificate(
        "refused",
        f"the edge of a basin, bracketed by {near:.8g} and {far:.8g}; it may be ragged and has no derivative here",
        np.nan,
        None,
        np.nan,
    )
    at = 0.5 * (near + far)
    design, setting = course.line.at(far)
    response = respond_from(
        motion.device,
        course.motions,
        design,
        setting,
        _start_of(motion, design, setting),
    )
    there = word(response.result)
    return Boundary(motion.key, side, "start_lost", at, motion.here, {}, False, there, judged)


def _start_of(motion: Motion, design: Fields, setting: Fields) -> PyTree:
    if motion.start is None:
        return None
    return motion.course.motions.natural(design, setting, motion.start)


def _leads_there(motion: Motion, point: Point) -> bool:
    """Whether the start leads to the motion at a point; what settles too slowly to tell counts."""
    if radius(point) >= STABLE:
        return True
    course = motion.course
    design, setting = course.line.at(course.value(point.at))
    family = course.motions
    response = respond_from(
        motion.device, family, design, setting, _start_of(motion, design, setting)
    )
    if int(response.period_multiple) != course.periods:
        return False
    z = np.asarray(family.natural(design, setting, jax.tree.map(np.asarray, response.state)))
    return bool(np.max(np.abs(z - point.at[:-1])) < SAME)
