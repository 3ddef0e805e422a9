"""Branches of the WRMMA's periodic motions over one parameter: what makes its hysteresis.

The simulation from rest finds one stable motion at each of a few values of the parameter; each is
followed both ways through folds (`dynamics.branches`), unless a branch found before comes by. What
no simulation from rest leads to and no branch found connects with is not found, nor are motions of
longer periods.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.devices.wrmma.lumped import motion_of, numbers, units
from diffmicro.devices.wrmma.response import respond
from diffmicro.devices.wrmma.rules import RULES
from diffmicro.devices.wrmma.steady import Observed, period_map
from diffmicro.dynamics.branches import STRIDE, Branch, End, Family, Stride, each_from_rest
from diffmicro.dynamics.fixed_point import PeriodMap
from diffmicro.dynamics.orbits import Search
from diffmicro.dynamics.stretch import Stretch, stretch
from diffmicro.parameters import Value, whole_number
from diffmicro.results import word


class WrmmaBranch(NamedTuple):
    """One branch, point by point: see `dynamics.branches.Branch` for what is not said here.

    key: the name of the parameter; parameter: its values [SI].
    velocity: drift per period times frequency [m/s].
    min_gap: smallest gap [m].
    impacts: impacts per period [-].
    multiplier: largest modulus of the Floquet multipliers [-].
    """

    key: str
    parameter: np.ndarray
    velocity: np.ndarray
    min_gap: np.ndarray
    impacts: np.ndarray
    multiplier: np.ndarray
    stable: np.ndarray
    folds: np.ndarray
    corners: np.ndarray
    ends: tuple[End, End]


def branches(
    design: Design, setting: Setting, key: str, start: float, stop: float, **options: Value
) -> list[WrmmaBranch]:
    """All branches of period-1 motions found for `key` in [start, stop], see the module docstring.

    `options`: see `each_branch`.
    """
    return list(each_branch(design, setting, key, start, stop, **options))


def each_branch(
    design: Design,
    setting: Setting,
    key: str,
    start: float,
    stop: float,
    *,
    seeds: int = 9,
    steps: int | None = None,
    tolerance: float = 1e-9,
    stride: Stride = STRIDE,
    watch: Callable[[int], None] = lambda points: None,
) -> Iterator[WrmmaBranch]:
    """The branches one after another, as soon as they are followed to their ends.

    `key`: a number among the fields of Design or Setting. `seeds`: how many simulations from rest.
    `steps`, `tolerance`: see `wrmma.respond`; `watch`: see `dynamics.branches.follow`. A calculation on
    the host, not for transformations.
    """
    line = stretch("wrmma.branches", RULES, numbers, (design, setting), key, start, stop)
    steps = whole_number("steps", steps, 12, 4, 10**5)
    seeds = whole_number("seeds", seeds, 9, 2, 10**4)
    family = Family(
        _cached_map(motion_of(*line.at(start)), steps),
        line,
        count=Observed._fields.index("impacts"),
        tolerance=jnp.asarray(tolerance, float),
    )

    def from_rest(value: float) -> np.ndarray | None:
        return _from_rest(line, value, steps, tolerance)

    for branch in each_from_rest(family, from_rest, start, stop, seeds, stride, watch):
        yield _in_si(line, branch)


@lru_cache(maxsize=8)
def _cached_map(unravel: Callable, steps: int) -> PeriodMap:
    """One map for all calls, so that it is compiled once."""
    return period_map(unravel, steps)


def _from_rest(line: Stretch, value: float, steps: int, tolerance: float) -> np.ndarray | None:
    """State [natural units] of the periodic motion that the simulation from rest settles to."""
    design, setting = line.at(value)
    response = respond(
        design,
        setting,
        steps=steps,
        search=Search(multiples=False, twins=0),
        window=0,
        tolerance=tolerance,
        throw=False,
    )
    if word(response.result) not in ("ok", "stalled"):
        return None
    state = response.state
    own = np.asarray(units(*line.at(jnp.asarray(value))))
    return np.array([float(state.gap), float(state.gap_rate), float(state.body_speed)]) / own


def _in_si(line: Stretch, branch: Branch) -> WrmmaBranch:
    gap, speed, _ = jax.vmap(lambda value: units(*line.at(value)))(jnp.asarray(branch.parameter)).T
    seen = Observed(*branch.observed.T)
    return WrmmaBranch(
        key=line.key,
        parameter=branch.parameter,
        velocity=branch.displacement * np.asarray(speed),
        min_gap=np.asarray(seen.min_gap * gap),
        impacts=np.asarray(seen.impacts),
        multiplier=np.max(np.abs(branch.multipliers), axis=1),
        stable=branch.stable,
        folds=branch.folds,
        corners=branch.corners,
        ends=branch.ends,
    )
