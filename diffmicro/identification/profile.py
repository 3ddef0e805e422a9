"""Intervals by profile likelihood: how far a parameter can go when all others follow to make the best of it.

With z(c) the signed root of the rise of the cost at theta_k = c, over the factor of a robust loss, an interval
ends where z is the quantile of its level: normal where standard errors are known, Student's where they were
estimated. z is nearly linear in c, so regula falsi from the linearized end takes two or three searches, each
begun where the linearization puts the others."""

from typing import NamedTuple

import numpy as np

from diffmicro.identification.search import Ended, Question, residual_of
from diffmicro.identification.squares import MOST_LOST, Residual, solve

LEVEL = 0.95
"""Confidence of the intervals."""

CLOSE = 0.01
"""Distance of z from the quantile at which an end is found: changes the level by 0.1 %."""

MOST = 12
"""Searches for one end at most."""


class End(NamedTuple):
    """One end of an interval. curve: places u and z that were tried, from the optimum on.

    ending: `found`; `part`: found, with points that are lost on the way and go on along their gradients;
    `bound`: of the range, the data do not end it; `lost`: beyond it too few points have a value."""

    u: float
    ending: str
    curve: list[tuple[float, float]]


class Better(Exception):
    """A profile came to a lower cost than the optimum; `u` is where."""

    def __init__(self, u: np.ndarray):
        super().__init__("a profile found a better optimum")
        self.u = u


def profile_end(
    question: Question,
    ended: Ended,
    k: int,
    side: int,
    covariance: np.ndarray,
    quantile: float,
    factor: float,
) -> End:
    """The end of the k-th parameter's interval below (side -1) or above (1).

    covariance: of u, linearized. factor: of a robust loss, see `squares.spread`.
    """
    residual = _continued(question, ended)
    room = float(1 - ended.u[k] if side > 0 else ended.u[k])
    own = float(np.sqrt(covariance[k, k]))
    away = min(quantile * own if np.isfinite(own) and own > 0 else room, room)
    inner, outer = (0.0, 0.0, ended.u), None
    curve = [(float(ended.u[k]), 0.0)]
    for _ in range(MOST):
        if away <= 0:
            return End(float(ended.u[k]), "bound", curve)
        u = _begin(ended, inner, k, side * away, covariance)
        solved = solve(residual, u, question.loss, held=k)
        z = np.nan
        if solved is not None:
            rise = (solved.cost - ended.cost) / factor
            if rise < -CLOSE:
                raise Better(solved.u)
            z = float(np.sqrt(max(rise, 0.0)))
            curve.append((float(u[k]), z))
            if abs(z - quantile) < CLOSE:
                return End(float(u[k]), _ending(question, ended, solved.u), curve)
        if z < quantile and solved is not None:
            inner = (away, z, solved.u)
            if away >= room:
                return End(float(u[k]), "bound", curve)
        else:
            outer = (away, z)
        if outer is None:
            away = min(away * float(np.clip(1.02 * quantile / max(z, 1e-3), 1.2, 4.0)), room)
        elif np.isfinite(outer[1]):
            share = (quantile - inner[1]) / (outer[1] - inner[1])
            away = inner[0] + float(np.clip(share, 0.05, 0.95)) * (outer[0] - inner[0])
        else:
            away = (inner[0] + outer[0]) / 2
            if outer[0] - inner[0] < 0.02 * max(outer[0], 1e-9):
                break
    place = float(ended.u[k]) + side * inner[0]
    cut = outer is None or not np.isfinite(outer[1])
    return End(place, "lost" if cut else _ending(question, ended, inner[2]), curve)


def _continued(question: Question, ended: Ended) -> Residual:
    """The residual of the points that count; where one is lost it goes on as its gradient at the optimum says.

    So the optimum stays the least. A place that loses more than `MOST_LOST` of them has no value.
    """
    residual = residual_of(question, ended.sigma, ended.used, ended.states)
    first, slopes = residual(ended.u)

    def continued(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, jacobian = residual(u)
        lost = ~np.isfinite(values)
        if lost.mean() > MOST_LOST:
            return np.full_like(values, np.nan), jacobian
        ahead = first + slopes @ (u - ended.u)
        return np.where(lost, ahead, values), np.where(lost[:, None], slopes, jacobian)

    return continued


def _ending(question: Question, ended: Ended, u: np.ndarray) -> str:
    """Whether all points have a value at the end of an interval."""
    values, _ = residual_of(question, ended.sigma, ended.used, ended.states)(u)
    return "found" if np.isfinite(values).all() else "part"


def _begin(
    ended: Ended,
    inner: tuple[float, float, np.ndarray],
    k: int,
    change: float,
    covariance: np.ndarray,
) -> np.ndarray:
    """Where the search at a held value begins: the others move as the linearization says."""
    own = covariance[k, k]
    slope = covariance[:, k] / own if 0 < own < np.inf else np.zeros(len(ended.u))
    from_inner = inner[2] + slope * (ended.u[k] + change - inner[2][k])
    u = np.clip(from_inner, 0.0, 1.0)
    u[k] = np.clip(ended.u[k] + change, 0.0, 1.0)
    return u
