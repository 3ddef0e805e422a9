"""`python -m optimize --compare [STUDY ...]`: what gradients are worth, study by study, in one table.

Each study is run by gradients, then CMA-ES gets ten times as many evaluations on the same problem, without
gradients, which are cheaper. Each counts up to its first feasible design that is within `CLOSE` of CMA-ES's best.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro.certificate import VERDICTS
from diffmicro.design.ending import conditions, optimal
from diffmicro.design.evolution import evolve
from diffmicro.design.loop import METHODS
from diffmicro.design.problem import Objective, Problem, Variable, function_problem
from diffmicro.design.run import Run
from diffmicro.design.study import Study
from diffmicro.identification import Parameters, fit, misfit
from diffmicro.results import word

CLOSE = 1e-3
"""Share of CMA-ES's best gain that a design may still miss when it counts as there."""

TIMES = 10
"""Evaluations that CMA-ES gets for each of the gradient route."""

REACH = 0.25
"""Share of its start by which CMA-ES may change a parameter that is fitted."""


class Row(NamedTuple):
    """One study by gradients: values, how it ended, what its worst constraint has left (share of its bound),
    certificate, cost. Then CMA-ES, and evaluations until its result was reached by each."""

    study: str
    published: float | None
    by_gradients: float | None
    status: str
    slack: float | None
    verdict: str
    evaluations: int
    seconds: float
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
    problem, began = study.problem(), time.monotonic()
    with Run(problem, budget) as run:
        METHODS[method](run, np.random.default_rng(seed), **options)
    seconds = time.monotonic() - began
    gains = _gains(problem, run)
    rivals, rival, near = _rival(problem, run.used, seed)
    first, last = run.samples[0], run.samples[int(np.argmax(gains))]
    return Row(
        study.name,
        _value(problem, float(first.objective)),
        _value(problem, float(np.max(gains, initial=-np.inf))),
        _status(run, gains),
        float(np.min(last.slacks / problem.scales)) if problem.constraints else None,
        VERDICTS[int(last.verdict)] if int(last.verdict) >= 0 else "-",
        run.used,
        seconds,
        _value(problem, rival),
        _first(gains, near),
        _first(rivals, near) or len(rivals),
    )


def compare_fit(
    name: str,
    residual: Callable[[dict[str, Any]], Array],
    start: Parameters,
    positive: Sequence[str] = (),
    seed: int = 0,
) -> Row:
    """A least squares fit beside CMA-ES on its misfit. One step of Levenberg-Marquardt is one evaluation."""
    began = time.monotonic()
    fitted = partial(fit, residual, start, positive=positive)
    found = fitted()
    seconds = time.monotonic() - began
    known, unravel = ravel_pytree({k: jnp.asarray(value, float) for k, value in start.items()})
    shares = [Variable(str(i), 1 - REACH, 1 + REACH, 1.0) for i in range(known.size)]

    def judged(at: dict[str, Array]) -> dict[str, Array]:
        share = jnp.stack([at[variable.name] for variable in shares])
        return {"misfit": misfit(residual(unravel(known * share)))}

    problem = function_problem(judged, shares, Objective("misfit", "minimize"))
    rivals, rival, near = _rival(problem, 1 + found.steps, seed)
    steps = (n for n in range(1, found.steps + 1) if -fitted(max_steps=n).misfit >= near)
    reached = 0 if rivals[0] >= near else next(steps, None)
    return Row(
        name,
        _value(problem, float(rivals[0])),
        found.misfit,
        word(found.result),
        None,
        "-",
        1 + found.steps,
        seconds,
        _value(problem, rival),
        None if reached is None else 1 + reached,
        _first(rivals, near) or len(rivals),
    )


def _rival(problem: Problem, used: int, seed: int) -> tuple[np.ndarray, float, float]:
    """Gains of CMA-ES with `TIMES` as many evaluations, the best of them, and from where on one is as good."""
    with Run(problem, TIMES * used) as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evolve(run, np.random.default_rng(seed), tolerance=1e-9)
    gains = _gains(problem, run)
    best = float(np.max(gains, initial=-np.inf))
    return gains, best, best - CLOSE * abs(best)


def _first(gains: np.ndarray, near: float) -> int | None:
    """Evaluations until a gain reaches `near`; with no such mark, until the first feasible design."""
    there = np.flatnonzero(gains >= near) if np.isfinite(near) else np.flatnonzero(gains > -np.inf)
    return int(there[0]) + 1 if len(there) else None


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    heads = (
        "study", "published", "by gradients", "status", "worst slack", "gradient", "evaluations", "seconds",
        "CMA-ES", "evaluations to CMA-ES's result: gradients", "CMA-ES", "ratio",
    )  # fmt: skip
    lines = [heads, ("---",) * len(heads)]
    for row in rows:
        ratio = "not reached" if row.ratio is None else f"{row.ratio:.1f}"
        ratio = ratio if row.by_cma is not None else "CMA-ES found none"
        # Both are given the start: what it has already is nobody's result.
        ratio = "CMA-ES found nothing better" if row.gradient_evaluations == 1 else ratio
        lines.append((row.study, *(_text(known) for known in row[1:]), ratio))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _status(run: Run, gains: np.ndarray) -> str:
    """How the search by gradients ended, at its best sample."""
    best = int(np.argmax(gains))
    sample = run.samples[best]
    if optimal(run, sample, conditions(run, run.trials[best], sample).remainder):
        return "ok"
    return "stopped" if gains[best] > gains[0] else "not_converged"


def _gains(problem: Problem, run: Run) -> np.ndarray:
    return np.array([float(s.objective) if problem.feasible(s) else -np.inf for s in run.samples])


def _value(problem: Problem, gain: float) -> float | None:
    return problem.objective.shown(float(gain)) if np.isfinite(gain) else None


def _text(known: Any) -> str:
    if known is None or isinstance(known, str):
        return known or "-"
    return f"{known:.5g}"
