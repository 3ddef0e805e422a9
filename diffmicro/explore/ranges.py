"""How far a slider goes: what a parameter allows where that is bounded, else a range around its value.

A parameter that is zero and open has no scale of its own. A share is then looked at up to one, an angle over half
a turn to each side; of anything else it is found how large it has to be to change a response (`effect`).
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from diffmicro.parameters import Parameter

SPREAD = 2.0
"""A range around a value is from a half to twice of it."""

WIDE = 20.0
"""A range that is allowed is shown whole up to so many times the value; in a wider one a slider would be blunt."""

CLOSE = 1e-3
"""How far a slider stays from an end that is excluded, as a share of the range."""

DECADES = range(-15, 7)
"""Powers of ten that `effect` tries."""

VISIBLE = 0.1
"""Share of a response that counts as an effect."""


class Range(NamedTuple):
    """Ends [SI], and in words how they were chosen."""

    low: float
    high: float
    how: str


def range_of(known: Parameter, value: float | None) -> Range | None:
    """The range of a slider; None where there is no scale to choose one by."""
    if not known.differentiable or value is None or not math.isfinite(value):
        return None
    whole = known.high - known.low
    if math.isfinite(whole) and (not value or whole <= WIDE * abs(value)):
        return _inside(known, known.low, known.high, "all that is allowed")
    if value:
        low, high = sorted((value / SPREAD, value * SPREAD))
        return _inside(known, low, high, "from a half to twice the value")
    if known.unit == "rad":
        return _inside(known, -math.pi, math.pi, "half a turn to each side")
    if known.unit == "-":
        return _inside(known, -1.0, 1.0, "up to one, as the value is 0")
    return None


def _inside(known: Parameter, low: float, high: float, how: str) -> Range | None:
    low, high = max(low, known.low), min(high, known.high)
    if known.open_low and low <= known.low:
        low = known.low + CLOSE * (high - known.low)
    return Range(low, high, how) if low < high else None


def effect(known: Parameter, look: Callable[[float], float | None]) -> Iterator[Range | None]:
    """The range of a parameter that is zero: up to the first power of ten that changes a response by `VISIBLE`.

    look: the response's value, None where there is none. Yields None after each look, and the range at the end,
    if there is one.
    """
    first, last = look(0.0), None
    yield None
    for power in DECADES:
        size = 10.0**power
        if size > known.high:
            break
        value = look(size)
        yield None
        if value is None or first is None:
            break
        last = size
        if abs(value - first) > VISIBLE * max(abs(first), abs(value)):
            break
    else:
        last = None  # nothing changes, whatever its size
    if last is not None:
        how = "up to a power of ten that changes the response"
        yield _inside(known, -last, last, how)
