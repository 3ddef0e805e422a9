"""Branches of the periodic motions of a device made by `device`, over one parameter.

The simulation from rest finds one stable motion at each of a few values of the parameter; each is followed both
ways through folds (`dynamics.branches`), unless a branch found before comes by. What no simulation from rest leads
to and no branch found connects with is not found, nor are motions of longer periods.
"""

from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro._types import Real
from diffmicro.dynamics.branches import STRIDE, AnyBranch, Branch, Family, Stride, each_from_rest
from diffmicro.dynamics.fixed_point import PeriodMap
from diffmicro.dynamics.orbits import Search
from diffmicro.dynamics.stretch import Stretch, stretch
from diffmicro.hybrid.observers import Count
from diffmicro.hybrid.steady import Observed, Robot, lump, lumped, period_map, settle
from diffmicro.parameters import Fields, as_arrays, whole_number
from diffmicro.results import word


def each_branch(
    robot: Robot,
    design: Fields,
    setting: Fields,
    key: str,
    start: float,
    stop: float,
    *,
    seeds: int = 9,
    steps: int | None = None,
    tolerance: float = 1e-9,
    stride: Stride = STRIDE,
    watch: Callable[[int], None] = lambda points: None,
) -> Iterator[AnyBranch]:
    """The branches one after another: `key`, `parameter`, the responses, `multiplier`, `stable`, `folds`,
    `corners` and `ends` of each, see `dynamics.branches.Branch`. A calculation on the host."""
    where = f"{type(robot.motion).__name__}.branches"
    line = stretch(where, robot.rules, lump, (design, setting), key, start, stop)
    steps = whole_number("steps", steps, 12, 4, 10**5)
    seeds = whole_number("seeds", seeds, 9, 2, 10**4)
    counts = [i for i, o in enumerate(robot.observers) if isinstance(o, Count)]
    family = Family(
        _cached_map(robot, lumped(line.design, line.setting)[1], steps),
        line,
        count=3 + counts[0] if counts else None,
        tolerance=jnp.asarray(tolerance, float),
    )

    def from_rest(value: float) -> np.ndarray | None:
        return _from_rest(robot, line, value, steps, tolerance)

    for branch in each_from_rest(family, from_rest, start, stop, seeds, stride, watch):
        yield _in_si(robot, line, branch)


@lru_cache(maxsize=8)
def _cached_map(robot: Robot, unravel: Callable, steps: int) -> PeriodMap:
    """One map for all calls, so that it is compiled once."""
    return period_map(robot, unravel, steps)


def _from_rest(
    robot: Robot, line: Stretch, value: float, steps: int, tolerance: float
) -> np.ndarray | None:
    """State [natural units] of the periodic motion that the simulation from rest settles to."""
    design, setting = as_arrays(line.at(value))
    search = Search(multiples=False, twins=0)
    precision, period = jnp.asarray(tolerance, float), jnp.asarray(1, jnp.int32)
    response = settle(
        robot, design, setting, None, precision, period, False, steps=steps, search=search, window=0
    )
    if word(response.result) not in ("ok", "stalled"):
        return None
    units = robot.motion.units(design, setting)
    return np.array([float(response.state[n] / units[n]) for n in robot.motion.names])


def _in_si(robot: Robot, line: Stretch, branch: Branch) -> PyTree:
    def sizes(value: Array) -> list[Real]:
        given = line.at(value)
        units, period = robot.motion.units(*given), robot.motion.period(*given)
        return [o.size(units, jnp.asarray(period)) for o in robot.observers]

    scale = jax.vmap(sizes)(jnp.asarray(branch.parameter))
    seen = branch.observed[:, len(Observed._fields) - 1 :]
    columns = {name: seen[:, i] * np.asarray(scale[i]) for i, name in enumerate(robot.names)}
    kept = {name: getattr(branch, name) for name in ("stable", "folds", "corners", "ends")}
    multiplier = np.max(np.abs(branch.multipliers), axis=1)
    Along = namedtuple("Along", ["key", "parameter", *columns, "multiplier", *kept])
    return Along(line.key, branch.parameter, *columns.values(), multiplier, **kept)
