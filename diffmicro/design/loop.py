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
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from diffmicro._files import replace
from diffmicro.design.climb import climb
from diffmicro.design.ending import CONFIRM, SAME, Ending, end
from diffmicro.design.evolution import evolve
from diffmicro.design.lagrangian import lagrangian
from diffmicro.design.problem import Problem, number
from diffmicro.design.result import Result
from diffmicro.design.run import Folder, Run
from diffmicro.design.sqp import sqp
from diffmicro.design.starts import starts
from diffmicro.parameters import whole_number
from diffmicro.reasons import VERDICTS

METHODS: Mapping[str, Callable[..., tuple[str, list]]] = {
    "sqp": sqp,
    "lagrangian": lagrangian,
    "climb": climb,
    "cma": evolve,
}

PROBES = 4
"""Points at which `auto` looks."""


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
    if optimizer is not None:
        options["optimizer"] = optimizer
        method = "climb" if method == "auto" else method
    _check_options(method, options)
    lanes = whole_number("optimize_design: lanes", options.get("lanes"), 1, 1)
    budget = whole_number("optimize_design: budget", budget, 148, max(lanes + CONFIRM + 1, 8))
    seed = whole_number("optimize_design: seed", seed, 0, 0)
    began = time.monotonic()
    if resume and out is None:
        raise ValueError("optimize_design: resume needs the folder of the run, `out`.")
    config = _config(problem, method, budget, seed, options)
    folder = None if out is None else Folder(out, config, resume)
    published = problem.finish(problem.named(problem.start))
    team, interrupted = [], False
    with Run(problem, budget - 1 - CONFIRM, progress, folder) as run:
        try:
            why = ""
            if method == "auto":
                method, why = _chosen(run)
            # The choice draws no random numbers, so naming the method gives the same run but for the probes.
            own = {name: options[name] for name in options if name in _options(method)}
            reason, team = METHODS[method](run, np.random.default_rng(seed), **own)
            reason = f"{why}{reason}"
        except KeyboardInterrupt:
            interrupted, reason = True, "interrupted"
    found = end(run, published, team, reason, interrupted)
    idle = _idle(run)
    if idle:
        warnings.warn(_of_idle(idle), stacklevel=2)
    result = Result(
        problem=problem,
        method=method,
        status=found.status,
        reason=found.reason,
        published=published,
        optimized=found.finished,
        start=problem.named(problem.start),
        variables=problem.named(found.u),
        constraints=_constraints(problem, found),
        bounds=_bounds(problem, found),
        remainder=found.limits.remainder,
        optima=_optima(problem, team),
        idle=idle,
        history=tuple(run.history),
        certified=run.certified,
        evaluations=run.used + 1 + found.spent,
        seconds=time.monotonic() - began,
    )
    if folder is not None:
        text = json.dumps(result.json(folder.path.name), indent=1, allow_nan=False) + "\n"
        replace(folder.path / "result.json", text.encode())
    return result


def _of_idle(names: Sequence[str]) -> str:
    return (
        f"optimize_design: {', '.join(names)} changed neither the objective nor a constraint where it was "
        "tried; leave it out."
    )


def _options(method: str) -> set[str]:
    """The options of a method; `auto` has those of all."""
    methods = METHODS.values() if method == "auto" else [METHODS[method]]
    return {name for function in methods for name in list(signature(function).parameters)[2:]}


def _check_options(method: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError for a method that is not there, or an option that it does not have."""
    if method != "auto" and method not in METHODS:
        raise ValueError(
            f"optimize_design: method {method!r} is not one of auto, {', '.join(METHODS)}."
        )
    for name in options:
        if name not in _options(method):
            raise ValueError(
                f"optimize_design: {name} is no option of the method {method}, which has "
                f"{', '.join(sorted(_options(method)))}. Leave it out, or name another method."
            )


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


def _constraints(problem: Problem, found: Ending) -> dict[str, dict[str, Any]]:
    """What each constraint has left, and its multiplier in units of the response over its own."""
    shown = {}
    for constraint, multiplier in zip(problem.constraints, found.limits.constraints, strict=True):
        value = found.finished.response[constraint.response]
        slack = float(constraint.slack(number(value)))
        shown[str(constraint)] = {
            "of": constraint.response,
            "bound": constraint.bound,
            "value": value,
            "slack": slack if math.isfinite(slack) else None,
            "binds": bool(multiplier > 0),
            "multiplier": float(multiplier),
        }
    return shown


def _bounds(problem: Problem, found: Ending) -> dict[str, dict[str, Any]]:
    """Variables that stand at a bound which holds them, and its multiplier."""
    bounds = {}
    for i, variable in enumerate(problem.variables):
        for side, per_u in (("low", found.limits.low[i]), ("high", found.limits.high[i])):
            if per_u > 0:
                limit = getattr(variable, side)
                bounds[variable.name] = {
                    "side": side,
                    "bound": limit,
                    "multiplier": float(per_u / problem.stretch(i, limit)),
                }
    return bounds


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


def _config(problem: Problem, method: str, budget: int, seed: int, options: Mapping) -> dict:
    """What makes a run what it is."""
    return {
        "variables": [vars(v) for v in problem.variables],
        "objective": vars(problem.objective),
        "constraints": [vars(c) for c in problem.constraints],
        "about": problem.about,
        "method": method,
        "budget": budget,
        "seed": seed,
        "options": {k: v for k, v in options.items() if isinstance(v, int | float | str | tuple)},
    }
