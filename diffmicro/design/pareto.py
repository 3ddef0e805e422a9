"""Two objectives at once: designs of which none is better in both.

The front is followed by gradients: the best designs for each objective alone are its ends; between them the
second objective gets a limit (the epsilon of the constraint method) and the first one is optimized, each time
from the neighbor that is known. `hypervolume` measures what a front covers, for comparisons.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from diffmicro.design.loop import optimize_design
from diffmicro.design.problem import Constraint, Objective, Problem
from diffmicro.design.result import Result

SHORT = 1e-4
"""Share of the range by which the limits stay inside the ends."""


class Front(NamedTuple):
    """Points of the front, from the best of the first objective to the best of the second.

    values: (points, 2). verdicts: of the first objective's gradient. evaluations: all that it took.
    price: what a unit of the second objective costs in the first, the multiplier of its limit.
    """

    first: Objective
    second: Objective
    values: np.ndarray
    designs: tuple[dict[str, float], ...]
    price: np.ndarray
    verdicts: tuple[str, ...]
    evaluations: int


def pareto_front(
    problem: Callable[[Objective, Sequence[Constraint]], Problem],
    first: Objective,
    second: Objective,
    *,
    points: int = 8,
    budget: int = 100,
    progress: bool = False,
    **options: Any,
) -> Front:
    """The front of two objectives; `problem` makes the problem of one of them with added constraints.

    budget: evaluations for each point. options: of `optimize_design`, method sqp unless said otherwise.
    """
    if points < 3 or "target" in (first.goal, second.goal):
        raise ValueError(
            "pareto_front: at least 3 points, and objectives that maximize or minimize."
        )
    options = {"method": "sqp", **options}
    spent = 0

    def best(made: Problem, start: dict[str, float] | None) -> Result:
        nonlocal spent
        found = optimize_design(
            made if start is None else started(made, start),
            budget=budget,
            progress=progress,
            **options,
        )
        spent += found.evaluations
        return found

    one = best(problem(first, ()), None)
    other = best(problem(second, ()), one.variables)
    for objective, end in ((first, one), (second, other)):
        if end.status != "ok":
            raise ValueError(f"pareto_front: no end for {objective.response}: {end.reason}.")
    limits = _limits(second, _value(one, second), _value(other, second), points)
    found, price, start = [one], [0.0], one.variables
    for constraint in limits:
        nearer = best(problem(first, (constraint,)), start)
        if nearer.status == "ok":
            found.append(nearer)
            price.append(nearer.constraints[str(constraint)]["multiplier"])
            start = nearer.variables
    values = np.array([[_value(r, first), _value(r, second)] for r in found])
    kept = undominated(values, (first, second))
    return Front(
        first,
        second,
        values[kept],
        tuple(found[i].variables for i in kept),
        np.array(price)[kept],
        tuple(found[i].optimized.certificate.get("verdict", "") for i in kept),
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


def _limits(second: Objective, low: float, high: float, points: int) -> list[Constraint]:
    """Limits of the second objective, from just above what the first one's best has up to the end."""
    shares = np.linspace(0, 1 - SHORT, points)[1:]
    sense = ">=" if second.goal == "maximize" else "<="
    return [Constraint(second.response, sense, float(low + s * (high - low))) for s in shares]


def _value(result: Result, objective: Objective) -> float:
    return float(result.optimized.response[objective.response])


def _gains(values: np.ndarray, objectives: Sequence[Objective]) -> np.ndarray:
    signs = np.array([1.0 if o.goal == "maximize" else -1.0 for o in objectives])
    return np.asarray(values, float) * signs[None, :]
