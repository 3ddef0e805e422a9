"""From a start to an optimum: which points count, which motion each row lies on, and when a search has ended.

The points that count are those with a value and a gradient where the search stands. At each step some may be
lost, and where it ends others come back; it goes on until they stay the same. A point that went `OFTEN` stays
away: its motion ends where the best fit with it would lie. What is left out is named.

Rows that were reached by a sweep up or down are walked: each starts from the state that the row before it left.
While a search goes on the states are held, and each row follows its own motion; where it ends the rows are
walked again."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from diffmicro.identification.data import Data
from diffmicro.identification.model import Looks, Model, States
from diffmicro.identification.squares import TOLERANCE, Box, Loss, cost_of, solve

ROUNDS = 16
"""Times that a search is taken up again after points came or went, or rows changed their motion."""

OFTEN = 2
"""Times that a point is lost until it is left out."""

ROUGH = 1e-3
"""Tolerance of a rough search."""

SAME = 1e-3
"""Difference of two values, in standard errors, up to which they are of one motion."""

SETTLED = 0.01
"""Relative change of an estimated standard error with which it has settled."""


class Question(NamedTuple):
    """What is fitted. model: the device at the rows. box: the free keys. measured: values (n, m).

    rough: an optimum is wanted roughly only, and points that come back at it do not matter yet.
    """

    model: Model
    box: Box
    measured: np.ndarray
    loss: Loss
    rough: bool = False

    @property
    def tolerance(self) -> float:
        """Tolerance of the searches."""
        return ROUGH if self.rough else TOLERANCE


class Ended(NamedTuple):
    """Where a search ended: the place, what was seen there, the points (n, m) that count, their standard
    errors.

    cost: sum of the losses of these points. left: points that were left out although they have a value here, as
    they were lost again and again. states, branch: where rows start from, and what that is called.
    """

    u: np.ndarray
    looks: Looks
    used: np.ndarray
    sigma: np.ndarray
    cost: float
    left: np.ndarray
    states: States
    branch: np.ndarray
    converged: bool

    @property
    def mean_cost(self) -> float:
        """By which searches with unlike points are compared."""
        return self.cost / max(int(self.used.sum()), 1)


def first_errors(data: Data) -> np.ndarray:
    """Standard errors (n, m); for a response without any, its own scatter, for a start."""
    found = []
    for name, column in data.values.items():
        known = data.errors[name]
        size = max(float(np.std(column)), 1e-3 * float(np.max(np.abs(column))))
        found.append(np.full(len(column), size or 1.0) if known is None else known)
    return np.stack(found, axis=1)


def estimated_errors(
    data: Data, residuals: np.ndarray, used: np.ndarray, parameters: int, robust: bool
) -> np.ndarray:
    """Factors (m) by which the standard errors of responses without any have to be taken, of residuals (n, m).

    The root mean square, with its share of the parameters taken off; `robust`: by the median of the sizes.
    """
    share = 1 - parameters / max(int(used.sum()), parameters + 1)
    factors = np.ones(used.shape[1])
    for i, name in enumerate(data.values):
        own = residuals[used[:, i], i]
        if data.errors[name] is None and own.size:
            size = 1.4826 * np.median(np.abs(own)) if robust else np.sqrt(np.mean(own**2))
            factors[i] = max(float(size) / np.sqrt(share), 1e-12)
    return factors


def residuals_at(question: Question, looks: Looks, sigma: np.ndarray) -> np.ndarray:
    """Model less measurement, in standard errors (n, m)."""
    return (looks.value - question.measured) / sigma


def search(
    question: Question,
    u: np.ndarray,
    sigma: np.ndarray,
    states: States | None = None,
    branch: np.ndarray | None = None,
) -> Ended | None:
    """The search from u; None where too few points have a value there.

    states, branch: of rows whose motion is known; else rows of a sweep are walked, the others start as the
    setting says."""
    model, fixed = question.model, states is not None
    ways = model.data.ways
    branch = np.where(ways == "", "start", ways) if branch is None else branch
    here = states if states is not None else walk(model, question.box.place(u), ways)
    looks = model.looks(question.box.place(u), here)
    used, went = looks.usable, np.zeros(looks.value.shape, int)
    settled = False
    for _ in range(ROUNDS):
        if used.sum() <= len(u):
            return None
        residual = residual_of(question, sigma, used, here)
        solved = solve(residual, u, question.loss, tolerance=question.tolerance)
        if solved is None:
            return None
        u = solved.u
        again = here if fixed else walk(model, question.box.place(u), ways)
        looks = model.looks(question.box.place(u), again)
        went += used & ~looks.usable
        now = looks.usable & (went < OFTEN)
        jumped = not fixed and not _alike(question, u, sigma, here, again, looks, used & now)
        here = again
        off, robust = residuals_at(question, looks, sigma), question.loss != "linear"
        factors = estimated_errors(model.data, off, now, len(u), robust)
        sigma = sigma * factors
        # One response without errors has its optimum whatever they are.
        known = looks.value.shape[1] == 1 and not robust
        known = known or bool(np.all(np.abs(factors - 1) < SETTLED))
        settled = solved.converged and not jumped and known
        settled = settled and (question.rough or np.array_equal(now, used))
        used = now
        if settled:
            break
    residuals = residuals_at(question, looks, sigma)[used]
    if used.sum() <= len(u):
        return None
    return Ended(
        u,
        looks,
        used,
        sigma,
        cost_of(residuals, question.loss),
        (went >= OFTEN) & looks.usable,
        here,
        branch,
        settled,
    )


def residual_of(question: Question, sigma: np.ndarray, used: np.ndarray, states: States):
    """The residual of these points as `solve` takes it."""

    def residual(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        looks = question.model.looks(question.box.place(u), states, np.any(used, axis=1))
        good = looks.usable[used]
        slopes = looks.jacobian * question.box.slope(u) / sigma[:, :, None]
        values = np.where(good, residuals_at(question, looks, sigma)[used], np.nan)
        return values, slopes[used]

    return residual


def _alike(
    question: Question,
    u: np.ndarray,
    sigma: np.ndarray,
    before: States,
    now: States,
    looks: Looks,
    used: np.ndarray,
) -> bool:
    """Whether the rows are still on the motions that they were held on, after they were walked again."""
    if not now:
        return True
    held = question.model.looks(question.box.place(u), before)
    away = np.abs(held.value - looks.value) / sigma
    return bool((away[used] < SAME).all())


def walk(model: Model, theta: np.ndarray, ways: Sequence[str] | np.ndarray) -> States:
    """The states from which the rows of sweeps start: each that which the row before it on its way was left in.

    A way goes along the first key of several values, rows of the same other values and the same direction
    together. The first row of a way starts as the setting says. A state that is not finite is not handed on.
    """
    states: States = {}
    for rows in ways_of(model.data, ways):
        state = None
        for row in rows:
            if state is not None:
                states[row] = state
            left = model.look(row, theta, state)["state"]
            state = left if all(np.all(np.isfinite(leaf)) for leaf in left) else state
    return states


def ways_of(data: Data, ways: Sequence[str] | np.ndarray) -> list[list[int]]:
    """The rows of each walk, in its order."""
    along = data.varied[0] if data.varied else ""
    walks: dict[tuple, list[int]] = {}
    for row, way in enumerate(ways):
        if way and along:
            others = tuple(column[row] for key, column in data.keys.items() if key != along)
            walks.setdefault((way, *others), []).append(row)
    found = []
    for (way, *_), rows in walks.items():
        order = sorted(rows, key=lambda row: data.keys[along][row])
        found.append(order if way == "up" else order[::-1])
    return found
