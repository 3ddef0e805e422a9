"""Words of the command line: `--free key=low:high`, `--subject "max_stress<200MPa"`, `--robust key=5%`.

Numbers may carry a unit. `unit_of` gives the SI unit of a name, and complains about names that it does not know;
by default every number is a plain one.
"""

import re
from collections.abc import Callable

from diffmicro.design.problem import Constraint
from diffmicro.tolerance import Tolerance
from diffmicro.units import in_si

UnitOf = Callable[[str], str]


def plain(name: str) -> str:
    """No unit."""
    return ""


def parse_free(text: str, unit_of: UnitOf = plain) -> tuple[str, float, float]:
    """`key=low:high` as (key, low, high)."""
    where = f"--free {text!r}"
    found = re.fullmatch(r"\s*(\w+(?:\[(?:\d+|:)\])?)\s*=\s*([^:]+):([^:]+)", text)
    if not found:
        raise ValueError(f"{where}: write key=low:high, for instance mass_ratio=0.5:2.5.")
    unit = unit_of(found[1])
    low, high = (_number(part, where, unit) for part in found.group(2, 3))
    if not low < high:
        raise ValueError(
            f"{where}: the lower bound has to be below the upper one; they are {low:g} and {high:g}, in SI. "
            "A number without a unit is in SI: give each its own."
        )
    return found[1], low, high


def parse_constraint(text: str, unit_of: UnitOf = plain) -> Constraint:
    """`response<value` or `response>value` as a constraint; <= and >= mean the same. `margin(key)>3%` is one of a
    margin."""
    where = f"--subject {text!r}"
    found = re.fullmatch(r"\s*(\w+|margin\(\w+\))\s*([<>])=?\s*(\S.*?)\s*", text)
    if not found:
        raise ValueError(f"{where}: write response<value, for instance min_gap>1um.")
    sense = "<=" if found[2] == "<" else ">="
    return Constraint(found[1], sense, _number(found[3], where, unit_of(found[1])))


def parse_tolerance(text: str, unit_of: UnitOf = plain, option: str = "--robust") -> Tolerance:
    """`key=5%` (standard deviation, relative), `key=1um` (absolute), `key=+-5%` (interval)."""
    where = f"{option} {text!r}"
    found = re.fullmatch(r"\s*([\w\[\]:]+)\s*=\s*(\S.*?)\s*", text)
    if not found:
        raise ValueError(
            f"{where}: write key=5% or key=1e-6 for a standard deviation, key=+-5% for an interval."
        )
    return _tolerance(where, found[1], found[2], unit_of(found[1]))


def parse_common(text: str, unit_of: UnitOf = plain, option: str = "--common") -> Tolerance:
    """`etch=0.3um:beam-2,gap+2`: one cause that moves several fields, each by so many times its size."""
    where = f"{option} {text!r}"
    found = re.fullmatch(r"\s*(\w+)\s*=\s*([^:]+):(.+)", text)
    parts = (found[3] if found else "").split(",")
    moves = [re.fullmatch(r"\s*([\w\[\]:]+?)\s*([+-][\d.]*)\s*", part) for part in parts]
    if not found or not all(moves):
        raise ValueError(
            f"{where}: write cause=size:field+2,field-2; each number says by how many times the size the "
            "cause moves the field."
        )
    shares = [(m[1], float(m[2] + "1" if m[2] in "+-" else m[2])) for m in moves if m]
    units = sorted({unit_of(key) for key, _ in shares})
    if len(units) > 1:
        raise ValueError(f"{where}: the fields have different units ({', '.join(units)}).")
    return _tolerance(where, found[1], found[2], units[0], tuple(shares))


def _tolerance(
    where: str, name: str, size: str, unit: str, moves: tuple[tuple[str, float], ...] = ()
) -> Tolerance:
    kind = "interval" if size.startswith("+-") else "normal"
    size = size.removeprefix("+-").strip()
    relative = size.endswith("%")
    return Tolerance(name, _number(size, where, "-" if relative else unit), relative, kind, moves)


def _number(text: str, where: str, unit: str) -> float:
    try:
        value = in_si(text, unit)
    except ValueError as problem:
        fault = f"{problem}" if re.match(r"\s*[+-]?[\d.]", text) else ""
        raise ValueError(
            f"{where}: {fault or f'{text.strip()!r} is not a finite number'}."
        ) from None
    if not abs(value) < float("inf"):
        raise ValueError(f"{where}: {text.strip()!r} is not a finite number.")
    return value
