"""How a search ended: judged by the design that it hands back, not by why its method gave up.

| status | what holds of the design |
|---|---|
| `ok` | the first-order conditions of an optimum (`kkt`), to a remainder of `OPTIMAL`; or CMA-ES converged there |
| `stopped` | feasible and better than the start, but not known to be an optimum |
| `not_converged` | nothing feasible was found, or nothing better than a start that is no optimum |
| `interrupted` | by the user: the best so far |

A start counts if its calculation ended `ok` and it meets the constraints; no design that is worse is handed
back. Left out: conditions of second order, and whether another optimum is better.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro.design.kkt import Binding, binding
from diffmicro.design.problem import Finished, Sample
from diffmicro.design.run import Run
from diffmicro.reasons import VERDICTS

STATUSES = ("ok", "stopped", "not_converged", "interrupted")
"""From the best to the worst."""

OPTIMAL = 1e-3
"""Largest remainder at an optimum: to first order, no direction gains more than this share of what the
gradient, or the gain's unit, promises across the box."""

CONFIRM = 3
"""Most designs that are evaluated in full at the end."""

ROUNDED = 1e-5
"""Share of the gain by which a design has to be better than an optimum to take its place."""

SAME = 0.01
"""Distance in the box below which two optima are one."""


class Ending(NamedTuple):
    """The design that is handed back, and what can be said of it.

    sample: its evaluation with gradients; None where it has none. limits: what holds it. spent: evaluations that
    it took to confirm it.
    """

    status: str
    reason: str
    finished: Finished
    u: np.ndarray
    sample: Sample | None
    limits: Binding
    spent: int


def end(
    run: Run,
    published: Finished,
    optimum: np.ndarray | None,
    settled: np.ndarray | None,
    why: str,
    interrupted: bool,
) -> Ending:
    """Confirm the best design, check the conditions there, and say how the search ended.

    optimum: the best one that a search from several starts found. settled: where CMA-ES converged. why: what ended
    the method.
    """
    problem = run.problem
    missed = problem.missed(published)
    finished, chosen, spent = _confirm(run, published, missed, optimum)
    u = problem.start if chosen is None else run.trials[chosen]
    sample = _with_gradient(run, u) if chosen is not None or not missed else None
    limits = conditions(run, u, sample)
    texts = [why]
    if optimal(run, sample, limits.remainder):
        status = "ok"
        texts.append(
            f"At the best design the conditions of an optimum hold to {limits.remainder:.1g}"
        )
    elif chosen is not None and settled is not None and np.max(np.abs(settled - u)) < SAME:
        status = "ok"
    elif chosen is not None:
        status = "stopped"
        texts.append(_what_is_left(limits))
    else:
        status = "not_converged"
        texts = [_why_none(run, bool(missed)), f"The search: {why}"]
    if interrupted:
        status = "interrupted"
        texts = [why, "This is the best so far" if chosen is not None else "This is the start"]
    if missed:
        texts.append(f"The start does not count: it {', '.join(missed)}")
    return Ending(status, ". ".join(texts), finished, u, sample, limits, spent)


def conditions(run: Run, u: np.ndarray, sample: Sample | None) -> Binding:
    """Multipliers and remainder at a design; NaN without a gradient there."""
    problem = run.problem
    if sample is None or not np.all(np.isfinite(sample.gradient)):
        none = np.zeros(len(u))
        return Binding(np.zeros(len(problem.constraints)), none, none, float("nan"))
    gain = float(sample.objective)
    first = run.samples[0].objective if run.samples and run.samples[0].usable else gain
    unit = max(abs(gain), abs(gain - float(first)))
    slopes = sample.slack_gradients
    return binding(sample.gradient, sample.slacks, slopes, problem.scales, u, unit)


def optimal(run: Run, sample: Sample | None, remainder: float) -> bool:
    """Whether the conditions of an optimum hold, by a gradient that was not refused.

    A response that never changed has no gradient anywhere: that is a dead zone and no optimum.
    """
    if sample is None or not run.problem.feasible(sample):
        return False
    refused = int(sample.verdict) == VERDICTS.index("refused")
    return remainder <= OPTIMAL and not refused and not _flat(run)


def _flat(run: Run) -> bool:
    """Whether nothing was seen of the objective but one value, without a slope."""
    seen = [s for s in run.samples if s.usable]
    sloped = any(np.any(np.nan_to_num(s.gradient)) for s in seen)
    return not sloped and len({float(s.objective) for s in seen}) <= 1


def _confirm(
    run: Run, published: Finished, missed: list[str], optimum: np.ndarray | None
) -> tuple[Finished, int | None, int]:
    """The best design that a full evaluation confirms to be better than the start, or the start."""
    problem, count = run.problem, 0

    def worth(i: int) -> float:
        """The gain; an optimum is not given up for what a limit that is missed by `FEASIBLE` brings."""
        gain = float(run.samples[i].objective)
        at_optimum = optimum is not None and np.array_equal(run.trials[i], optimum)
        return gain + ROUNDED * abs(gain) if at_optimum else gain

    feasible = [i for i, sample in enumerate(run.samples) if problem.feasible(sample)]
    ranked = sorted(feasible, key=worth, reverse=True)
    for count, i in enumerate(ranked[:CONFIRM], 1):
        if not missed and np.array_equal(run.trials[i], problem.start):
            return published, None, count - 1
        finished = problem.finish(problem.named(run.trials[i]))
        better = bool(missed) or problem.gain(finished) > problem.gain(published)
        if better and not problem.missed(finished):
            return finished, i, count
    return published, None, count


def _with_gradient(run: Run, u: np.ndarray) -> Sample:
    """The evaluation of a design with gradients; again where the search took none."""
    known = run.known(u)
    if known is not None and np.all(np.isfinite(known.gradient)):
        return known
    return jax.tree.map(np.asarray, run.problem.sample(jnp.asarray(u)))


def _what_is_left(limits: Binding) -> str:
    better = "It is better than the start, but"
    if np.isnan(limits.remainder):
        return f"{better} it has no gradient to tell an optimum by"
    return (
        f"{better} the conditions of an optimum do not hold: {limits.remainder:.2g} of the gradient "
        f"is left, where an optimum has at most {OPTIMAL:g}"
    )


def _why_none(run: Run, none: bool) -> str:
    if not any(bool(sample.usable) for sample in run.samples):
        return "No start gave a finite value and gradient; start elsewhere"
    if _flat(run):
        same = "has the same value at every design that was tried"
        one = "has no slope at the only design that was tried, which may be a dead zone"
        return (
            f"The objective {one if run.used == 1 else same}; start elsewhere, or free what it "
            "depends on"
        )
    if none:
        return "No feasible design was found and confirmed; relax a constraint or widen the bounds"
    return "Nothing better than the start was found"
