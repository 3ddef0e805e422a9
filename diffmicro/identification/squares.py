"""Least squares within a box: SciPy's trust region reflective method, on values and Jacobians that are looked
up once.

Parameters are u in [0, 1], even in the value, or in its logarithm where a range spans a factor of `DECADES` and
more. Residuals are in standard errors. A point may be lost at a step: its motion ends, or its gradient is
refused. For that one step it is continued along its gradient, so that it speaks neither for the step nor
against it; if the step is taken, the search ends there, and whoever searches goes on with the points that are
left.

Robust losses are SciPy's `huber` and `soft_l1`, quadratic up to `BEND` standard errors and about linear beyond.
Their estimates are less precise than least squares by the factor `spread` in variance (a sandwich), and a
profile rises by that much less for the same confidence."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

Loss = Literal["linear", "huber", "soft_l1"]
LOSSES = ("linear", "huber", "soft_l1")

BEND = 1.345
"""Where Huber's loss bends: 95 % efficient for Gaussian errors (Huber 1981)."""

DECADES = 10.0
"""Ratio of the ends of a range from which on it is searched by the logarithm."""

TOLERANCE = 1e-5
"""Relative change of the place, and to the power 1.5 of the cost, at which a search ends: far below a standard
error."""

MOST = 60
"""Looks of one search at most."""

MOST_LOST = 0.3
"""Share of the points that may be lost at a step; a step that loses more is turned down."""


class Box(NamedTuple):
    """The free keys and their ranges. log: those that are searched by their logarithm."""

    names: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray
    log: np.ndarray

    def place(self, u: np.ndarray) -> np.ndarray:
        """Values at u; the ends are exact."""
        ratio = np.where(self.log, self.high / np.where(self.log, self.low, 1.0), 1.0)
        even = self.low + (self.high - self.low) * u
        inside = np.where(self.log, self.low * ratio**u, even)
        return np.where(u <= 0, self.low, np.where(u >= 1, self.high, inside))

    def slope(self, u: np.ndarray) -> np.ndarray:
        """Derivative of the values by u."""
        ratio = np.where(self.log, self.high / np.where(self.log, self.low, 1.0), 2.0)
        return np.where(self.log, self.place(u) * np.log(ratio), self.high - self.low)

    def back(self, value: np.ndarray) -> np.ndarray:
        """u of values."""
        low = np.where(self.log, self.low, 1.0)
        by_log = np.log(np.where(self.log, value, 1.0) / low)
        by_log = by_log / np.log(np.where(self.log, self.high / low, 2.0))
        return np.where(self.log, by_log, (value - self.low) / (self.high - self.low))


def box_of(ranges: dict[str, tuple[float, float]]) -> Box:
    """The box of these ranges."""
    low, high = np.array(list(ranges.values()), float).T
    with np.errstate(divide="ignore", invalid="ignore"):
        log = (low > 0) & (high / low >= DECADES)
    return Box(tuple(ranges), low, high, log)


class Solved(NamedTuple):
    """Where a search ended. lost: entries of the residual that barred its last steps. converged: its conditions
    hold."""

    u: np.ndarray
    cost: float
    lost: np.ndarray
    converged: bool


