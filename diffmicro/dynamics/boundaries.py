"""Where a periodic motion stops being what it is, along a line of parameters, and what moves that place.

A motion z = P(z, q) is followed along the line (`course`). On one sequence of events P is smooth, and what can
happen is, with s on the line and A = [P_z - I]:

- `fold`: A is singular, and the branch turns around. With its left null vector w the place moves by w . P_q;
- `period_doubling`, `torus`: a multiplier mu of P_z reaches the unit circle at -1, or elsewhere off the real axis.
  The place moves by d|mu|^2, for which second derivatives are needed: dmu = w . dP_z v / (w . v), along the
  branch;
- the sequence changes, where one of the numbers g of `sequence` vanishes. A with the row g_z below it has one left
  null vector, l, and the place moves by l . (P_q, g_q), with the derivatives of the side that is kept.

In each case one covector c over the parameters q says all: the place is a surface with this normal, and along the
line ds*/dtheta = - c . q_theta / c . q_s (Beyn et al. 2002 for folds and doublings; di Bernardo et al. 2008 for
grazing and corners). A change of the sequence is called after what changes in it: `grazing`, an impact appears or
vanishes; `stick_onset`, a phase of rest does; `lasting_contact`, one of lasting contact; `corner`, the order of
events alone. At grazing the impacting side has a square root, so the side without the impact is kept.

`branching`: a multiplier passes 1 and the branch goes on, as where a symmetry breaks; `lost`: no motion was
found any further, for no reason that is known here, or one with more events than are watched. Neither has a
covector."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro.dynamics.branches import (
    AROUND,
    Point,
    Stride,
    around_corner,
    next_point,
)
from diffmicro.dynamics.course import Course
from diffmicro.dynamics.landing import Landing, land, largest, normal_at, soonest
from diffmicro.dynamics.periodic import (
    Look,
    Periodic,
    bent,
    holding,
    impacts,
    same_sequence,
    sticking,
)
from diffmicro.dynamics.sequence import NUMBERS

STRIDE = Stride(longest=0.25, points=1000)
"""Steps along a branch on the way to its next boundary; the range is `course.WIDE` long."""

FLAT = 1e-9
"""Share of the parameter in the tangent, or distance of a multiplier from the unit circle, that counts as none."""

SECANTS = 30
"""Most steps of the secant method."""

FARTHEST = 0.2
"""Longest way [natural units] of an approach: what is farther has another cause."""

CLOSE_BY = 30
"""How much farther than the parameter a motion may move across a change of its sequence."""

NEIGHBOR = 1e-3
"""First step along a branch to a boundary that is known nearby."""

BACK = (1e-4, 1e-3, 1e-2)
"""Ways back [natural units] from a known change of the sequence to where a neighbor's is looked for."""

SMOOTH_KINDS = ("fold", "period_doubling", "torus", "branching")
"""Kinds at which the sequence of events is the same on both sides."""


class Change(NamedTuple):
    """A boundary on a course.

    kind: see the module docstring. at: the point (z, share of s). tangent: of the branch there, on the side
    that is kept. covector: c, over q; None: there is none. place: which number of `sequence` vanishes (phase,
    guard, kind), or None. kept_here: whether the derivatives are those of the side that comes first. here,
    behind: passes on both sides. residual: |P z - z|. separation: smallest singular value over the next one where
    there is to be a null vector, so small is good. ends: whether no stable motion goes on behind it.
    """

    kind: str
    at: np.ndarray
    tangent: np.ndarray
    covector: np.ndarray | None
    place: tuple[int, int, int] | None
    kept_here: bool
    here: Look
    behind: Look | None
    residual: float
    separation: float
    ends: bool


def radius(point: Point) -> float:
    """Largest modulus of the multipliers."""
    return float(np.max(np.abs(np.linalg.eigvals(point.by_state))))


def walk(
    course: Course,
    first: Point,
    stride: Stride = STRIDE,
    watch: Callable[[Point], None] = lambda point: None,
    ends: bool = False,
    until: float = np.inf,
) -> Iterator[Change]:
    """The boundaries after `first` along its tangent, up to the first at which the motion ends or the end of
    the range. `watch` gets each point on the way. `ends`: only that one is wanted, so what changes before it is
    passed by. `until`: how far from the first point on the line to look."""
    here, length = first, stride.longest / 4
    for _ in range(stride.points):
        found, length = next_point(course, here, length, stride)
        if found is None:
            change, found = _sequence_change(course, here, stride, ends)
            if change is not None:
                yield change
            if found is None:
                return
            if found.observed.events is None:
                yield _lost(here)._replace(behind=found.observed)
                return
            here, length = found, AROUND * stride.shortest
            continue
        change = _on_smooth_piece(course, here, found)
        near = abs(course.value(found.at) - course.value(first.at)) <= until
        inside = course.inside(found.at) and near
        if change is not None and (inside or course.inside(change.at)):
            yield change
            return
        if not inside:
            return
        here = found
        watch(here)
    yield _lost(here)


