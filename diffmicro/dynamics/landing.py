"""The motion at which its sequence of events changes: approached on one sequence, with the normal of the place.

One of the numbers g of `sequence` vanishes there. Newton's method on P z = z and g = 0 together would step over to
the other sequence, where g means nothing; so all but the last step leave a share of g, and a step that changes the
sequence is taken back.
"""

from typing import NamedTuple

import numpy as np

from diffmicro.dynamics.branches import Point
from diffmicro.dynamics.course import Course
from diffmicro.dynamics.periodic import Look, same_sequence

LANDED = 1e-7
"""Distance [natural units] from which the rest of an approach is one linear step."""

APPROACH = 0.02
"""What is left of such a number after one step of the approach, which stays on its own side."""

LANDINGS = 60
"""Most steps of an approach, those taken back included."""

CANDIDATES = 4
"""Numbers of `sequence` that are tried in turn where a branch stops, the nearest first."""


class Landing(NamedTuple):
    """Where an approach ended, and |P z - z| of its last pass."""

    point: Point
    residual: float


def land(course: Course, start: Point, place: tuple[int, int, int], reach: float) -> Landing | None:
    """The motion within `reach` at which the number at a place vanishes, approached on the sequence of `start`;
    its pass and derivatives are those of the last point of the approach."""
    at, share = start.at, 1.0
    defect, seen, matrix = course.evaluate(at)
    first = seen
    for _ in range(LANDINGS):
        number = _number(seen, place)
        if number is None:
            return None
        g = float(seen.numbers[number])
        row = course.by_point(seen, at, seen.slopes[number][None])
        bordered = np.vstack([matrix, row])
        try:
            step = np.linalg.solve(bordered, -np.append(defect, g))
            careful = np.linalg.solve(bordered, -np.append(defect, (1 - APPROACH) * g))
        except np.linalg.LinAlgError:
            return None
        if largest(step) < LANDED and largest(defect) < LANDED:
            if np.linalg.norm(at - start.at) > reach:
                return None
            tangent = np.linalg.svd(matrix)[2][-1]
            tangent = tangent if tangent @ start.tangent >= 0 else -tangent
            by_state = matrix[:, :-1] + np.eye(len(at) - 1)
            return Landing(
                Point(at + step, seen, by_state, tangent, start.side, 0), largest(defect)
            )
        trial = course.evaluate(at + share * careful)
        stays = trial[1].events is not None and same_sequence(trial[1], first)
        stays = stays and bool(np.all(np.isfinite(trial[2])))
        stays = stays and _number(trial[1], place) is not None
        if not stays:
            share /= 4
            if share < 1e-6:
                return None
            continue
        at, (defect, seen, matrix) = at + share * careful, trial
        share = min(1.0, 4 * share)
    return None


def soonest(course: Course, here: Point, reach: float) -> list[tuple[int, int, int]]:
    """The numbers of the sequence that vanish soonest along the tangent, by their slopes."""
    seen: Look = here.observed
    slopes = course.by_point(seen, here.at, seen.slopes) @ here.tangent
    falling = slopes < 0
    ahead = np.where(falling, seen.numbers / np.where(falling, -slopes, 1.0), np.inf)
    order = np.argsort(ahead)[:CANDIDATES]
    near = order[ahead[order] < 2 * reach]
    return [(int(i), int(j), int(k)) for i, j, k in seen.places[near]]


def normal_at(point: Point, place: tuple[int, int, int]) -> tuple[np.ndarray, float]:
    """Covector and separation where a number vanishes: the left null vector of A with the row g_z."""
    seen: Look = point.observed
    number = _number(seen, place)
    assert number is not None
    size = len(point.at) - 1
    by_q = np.vstack([seen.matrix[:, size:], seen.slopes[number][None, size:]])
    by_z = np.vstack([seen.matrix[:, :size] - np.eye(size), seen.slopes[number][None, :size]])
    left, sizes, _ = np.linalg.svd(by_z)
    return left[:, -1] @ by_q, float(1.0 / (1.0 + sizes[-1]))


def _number(seen: Look, place: tuple[int, int, int]) -> int | None:
    """Which of a pass's numbers is at a place."""
    found = np.flatnonzero(np.all(seen.places == np.array(place), axis=1))
    return int(found[0]) if len(found) else None


def largest(vector: np.ndarray) -> float:
    return float(np.max(np.abs(vector)))
