"""Yield of a device under tolerances: parts are calculated in batches, and judged by status and limits.

A part is good when its status is ok and it keeps every limit. So a cliff counts, whether or not a limit describes
it: a motion that is lost, a gap that collapses, a gripper past its fold.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._device import Device
from diffmicro.certificate import value_and_gradient
from diffmicro.design.problem import Constraint
from diffmicro.devices import as_device
from diffmicro.fabrication.scatter import Scatter, scatter
from diffmicro.fabrication.yields import Center, Judge, Yield, estimate
from diffmicro.parameters import Fields, whole_number
from diffmicro.reasons import VERDICTS
from diffmicro.sweep.chunks import Recipe
from diffmicro.sweep.cluster import Processes
from diffmicro.sweep.shared import calculated
from diffmicro.tolerance import Tolerance

STEPS = 12
"""Most steps towards the most probable bad part of a limit."""

CLOSE = 1e-3
"""Distance [deviations] of two steps at which it has been found."""


def tolerances(
    device: Device | str,
    deviating: Sequence[Tolerance],
    limits: Sequence[Constraint] = (),
    *,
    design: Fields | None = None,
    setting: Fields | None = None,
    parts: int = 2000,
    seed: int = 0,
    gradients: bool = True,
    allowed: tuple[str, ...] = ("ok",),
    processes: Processes | None = None,
    watch: Callable[[int], None] = lambda count: None,
) -> Yield:
    """Share of good parts with its interval, causes of the bad ones, and the most probable of these.

    limits: what a good part keeps, beside the status ok. parts: how many are calculated at most. gradients: look
    for bad parts along the slopes of limits too, where these are certified. allowed: status words of good parts.
    processes: that share the parts, from `sweep.processes`. watch: gets how many more parts were calculated.
    """
    device = as_device(device)
    design, setting = device.point(design, setting)
    device.check("tolerances", design, setting)
    parts = whole_number("tolerances: parts", parts, None, 20, 10**7)
    seed = whole_number("tolerances: seed", seed, None, 0)
    for limit in limits:
        if limit.response not in device.responses:
            known = ", ".join(device.responses)
            raise ValueError(f"tolerances: {limit.response} is not a response; these are: {known}.")
    spread = scatter(device, design, setting, deviating)
    judge = judge_of(device, spread, limits, allowed, processes, watch)
    nominal = str(judge(np.zeros((1, len(spread.causes))))[0])
    slopes: Callable[[], list[Center]] = list
    if gradients and limits and not nominal:
        slopes = partial(_along_slopes, device, spread, limits)
    found = estimate(judge, len(spread.causes), parts=parts, seed=seed, by_gradient=slopes)
    if nominal:
        note = f"the nominal part is bad itself: {nominal}; {found.note}".strip("; ")
        found = found._replace(nearest=None, note=note)
    return found


def judge_of(
    device: Device,
    spread: Scatter,
    limits: Sequence[Constraint],
    allowed: tuple[str, ...] = ("ok",),
    processes: Processes | None = None,
    watch: Callable[[int], None] = lambda count: None,
) -> Judge:
    """What each part fails by: its status, or the first limit that it does not keep."""

    def judge(places: np.ndarray) -> np.ndarray:
        causes = np.full(len(places), "", object)
        slacks, status = slacks_of(device, spread, limits, places, processes, watch)
        for limit, slack in reversed(list(zip(limits, slacks, strict=True))):
            causes[~(slack >= 0)] = str(limit)
        return np.where(np.isin(status.astype(str), allowed), causes, status)

    return judge


def slacks_of(
    device: Device,
    spread: Scatter,
    limits: Sequence[Constraint],
    places: np.ndarray,
    processes: Processes | None = None,
    watch: Callable[[int], None] = lambda count: None,
) -> tuple[np.ndarray, np.ndarray]:
    """What each limit leaves to each part (limits, N), of its worst entry, and the status words of the parts."""
    slacks = np.full((len(limits), len(places)), np.nan)
    if not len(places):
        return slacks, np.full(0, "")
    names = tuple(dict.fromkeys(limit.response for limit in limits))
    recipe = Recipe(device, names, device.asking_for(names, {}))
    found = calculated(recipe, spread.parts(places), processes=processes, watch=watch)
    for own, limit in zip(slacks, limits, strict=True):
        own[:] = limit.slack(found[limit.response]).reshape(len(places), -1).min(axis=1)
    return slacks, found["status"]


def _along_slopes(device: Device, spread: Scatter, limits: Sequence[Constraint]) -> list[Center]:
    asked = device.asking_for([limit.response for limit in limits], {"throw": False})
    at = jax.eval_shape(partial(device.respond, **asked), spread.design, spread.setting)
    single = [limit for limit in limits if getattr(at, limit.response).shape == ()]
    found = (along_slope(device, spread, limit) for limit in single)
    return [center for center in found if center]


def along_slope(device: Device, spread: Scatter, limit: Constraint) -> Center | None:
    """The place nearest to the origin on the border of a limit (Hasofer and Lind 1974; Rackwitz and Fiessler
    1978); None where the way there has a gradient that is not certified, or does not settle."""
    slope_of = response_slope(device, limit.response, spread.fields)
    place = np.zeros(len(spread.causes))
    sign = 1.0 if limit.sense == ">=" else -1.0
    for _ in range(STEPS):
        value, slope, certified = jax.tree.map(np.asarray, slope_of(spread, jnp.asarray(place)))
        gradient = sign * slope
        length = float(gradient @ gradient)
        if not certified or not np.isfinite(length) or length == 0:
            return None
        further = (gradient @ place - float(limit.slack(value))) / length * gradient
        if np.linalg.norm(further - place) < CLOSE:
            # The border itself is good: a hair beyond it is not.
            return Center(further * (1 + 1e-6), str(limit), "gradient")
        place = further
    return None


@cache
def response_slope(device: Device, response: str, fields: tuple[str, ...]) -> Callable:
    """Value, slope in standard-normal space and whether it is certified, at a place; compiled once."""
    numerics = device.asking_for((response,), {})
    judged = value_and_gradient(device, fields, response, **numerics)

    @eqx.filter_jit
    def slope(spread: Scatter, place: Array) -> tuple[Array, Array, Array]:
        value, gradient, certificate, _ = judged(*spread.part(place))

        return (
            value,
            spread.slope(gradient, place),
            certificate.verdict == VERDICTS.index("certified"),
        )

    return slope
