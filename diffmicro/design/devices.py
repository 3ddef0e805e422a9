"""Problems about devices: names resolve to Design and Setting fields, gradients carry
certificates.

Left out: free fields that are vectors.
"""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._parameters import as_arrays, check, describe
from diffmicro._results import FAILURES, RESULTS, code, word
from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.design.problem import (
    Constraint,
    Finished,
    Objective,
    Problem,
    Variable,
    responses_of,
)
from diffmicro.sweep.lanes import quick_numerics


def device_problem(
    device: ModuleType,
    free: Mapping[str, tuple[float, float]],
    objective: Objective,
    constraints: Sequence[Constraint] = (),
    *,
    design: Any = None,
    setting: Any = None,
) -> Problem:
    """The problem of choosing the `free` fields (name -> bounds) of a device's Design and Setting.

    It starts from `design` and `setting`, the published ones by default.
    """
    design = device.published_design() if design is None else design
    setting = device.published_setting() if setting is None else setting
    check("device_problem", design, setting)
    known = describe(device.Design) | describe(device.Setting)
    wanted = responses_of(objective, constraints)
    for name in free:
        if name not in known or known[name].words:
            numbers = ", ".join(n for n, p in known.items() if not p.words)
            raise ValueError(f"device_problem: {name} cannot be free; these can: {numbers}.")
    for name in wanted:
        if name not in describe(device.Response):
            raise ValueError(
                f"device_problem: {name} is not a response; these are: "
                f"{', '.join(describe(device.Response))}."
            )
    for name in getattr(device, "CAUTIONS", {}).keys() & free.keys():
        warnings.warn(f"device_problem: {name}: {device.CAUTIONS[name]}", stacklevel=2)
    variables = []
    for name, (low, high) in free.items():
        home = design if hasattr(design, name) else setting
        variables.append(Variable(name, low, high, float(getattr(home, name))))
        for value in (low, high):
            check("device_problem", _put(design, setting, {name: value})[name in _names(setting)])
    names, quick = tuple(free), quick_numerics(device.respond)
    distinct = tuple(dict.fromkeys(wanted))
    # One compiled function with the full search serves the loop and the report.
    judged = jax.jit(value_and_gradient(device.respond, names, distinct))

    def usable(response: Any) -> Array:
        codes = jnp.array([int(code(getattr(RESULTS, name))) for name in FAILURES])
        return ~jnp.any(code(response.result) == codes)

    def evaluate(x: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
        values, gradients, certificates, response = judged(*as_arrays(_put(design, setting, x)))
        jacobian = jnp.stack([jnp.stack([gradients[r][n] for n in names]) for r in wanted])
        stacked = jnp.stack([values[r] for r in wanted])
        return stacked, jacobian, usable(response), certificates[objective.response].verdict

    def values(x: dict[str, Array]) -> tuple[Array, Array]:
        response = device.respond(*_put(design, setting, x), throw=False, **quick)
        stacked = jnp.stack([getattr(response, r) for r in wanted])
        return stacked, usable(response) & jnp.all(jnp.isfinite(stacked))

    def finish(x: dict[str, float]) -> Finished:
        chosen = as_arrays(_put(design, setting, x))
        _, _, certificates, response = judged(*chosen)
        certificate = certificates[objective.response]
        numbers = {n: getattr(response, n) for n in describe(device.Response)}
        numbers = {n: _plain(v) for n, v in numbers.items() if eqx.is_array(v)}
        shown = {
            "verdict": verdict_word(certificate),
            "reason": reason_text(certificate),
            "method": certificate.method,
        }
        codes = ("verdict", "reason", "method")
        entries = {f.name: getattr(certificate, f.name) for f in dataclasses.fields(certificate)}
        shown |= {n: _plain(v) for n, v in entries.items() if n not in codes}
        sides = [
            {f.name: _plain(getattr(tree, f.name)) for f in dataclasses.fields(tree)}
            for tree in chosen
        ]
        return Finished(sides[0], sides[1], numbers, word(response.result), shown)

    return Problem(
        tuple(variables), objective, tuple(constraints), evaluate, values, finish, batched=False
    )


def _names(tree: Any) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(tree))


def _put(design: Any, setting: Any, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Design and setting with the named fields replaced."""
    in_design = {n: v for n, v in x.items() if n in _names(design)}
    in_setting = {n: v for n, v in x.items() if n not in in_design}
    return dataclasses.replace(design, **in_design), dataclasses.replace(setting, **in_setting)


def _plain(value: Any) -> Any:
    """A Python value for JSON: what is not finite is None."""
    if value is None or isinstance(value, str):
        return value
    number = np.asarray(value).item()
    return number if np.isfinite(number) else None