def _on_smooth_piece(course: Course, before: Point, after: Point) -> Change | None:
    """A fold, or a multiplier that leaves the unit circle, between two points."""
    reach = float(before.tangent @ (after.at - before.at))
    if before.tangent[-1] * after.tangent[-1] < 0:
        turned = vanishing(course, before, reach, _share)
        if turned is None:
            return _lost(before)
        earlier = _unstable_between(course, before, turned)
        # A multiplier that passes 1 at a fold is the fold's own.
        if earlier is not None and earlier.kind != "branching":
            return earlier
        return fold_change(course, turned)
    return _unstable_between(course, before, after)


def _unstable_between(course: Course, before: Point, after: Point) -> Change | None:
    if radius(before) >= 1 or radius(after) <= 1 + FLAT:
        return None
    reach = float(before.tangent @ (after.at - before.at))
    crossed = vanishing(course, before, reach, _excess)
    return None if crossed is None else multiplier_change(course, crossed)


def _share(point: Point) -> float:
    return float(point.tangent[-1])


def _excess(point: Point) -> float:
    return radius(point) - 1.0


def vanishing(
    course: Course, start: Point, reach: float, measure: Callable[[Point], float]
) -> Point | None:
    """The point near `start`, within some `reach` along its tangent, where a measure vanishes: by secants, kept in
    a bracket where there is one."""
    low, left = 0.0, measure(start)
    found = course.correct(start.at + reach * start.tangent, start.tangent)
    if found is None:
        return None
    high, right = reach, measure(found)
    best = found if abs(right) < abs(left) else start
    for _ in range(SECANTS):
        if abs(measure(best)) < FLAT or right == left:
            break
        length = (low * right - high * left) / (right - left)
        found = course.correct(start.at + length * start.tangent, start.tangent)
        if found is None:
            return None
        value = measure(found)
        best = found if abs(value) < abs(measure(best)) else best
        if left * right > 0:  # no bracket yet: plain secants
            low, left = (high, right) if abs(right) < abs(left) else (low, left)
        elif value * right < 0:
            low, left = high, right
        else:
            left = left / 2
        high, right = length, value
    return best if abs(measure(best)) < 1e3 * FLAT else None


def fold_change(course: Course, point: Point) -> Change:
    """The fold at a point."""
    defect, seen, matrix = course.evaluate(point.at)
    left, sizes, _ = np.linalg.svd(matrix[:, :-1])
    covector = left[:, -1] @ seen.matrix[:, len(point.at) - 1 :]
    separation = sizes[-1] / (sizes[-2] if len(sizes) > 1 else max(1.0, sizes[-1]))
    residual = largest(defect)
    return Change(
        "fold",
        point.at,
        point.tangent,
        covector,
        None,
        True,
        seen,
        seen,
        residual,
        float(separation),
        True,
    )


def multiplier_change(course: Course, point: Point) -> Change:
    """The place where the largest multiplier leaves the unit circle."""
    defect, seen, _ = course.evaluate(point.at)
    size = len(point.at) - 1
    by_state, by_q = seen.matrix[:, :size], seen.matrix[:, size:]
    values, right = np.linalg.eig(by_state)
    one = int(np.argmax(np.abs(values)))
    mu, v = values[one], right[:, one]
    residual = largest(defect)
    others = np.sort(np.abs(np.abs(values) - 1))
    pair = 2 if abs(mu.imag) > FLAT else 1
    separation = float(others[0] / others[pair]) if len(others) > pair else float(others[0])
    kind = "torus" if pair == 2 else "period_doubling" if mu.real < 0 else "branching"
    covector = None
    if kind != "branching":
        w = np.linalg.inv(right)[one]  # w . v = 1
        z_q = np.linalg.solve(np.eye(size) - by_state, by_q)
        q, _ = course.parameters(course.value(point.at))
        at = jnp.concatenate([jnp.asarray(point.at[:-1]), q])
        bend = np.asarray(
            bent(
                course.motions,
                at,
                size,
                jnp.asarray(course.periods, jnp.int32),
                jnp.asarray(course.tolerance, q.dtype),
            )
        )
        total = bend[:, :, size:] + bend[:, :, :size] @ z_q
        change = np.einsum("i,ijk,j->k", w, total, v)
        covector = 2 * np.real(np.conj(mu) * change)
    return Change(
        kind, point.at, point.tangent, covector, None, True, seen, seen, residual, separation, True
    )


