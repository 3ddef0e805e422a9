"""Two objectives at once: designs of which none is better in both.

The front is found by gradients: the best designs for each objective alone are its ends; between them the
second objective gets a limit (the epsilon of the constraint method) and the first one is optimized. Each limit
goes halfway into the gap where the points so far leave most area, and the search starts from both neighbors, as
a front may jump between local optima; the better of both counts. `hypervolume` measures what a front covers.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from diffmicro.design.loop import optimize_design
from diffmicro.design.problem import Constraint, Objective, Problem
from diffmicro.design.result import Result
from diffmicro.parameters import Value, whole_number

SHORT = 1e-4
"""Share of the range by which the last limit stays inside the end."""


FROM_A_NEIGHBOR = 0.15
"""Longest first step of a search from a neighbor, share of the box."""


class Front(NamedTuple):
    """Points of the front, from the best of the first objective to the best of the second.

    values: (points, 2). verdicts: of the first objective's gradient. statuses: how each search ended.
    evaluations: all that it took.
    price: what a unit of the second objective costs in the first, the multiplier of its limit.
    """

    first: Objective
    second: Objective
    values: np.ndarray
    designs: tuple[dict[str, float], ...]
    price: np.ndarray
    verdicts: tuple[str, ...]
    statuses: tuple[str, ...]
    evaluations: int


class Point(NamedTuple):
    """A design of the front, the share of the second objective's range at its limit, and the limit's price."""

    result: Result
    share: float
    price: float


def pareto_front(
    problem: Callable[[Objective, Sequence[Constraint]], Problem],
    first: Objective,
    second: Objective,
    *,
    points: int = 8,
    budget: int = 100,
    progress: bool = False,
    **options: Value,
) -> Front:
    """The front of two objectives; `problem` makes the problem of one of them with added constraints.

    budget: evaluations for each point. options: of `optimize_design`, method sqp unless said otherwise.
    """
    points = whole_number("pareto_front: points", points, 8, 3)
    if "target" in (first.goal, second.goal):
        raise ValueError(
            "pareto_front: a target has no front; give objectives that maximize or minimize."
        )
    # Each point starts near its neighbors, and a search is to stay in their valley.
    options = {"method": "sqp", "lanes": 1, "radius": FROM_A_NEIGHBOR, **options}
    spent = 0

    def best(made: Problem, start: dict[str, float] | None) -> Result:
        nonlocal spent
        made = made if start is None else started(made, start)
        found = optimize_design(made, budget=budget, progress=progress, **options)
        spent += found.evaluations
        return found

    one = best(problem(first, ()), None)
    other = best(problem(second, ()), one.variables)
    for objective, end in ((first, one), (second, other)):
        if not end.feasible:
            raise ValueError(f"pareto_front: no end for {objective.response}: {end.reason}.")
    low, high = _value(one, second), _value(other, second)

    def between(share: float, *neighbors: Result) -> Point | None:
        """The best for the first objective where the second has this share of its range."""
        sense = ">=" if second.goal == "maximize" else "<="
        limit = Constraint(second.response, sense, float(low + share * (high - low)))
        made = problem(first, (limit,))
        found = [best(made, n.variables) for n in neighbors]
        good = [r for r in found if r.feasible]
        if not good:
            return None
        result = max(good, key=lambda r: first.gain(_value(r, first)))
        return Point(result, share, result.constraints[str(limit)]["multiplier"])

    # What the second objective's best has in the first one is left to chance, so it is looked for too.
    last = between(1 - SHORT, one, other) or Point(other, 1.0, 0.0)
    found, closed = [Point(one, 0.0, 0.0), last], set()
    while len(found) < points:
        gaps = [
            (abs((_value(b.result, first) - _value(a.result, first)) * (b.share - a.share)), i)
            for i, (a, b) in enumerate(pairwise(found))
            if (a.share, b.share) not in closed
        ]
        if not gaps:
            break
        _, i = max(gaps)
        a, b = found[i : i + 2]
        middle = between((a.share + b.share) / 2, a.result, b.result)
        if middle is None:
            closed.add((a.share, b.share))
        else:
            found.insert(i + 1, middle)
    return _front(first, second, found, spent)


def _front(first: Objective, second: Objective, found: Sequence[Point], spent: int) -> Front:
    """What no other point is better than in both objectives."""
    values = np.array([[_value(p.result, first), _value(p.result, second)] for p in found])
    kept = undominated(values, (first, second))
    return Front(
        first,
        second,
        values[kept],
        tuple(found[i].result.variables for i in kept),
        np.array([found[i].price for i in kept]),
        tuple(found[i].result.optimized.certificate.get("verdict", "") for i in kept),
        tuple(found[i].result.status for i in kept),
        spent,
    )


def started(problem: Problem, values: dict[str, float]) -> Problem:
    """The problem with another start."""
    variables = [
        replace(v, start=float(np.clip(values[v.name], v.low, v.high))) for v in problem.variables
    ]
    return replace(problem, variables=tuple(variables))


def undominated(values: np.ndarray, objectives: Sequence[Objective]) -> list[int]:
    """Rows that no other row beats in both, sorted from the best of the first objective on."""
    gains = _gains(values, objectives)
    kept = [
        i
        for i, row in enumerate(gains)
        if not any(np.all(other >= row) and np.any(other > row) for other in gains)
    ]
    return sorted(kept, key=lambda i: -gains[i, 0])


def hypervolume(
    values: np.ndarray, objectives: Sequence[Objective], reference: Sequence[float]
) -> float:
    """Area between the front and a reference that is worse in both."""
    gains = _gains(np.asarray(values, float), objectives)
    floor = _gains(np.asarray(reference, float)[None, :], objectives)[0]
    better = gains[np.all(gains > floor, axis=1)]
    area, reached = 0.0, floor[1]
    for row in better[np.argsort(-better[:, 0])]:
        if row[1] > reached:
            area += (row[0] - floor[0]) * (row[1] - reached)
            reached = row[1]
    return float(area)


def _value(result: Result, objective: Objective) -> float:
    return float(result.optimized.response[objective.response])


def _gains(values: np.ndarray, objectives: Sequence[Objective]) -> np.ndarray:
    signs = np.array([1.0 if o.goal == "maximize" else -1.0 for o in objectives])
    return np.asarray(values, float) * signs[None, :]
