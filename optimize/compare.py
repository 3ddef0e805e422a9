"""`python -m optimize --compare [STUDY ...]`: what gradients are worth, study by study, in one table.

Each study is run by gradients, then CMA-ES gets ten times as many evaluations on the same problem, without
gradients, which are cheaper. Each counts up to its first feasible design that is within `CLOSE` of CMA-ES's best.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from diffmicro.design.evolution import evolve
from diffmicro.design.loop import METHODS
from diffmicro.design.problem import Problem
from diffmicro.design.run import Run
from diffmicro.design.study import Study

CLOSE = 1e-3
"""Share of CMA-ES's best gain that a design may still miss when it counts as there."""

TIMES = 10
"""Evaluations that CMA-ES gets for each of the gradient route."""


class Row(NamedTuple):
    """One study: values found, and evaluations until CMA-ES's result was reached by each."""

    study: str
    by_gradients: float | None
    by_cma: float | None
    gradient_evaluations: int | None
    cma_evaluations: int | None

    @property
    def ratio(self) -> float | None:
        if self.gradient_evaluations is None or self.cma_evaluations is None:
            return None
        return self.cma_evaluations / self.gradient_evaluations


def compare(study: Study, seed: int = 0) -> Row:
    """Both routes on the study's problem."""
    options = dict(study.options)
    budget, method = options.pop("budget", 148), options.pop("method", "sqp")
    problem = study.problem()
    with Run(problem, budget) as run:
        METHODS[method](run, np.random.default_rng(seed), **options)
    with Run(problem, TIMES * run.used) as other, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evolve(other, np.random.default_rng(seed), tolerance=1e-9)
    gains, rivals = _gains(problem, run), _gains(problem, other)
    best, rival = np.max(gains, initial=-np.inf), np.max(rivals, initial=-np.inf)
    near = rival - CLOSE * abs(rival)
    return Row(
        study.name,
        _value(problem, best),
        _value(problem, rival),
        _first(gains, near),
        _first(rivals, near) or other.used,
    )


def _first(gains: np.ndarray, near: float) -> int | None:
    """Evaluations until a gain reaches `near`; with no such mark, until the first feasible design."""
    there = np.flatnonzero(gains >= near) if np.isfinite(near) else np.flatnonzero(gains > -np.inf)
    return int(there[0]) + 1 if len(there) else None


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    lines = [
        "| study | by gradients | CMA-ES | evaluations to CMA-ES's result: gradients | CMA-ES | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = "not reached" if row.ratio is None else f"{row.ratio:.1f}"
        numbers = (row.by_gradients, row.by_cma, row.gradient_evaluations, row.cma_evaluations)
        lines.append(f"| {row.study} | {' | '.join(_text(n) for n in numbers)} | {ratio} |")
    return "\n".join(lines)


def _gains(problem: Problem, run: Run) -> np.ndarray:
    return np.array([float(s.objective) if problem.feasible(s) else -np.inf for s in run.samples])


def _value(problem: Problem, gain: float) -> float | None:
    return problem.objective.shown(float(gain)) if np.isfinite(gain) else None


def _text(number: Any) -> str:
    return "-" if number is None else f"{number:.5g}"
