"""Augmented Lagrangian with any optax optimizer, L-BFGS by default, in the box.

For fixed multipliers lambda and weight w the inner search lowers, within the box,

    L(u) = f(u) + sum_i (w_i / 2) max(0, lambda_i / w_i - c_i(u))^2

(Hestenes, Powell, Rockafellar): the optimizer makes a direction of its gradient, components that would
leave the box are dropped, and the step is halved until L falls enough. When L is nearly stationary, lambda
becomes max(0, lambda - w c), and the weight of a constraint grows where its violation did not fall enough.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run, Spent

WEIGHT, GROWTH, FALL = 10.0, 4.0, 0.25
"""Weight of the penalty at first, its growth, and the fall of a violation that is enough."""

ARMIJO = 1e-4
LONGEST = 0.2
"""Longest step, share of the box."""


@dataclass
class Place:
    """Where the search stands."""

    u: np.ndarray
    known: Sample
    state: str = "searching"


def lagrangian(
    run: Run,
    rng: np.random.Generator,
    *,
    optimizer: optax.GradientTransformation | None = None,
    tolerance: float = 1e-7,
) -> tuple[str, list[Place]]:
    """Lower the objective until the conditions of an optimum hold; the reason why it ended."""
    problem = run.problem
    optimizer = optax.scale_by_lbfgs() if optimizer is None else optimizer
    here: Place | None = None
    try:
        u = problem.start
        (sample,) = run.ask(u[None, :])
        while not sample.usable:
            u = rng.random(u.shape)
            (sample,) = run.ask(u[None, :])
        here = Place(u, sample)
        merit = _Merit(problem, sample)
        stationary = 1e-2
        while True:
            _descend(run, here, merit, optimizer, stationary)
            violation = merit.update(here.known)
            if violation < tolerance and stationary <= tolerance:
                here.state = "converged"
                return f"converged to {tolerance:g} of the box", [here]
            stationary = max(0.1 * stationary, tolerance)
    except Spent:
        return f"the budget of {run.budget} evaluations is used", [here] if here else []
    except _Stuck:
        assert here is not None
        return "no step along the optimizer's direction was an improvement", [here]


class _Stuck(Exception):
    """No step along the optimizer's direction, nor along the gradient, lowers the function."""


class _Merit:
    """The augmented Lagrangian, in units of the objective at the start and of the bounds."""

    def __init__(self, problem: Problem, sample: Sample):
        self.scales = problem.scales
        self.unit = max(abs(float(sample.objective)), 1e-3 * float(np.linalg.norm(sample.gradient)))
        self.unit = self.unit or 1.0
        self.multipliers = np.zeros(len(self.scales))
        self.weights = np.full(len(self.scales), WEIGHT)
        self.missed = np.full(len(self.scales), np.inf)

    def __call__(self, sample: Sample) -> tuple[float, np.ndarray]:
        slacks, rows = sample.slacks / self.scales, sample.slack_gradients / self.scales[:, None]
        pull = np.maximum(0, self.multipliers - self.weights * slacks)
        value = -float(sample.objective) / self.unit + float(np.sum(pull**2 / (2 * self.weights)))
        return value, -sample.gradient / self.unit - pull @ rows

    def update(self, sample: Sample) -> float:
        """New multipliers; how far the conditions of the constraints are from holding."""
        slacks = sample.slacks / self.scales
        missed = np.abs(np.minimum(slacks, self.multipliers / self.weights))
        self.multipliers = np.maximum(0, self.multipliers - self.weights * slacks)
        self.weights = np.where(missed > FALL * self.missed, GROWTH * self.weights, self.weights)
        self.missed = missed
        return float(np.max(missed, initial=0.0))


def _descend(
    run: Run, here: Place, merit: _Merit, optimizer: optax.GradientTransformation, stationary: float
) -> None:
    """Lower the function until its gradient within the box is small."""
    steer = jax.jit(optimizer.update)
    memory: Any = optimizer.init(jnp.asarray(here.u))
    while True:
        value, slope = merit(here.known)
        inside = np.clip(here.u - slope, 0, 1) - here.u
        if np.max(np.abs(inside)) < stationary:
            return
        held = inside == 0
        free = np.where(held, 0.0, slope)
        updates, memory = steer(jnp.asarray(free), memory, jnp.asarray(here.u))
        # Some optimizers of optax return a direction to add, `scale_by_...` the gradient's own sign.
        direction = np.where(held, 0.0, np.nan_to_num(np.asarray(updates)))
        direction = -direction if direction @ free > 0 else direction
        if direction @ free > -1e-12 * np.linalg.norm(direction) * np.linalg.norm(free):
            direction = -free
        length = min(1.0, LONGEST / max(np.max(np.abs(direction)), 1e-300))
        for _ in range(30):
            trial = np.clip(here.u + length * direction, 0, 1)
            (sample,) = run.ask(trial[None, :])
            lower = sample.usable and (
                merit(sample)[0] <= value + ARMIJO * float(slope @ (trial - here.u))
            )
            if lower:
                break
            length *= 0.3
        else:
            raise _Stuck
        here.u, here.known = trial, sample
        run.tell(run.problem.step(here.u, here.known, run.used, 1, length))
