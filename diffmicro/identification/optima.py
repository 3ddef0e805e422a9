"""Several starts of one fit, the different optima that they came to, and when the starts are enough.

The first start is the design's own where it lies in the box, else the middle; the others fill the box evenly.
Two places belong to one optimum if the cost between them rises nowhere above the higher of them: so a valley
that data do not close is one. After how many starts it is enough, `design.starts` says: where the next would
find another optimum with a probability of `MISSED` or less."""

from typing import NamedTuple

import numpy as np

from diffmicro.design.starts import MISSED, evenly, missed
from diffmicro.identification.search import Ended, Question, residuals_at, search
from diffmicro.identification.squares import cost_of

STARTS = 12
"""Starts at most, unless said otherwise."""

RISE = 0.1
"""Rise of the cost between two places up to which they belong to one optimum: a tenth of what moves an estimate
by its standard error."""

SAME_PLACE = 1e-4
"""Distance in the box up to which two places are one without a look between them."""

FEWER = 0.8
"""Share of the points that the best search must use, of the most that any uses."""


class Optimum(NamedTuple):
    """Where searches ended, and how many of them."""

    ended: Ended
    starts: int


class Seen(NamedTuple):
    """What the starts came to: optima, best first; begun and failed starts; the probability that one more start
    would find another optimum (None after less than two)."""

    optima: list[Optimum]
    begun: int
    failed: int
    missed: float | None


def explore(
    question: Question, first: np.ndarray, sigma: np.ndarray, starts: int | None, seed: int
) -> Seen:
    """Search from several starts. `starts`: so many; by default as many as are enough, `STARTS` at most."""
    offset = np.random.default_rng(seed).random(len(first))
    optima: list[Optimum] = []
    failed, chance = 0, None
    for number in range(starts or STARTS):
        u = first if number == 0 else (offset + evenly(number, len(first))[-1]) % 1.0
        ended = search(question, u, sigma)
        if ended is None:
            failed += 1
            continue
        optima = _with(question, optima, ended)
        chance = missed(len(optima), sum(optimum.starts for optimum in optima))
        if starts is None and chance is not None and chance <= MISSED:
            return Seen(_ranked(optima), number + 1, failed, chance)
    return Seen(_ranked(optima), starts or STARTS, failed, chance)


def worth(ended: Ended) -> float:
    """By which searches are compared: the mean loss of the points that count, and of the logarithms of their
    standard errors, which are another for each search where they are estimated."""
    return ended.mean_cost + 2 * float(np.log(ended.sigma).mean())


def _ranked(optima: list[Optimum]) -> list[Optimum]:
    most = max((int(optimum.ended.used.sum()) for optimum in optima), default=0)

    def order(optimum: Optimum) -> tuple[bool, float]:
        return int(optimum.ended.used.sum()) < FEWER * most, worth(optimum.ended)

    return sorted(optima, key=order)


def _with(question: Question, optima: list[Optimum], ended: Ended) -> list[Optimum]:
    """The optima with one more search: it is where others ended, or an optimum of its own."""
    for i, optimum in enumerate(optima):
        if _one(question, optimum.ended, ended):
            best = min(optimum.ended, ended, key=worth)
            return [*optima[:i], Optimum(best, optimum.starts + 1), *optima[i + 1 :]]
    return [*optima, Optimum(ended, 1)]


def _one(question: Question, a: Ended, b: Ended) -> bool:
    """Whether two searches ended in one optimum."""
    away = float(np.max(np.abs(a.u - b.u)))
    if away < SAME_PLACE:
        return True
    better, other = (a, b) if worth(a) <= worth(b) else (b, a)
    used = a.used & b.used

    def cost(u: np.ndarray) -> float:
        looks = question.model.looks(question.box.place(u), better.states, np.any(used, axis=1))
        missing = not looks.usable[used].all()
        residuals = residuals_at(question, looks, better.sigma)[used]
        return np.inf if missing else cost_of(residuals, question.loss)

    highest = max(cost(better.u), cost(other.u)) + RISE
    return all(
        cost(better.u + share * (other.u - better.u)) <= highest for share in (0.5, 0.25, 0.75)
    )
