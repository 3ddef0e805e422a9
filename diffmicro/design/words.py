"""Words of the command line: `--free key=low:high`, `--subject "max_stress<200e6"`, `--robust key=5%`."""

import re

from diffmicro.design.problem import Constraint
from diffmicro.design.robust import Tolerance


def parse_free(text: str) -> tuple[str, float, float]:
    """`key=low:high` as (key, low, high)."""
    found = re.fullmatch(r"\s*(\w+(?:\[(?:\d+|:)\])?)\s*=\s*([^:]+):([^:]+)", text)
    if not found:
        raise ValueError(f"--free {text!r}: write key=low:high, for instance mass_ratio=0.5:2.5.")
    low, high = (_number(part, f"--free {text!r}") for part in found.group(2, 3))
    if not low < high:
        raise ValueError(f"--free {text!r}: the lower bound has to be below the upper one.")
    return found[1], low, high


def parse_constraint(text: str) -> Constraint:
    """`response<value` or `response>value` as a constraint; <= and >= mean the same. `margin(key)>3%` is one of a
    margin."""
    found = re.fullmatch(r"\s*(\w+|margin\(\w+\))\s*([<>])=?\s*([^\s%]+)\s*(%?)\s*", text)
    if not found:
        raise ValueError(f"--subject {text!r}: write response<value, for instance min_gap>1e-6.")
    sense = "<=" if found[2] == "<" else ">="
    share = 0.01 if found[4] else 1.0
    return Constraint(found[1], sense, share * _number(found[3], f"--subject {text!r}"))


def parse_tolerance(text: str) -> Tolerance:
    """`key=5%` (standard deviation, relative), `key=1e-6` (absolute), `key=+-5%` (interval)."""
    found = re.fullmatch(r"\s*([\w\[\]:]+)\s*=\s*(\+-)?\s*([^%\s]+)\s*(%)?\s*", text)
    if not found:
        raise ValueError(
            f"--robust {text!r}: write key=5% or key=1e-6 for a standard deviation, key=+-5% for an interval."
        )
    size = _number(found[3], f"--robust {text!r}") * (0.01 if found[4] else 1.0)
    kind = "interval" if found[2] else "normal"
    return Tolerance(found[1], size, relative=bool(found[4]), kind=kind)


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise ValueError(f"{where}: {text.strip()!r} is not a finite number.")
    return value
