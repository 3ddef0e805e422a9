"""`optimize_design`: chooses a method, runs it within the budget, confirms and explains the result.

| method | for |
|---|---|
| `sqp` | smooth responses; constraints met to 1e-6, multipliers, several starts |
| `lagrangian` | the same with any optax optimizer (L-BFGS by default) and an augmented Lagrangian |
| `climb` | responses with cliffs and branches, as impacts make them |
| `cma` | responses without a gradient to trust (package `cma`) |
| `auto` | looks at the certificates of a few points and chooses one of them, and says so |
"""

import json
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro._files import replace
from diffmicro._reasons import VERDICTS
from diffmicro.design.climb import climb
from diffmicro.design.evolution import evolve
from diffmicro.design.kkt import binding
from diffmicro.design.lagrangian import lagrangian
from diffmicro.design.problem import Finished, Problem, Sample
from diffmicro.design.result import Result
from diffmicro.design.run import Folder, Run
from diffmicro.design.sqp import sqp
from diffmicro.design.starts import starts

METHODS: Mapping[str, Callable[..., tuple[str, list]]] = {
    "sqp": sqp,
    "lagrangian": lagrangian,
    "climb": climb,
    "cma": evolve,
}

CONFIRM = 3
"""Most designs that are evaluated in full at the end."""

PROBES = 4
"""Points at which `auto` looks."""

SAME = 0.01
"""Distance in the box below which two optima are one."""


def optimize_design(
    problem: Problem,
    optimizer: Any = None,
    *,
    method: str = "auto",
    budget: int = 148,
    seed: int = 0,
    progress: bool = True,
    out: Path | None = None,
    resume: bool = False,
    **options: Any,
) -> Result:
    """The best feasible design found with `budget` evaluations.

    optimizer: an optax optimizer, for the methods climb and lagrangian.
    out: folder in which the run is kept; `resume` continues the run that is there.
    options: of the method, as `lanes` (starts) and `tolerance`.
    """
    if method != "auto" and method not in METHODS:
        raise ValueError(
            f"optimize_design: method {method!r} is not one of auto, {', '.join(METHODS)}."
        )
    least = options.get("lanes", 1) + CONFIRM + 1
    if budget < max(least, 8) or options.get("lanes", 1) < 1:
        raise ValueError(
            f"optimize_design: a budget of {budget} evaluations does not do; it has to be at least "
            f"{max(least, 8)}, and lanes at least 1."
        )
    if optimizer is not None:
        options["optimizer"] = optimizer
        method = "climb" if method == "auto" else method
    began = time.monotonic()
    folder = None
    if out is not None or resume:
        if out is None:
            raise ValueError("optimize_design: resume needs the folder of the run, `out`.")
        folder = Folder(out, _config(problem, method, budget, seed, options), resume)
    published = problem.finish(problem.named(problem.start))
    status, team = "ok", []
    with Run(problem, budget - 1 - CONFIRM, progress, folder) as run:
        try:
            why = ""
            if method == "auto":
                method, why = _chosen(run)
            # The choice draws no random numbers, so naming the method gives the same run but for the probes.
            reason, team = METHODS[method](run, np.random.default_rng(seed), **options)
            reason = f"{why}{reason}"
        except KeyboardInterrupt:
            status, reason = "interrupted", "interrupted; this is the best so far"
    ranked = sorted(
        (i for i, sample in enumerate(run.samples) if problem.feasible(sample)),
        key=lambda i: -float(run.samples[i].objective),
    )
    finished, chosen, spent = _confirm(problem, run, ranked)
    if finished is None:
        if status == "ok":
            status, reason = "not_converged", _why_none(run)
        finished = published
    u = problem.start if chosen is None else run.trials[chosen]
    idle = _idle(run)
    if idle:
        warnings.warn(
            f"optimize_design: {', '.join(idle)} changed neither the objective nor a constraint "
            "where it was tried; leave it out.",
            stacklevel=2,
        )
    sample = None if chosen is None else run.samples[chosen]
    if sample is not None and not np.all(np.isfinite(sample.gradient)):  # found without gradients
        sample = jax.tree.map(np.asarray, problem.sample(jnp.asarray(u)))
    limits, bounds, remainder = _limits(problem, u, sample)
    result = Result(
        problem=problem,
        method=method,
        status=status,
        reason=reason,
        published=published,
        optimized=finished,
        start=problem.named(problem.start),
        variables=problem.named(u),
        constraints={
            str(c): {
                "of": c.response,
                "bound": c.bound,
                "value": finished.response[c.response],
                "slack": float(c.slack(_number(finished.response[c.response]))),
                "binds": bool(limits[i] > 0),
                "multiplier": float(limits[i]),
            }
            for i, c in enumerate(problem.constraints)
        },
        bounds=bounds,
        remainder=remainder,
        optima=_optima(problem, team),
        idle=idle,
        history=tuple(run.history),
        certified=run.certified,
        evaluations=run.used + 1 + spent,
        seconds=time.monotonic() - began,
    )
    if folder is not None:
        text = json.dumps(result.json(folder.path.name), indent=1, allow_nan=False) + "\n"
        replace(folder.path / "result.json", text.encode())
    return result


