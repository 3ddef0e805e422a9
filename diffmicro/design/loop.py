"""The optimization loop: a few lanes climb side by side, steered by an optax optimizer.

Each iteration evaluates one trial per lane: functions in one jitted, vmapped call; devices in turn,
as compiling a batch costs more than it gains on a few lanes. Lane 0 starts from the
problem's start, the others from the cells of a Latin square. The optimizer makes a direction of
the merit's gradient (`lane.py`); the loop adds the path of accepted steps and, but for lane 0, a
random part, and controls the length. The barrier's weight mu falls from `barrier[0]` to
`barrier[1]` in the first `ANNEAL` of the budget, then to a hundredth. A lane in a dead zone,
stuck, or far behind goes on from where the best lane stands.

The budget counts every lane of every call, those without a result too. At the end the best
designs are evaluated in full until one is confirmed feasible; these evaluations count as well.
"""

import time
import warnings
from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import optax
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from diffmicro.design.lane import Lane, feasible
from diffmicro.design.problem import Finished, Problem, Sample
from diffmicro.design.result import Result, Step

ANNEAL = 0.7
"""Share of the budget for exploring, the rest for refining."""

REACH, LEAST, REJOIN = 0.1, 0.02, 0.05
"""Lengths of steps in the box: at first, of the best lane while exploring, after joining it."""

STUCK = 0.004
"""Reach below which a lane that is not the best gives up."""

BEHIND = 0.5
"""Share of the best gain below which a lane gives up, after `PATIENCE` iterations."""

PATIENCE = 3
CONFIRM = 3
"""Most designs that are evaluated in full at the end."""


def optimize_design(
    problem: Problem,
    optimizer: optax.GradientTransformation | None = None,
    *,
    budget: int = 148,
    lanes: int = 3,
    seed: int = 0,
    wander: float = 0.5,
    barrier: tuple[float, float] = (3.0, 0.3),
    tolerance: float = 1e-7,
    progress: bool = True,
) -> Result:
    """The best feasible design found with `budget` evaluations.

    optimizer: makes directions of gradients; its step size does not matter.
    wander: weight of the random part.
    tolerance: reach in the box at which the search ends.
    """
    if budget < lanes + CONFIRM + 1 or lanes < 1:
        raise ValueError(
            f"optimize_design: a budget of {budget} evaluations does not do for {lanes} lanes; "
            f"it has to be at least {lanes + CONFIRM + 1}, and lanes at least 1."
        )
    began = time.monotonic()
    optimizer = optax.sgd(1.0) if optimizer is None else optimizer
    rng = np.random.default_rng(seed)
    published = problem.finish(problem.named(problem.start))
    evaluate = _compiled(problem)
    steer = jax.jit(optimizer.update)
    offsets = np.array([0.01 * abs(c.bound) or 0.01 for c in problem.constraints])
    team = [Lane(u, REACH) for u in _starts(problem.start, lanes, rng)]
    for lane in team:
        lane.memory = optimizer.init(jnp.asarray(lane.u))
    used, history, found, seen = 1, [], [], np.zeros(len(problem.names), bool)
    usable_budget = budget - 1 - CONFIRM
    rounds, leading = usable_budget // lanes, 0.0
    reason = f"the budget of {budget} evaluations is used"
    status = "ok"
    with _display(progress) as display:
        task = display.add_task("compiling", total=rounds * lanes)
        try:
            for number in range(rounds):
                share = number / rounds
                mu = _weight(share, barrier)
                batch = jax.tree.map(np.asarray, evaluate(np.stack([lane.trial for lane in team])))
                used += lanes
                accepted = 0
                for i, lane in enumerate(team):
                    sample = Sample(*(x[i] for x in batch))
                    if sample.usable:
                        seen |= np.any(sample.gradient != 0) & _moves(sample)
                    if feasible(sample):
                        found.append((float(sample.objective), lane.trial.copy()))
                    accepted += lane.receive(sample, mu, _scale(lane, leading), offsets)
                best = max(team, key=lambda lane: (lane.gain, lane.known is not None))
                leading = abs(best.gain) if np.isfinite(best.gain) else 0.0
                _regroup(team, best, number, rng)
                if share < ANNEAL:
                    best.reach = max(best.reach, LEAST)
                for i, lane in enumerate(team):
                    if lane.known is None:
                        continue
                    slope = lane.slope(mu, _scale(lane, leading), offsets)
                    direction, lane.memory = steer(
                        jnp.asarray(-slope), lane.memory, jnp.asarray(lane.u)
                    )
                    random = rng.standard_normal(slope.shape) * (wander if i else 0.0)
                    lane.propose(np.nan_to_num(np.asarray(direction)), random)
                history.append(_step(problem, best, used, accepted))
                objective, worst = _words(problem, best)
                display.update(task, advance=lanes, description=f"{objective}  {worst}")
                if share >= ANNEAL and max(lane.reach for lane in team) < tolerance:
                    reason = f"steps are shorter than {tolerance:g} of the box"
                    break
        except KeyboardInterrupt:
            status, reason = "interrupted", "interrupted; this is the best so far"
    finished, u, spent = _confirm(problem, found)
    if finished is None:
        status, reason = "not_converged", _why_none(team)
        finished, u = published, problem.start
    idle = tuple(n for n, moved in zip(problem.names, seen, strict=True) if not moved)
    if idle:
        warnings.warn(
            f"optimize_design: {', '.join(idle)} changed neither the objective nor a constraint "
            "where it was tried; leave it out.",
            stacklevel=2,
        )
    return Result(
        status=status,
        reason=reason,
        published=published,
        optimized=finished,
        variables=problem.named(u),
        constraints={
            str(c): {
                "bound": c.bound,
                "value": finished.response[c.response],
                "slack": float(c.slack(_number(finished.response[c.response]))),
            }
            for c in problem.constraints
        },
        idle=idle,
        history=tuple(history),
        evaluations=used + spent,
        seconds=time.monotonic() - began,
    )


