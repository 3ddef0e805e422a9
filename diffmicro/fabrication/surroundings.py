"""What lies around an optimum: the nearest end along each parameter, the yield of parts, and the start it needs.

An optimum is fragile when the device's own tolerances reach an end of what it does, or when parts fail too often.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from diffmicro._device import Device
from diffmicro.boundary.find import REACH
from diffmicro.boundary.margin import measured
from diffmicro.design.problem import Constraint
from diffmicro.fabrication.tolerances import tolerances
from diffmicro.fabrication.yields import Yield
from diffmicro.parameters import Fields, describe, get, idle
from diffmicro.results import NoResult
from diffmicro.tolerance import Tolerance

PARTS = 400
"""Parts of the yield: its interval is at most 10 % wide."""

DEVIATIONS = 2.0
"""Standard deviations of a normal tolerance that parts are expected to keep within."""

GOOD = 0.95
"""Yield below which an optimum is fragile."""


class End(NamedTuple):
    """The nearest end along a parameter.

    margin: its distance as a share of the parameter; None: not found, for the reason `why`. kind: which end; empty
    where none is within reach, and the margin is the reach. tolerance: how far parts deviate along it, as a share.
    """

    key: str
    margin: float | None
    kind: str
    tolerance: float
    why: str = ""


class Surroundings(NamedTuple):
    """start: how the robot gets going, empty where there is no choice. fragile: why, in words; empty where it is
    not."""

    start: str
    ends: tuple[End, ...]
    parts: Yield | None
    fragile: tuple[str, ...]


def surroundings(
    device: Device,
    design: Fields,
    setting: Fields,
    keys: Sequence[str],
    limits: Sequence[Constraint] = (),
    *,
    deviating: Sequence[Tolerance] | None = None,
    parts: int = PARTS,
    allowed: tuple[str, ...] = ("ok",),
    counted: Yield | None = None,
) -> Surroundings:
    """Ends along `keys` and along the drive, and the yield under `deviating`, by default the device's process.

    allowed: status words of good parts. counted: the yield, where it is known already.
    """
    deviating = device.process if deviating is None else tuple(deviating)
    states_ends = device.orbits is not None or device.limits
    ends = [
        _end(device, design, setting, key, deviating)
        for key in dict.fromkeys((*keys, *device.drive))
        if states_ends and _is_number(device, design, setting, key)
    ]
    own = [limit for limit in limits if limit.response in device.responses]
    found = counted
    if deviating and found is None:
        found = tolerances(
            device, deviating, own, design=design, setting=setting,
            parts=parts, gradients=False, allowed=allowed,
        )  # fmt: skip
    fragile = [
        f"parts deviate by {100 * end.tolerance:.3g} % of {end.key}, and {100 * end.margin:.3g} % away it ends: "
        f"{end.kind}"
        for end in ends
        if end.kind and end.margin is not None and end.margin < end.tolerance
    ]
    if found is not None and found.share < GOOD:
        causes = ", ".join(found.causes)
        fragile.append(f"{100 * found.share:.3g} % of parts are good; the others fail by {causes}")
    words = describe(type(setting))
    start = get(design, setting, "start") if "start" in words and words["start"].words else ""
    return Surroundings(start, tuple(ends), found, tuple(fragile))


def _end(
    device: Device, design: Fields, setting: Fields, key: str, deviating: Sequence[Tolerance]
) -> End:
    size = _deviation(design, setting, key, deviating)
    try:
        found = measured(device, design, setting, key)
    except NoResult as unknown:
        return End(key, None, "", size, str(unknown))
    if found.boundary is None:
        return End(key, REACH, "", size)
    return End(key, found.value, found.boundary.kind, size)


def _deviation(design: Fields, setting: Fields, key: str, deviating: Sequence[Tolerance]) -> float:
    """How far parts are expected to deviate along a parameter, as a share of it."""
    value = abs(float(get(design, setting, key)))
    total = 0.0
    for tolerance in deviating:
        share = sum(abs(s) for name, s in tolerance.moves if name.removesuffix("[:]") == key)
        wide = 1.0 if tolerance.kind == "interval" else DEVIATIONS
        total += wide * share * tolerance.size * (1.0 if tolerance.relative else 1 / value)
    return total


def _is_number(device: Device, design: Fields, setting: Fields, key: str) -> bool:
    """Whether a name is that of a single number with a share to speak of."""
    known = device.parameters.get(key)
    if known is None or not known.differentiable or () not in known.shapes:
        return False
    value = get(design, setting, key)
    return not idle(design, setting, key) and np.ndim(value) == 0 and bool(value)