def _chosen(run: Run) -> tuple[str, str]:
    """A method for what a few points say about their gradients, and words for it."""
    points = starts(run.problem.start, PROBES, np.random.default_rng(0))
    samples = [sample for u in points for sample in run.ask(u[None, :])]
    judged = [VERDICTS[int(s.verdict)] for s in samples if s.verdict >= 0]
    refused = judged.count("refused") + sum(not s.usable and s.verdict < 0 for s in samples)
    if judged and 2 * refused > len(samples):
        if find_spec("cma"):
            return "cma", f"{refused} of {len(samples)} gradients were refused, so without them: "
        return "climb", (
            f"{refused} of {len(samples)} gradients were refused; the package cma, which does "
            "without, is not installed: "
        )
    if judged and 2 * judged.count("certified") < len(judged):
        return "climb", "most gradients are not certified, so in small steps: "
    return "sqp", ""


def _confirm(
    problem: Problem, run: Run, ranked: list[int]
) -> tuple[Finished | None, int | None, int]:
    """The best of the found designs that a full evaluation confirms, and how many it took."""
    for count, i in enumerate(ranked[:CONFIRM], 1):
        finished = problem.finish(problem.named(run.trials[i]))
        slacks = [c.slack(_number(finished.response[c.response])) for c in problem.constraints]
        if finished.status == "ok" and np.all(np.array(slacks) >= -1e-6 * problem.scales):
            return finished, i, count
    return None, None, min(len(ranked), CONFIRM)


def _limits(
    problem: Problem, u: np.ndarray, sample: Sample | None
) -> tuple[np.ndarray, dict[str, dict[str, Any]], float]:
    """Multipliers of constraints and of bounds, in units of the response over units of the limit."""
    none = np.zeros(len(problem.constraints))
    if sample is None or not np.all(np.isfinite(sample.gradient)):
        return none, {}, float("nan")
    found = binding(sample.gradient, sample.slacks, sample.slack_gradients, problem.scales, u)
    bounds = {}
    for i, variable in enumerate(problem.variables):
        for side, per_u in (("low", found.low[i]), ("high", found.high[i])):
            if per_u > 0:
                limit = getattr(variable, side)
                bounds[variable.name] = {
                    "side": side,
                    "bound": limit,
                    "multiplier": float(per_u / problem.stretch(i, limit)),
                }
    return found.constraints, bounds, found.remainder


def _optima(problem: Problem, team: list) -> tuple[dict[str, Any], ...]:
    """Distinct feasible optima of the lanes that converged, best first."""
    ended = [
        lane
        for lane in team
        if getattr(lane, "state", "") == "converged"
        and lane.known is not None
        and problem.feasible(lane.known)
    ]
    ended.sort(key=lambda lane: -float(lane.known.objective))
    kept: list = []
    for lane in ended:
        if all(np.max(np.abs(lane.u - other.u)) > SAME for other in kept):
            kept.append(lane)
    return tuple(
        {
            "objective": problem.objective.shown(float(lane.known.objective)),
            "variables": problem.named(lane.u),
        }
        for lane in kept
    )


def _idle(run: Run) -> tuple[str, ...]:
    """Variables that moved neither objective nor constraints in any sample."""
    moved = np.zeros(len(run.problem.names), bool)
    known = [s for s in run.samples if s.usable and np.all(np.isfinite(s.gradient))]
    if run.samples and not known and any(s.usable for s in run.samples):
        return ()  # a search without gradients cannot tell
    for sample in known:
        moved |= (sample.gradient != 0) | np.any(sample.slack_gradients != 0, axis=0)
    return tuple(n for n, m in zip(run.problem.names, moved, strict=True) if not m)


def _why_none(run: Run) -> str:
    if not any(bool(sample.usable) for sample in run.samples):
        return "no start gave a finite value and gradient; start elsewhere"
    return "no feasible design was found and confirmed; relax a constraint or widen the bounds"


def _config(problem: Problem, method: str, budget: int, seed: int, options: Mapping) -> dict:
    """What makes a run what it is."""
    return {
        "variables": [vars(v) for v in problem.variables],
        "objective": vars(problem.objective),
        "constraints": [str(c) for c in problem.constraints],
        "method": method,
        "budget": budget,
        "seed": seed,
        "options": {k: v for k, v in options.items() if isinstance(v, int | float | str | tuple)},
    }


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
