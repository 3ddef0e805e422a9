"""How much of a limit or of a margin parts lose on their way from the drawing: the reserve a design has to keep.

A part that is `index` standard deviations away loses at most as much as the worst place on the sphere of that
radius in standard-normal space (`scatter`). That place is found by the advanced mean value method (Wu, Millwater,
Cruse 1990): from the origin straight down the slope, then down the slope that is found there. With one limit that
is linear, the yield of a design that keeps this reserve is exactly Phi(index).

A margin is linear here: its slopes are those of the boundary that it leads to. Slopes only steer a search, and
parts are counted at its end (`buildable`), so one that is not certified serves too; without any, the scatter of
calculated parts stands in for it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._device import Device
from diffmicro.boundary.margin import margin, margin_key, measured
from diffmicro.design.problem import Constraint
from diffmicro.fabrication.scatter import Scatter
from diffmicro.fabrication.tolerances import response_slope, slacks_of
from diffmicro.results import NoResult

STEPS = 6
"""Most steps to the worst place."""

CLOSE = 0.02
"""Distance of two steps, as a share of the radius, at which it has been found."""

LOOKED = 64
"""Parts whose scatter stands in for a slope."""

Sloped = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""Place -> what is left, and its slope."""


class Worst(NamedTuple):
    """loss: how much is lost at most. way: what it was found by."""

    loss: float
    way: str


def fall(of: Sloped, dimension: int, index: float) -> float | None:
    """How far a function falls at most within a distance from the origin; None without a slope there."""
    start, slope = of(np.zeros(dimension))
    steepness = float(np.linalg.norm(slope))
    if not np.isfinite(steepness) or not np.isfinite(start):
        return None
    lowest, place = start, np.zeros(dimension)
    for _ in range(STEPS):
        length = float(np.linalg.norm(slope))
        if length == 0:
            break
        further = -index * slope / length
        left, slope = of(further)
        if not np.isfinite(left) or not np.all(np.isfinite(slope)):
            return max(start - lowest, index * steepness)  # nothing to see there
        lowest = min(lowest, left)
        if np.linalg.norm(further - place) < CLOSE * index:
            break
        place = further
    return start - lowest


def worst(device: Device, spread: Scatter, limit: Constraint, index: float) -> Worst:
    """What parts within `index` deviations lose of the slack of a limit, or of a margin."""
    key = margin_key(limit.response)
    if key is not None:
        return _of_margin(device, spread, key, index)
    sign = 1.0 if limit.sense == ">=" else -1.0
    slope_of = response_slope(device, limit.response, spread.fields)
    verdicts = []

    def left(place: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope, certified = jax.tree.map(np.asarray, slope_of(spread, jnp.asarray(place)))
        verdicts.append(bool(certified))
        return float(limit.slack(value)), sign * slope

    lost = fall(left, len(spread.causes), index)
    if lost is not None:
        return Worst(lost, "certified slopes" if all(verdicts) else "slopes that are not certified")
    places = np.random.default_rng(0).standard_normal((LOOKED, len(spread.causes)))
    slacks, _ = slacks_of(device, spread, [limit], places)
    known = slacks[0][np.isfinite(slacks[0])]
    return Worst(index * float(np.std(known)) if len(known) > 1 else 0.0, "the scatter of parts")


def _of_margin(device: Device, spread: Scatter, key: str, index: float) -> Worst:
    found = measured(device, spread.design, spread.setting, key, spread.fields)
    if found.boundary is None:
        return Worst(0.0, "no end within reach")
    verdict = found.boundary.certificate.verdict
    gradient = {name: jnp.asarray(slope) for name, slope in found.gradient.items()}

    @eqx.filter_jit
    def left(spread: Scatter, place: Array) -> tuple[Array, Array]:
        there, here = spread.deviating(place), spread.deviating(jnp.zeros_like(place))
        moved = sum(jnp.sum(gradient[f] * (there[f] - here[f])) for f in spread.fields)
        return jnp.asarray(moved), spread.slope(gradient, place)

    def of(place: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = left(spread, jnp.asarray(place))
        return found.value + float(value), np.asarray(slope)

    lost = fall(of, len(spread.causes), index)
    if lost is None:
        return Worst(0.0, f"nothing: the {found.boundary.kind} has no derivative")
    return Worst(lost, f"the slopes of a {found.boundary.kind}, {verdict}")


def nearest_cliff(device: Device, spread: Scatter, keys: Sequence[str]) -> str | None:
    """The key along which the nearest end lies, measured in how far parts deviate towards it; None where there is
    none with a slope."""
    found = {}
    for key in keys:
        try:
            end = measured(device, spread.design, spread.setting, key, spread.fields)
        except (NoResult, ValueError):
            continue
        slope = spread.slope(end.gradient, jnp.zeros(len(spread.causes)))
        steepness = float(np.linalg.norm(np.asarray(slope)))
        if end.boundary is not None and np.isfinite(steepness) and steepness > 0:
            found[margin(key)] = end.value / steepness
    return min(found, key=lambda name: found[name], default=None)
