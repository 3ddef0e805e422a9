"""The micro-MKSfA units of Nagy 2012, Table II, as an alternative display.

diffmicro speaks SI at every boundary and scales inside; nothing computes in these units. They help
to compare with numbers of the paper. Base units are um, g, s and fA, so a quantity of dimension
m^l kg^m s^t A^i is multiplied by 10^(6 l + 3 m + 15 i).
"""

import difflib
from typing import NamedTuple

from diffmicro.parameters import Value


class Unit(NamedTuple):
    """How a quantity is shown: value in SI times `factor` is its value in `symbol`."""

    si: str
    symbol: str
    factor: float


def _unit(si: str, symbol: str, metre: int = 0, kilogram: int = 0, ampere: int = 0) -> Unit:
    return Unit(si, symbol, float(f"1e{6 * metre + 3 * kilogram + 15 * ampere}"))


UNITS: dict[str, Unit] = {
    "length": _unit("m", "um", metre=1),
    "force": _unit("N", "nN", metre=1, kilogram=1),
    "time": _unit("s", "s"),
    "frequency": _unit("Hz", "Hz"),
    "mass": _unit("kg", "g", kilogram=1),
    "pressure": _unit("Pa", "kPa", metre=-1, kilogram=1),
    "velocity": _unit("m/s", "um/s", metre=1),
    "acceleration": _unit("m/s^2", "um/s^2", metre=1),
    "density": _unit("kg/m^3", "g/um^3", metre=-3, kilogram=1),
    "stiffness": _unit("N/m", "nN/um", kilogram=1),
    "damping": _unit("N s/m", "g/s", kilogram=1),
    "field_intensity": _unit("A/m", "fA/um", metre=-1, ampere=1),
    "flux_density": _unit("T", "g/(fA s^2)", kilogram=1, ampere=-1),
    "permeability": _unit("H/m", "g um/(fA^2 s^2)", metre=1, kilogram=1, ampere=-2),
}
"""Quantity -> unit. The paper gives no name to the units of the last two."""


def _find(quantity: str) -> Unit:
    if quantity not in UNITS:
        near = difflib.get_close_matches(quantity, UNITS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown quantity {quantity!r}, known are {', '.join(UNITS)}{hint}")
    return UNITS[quantity]


def to_micro(quantity: str, value: Value) -> Value:
    """A value in SI, number or array, in the units of Table II."""
    return value * _find(quantity).factor


def from_micro(quantity: str, value: Value) -> Value:
    """A value in the units of Table II, number or array, in SI."""
    return value / _find(quantity).factor
