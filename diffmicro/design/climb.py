"""A search for rough landscapes: a few lanes climb side by side, steered by an optax optimizer.

Each iteration evaluates one trial per lane. Lane 0 starts from the problem's start, the others from the
cells of a Latin square. The optimizer makes a direction of the merit's gradient (`lane.py`); the loop adds
the path of accepted steps and, but for lane 0, a random part, and controls the length. The barrier's
weight mu falls from `barrier[0]` to `barrier[1]` in the first `ANNEAL` of the budget, then to a hundredth.
A lane in a dead zone, or far behind, goes on from where the best lane stands, another way.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from diffmicro.design.lane import Lane
from diffmicro.design.run import Run, Spent
from diffmicro.design.searches import Outcome

ANNEAL = 0.7
"""Share of the budget for exploring, the rest for refining."""

REACH, LEAST, REJOIN = 0.1, 0.02, 0.05
"""Lengths of steps in the box: at first, of the best lane while exploring, after joining it."""

STUCK = 0.004
"""Reach below which a lane that is not the best gives up."""

BEHIND = 0.5
"""Share of the best gain below which a lane gives up, after `PATIENCE` iterations."""

PATIENCE = 3


def climb(
    run: Run,
    rng: np.random.Generator,
    *,
    optimizer: optax.GradientTransformation | None = None,
    lanes: int = 3,
    wander: float = 0.5,
    barrier: tuple[float, float] = (3.0, 0.3),
    tolerance: float = 1e-7,
) -> Outcome:
    """Climb until the budget is used; the reason why it ended.

    optimizer: makes directions of gradients; its step size does not matter. wander: weight of the random
    part. tolerance: reach in the box at which the search ends.
    """
    problem = run.problem
    optimizer = optax.sgd(1.0) if optimizer is None else optimizer
    steer = jax.jit(optimizer.update)
    offsets = np.array([0.01 * abs(c.bound) or 0.01 for c in problem.constraints])
    team = [Lane(u, REACH) for u in _latin(problem.start, lanes, rng)]
    for lane in team:
        lane.memory = optimizer.init(jnp.asarray(lane.u))
    rounds, leading = max((run.budget - run.used) // lanes, 1), 0.0
    try:
        for number in range(rounds):
            share = number / rounds
            mu = _weight(share, barrier)
            samples = run.ask(np.stack([lane.trial for lane in team]))
            accepted = 0
            for lane, sample in zip(team, samples, strict=True):
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
            if best.known is not None:
                run.tell(problem.step(best.u, best.known, run.used, accepted, best.reach))
            if share >= ANNEAL and max(lane.reach for lane in team) < tolerance:
                return Outcome(f"steps are shorter than {tolerance:g} of the box")
    except Spent:
        pass
    return Outcome(f"the budget of {run.budget} evaluations is used")


def _weight(share: float, barrier: tuple[float, float]) -> float:
    first, last = barrier
    if share < ANNEAL:
        return first * (last / first) ** (share / ANNEAL)
    return last * 0.01 ** ((share - ANNEAL) / (1 - ANNEAL))


def _scale(lane: Lane, leading: float) -> float:
    """What a lane's gain is measured by: so its gradient is that of the gain's logarithm."""
    here = 0.0 if lane.known is None else abs(float(lane.known.objective))
    return max(here, 0.05 * leading) or 1.0


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


def _latin(start: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The start and a Latin square: each variable visits each of its cells once."""
    cells = np.stack([rng.permutation(count) for _ in start], axis=1)
    found = (cells + rng.random((count, len(start)))) / count
    found[0] = start
    return found
