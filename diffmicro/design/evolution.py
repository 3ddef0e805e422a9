"""Without gradients: covariance matrix adaptation (the package `cma`), for what has none to trust.

Constraints enter as a penalty in units of their bounds, the box by reflection inside `cma`. What cannot be
evaluated counts as worse than anything seen.
"""

import warnings

import numpy as np

from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run, Spent
from diffmicro.design.searches import Outcome
from diffmicro.parameters import whole_number

SPREAD = 0.2
"""Standard deviation of the first generation, share of the box."""

PENALTY = 10.0
"""What a violation by the whole bound costs, in units of the objective at the start."""

CONVERGED = ("tolx", "tolfun", "tolfunhist")
"""Criteria of `cma` that mean convergence; the others are ways to give up."""


def evolve(
    run: Run, rng: np.random.Generator, *, tolerance: float = 1e-6, population: int | None = None
) -> Outcome:
    """Generations until the budget is used or the spread is below the tolerance.

    The middle of the last generation is `settled` where a criterion of `CONVERGED` ended it.
    """
    try:
        import cma
    except ImportError:
        raise ValueError(
            "The method cma needs the package cma. Install it (pip install cma), or choose another."
        ) from None
    problem = run.problem
    options = {
        "bounds": [0, 1],
        "seed": int(rng.integers(1, 2**31)),
        "verbose": -9,
        "tolx": tolerance,
    }
    if population is not None:
        options["popsize"] = whole_number("cma: population", population, None, 2)
    try:
        (first,) = run.ask(problem.start[None, :], gradients=False)
        unit = abs(float(first.objective)) if first.usable else 1.0
        worst = 1e3
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy = cma.CMAEvolutionStrategy(problem.start, SPREAD, options)
            while not strategy.stop():
                trials = [np.clip(np.asarray(u), 0, 1) for u in strategy.ask()]
                samples = run.ask(np.stack(trials), gradients=False)
                costs = [_cost(problem, sample, unit or 1.0, worst) for sample in samples]
                strategy.tell(trials, costs)
                best = int(np.argmin(costs))
                if samples[best].usable:
                    step = problem.step(
                        trials[best], samples[best], run.used, 1, float(strategy.sigma)
                    )
                    run.tell(step)
    except Spent:
        return Outcome(f"the budget of {run.budget} evaluations is used")
    ended = [str(name) for name in strategy.stop() or ()]
    by = f"by its criterion {', '.join(ended)}"
    if not set(ended) & set(CONVERGED):
        return Outcome(f"CMA-ES gave up {by}")
    return Outcome(f"CMA-ES converged {by}", settled=np.asarray(strategy.result.xfavorite))


def _cost(problem: Problem, sample: Sample, unit: float, worst: float) -> float:
    if not np.isfinite(sample.objective) or not np.all(np.isfinite(sample.slacks)):
        return worst
    violation = np.sum(np.maximum(0, -sample.slacks / problem.scales))
    return float(-sample.objective / unit + PENALTY * violation)
