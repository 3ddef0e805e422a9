"""Laws about two calculations: other units, no drive, a mirror, and neighbors that make no sense.

Units. If lengths are measured in a unit that is 1 / a_m of a meter, and so on for time, current and mass, every
number is multiplied by a_m^i a_s^j a_A^k a_kg^l with the powers of its own unit, and the motion is the same.
The constant of magnetism, mu_0 [kg m s^-2 A^-2], is not a parameter and has to keep its value, which leaves
a_kg = a_A^2 a_s^2 / a_m. With factors that are powers of 2^6, no number is rounded by the change, nor are square,
cubic and sixth roots; so a change of more than the last digits tells of a number with a unit in the code.

Left out of it: whatever needs the permittivity of vacuum, which would fix the speed of light too.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from diffmicro import Device
from diffmicro.parameters import Parameter
from diffmicro.units import parsed

FACTORS = 2.0 ** (6 * np.arange(-3, 4))
"""A millionth, roughly, to a million."""


class Units(NamedTuple):
    """By what lengths, times and currents are multiplied."""

    meter: float
    second: float
    ampere: float

    @property
    def kilogram(self) -> float:
        """What keeps mu_0."""
        return self.ampere**2 * self.second**2 / self.meter

    def factor(self, unit: str) -> float:
        """Of one number."""
        base = (self.kilogram, self.meter, self.second, self.ampere)
        return float(np.prod([f**p for f, p in zip(base, parsed(unit).powers, strict=True)]))

    def factors(self, unit: str, shape: tuple[int, ...]) -> np.ndarray:
        """Of a number or of several, whose units repeat along the last axis; a square table has one for its row
        and column together."""
        units = unit.split(", ")
        if len(units) > 1 and len(shape) == 2 and shape[0] == shape[1] > len(units):
            across = np.resize([0, 0, 1], shape[0])
            kinds = across[:, None] + across[None, :]
            return np.array([self.factor(one) for one in units])[kinds]
        own = [self.factor(one) for one in units]
        return np.resize(own, shape) if shape else np.array(own[0])


def drawn_units(rng: np.random.Generator) -> Units:
    """Some other units."""
    return Units(*rng.choice(FACTORS, size=3))


def in_units(device: Device, given: Mapping[str, Any], units: Units) -> dict[str, Any]:
    """The point with every number of it, and every one that it leaves to the device, in these units."""
    found = dict(given)
    for name, known in device.parameters.items():
        value = given[name] if name in given else published(device, known)
        if value is None or not known.differentiable:
            continue
        numbers = np.asarray(value, float)
        found[name] = (numbers * units.factors(known.unit, numbers.shape)).tolist()
    return found


def published(device: Device, known: Parameter) -> Any:
    """The value of a field that nobody changes."""
    design = device.published_design()
    return getattr(design if known.name in vars(design) else device.published_setting(), known.name)


def apart(device: Device, here: Mapping[str, Any], there: Mapping[str, Any], units: Units) -> dict:
    """By response: the largest difference of the two, there in the other units, over the larger of them."""
    found = {}
    for name, value in here.items():
        one, other = np.asarray(value, float), np.asarray(there[name], float)
        one = one * units.factors(device.responses[name].unit, one.shape)
        size = np.maximum(np.max(np.abs(one), initial=0.0), np.max(np.abs(other), initial=0.0))
        off = np.max(np.abs(one - other), initial=0.0)
        found[name] = float(off / size) if size else 0.0
    return found


def line(point: Mapping[str, Any]) -> str:
    """A line of a file of points."""
    return json.dumps(point)
