"""Without gradients: covariance matrix adaptation (the package `cma`), for what has none to trust.

Constraints enter as a penalty in units of their bounds, the box by reflection inside `cma`. What cannot be
evaluated counts as worse than anything seen.
"""

import warnings

import numpy as np

from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run, Spent
from diffmicro.design.searches import Outcome, violation

SPREAD = 0.2
"""Standard deviation of the first generation, share of the box."""

PENALTY = 10.0
"""What a violation by the whole bound costs, in units of the objective at the start."""

WORST = 1e3
"""Cost of what cannot be evaluated, in the same units."""

CONVERGED = ("tolx", "tolfun", "tolfunhist")
"""Criteria of `cma` that mean convergence; the others are ways to give up."""


def evolve(run: Run, rng: np.random.Generator, *, tolerance: float = 1e-6) -> Outcome:
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
    if len(problem.variables) == 1:
        raise ValueError(
            "The method cma needs two variables at least: the package cma does not support one. Choose climb, "
            "or free another parameter."
        )
    seed = int(rng.integers(1, 2**31))
    options = {"bounds": [0, 1], "seed": seed, "verbose": -9, "tolx": tolerance}
    try:
        (first,) = run.ask(problem.start[None, :], gradients=False)
        size = (abs(float(first.objective)) if first.usable else 1.0) or 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy = cma.CMAEvolutionStrategy(problem.start, SPREAD, options)
            while not strategy.stop():
                trials = [np.clip(np.asarray(u), 0, 1) for u in strategy.ask()]
                samples = run.ask(np.stack(trials), gradients=False)
                costs = [_cost(problem, sample, size) for sample in samples]
                strategy.tell(trials, costs)
                best = int(np.argmin(costs))
                if samples[best].usable:
                    reach = float(strategy.sigma)
                    run.tell(problem.step(trials[best], samples[best], run.used, 1, reach))
    except Spent:
        return Outcome(f"the budget of {run.budget} evaluations is used")
    ended = [str(name) for name in strategy.stop() or ()]
    by = f"by its criterion {', '.join(ended)}"
    if not set(ended) & set(CONVERGED):
        return Outcome(f"CMA-ES gave up {by}")
    return Outcome(f"CMA-ES converged {by}", settled=np.asarray(strategy.result.xfavorite))


def _cost(problem: Problem, sample: Sample, size: float) -> float:
    if not np.isfinite(sample.objective) or not np.all(np.isfinite(sample.slacks)):
        return WORST
    return float(-sample.objective / size + PENALTY * violation(problem, sample))