Residual = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""u -> residuals and their Jacobian by u; NaN where a point is lost."""


class _Fewer(Exception):
    """A step was taken at which points are lost."""


class _Search:
    """The residual for SciPy: what was looked up last is kept, and points that are lost are continued.

    held, values, jacobian: the place that SciPy stands at, and what it knows there.
    """

    def __init__(self, residual: Residual, u: np.ndarray, moving: np.ndarray):
        self.residual, self.u, self.moving = residual, u, moving
        self.at, self.known = np.full(len(u), np.nan), residual(u)
        self.held, (self.held_values, self.held_jacobian) = u[moving], self.known
        self.at = u

    def whole(self, part: np.ndarray) -> np.ndarray:
        place = self.u.copy()
        place[self.moving] = part
        return place

    def look(self, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place = self.whole(part)
        if not np.array_equal(place, self.at):
            self.at, self.known = place, self.residual(place)
        return self.known

    def lost(self, part: np.ndarray) -> np.ndarray:
        """The points without a value there."""
        return ~np.isfinite(self.look(part)[0])

    def values(self, part: np.ndarray) -> np.ndarray:
        """Residuals; those of lost points as their gradients had it, NaN where too many are lost."""
        found, lost = self.look(part)[0], self.lost(part)
        if lost.mean() > MOST_LOST:
            return np.full_like(found, np.nan)
        ahead = self.held_values + self.held_jacobian[:, self.moving] @ (part - self.held)
        return np.where(lost, ahead, found)

    def slopes(self, part: np.ndarray) -> np.ndarray:
        """The Jacobian at a place that SciPy goes to."""
        if self.lost(part).any():
            raise _Fewer
        self.held, (self.held_values, self.held_jacobian) = part.copy(), self.look(part)
        return self.held_jacobian[:, self.moving]


def solve(
    residual: Residual,
    u: np.ndarray,
    loss: Loss = "linear",
    held: int | None = None,
    tolerance: float = TOLERANCE,
) -> Solved | None:
    """The least squares from u; `held`: a coordinate that stays. None where a point has no value at the
    start."""
    from scipy.optimize import least_squares  # its import changes the filters of warnings

    moving = np.array([i != held for i in range(len(u))])
    # SciPy moves a start off its bounds; by hand it stays in sight of them.
    u = np.where(moving, np.clip(u, 1e-10, 1 - 1e-10), u)
    search = _Search(residual, u, moving)
    first = search.held_values
    if not np.isfinite(first).all():
        return None
    if not moving.any():
        return Solved(u, cost_of(first, loss), np.zeros(len(first), bool), True)
    try:
        found = least_squares(
            search.values, u[moving], search.slopes,  # pyright: ignore[reportArgumentType]
            (0.0, 1.0), loss=loss, f_scale=BEND,
            x_scale="jac", xtol=tolerance, ftol=tolerance**1.5, gtol=1e-12, max_nfev=MOST,
        )  # fmt: skip
    except _Fewer:
        left = ~np.isfinite(search.known[0])
        return Solved(search.at, cost_of(search.known[0][~left], loss), left, False)
    none = np.zeros(len(first), bool)
    return Solved(search.whole(found.x), 2 * float(found.cost), none, found.status > 0)


def cost_of(residuals: np.ndarray, loss: Loss = "linear") -> float:
    """Sum of the losses: chi-square for the linear one."""
    square = (residuals / BEND) ** 2
    if loss == "huber":
        bent = np.where(square <= 1, square, 2 * np.sqrt(np.maximum(square, 1)) - 1)
        return float(BEND**2 * bent.sum())
    if loss == "soft_l1":
        return float(BEND**2 * (2 * (np.sqrt(1 + square) - 1)).sum())
    return float((residuals**2).sum())


def influence(residuals: np.ndarray, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """Half the slope of each loss by its residual, and the slope of that."""
    if loss == "huber":
        inside = np.abs(residuals) <= BEND
        return np.clip(residuals, -BEND, BEND), inside.astype(float)
    if loss == "soft_l1":
        root = np.sqrt(1 + (residuals / BEND) ** 2)
        return residuals / root, root**-3
    return residuals, np.ones_like(residuals)


def spread(residuals: np.ndarray, loss: Loss, parameters: int) -> tuple[float, float]:
    """(factor on (J^T J)^-1, factor by which a profile rises faster than chi-square): 1 and 1 for the linear
    loss."""
    if loss == "linear":
        return 1.0, 1.0
    pull, stiffness = influence(residuals, loss)
    power = float((pull**2).sum() / max(len(residuals) - parameters, 1))
    mean = float(stiffness.mean())
    return power / mean**2, power / mean