@cache
def _compiled(problem: Problem) -> Callable:
    """The evaluation of all lanes, compiled once for a problem."""
    if problem.batched:
        return jax.jit(jax.vmap(problem.sample))

    def in_turn(trials: np.ndarray) -> Sample:
        samples = [jax.tree.map(np.asarray, problem.sample(jnp.asarray(u))) for u in trials]
        return jax.tree.map(lambda *x: np.stack(x), *samples)

    return in_turn


def _starts(start: np.ndarray, lanes: int, rng: np.random.Generator) -> np.ndarray:
    """The start and a Latin square: each variable visits each of its cells once."""
    cells = np.stack([rng.permutation(lanes) for _ in start], axis=1)
    starts = (cells + rng.random((lanes, len(start)))) / lanes
    starts[0] = start
    return starts


def _weight(share: float, barrier: tuple[float, float]) -> float:
    first, last = barrier
    if share < ANNEAL:
        return first * (last / first) ** (share / ANNEAL)
    return last * 0.01 ** ((share - ANNEAL) / (1 - ANNEAL))


def _scale(lane: Lane, leading: float) -> float:
    """What a lane's gain is measured by: so its gradient is that of the gain's logarithm."""
    here = 0.0 if lane.known is None else abs(float(lane.known.objective))
    return max(here, 0.05 * leading) or 1.0


def _moves(sample: Sample) -> np.ndarray:
    return (sample.gradient != 0) | np.any(sample.slack_gradients != 0, axis=0)


def _regroup(team: list[Lane], best: Lane, number: int, rng: np.random.Generator) -> None:
    """Lanes without prospects join the best one; without any lane to join they start elsewhere."""
    for lane in team:
        if best.dead:
            if lane.dead:
                lane.trial = rng.random(lane.u.shape)
                lane.u, lane.reach = (lane.trial if lane.known is None else lane.u), REACH
                lane.known = None if lane is not best else lane.known
        elif lane is not best and np.isfinite(best.gain):
            behind = number >= PATIENCE and lane.gain < best.gain - (1 - BEHIND) * abs(best.gain)
            if lane.dead or lane.reach < STUCK or behind:
                lane.join(best, REJOIN)


def _confirm(
    problem: Problem, found: list[tuple[float, np.ndarray]]
) -> tuple[Finished | None, np.ndarray, int]:
    """The best of the found designs that a full evaluation confirms, and how many it took."""
    ranked = sorted(found, key=lambda entry: -entry[0])[:CONFIRM]
    for count, (_, u) in enumerate(ranked, 1):
        finished = problem.finish(problem.named(u))
        slacks = [c.slack(_number(finished.response[c.response])) for c in problem.constraints]
        if finished.status == "ok" and all(slack >= 0 for slack in slacks):
            return finished, u, count
    return None, problem.start, len(ranked)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _why_none(team: list[Lane]) -> str:
    if all(lane.known is None for lane in team):
        return "no start gave a finite value and gradient; start elsewhere"
    return "no feasible design was found and confirmed; relax a constraint or widen the bounds"


def _step(problem: Problem, best: Lane, used: int, accepted: int) -> Step:
    sample = best.known
    if sample is None:
        nothing = {str(c): float("nan") for c in problem.constraints}
        return Step(used, problem.named(best.u), float("nan"), nothing, float("nan"), -1, accepted)
    slacks = {str(c): float(s) for c, s in zip(problem.constraints, sample.slacks, strict=True)}
    norm = float(np.linalg.norm(sample.gradient))
    gain = float(sample.objective)
    return Step(used, problem.named(best.u), gain, slacks, norm, int(sample.verdict), accepted)


def _words(problem: Problem, best: Lane) -> tuple[str, str]:
    if best.known is None:
        return f"{problem.objective.response} unknown", ""
    gain = f"{problem.objective.goal} {problem.objective.response}: gain {best.known.objective:.4g}"
    return gain, "feasible" if feasible(best.known) else "infeasible"


def _display(progress: bool) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:g}/{task.total:g}"),
    )
    return Progress(
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True),
        refresh_per_second=4,
        disable=not progress,
    )
