"""The stored numbers, `stored.json`, and how far new ones may be from them.

Rounding alone moves a number by what the calculation makes of it: `python -m tests.regression --apart` compares
programs that are compiled with and without the optimizations of LLVM, which round differently.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("stored.json")

TOLERANCES = {
    "tribometer": (1e-12, 1e-11),
    "gripper": (1e-12, 1e-11),
    "stickslip": (1e-9, 1e-8),
    "wrmma": (1e-9, 1e-7),
    "tumbler": (1e-9, 1e-7),
    "legs": (1e-9, 1e-7),
}
"""Of a device: of its responses and of its derivatives, relative."""

STRAIGHT = {"tumbler method=implicit": ("speed_spread", "yaw", "lateral_drift")}
"""Of cases that repeat themselves and keep to their plane: what is zero."""

ZERO = 1e-12
"""Largest number [SI] that counts as zero there; the robot's speed is 0.02 m/s."""

LEFT_OVER = (
    "residual", "max_residual", "multiplier", "max_penetration", "iterations", "lyapunov", "margin",
    "vibration_left",
)  # fmt: skip
"""Responses that are left over: by a solver, between two events, of a vibration. No numbers to keep."""

FLOOR = 1e-3
"""A derivative by a relative change is held to its size, or to this share of the response where that is larger."""

REMEDY = (
    "If the change is meant, run `python -m tests.regression --record LABEL` and say under Numerics in "
    "CHANGELOG.md what changed and by how much; else find what changed it."
)


def load() -> dict[str, dict[str, Any]]:
    """By label of a case: by name of a number a list of points."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def save(stored: Mapping[str, Mapping[str, Any]]) -> None:
    """Write them, one case a line."""
    lines = [f"{json.dumps(k)}: {json.dumps(stored[k])}" for k in sorted(stored)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def as_json(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers without what is left over, every number with all its digits."""
    return {k: np.asarray(v).tolist() for k, v in answers.items() if k not in LEFT_OVER}


def distances(here: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, float]:
    """By name: the largest relative difference of two answers; infinite where only one has a value."""
    found = {}
    for name, stored in there.items():
        if name == "status":
            continue
        old, new = np.array(stored, float), np.asarray(here[name], float)
        size = np.abs(old)
        if name.startswith("d "):
            size = np.maximum(size, FLOOR * np.abs(np.array(there[name.split()[1]], float)))
        off = np.abs(new - old)
        apart = np.where(off == 0, 0.0, off / np.where(size > 0, size, np.nan))
        apart = np.where(np.isnan(old) & np.isnan(new), 0.0, apart)
        found[name] = float(np.max(np.where(np.isnan(apart), np.inf, apart)))
    return found


def changes(label: str, here: Mapping[str, Any], there: Mapping[str, Any]) -> Sequence[str]:
    """What differs from the stored numbers by more than rounding, in words."""
    if list(here["status"]) != list(there["status"]):
        return [f"{label}: status {list(here['status'])}, stored {list(there['status'])}"]
    value, slope = TOLERANCES[label.partition(" ")[0]]
    straight = STRAIGHT.get(label, ())
    kept = [name for name in there if name not in straight]
    allowed = {name: slope if name.startswith("d ") else value for name in kept}
    return [
        f"{label}: {name} is {here[name]}, and has to be zero to {ZERO:g}"
        for name in straight
        if not np.all(np.abs(np.asarray(here[name], float)) < ZERO)
    ] + [
        f"{label}: {name} is off by {apart:.1e} of itself, {allowed[name]:g} is allowed"
        for name, apart in distances(here, there).items()
        if apart > allowed.get(name, np.inf)
    ]
