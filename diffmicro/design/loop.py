"""`optimize_design`: chooses a method, runs it within the budget, confirms and explains the result.

| method | for |
|---|---|
| `sqp` | smooth responses and constraints, from several starts |
| `slsqp` | the same by SciPy's SLSQP |
| `optax` | smooth responses without constraints, by any optax optimizer (L-BFGS by default), from several starts |
| `climb` | responses with cliffs and branches, as impacts make them |
| `cma` | responses without a gradient to trust (package `cma`) |
| `auto` | chooses one of them by the certificates of a few points, and says so |
"""

import json
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from diffmicro._files import replace
from diffmicro._json import Json, JsonObject
from diffmicro.design.climb import climb
from diffmicro.design.ending import CONFIRM, Ending, end
from diffmicro.design.evolution import evolve
from diffmicro.design.problem import Problem, number
from diffmicro.design.result import Result
from diffmicro.design.run import Folder, Run
from diffmicro.design.searches import Outcome, descend, slsqp, sqp
from diffmicro.design.starts import Starts, evenly
from diffmicro.parameters import Value, whole_number
from diffmicro.reasons import VERDICTS
from diffmicro.sweep.cluster import Processes

if TYPE_CHECKING:
    import optax

METHODS: Mapping[str, Callable[..., Outcome]] = {
    "sqp": sqp,
    "slsqp": slsqp,
    "optax": descend,
    "climb": climb,
    "cma": evolve,
}

PROBES = 4
"""Points at which `auto` looks."""

GENERATIONS = 20
"""Evaluations for each variable below which `auto` does not choose CMA-ES."""

MANY = 100
"""Variables above which `auto` takes L-BFGS where it can: SQP keeps and factors a full matrix."""

GONE = {"lagrangian": "sqp, which keeps constraints better, or optax for an optimizer of your own"}
"""Methods that were, and what to use."""


def optimize_design(
    problem: Problem,
    optimizer: "optax.GradientTransformation | None" = None,
    *,
    method: str = "auto",
    budget: int = 148,
    seed: int = 0,
    progress: bool = True,
    out: Path | None = None,
    resume: bool = False,
    watch: Callable[[int], object] | None = None,
    processes: Processes | None = None,
    **options: Value,
) -> Result:
    """The best feasible design found with `budget` evaluations.

    optimizer: an optax optimizer, for the methods optax and climb; auto takes climb where there are constraints.
    out: folder in which the run is kept; `resume` continues the run that is there.
    watch: called with the number of evaluations before each; its KeyboardInterrupt ends the search as Ctrl-C does.
    processes: that share operating points, deviating parts and lanes, from `sweep.processes`.
    options: of the method, as `lanes` (starts) and `tolerance`.
    """
    if optimizer is not None:
        options["optimizer"] = optimizer
        method = ("climb" if problem.constraints else "optax") if method == "auto" else method
    _check_options(method, options)
    lanes = whole_number("optimize_design: lanes", options.get("lanes"), 1, 1)
    budget = whole_number("optimize_design: budget", budget, 148, max(lanes + CONFIRM + 1, 8))
    seed = whole_number("optimize_design: seed", seed, 0, 0)
    began = time.monotonic()
    folder = _folder(out, _config(problem, method, budget, seed, options), resume)
    published, why = problem.finish(problem.named(problem.start)), ""
    outcome, interrupted = Outcome("interrupted"), False
    with Run(problem, budget - 1 - CONFIRM, progress, folder, watch, processes) as run:
        try:
            if method == "auto":
                method, why = _chosen(run)
            # The choice draws no random numbers, so naming the method gives the same run but for the probes.
            own = {name: options[name] for name in options if name in _options(method)}
            outcome = METHODS[method](run, np.random.default_rng(seed), **own)
        except KeyboardInterrupt:
            why, interrupted = "", True
    why = f"{why}{outcome.reason}"
    found = end(run, published, outcome.optimum, outcome.settled, why, interrupted)
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
        **_of_starts(problem, outcome.starts),
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


def _folder(out: Path | None, config: Mapping[str, Json], resume: bool) -> Folder | None:
    """Where the run is kept, if it is."""
    if resume and out is None:
        raise ValueError("optimize_design: resume needs the folder of the run, `out`.")
    return None if out is None else Folder(out, config, resume)


def _of_idle(names: Sequence[str]) -> str:
    return (
        f"optimize_design: {', '.join(names)} changed neither the objective nor a constraint where it was "
        "tried; leave it out."
    )


def _options(method: str) -> set[str]:
    """The options of a method; `auto` has those of all."""
    methods = METHODS.values() if method == "auto" else [METHODS[method]]
    return {name for function in methods for name in list(signature(function).parameters)[2:]}


def _check_options(method: str, options: Mapping[str, Value]) -> None:
    """Raise ValueError for a method that is not there, or an option that it does not have."""
    if method in GONE:
        raise ValueError(f"optimize_design: the method {method} is gone. Use {GONE[method]}.")
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
    """A method for what a few points say about their gradients, for constraints and budget; and why it."""
    problem = run.problem
    n = len(problem.variables)
    points = [problem.start, *evenly(PROBES - 1, n)]
    samples = [sample for u in points for sample in run.ask(u[None, :])]
    judged = [VERDICTS[int(s.verdict)] for s in samples if s.verdict >= 0]
    certified = judged.count("certified")
    refused = judged.count("refused") + sum(not s.usable and s.verdict < 0 for s in samples)
    if judged and 2 * refused > len(samples):
        why = f"{refused} of {len(samples)} gradients were refused"
        if run.budget - run.used < GENERATIONS * n:
            return "climb", f"climb, as {why} and the budget is too small for CMA-ES: "
        if n == 1:
            return "climb", f"climb, as {why} and CMA-ES needs two variables: "
        if find_spec("cma"):
            return "cma", f"cma, as {why}: "
        return "climb", f"climb, as {why} and the package cma is not installed: "
    if judged and 2 * certified < len(judged):
        return "climb", f"climb, as only {certified} of {len(judged)} gradients are certified: "
    if n > MANY and not problem.constraints:
        return "optax", f"optax, as there are {n} variables and no constraints: "
    why = f"{certified} of {len(judged)} gradients are certified" if judged else "it has gradients"
    return "sqp", f"sqp, as {why}: "


def _constraints(problem: Problem, found: Ending) -> dict[str, JsonObject]:
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
            **constraint.price(float(multiplier)),
        }
    return shown


def _bounds(problem: Problem, found: Ending) -> dict[str, JsonObject]:
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


def _of_starts(problem: Problem, starts: Starts | None) -> JsonObject:
    """What a search from several starts saw: local optima, best first, and how sure it is of them."""
    if starts is None:
        return {"optima": (), "starts": 0, "unseen": None}
    optima = tuple(
        {
            "objective": problem.objective.shown(float(optimum.sample.objective)),
            "variables": problem.named(optimum.u),
            "limits": list(optimum.limits),
            "starts": optimum.starts,
        }
        for optimum in starts.optima
    )
    return {"optima": optima, "starts": starts.begun, "unseen": starts.unseen}


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
