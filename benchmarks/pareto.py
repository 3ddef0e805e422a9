"""Pareto fronts by gradients against a genetic algorithm (NSGA-II of the package pymoo), a pair for each device.

Both may give the same number of points. The genetic algorithm has ten times the evaluations, without
gradients. What a front is worth is the area that it dominates, counted from the worst of both fronts in each
objective. Left out: times, as both leave the order of their evaluations to the library.
"""

from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.optimize import minimize

from benchmarks.timing import table
from diffmicro.design import Constraint
from diffmicro.design.pareto import hypervolume, undominated
from diffmicro.design.run import Run
from optimize.fronts import FRONTS, POINTS, Wishes, front

TIMES = 10
"""Evaluations of the genetic algorithm for each one of the gradient route."""


class Pair(Problem):
    """Two wishes as pymoo asks for them: costs to be minimized; what has no value is infeasible."""

    def __init__(self, wishes: Wishes, budget: int):
        # A constraint with the bound 0 makes the second response known: its slack is the response.
        made = wishes.problem(wishes.first, (Constraint(wishes.second.response, ">=", 0.0),))
        self.asked, self.second = Run(made, budget), wishes.second
        super().__init__(n_var=len(made.variables), n_obj=2, n_ieq_constr=1, xl=0.0, xu=1.0)

    def _evaluate(self, x: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
        samples = self.asked.ask(np.clip(x, 0, 1), gradients=False)
        usable = np.array([bool(s.usable) for s in samples])
        costs = np.array([[-s.objective, -self.second.gain(s.slacks[0])] for s in samples])
        out["F"] = np.where(usable[:, None], costs, 0.0)
        out["G"] = np.where(usable, -1.0, 1.0)[:, None]


def by_genes(wishes: Wishes, evaluations: int, seed: int = 0) -> np.ndarray:
    """Values (points, 2) of the front that the genetic algorithm finds."""
    generations = max(evaluations // POINTS, 2)
    pair = Pair(wishes, generations * POINTS)
    found = minimize(pair, NSGA2(pop_size=POINTS), ("n_gen", generations), seed=seed)
    signs = [-1.0 if o.goal == "maximize" else 1.0 for o in wishes[:2]]
    if found.F is None:
        raise ValueError("pareto: the genetic algorithm found nothing that can be evaluated.")
    values = np.atleast_2d(found.F) * signs
    return values[undominated(values, wishes[:2])]


def compared(name: str) -> list[str]:
    """One row of the table."""
    wishes, ours = FRONTS[name], front(name)
    theirs = by_genes(wishes, TIMES * ours.evaluations)
    every = np.concatenate([ours.values, theirs])
    worst = [
        float(column.min() if o.goal == "maximize" else column.max())
        for column, o in zip(every.T, wishes[:2], strict=True)
    ]
    areas = [hypervolume(values, wishes[:2], worst) for values in (ours.values, theirs)]
    wish = " / ".join(f"{o.goal} {o.response}" for o in wishes[:2])
    sizes = [
        f"{len(ours.values)}, {len(theirs)}",
        f"{ours.evaluations}, {TIMES * ours.evaluations}",
    ]
    return [name, wish, *sizes, f"{areas[0] / areas[1]:.4f}", "at least 1"]


def run() -> list[str]:
    """One row a device; first ours, then the genetic algorithm's."""
    heads = ["device", "objectives", "points", "evaluations", "area over the genetic one", "goal"]
    return table(heads, [compared(name) for name in FRONTS])
