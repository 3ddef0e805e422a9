"""What lies around an optimum: the nearest end along each parameter, the yield of parts, and the start it needs.

An end is where the motion ends or where the start no longer leads to it. Changes at which it goes on, such as a
phase of rest that vanishes, are kinks: the derivative jumps there. An optimum is fragile when the deviations of
its parts reach an end, or when parts fail too often.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from diffmicro._device import Device
from diffmicro.boundary.find import REACH
from diffmicro.boundary.margin import nearby
from diffmicro.boundary.values import Boundary
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

ON_IT = 1e-3
"""Distance below which a design lies on a kink."""

NONE = "none within reach"
"""Words of an end that is not there."""


class Near(NamedTuple):
    """A boundary along a parameter: its kind, its distance as a share of the parameter, below or above, and the
    status that the start leads to beyond it, where that is known."""

    kind: str
    margin: float
    side: str
    beyond: str

    @property
    def words(self) -> str:
        """`start_lost above, where the start leads to: erratic`."""
        lost = self.kind == "start_lost" and self.beyond
        return (
            f"{self.kind} {self.side}{', where the start leads to: ' + self.beyond if lost else ''}"
        )


class End(NamedTuple):
    """The nearest end along a parameter.

    margin: its distance as a share of the parameter; None: not found, for the reason `why`. kind: which end; empty
    where none is within reach, and the margin is the reach. tolerance: how far parts deviate along it, as a share:
    `DEVIATIONS` of their standard deviation, and all of an interval. side, beyond: see `Near`. motion: where the
    motion itself ends, if the start is lost before. kink: the nearest change at which the motion goes on.
    """

    key: str
    margin: float | None
    kind: str
    tolerance: float
    why: str = ""
    side: str = ""
    beyond: str = ""
    motion: Near | None = None
    kink: Near | None = None

    @property
    def places(self) -> dict[str, tuple[str, float]]:
        """What there is to say: name -> words and distance; nothing where no end was found for a reason."""
        if self.margin is None:
            return {}
        end = Near(self.kind, self.margin, self.side, self.beyond).words if self.kind else NONE
        near = {"end of the motion": self.motion, "kink": self.kink}
        others = {name: (one.words, one.margin) for name, one in near.items() if one}
        return {"nearest end": (end, self.margin), **others}


def places_text(places: Mapping[str, tuple[str, float]]) -> str:
    """`End.places` in a line."""
    texts = []
    for name, (words, margin) in places.items():
        far = f"{100 * margin:.3g} %"
        if name == "nearest end":
            texts.append(f"no end within {far}" if words == NONE else f"{words}, {far} away")
        elif name == "kink":
            on = "the design lies on a kink, " if margin < ON_IT else "a kink "
            texts.append(f"{on}{far} away, where the derivative jumps: {words}")
        else:
            texts.append(f"the motion itself ends {far} away: {words}")
    return "; ".join(texts)


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
        found = nearby(device, design, setting, key)
    except NoResult as unknown:
        return End(key, None, "", size, str(unknown))
    nearest = _nearest([b for b in found if b.holds_until])
    kink = _nearest([b for b in found if not b.holds_until])
    if nearest is None:
        return End(key, REACH, "", size, kink=kink)
    motion = _nearest([b for b in found if b.ends]) if nearest.kind == "start_lost" else None
    return End(key, nearest.margin, nearest.kind, size, "", *nearest[2:], motion, kink)


def _nearest(found: Sequence[Boundary]) -> Near | None:
    if not found:
        return None
    one = min(found, key=lambda b: b.distance)
    return Near(one.kind, one.distance, one.side, one.beyond)


def _deviation(design: Fields, setting: Fields, key: str, deviating: Sequence[Tolerance]) -> float:
    """How far parts are expected to deviate along a parameter, as a share of it: standard deviations of
    independent causes add by their squares, half widths of intervals as they are."""
    value = abs(float(get(design, setting, key)))
    sizes: dict[str, list[float]] = {"normal": [], "interval": []}
    for tolerance in deviating:
        share = sum(abs(s) for name, s in tolerance.moves if name.removesuffix("[:]") == key)
        sizes[tolerance.kind].append(
            share * tolerance.size / (1.0 if tolerance.relative else value)
        )
    return DEVIATIONS * math.hypot(*sizes["normal"]) + sum(sizes["interval"])


def _is_number(device: Device, design: Fields, setting: Fields, key: str) -> bool:
    """Whether a name is that of a single number with a share to speak of."""
    known = device.parameters.get(key)
    if known is None or not known.differentiable or () not in known.shapes:
        return False
    value = get(design, setting, key)
    return not idle(design, setting, key) and np.ndim(value) == 0 and bool(value)
