"""Pareto fronts by gradients against a genetic algorithm (NSGA-II of the package pymoo), a pair for each device.

Both may give the same number of points. The genetic algorithm has ten times the evaluations, without
gradients. What a front is worth is the area that it dominates, counted from the worst of both fronts in each
objective. Left out: times, as both leave the order of their evaluations to the library.
"""

from importlib import import_module

import numpy as np

from benchmarks.timing import table
from diffmicro.design import Constraint
from diffmicro.design.pareto import hypervolume, undominated
from diffmicro.design.run import Run
from optimize.fronts import FRONTS, POINTS, Wishes, front

TIMES = 10
"""Evaluations of the genetic algorithm for each one of the gradient route."""


def by_genes(wishes: Wishes, evaluations: int, seed: int = 0) -> np.ndarray:
    """Values (points, 2) of the front that the genetic algorithm finds."""
    nsga2, core, static, evaluator = (
        import_module(f"pymoo.{module}")
        for module in ("algorithms.moo.nsga2", "core.problem", "problems.static", "core.evaluator")
    )
    first, second = wishes[:2]
    # A constraint with the bound 0 makes the second response known: its slack is the response.
    problem = wishes.problem(first, (Constraint(second.response, ">=", 0.0),))
    generations = max(evaluations // POINTS, 2)
    asked = Run(problem, generations * POINTS)
    box = core.Problem(n_var=len(problem.variables), n_obj=2, n_ieq_constr=1, xl=0.0, xu=1.0)
    genes = nsga2.NSGA2(pop_size=POINTS)
    genes.setup(box, termination=("n_gen", generations), seed=seed)
    while genes.has_next():
        trials = genes.ask()
        samples = asked.ask(np.clip(trials.get("X"), 0, 1), gradients=False)
        usable = np.array([bool(s.usable) for s in samples])
        costs = np.array([[-s.objective, -second.gain(s.slacks[0])] for s in samples])
        # What has no value is infeasible.
        known = static.StaticProblem(
            box, F=np.where(usable[:, None], costs, 0.0), G=np.where(usable, -1.0, 1.0)[:, None]
        )
        evaluator.Evaluator().eval(known, trials)
        genes.tell(infills=trials)
    signs = [-1.0 if o.goal == "maximize" else 1.0 for o in (first, second)]
    values = np.atleast_2d(genes.result().F) * signs
    return values[undominated(values, (first, second))]


def compared(name: str, times: int = TIMES) -> list[str]:
    """One row of the table; the genetic algorithm has `times` the evaluations."""
    wishes, ours = FRONTS[name], front(name)
    theirs = by_genes(wishes, times * ours.evaluations)
    every = np.concatenate([ours.values, theirs])
    worst = [
        float(column.min() if o.goal == "maximize" else column.max())
        for column, o in zip(every.T, wishes[:2], strict=True)
    ]
    areas = [hypervolume(values, wishes[:2], worst) for values in (ours.values, theirs)]
    wish = " / ".join(f"{o.goal} {o.response}" for o in wishes[:2])
    sizes = [
        f"{len(ours.values)}, {len(theirs)}",
        f"{ours.evaluations}, {times * ours.evaluations}",
    ]
    return [name, wish, *sizes, f"{areas[0] / areas[1]:.4f}", "at least 1"]


def run() -> list[str]:
    """One row a device; first ours, then the genetic algorithm's."""
    heads = ["device", "objectives", "points", "evaluations", "area over the genetic one", "goal"]
    return table(heads, [compared(name) for name in FRONTS])
