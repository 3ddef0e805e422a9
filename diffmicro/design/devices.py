"""Problems about devices: free fields become variables, responses come with certificates.

`device_problem` is the common case of one operating point whose fields are the variables; `points` has several.
"""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro._device import Device
from diffmicro.design.points import Point, points_problem
from diffmicro.design.problem import Constraint, Objective, Problem, Quantity, Variable
from diffmicro.design.ruled import ruled_problem
from diffmicro.devices import as_device
from diffmicro.parameters import Fields, Value, check, get
from diffmicro.process.values import Process


def device_problem(
    device: Device | str,
    free: Mapping[str, tuple[float, float]],
    objective: Objective,
    constraints: Sequence[Constraint] = (),
    *,
    design: Fields | None = None,
    setting: Fields | None = None,
    tied: Mapping[str, Callable[[Mapping[str, Value]], Value]] | None = None,
    quantities: Mapping[str, Quantity] | None = None,
    process: Process | None = None,
    layout: Fields | None = None,
    **numerics: Value,
) -> Problem:
    """The problem of choosing the `free` fields (name -> bounds) of a device's Design and Setting.

    A field of several numbers gives one variable an entry, `hinge[0]` one entry, `hinge[:]` one number for
    all. `tied`: fields that follow from the variables, field -> function of {variable: value}.
    `process`: its rules are constraints on the geometry that `layout` completes, see `design.ruled`.
    It starts from `design` and `setting`, the published ones by default. `numerics` go to `respond`.
    """
    device = as_device(device)
    design, setting = device.point(design, setting)
    check("device_problem", design, setting)
    tied = dict(tied or {})
    variables: list[Variable] = []
    placed: dict[str, list[tuple[str, int | None]]] = {}
    for text, bounds in free.items():
        for entry in entries(device, design, setting, text):
            unit = device.parameters[entry.field].unit.split(", ")[0]
            variables.append(Variable(entry.variable, *bounds, entry.value, unit=unit))
            placed.setdefault(entry.field, []).append((entry.variable, entry.number))
    for name, parts in placed.items():
        numbers = [number for _, number in parts]
        if len(set(numbers)) < len(numbers) or (None in numbers and len(numbers) > 1):
            raise ValueError(
                f"device_problem: {name} is free twice; give the field, some of its entries, or one "
                "number for all, but each entry once."
            )
    for name in device.cautions.keys() & (placed.keys() | tied.keys()):
        warnings.warn(f"device_problem: {name}: {device.cautions[name]}", stacklevel=2)

    def place(x: Mapping[str, Value]) -> dict[str, Value]:
        found = {}
        for name, parts in placed.items():
            value = jnp.asarray(_get(design, setting, name), float)
            for own, number in parts:
                if number is None:
                    value = jnp.broadcast_to(jnp.asarray(x[own]), value.shape)
                else:
                    value = value.ravel().at[number].set(x[own]).reshape(value.shape)
            found[name] = value
        return found | {name: function(x) for name, function in tied.items()}

    point = Point(device, design, setting, place)
    for side in ("low", "high"):  # where both ends of every range are allowed, all values are
        check("device_problem", *point.at({v.name: getattr(v, side) for v in variables}))
    problem = points_problem(variables, [point], objective, constraints, quantities, **numerics)
    return problem if process is None else ruled_problem(problem, point, process, layout)


class Entry(NamedTuple):
    """A variable for one entry of a field, or for the whole field where `number` is None."""

    field: str
    variable: str
    number: int | None
    value: float


def entries(device: Device, design: Fields, setting: Fields, text: str) -> list[Entry]:
    """What `hinge` (each entry), `hinge[3]` (one), `hinge[:]` (one number for all) stand for."""
    name, chosen = _field_of(device, text)
    value = np.asarray(_get(design, setting, name), float)
    if chosen == ":" or (chosen is None and not value.ndim):
        return [Entry(name, name, None, float(value.mean()))]
    numbers = range(value.size) if chosen is None else [int(chosen)]
    if numbers[-1] >= value.size:
        raise ValueError(f"device_problem: {text}: {name} has {value.size} entries, from 0 on.")
    return [Entry(name, f"{name}[{i}]", i, float(value.ravel()[i])) for i in numbers]


def _field_of(device: Device, text: str) -> tuple[str, str | None]:
    """A field's name, and the entry that is meant: `hinge`, `hinge[3]`, `hinge[:]`."""
    found = re.fullmatch(r"(\w+)(?:\[(\d+|:)\])?", text)
    known = device.parameters
    if not found or found[1] not in known or not known[found[1]].differentiable:
        numbers = ", ".join(n for n, p in known.items() if p.differentiable)
        raise ValueError(f"device_problem: {text} cannot be free; these can: {numbers}.")
    return found[1], found[2]


def _get(design: Fields, setting: Fields, name: str) -> Value:
    value = get(design, setting, name)
    if value is None:
        raise ValueError(f"device_problem: {name} has no value here to start from; give it one.")
    return value
