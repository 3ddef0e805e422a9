"""Random search, what gradients have to beat: designs drawn uniformly in the box, in one batch
after another.
"""

from typing import NamedTuple

import jax
import numpy as np
from rich.console import Console
from rich.progress import track

from diffmicro.design.problem import Problem
from diffmicro.parameters import whole_number

CHUNK = 256
"""Designs in one batched call."""


class RandomSearch(NamedTuple):
    """The best feasible one of many random designs; value is None when none was feasible."""

    evaluations: int
    feasible: int
    value: float | None
    design: dict[str, float] | None


def random_search(
    problem: Problem, count: int, seed: int = 0, progress: bool = True
) -> RandomSearch:
    """Evaluate `count` designs drawn uniformly on the optimizer's own scales; keep the best."""
    count = whole_number("random_search: count", count, None, 1)
    seed = whole_number("random_search: seed", seed, 0, 0)
    rng = np.random.default_rng([seed, count])
    box = rng.random((count, len(problem.variables)))

    def lane(u):
        values, usable = problem.values(dict(zip(problem.names, problem.point(u), strict=True)))
        return values, usable

    mapped = jax.jit(jax.vmap(lane))
    found, usable = [], []
    chunks = track(
        range(0, count, CHUNK),
        description="random designs",
        console=Console(stderr=True),
        disable=not progress,
    )
    for first in chunks:
        # The last chunk is filled up, so that one compilation serves all.
        rows = np.minimum(np.arange(first, first + min(CHUNK, count)), count - 1)
        kept = slice(0, min(CHUNK, count - first))
        values, good = mapped(box[rows])
        found.append(np.asarray(values)[kept])
        usable.append(np.asarray(good)[kept])
    values, good = np.concatenate(found), np.concatenate(usable)
    for i, constraint in enumerate(problem.constraints):
        good = good & (np.asarray(constraint.slack(values[:, 1 + i])) >= 0)
    if not good.any():
        return RandomSearch(count, 0, None, None)
    best = int(np.argmax(np.where(good, problem.objective.gain(values[:, 0]), -np.inf)))
    return RandomSearch(count, int(good.sum()), float(values[best, 0]), problem.named(box[best]))
