"""Values, limits and prices of a device in units that read well: `20 um`, `velocity >= 20 mm/s`, `5 %`."""

import re
from collections.abc import Sequence

from diffmicro._device import Device
from diffmicro.boundary.margin import margin_key
from diffmicro.design.problem import Problem
from diffmicro.parameters import Value
from diffmicro.shapes.features import NAMED
from diffmicro.units import readable

LIMIT = re.compile(r"([\w\[\]]+(?:\([\w\[\]]+\))?) ([<>]=) ([-+.\de]+\d)")
"""A limit as `str(Constraint)` writes it, anywhere in a text."""


def unit_of(device: Device, name: str) -> str:
    """SI unit of a parameter, an entry of one, a response, a feature of the geometry, or a margin."""
    if NAMED.fullmatch(name):
        return "m"
    known = device.parameters.get(name.partition("[")[0]) or device.responses.get(name)
    return known.unit.split(", ")[0] if known else "-"


def show(device: Device, name: str, value: Value, digits: int = 5) -> str:
    """The value of a parameter, a response, a feature or a margin."""
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(show(device, name, part, digits) for part in value)
    if isinstance(value, str | bool):
        return str(value)
    if margin_key(name) is not None:
        return f"{100 * value:.{digits}g} %"
    return readable(float(value), unit_of(device, name), digits)


def with_units(device: Device, text: str) -> str:
    """A text whose limits have their bounds in units: `misses velocity >= 20 mm/s`."""
    return _with_units_of([device], text)


def in_units(problem: Problem, text: str) -> str:
    """The same by the devices of a problem; of one about no device the text as it is."""
    return _with_units_of(_devices(problem), text)


def unit_in(problem: Problem, name: str) -> str:
    """SI unit of a response of a problem, which may bear the label of its operating point."""
    units = (unit_of(device, name.rpartition(".")[2]) for device in _devices(problem))
    return next((unit for unit in units if unit != "-"), "-")


def said_of(problem: Problem, name: str, value: float, digits: int = 4) -> str:
    """A value of a response of a problem."""
    if margin_key(name.rpartition(".")[2]) is not None:
        return f"{100 * value:.{digits}g} %"
    return readable(value, unit_in(problem, name), digits)


def _devices(problem: Problem) -> list[Device]:
    return [place.device for place in problem.places(problem.named(problem.start))]


def _with_units_of(devices: Sequence[Device], text: str) -> str:
    def said(at: re.Match) -> str:
        knowing = next((d for d in devices if unit_of(d, at[1]) != "-"), devices[0])
        return f"{at[1]} {at[2]} {show(knowing, at[1], float(at[3]))}"

    return LIMIT.sub(said, text) if devices else text


def per(unit: str, below: str) -> str:
    """The unit of a price: `m/s / Pa`."""
    above = "1" if unit in ("", "-") else unit
    if below in ("", "-"):
        return above
    return f"{above} / ({below})" if set(" /") & set(below) else f"{above} / {below}"
