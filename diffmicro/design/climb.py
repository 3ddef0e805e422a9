"""A search for rough landscapes: a few lanes climb side by side, steered by an optax optimizer.

Each iteration evaluates one trial per lane. Lane 0 starts from the problem's start, the others from the cells of a
Latin square. Where all constraints hold, a lane climbs the merit

    m(u) = gain / scale + mu sum_i log(slack_i + SOFT |bound_i|),

a log barrier; where one is violated, it mends that first. Constraints of robots are often cliffs: one step too far
and the motion jumps to another branch, while the constraint itself shows a wide margin. The barrier keeps early
trials away from there; its weight mu falls from the first to the second `BARRIER` in the first `ANNEAL` of the
budget, then to a hundredth. The optimizer makes a direction of the merit's gradient; the loop adds the path of
accepted steps and, but for lane 0, a random part, and controls the length: a trial that is no improvement is
turned down, and the next is half as far. A lane in a dead zone, or far behind, goes on from where the best lane
stands, another way. Left out: multipliers of the constraints.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run, Spent
from diffmicro.design.searches import Outcome, rank

ANNEAL, BARRIER = 0.7, (3.0, 0.3)
"""Share of the budget for exploring, the rest for refining; weight of the barrier at its begin and end."""

SOFT = 0.01
"""Share of a bound by which its barrier stands outside, so that it may be met exactly."""

REACH, LEAST, REJOIN, STUCK = 0.1, 0.02, 0.05, 0.004
"""Lengths of steps in the box: at first, of the best lane while exploring, after joining it; below the last, a
lane that is not the best gives up."""

GROW, SHRINK, WANDER = 1.3, 0.5, 0.5
"""What an accepted and a rejected trial do to the reach; weight of the random part."""

BEHIND, PATIENCE = 0.5, 3
"""Share of the best gain below which a lane gives up, and the iterations before that."""


class Merit(NamedTuple):
    """What a lane climbs in one iteration. scale: what gains are measured by."""

    problem: Problem
    mu: float
    scale: float

    def of(self, sample: Sample) -> float:
        barrier = np.sum(np.log(sample.slacks + SOFT * self.problem.scales))
        return float(sample.objective / self.scale + self.mu * barrier)

    def slope(self, u: np.ndarray, sample: Sample) -> np.ndarray:
        """Direction of steepest ascent, of length 1 or 0, not leaving through an active bound."""
        offsets = SOFT * self.problem.scales
        if self.problem.feasible(sample):
            slope = sample.gradient / self.scale
            slope = slope + self.mu * (1 / (sample.slacks + offsets)) @ sample.slack_gradients
        else:
            slope = ((sample.slacks < 0) / offsets) @ sample.slack_gradients
        outward = ((u <= 0) & (slope < 0)) | ((u >= 1) & (slope > 0))
        return _unit(np.where(outward, 0.0, slope))


@dataclass
class Lane:
    """u: where it stands. known: the sample there; None at first. trial: what is evaluated next. path: sum of the
    accepted steps' directions, fading. reach: length of its steps in the box. memory: the optimizer's."""

    u: np.ndarray
    trial: np.ndarray
    path: np.ndarray
    memory: object
    reach: float = REACH
    known: Sample | None = None

    @property
    def dead(self) -> bool:
        """Nothing to follow here: not known, or the gradient is zero."""
        return self.known is None or not np.any(self.known.gradient)

    def receive(self, sample: Sample, merit: Merit) -> bool:
        """Accept the trial when it is better, else shorten the reach."""
        first, self.path = self.known is None, 0.5 * self.path
        if not rank(merit.problem, sample, merit.of) > rank(merit.problem, self.known, merit.of):
            self.reach *= SHRINK
            return False
        if not first:
            self.path, self.reach = self.path + _unit(self.trial - self.u), self.reach * GROW
        self.u, self.known = self.trial, sample
        return True


def climb(
    run: Run,
    rng: np.random.Generator,
    *,
    optimizer: optax.GradientTransformation | None = None,
    lanes: int = 3,
    tolerance: float = 1e-7,
) -> Outcome:
    """Climb until the budget is used, or the reach in the box falls below `tolerance`; the reason why it ended.

    optimizer: makes directions of gradients; its step size does not matter.
    """
    problem = run.problem
    optimizer = optax.sgd(1.0) if optimizer is None else optimizer
    steer = jax.jit(optimizer.update)
    team = [
        Lane(u, u, 0 * u, optimizer.init(jnp.asarray(u))) for u in _latin(problem.start, lanes, rng)
    ]
    rounds, leading = max((run.budget - run.used) // lanes, 1), 0.0

    def merit(lane: Lane) -> Merit:
        """By the lane's own gain, so that its gradient is that of the gain's logarithm."""
        here = 0.0 if lane.known is None else abs(float(lane.known.objective))
        return Merit(problem, mu, max(here, 0.05 * leading) or 1.0)

    try:
        for number in range(rounds):
            share = number / rounds
            mu = _weight(share)
            samples = run.ask(np.stack([lane.trial for lane in team]))
            accepted = sum(
                lane.receive(sample, merit(lane))
                for lane, sample in zip(team, samples, strict=True)
            )
            best = max(team, key=lambda lane: rank(problem, lane.known))
            kind, gain = rank(problem, best.known)
            leading = abs(gain) if kind == 2 else 0.0
            _regroup(problem, team, best, number, rng)
            if share < ANNEAL:
                best.reach = max(best.reach, LEAST)
            for i, lane in enumerate(team):
                if lane.known is None:
                    continue
                slope = merit(lane).slope(lane.u, lane.known)
                way, lane.memory = steer(jnp.asarray(-slope), lane.memory, jnp.asarray(lane.u))
                random = rng.standard_normal(slope.shape) * (WANDER if i else 0.0)
                whole = _unit(np.nan_to_num(np.asarray(way))) + _unit(lane.path) + random
                lane.trial = np.clip(lane.u + lane.reach * _unit(whole), 0.0, 1.0)
            if best.known is not None:
                run.tell(problem.step(best.u, best.known, run.used, accepted, best.reach))
            if share >= ANNEAL and max(lane.reach for lane in team) < tolerance:
                return Outcome(f"steps are shorter than {tolerance:g} of the box")
    except Spent:
        pass
    return Outcome(f"the budget of {run.budget} evaluations is used")


def _weight(share: float) -> float:
    """mu after this share of the budget."""
    first, last = BARRIER
    if share < ANNEAL:
        return first * (last / first) ** (share / ANNEAL)
    return last * 0.01 ** ((share - ANNEAL) / (1 - ANNEAL))


def _regroup(
    problem: Problem, team: list[Lane], best: Lane, number: int, rng: np.random.Generator
) -> None:
    """Lanes without prospects join the best one; without any lane to join they start elsewhere."""
    kind, lead = rank(problem, best.known)
    for lane in team:
        if best.dead and lane.dead:
            lane.trial, lane.reach = rng.random(lane.u.shape), REACH
            lane.known = lane.known if lane is best else None
        elif not best.dead and lane is not best and kind == 2:
            known, gain = rank(problem, lane.known)
            behind = known < 2 or gain < lead - (1 - BEHIND) * abs(lead)
            if lane.dead or lane.reach < STUCK or (number >= PATIENCE and behind):
                lane.u, lane.known, lane.path = best.u, best.known, best.path
                lane.memory, lane.reach = best.memory, max(best.reach, REJOIN)


def _latin(start: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The start and a Latin square: each variable visits each of its cells once."""
    cells = np.stack([rng.permutation(count) for _ in start], axis=1)
    found = (cells + rng.random((count, len(start)))) / count
    found[0] = start
    return found


def _unit(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else np.zeros_like(vector)