def _lost(here: Point) -> Change:
    return Change(
        "lost", here.at, here.tangent, None, None, True, here.observed, None, np.nan, np.nan, True
    )


def _sequence_change(
    course: Course, here: Point, stride: Stride, ends: bool
) -> tuple[Change | None, Point | None]:
    """The change of the sequence close ahead of a point, and the first point behind it, where a stable motion goes
    on there. An event that passes the end of the period of a smooth drive bends the branch and changes nothing."""
    behind = around_corner(course, here, stride, same=False) or _straight_on(course, here, stride)
    if behind is not None and (ends or same_sequence(behind.observed, here.observed)):
        onward = behind.tangent[-1] * here.tangent[-1] > 0 and radius(behind) < 1
        if onward:
            return None, behind
    reach = 3 * AROUND * stride.shortest if behind is not None else FARTHEST
    sides = [here]
    if behind is not None:
        sides.append(behind._replace(tangent=-behind.tangent))
    tries = [(side, place) for side in sides for place in soonest(course, side, reach)]
    # What only touches zero is regular on the side where it does not cross; on the other one it has a square root.
    order = {"dip": 0, "crossing": 2}
    for side, place in sorted(tries, key=lambda t: order.get(NUMBERS[t[1][2]], 1)):
        landed = land(course, side, place, reach)
        if landed is not None:
            change = sequence_change(course, landed, place, here, behind, side is here)
            if change is not None:
                return change, None if change.ends else behind
    return _lost(here), None


def _straight_on(course: Course, here: Point, stride: Stride) -> Point | None:
    """A stable motion close by at the next value of the parameter. What sticks at the start of the period has no
    derivative by its speed, so where it starts to slip there the sign that branches keep may change."""
    way = np.zeros(len(here.at))
    way[-1] = np.sign(here.tangent[-1])
    ahead = AROUND * stride.shortest
    found = course.correct(here.at + ahead * way, way)
    if found is None or np.linalg.norm(found.at - here.at) > CLOSE_BY * ahead:
        return None
    return found if max(radius(found), radius(here)) < 1 else None


def sequence_change(
    course: Course,
    landing: Landing,
    place: tuple[int, int, int],
    here: Point,
    behind: Point | None,
    kept_here: bool,
) -> Change | None:
    """What happens where a number vanishes; None where the sequence goes on unchanged behind it. `kept_here`:
    whether it was approached from here, not from behind."""
    point, residual = landing
    covector, separation = normal_at(point, place)
    other = behind.observed if behind is not None else _ahead(course, point, here)
    if other is None or same_sequence(other, here.observed):
        return None
    turned = behind is not None and behind.tangent[-1] * here.tangent[-1] < 0
    ends = behind is None or turned or (radius(behind) >= 1 and radius(here) < 1)
    return Change(
        named(course.motions, here.observed, other),
        point.at,
        point.tangent,
        covector,
        place,
        kept_here,
        here.observed,
        other,
        residual,
        separation,
        ends,
    )


def _ahead(course: Course, point: Point, here: Point) -> Look | None:
    """A pass from a little further on, where no motion was found."""
    way = here.tangent
    for reach in (1e-6, 1e-5, 1e-4, 1e-3):
        seen = course.seen(point.at + reach * way)
        if not same_sequence(seen, here.observed):
            return seen
    return None


def named(family: Periodic, one: Look, other: Look) -> str:
    """The kind of a change from one sequence to another."""
    counts = ((impacts, "grazing"), (holding, "lasting_contact"), (sticking, "stick_onset"))
    for count, kind in counts:
        if count(family, one) != count(family, other):
            return kind
    return "corner"


def relocated(course: Course, change: Change) -> Change | None:
    """The same boundary on a neighboring line; None where it was not found there."""
    if change.kind in SMOOTH_KINDS:
        point = course.correct(change.at, change.tangent)
        measure = _share if change.kind == "fold" else _excess
        found = None if point is None else vanishing(course, point, NEIGHBOR, measure)
        if found is None:
            return None
        made = fold_change if change.kind == "fold" else multiplier_change
        return made(course, found)
    assert change.place is not None and change.behind is not None
    kept = change.here if change.kept_here else change.behind
    for back in BACK:
        start = course.correct(change.at - back * change.tangent, change.tangent)
        if start is None or not same_sequence(start.observed, kept):
            continue
        landed = land(course, start, change.place, FARTHEST)
        if landed is not None:
            point, residual = landed
            covector, separation = normal_at(point, change.place)
            return change._replace(
                at=point.at,
                tangent=point.tangent,
                covector=covector,
                residual=residual,
                separation=separation,
            )
    return None
