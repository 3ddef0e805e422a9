"""Problems about devices: free fields become variables, responses come with certificates.

A problem may ask for several operating points, each a `Point`: a device, and how the variables make its
design and setting. `device_problem` is the common case of one point whose fields are the variables.
"""

import dataclasses
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

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
    Quantity,
    Variable,
    responses_of,
)
from diffmicro.devices import asking_for
from diffmicro.sweep.lanes import quick_numerics


class Point(NamedTuple):
    """One operating point of a problem.

    place: {variable: value} -> {field: value} of what the variables decide.
    label: goes before the responses' names, as in `slow.velocity`; empty for the only point.
    allowed: status words that this point may end with.
    """

    device: ModuleType
    design: Any
    setting: Any
    place: Callable[[Mapping[str, Any]], dict[str, Any]]
    label: str = ""
    allowed: tuple[str, ...] = ("ok",)

    def name(self, response: str) -> str:
        return f"{self.label}.{response}" if self.label else response

    def at(self, x: Mapping[str, Any]) -> tuple[Any, Any]:
        """Design and setting for values of the variables."""
        return _put(self.design, self.setting, self.place(x))


def device_problem(
    device: ModuleType,
    free: Mapping[str, tuple[float, float]],
    objective: Objective,
    constraints: Sequence[Constraint] = (),
    *,
    design: Any = None,
    setting: Any = None,
    tied: Mapping[str, Callable[[Mapping[str, Any]], Any]] | None = None,
    quantities: Mapping[str, Quantity] | None = None,
    **numerics: Any,
) -> Problem:
    """The problem of choosing the `free` fields (name -> bounds) of a device's Design and Setting.

    A field of several numbers gives one variable an entry, `hinge[0]` one entry, `hinge[:]` one number for
    all. `tied`: fields that follow from the variables, field -> function of {variable: value}.
    It starts from `design` and `setting`, the published ones by default. `numerics` go to `respond`.
    """
    design = device.published_design() if design is None else design
    setting = device.published_setting() if setting is None else setting
    check("device_problem", design, setting)
    tied = dict(tied or {})
    variables: list[Variable] = []
    placed: dict[str, list[tuple[str, int | None]]] = {}
    for text, bounds in free.items():
        name, entry = _field_of(device, text)
        value = np.asarray(_get(design, setting, name), float)
        if entry is None and value.ndim:
            entries: list[int | None] = list(range(value.size))
        elif entry == ":":
            entries = [None]
        else:
            entries = [None if entry is None else int(entry)]
        for number in entries:
            if number is not None and not 0 <= number < value.size:
                raise ValueError(
                    f"device_problem: {text}: {name} has {value.size} entries, from 0 on."
                )
            own = name if number is None else f"{name}[{number}]"
            start = value.mean() if number is None else value.ravel()[number]
            variables.append(Variable(own, *bounds, float(start)))
            placed.setdefault(name, []).append((own, number))
    for name in getattr(device, "CAUTIONS", {}).keys() & (placed.keys() | tied.keys()):
        warnings.warn(f"device_problem: {name}: {device.CAUTIONS[name]}", stacklevel=2)

    def place(x: Mapping[str, Any]) -> dict[str, Any]:
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
    return points_problem(variables, [point], objective, constraints, quantities, **numerics)


def points_problem(
    variables: Sequence[Variable],
    points: Sequence[Point],
    objective: Objective,
    constraints: Sequence[Constraint] = (),
    quantities: Mapping[str, Quantity] | None = None,
    **numerics: Any,
) -> Problem:
    """A problem about one or several operating points, of one device or of several."""
    quantities = dict(quantities or {})
    wanted = responses_of(objective, constraints)
    needed = tuple(
        dict.fromkeys(
            r
            for name in wanted
            for r in (quantities[name].responses if name in quantities else (name,))
        )
    )
    asked = [(point, _asked_of(point, needed)) for point in points]
    _check_names(points, asked, needed)
    names = tuple(variable.name for variable in variables)

    def combine(at: dict[str, Any]) -> Array:
        """The wanted values, of the responses' values."""
        return jnp.stack(
            [
                quantities[name].function(*(at[r] for r in quantities[name].responses))
                if name in quantities
                else at[name]
                for name in wanted
            ]
        )

    # Small compiled pieces around the big one, which the report uses too.
    moved_by = [jax.jit(jax.jacfwd(point.place)) for point in points]
    combined = jax.jit(lambda value: (combine(value), jax.jacfwd(combine)(value)))
    about_objective = set(
        quantities[objective.response].responses
        if objective.response in quantities
        else (objective.response,)
    )

    def evaluate(x: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
        value, slope, good, verdicts = {}, {}, [], []
        for (point, responses), moves in zip(asked, moved_by, strict=True):
            moved = moves(x)
            fields = tuple(sorted(moved))
            values, gradients, certificates, response = _judged(
                point.device, fields, responses, tuple(numerics.items())
            )(*as_arrays(point.at(x)))
            for r in responses:
                value[point.name(r)] = values[r]
                slope[point.name(r)] = jnp.stack(
                    [sum(jnp.sum(gradients[r][f] * moved[f][n]) for f in fields) for n in names]
                )
                if point.name(r) in about_objective:
                    verdicts.append(certificates[r].verdict)
            good.append(_usable(response))
        stacked, by_response = combined(value)
        jacobian = sum(by_response[r][:, None] * slope[r][None, :] for r in needed)
        return (
            stacked,
            jnp.asarray(jacobian),
            jnp.all(jnp.stack(good)),
            jnp.max(jnp.stack(verdicts)),
        )

    def values(x: dict[str, Array]) -> tuple[Array, Array]:
        found, good = {}, []
        for point, responses in asked:
            quick = {**numerics, **quick_numerics(point.device.respond), "throw": False}
            response = point.device.respond(
                *point.at(x), **asking_for(point.device, responses, quick)
            )
            found |= {point.name(r): getattr(response, r) for r in responses}
            good.append(_usable(response))
        stacked = combine(found)
        return stacked, jnp.all(jnp.stack(good)) & jnp.all(jnp.isfinite(stacked))

    def finish(x: dict[str, float]) -> Finished:
        design, setting, shown, at, status, certificate = {}, {}, {}, {}, "ok", {}
        for point, responses in asked:
            chosen = as_arrays(point.at(x))
            fields = tuple(sorted(point.place(x)))
            known, _, certificates, response = _judged(
                point.device, fields, responses, tuple(numerics.items())
            )(*chosen)
            at |= {point.name(r): known[r] for r in responses}
            sides = [
                {f.name: plain(getattr(t, f.name)) for f in dataclasses.fields(t)} for t in chosen
            ]
            if point.label:
                design[point.label], setting[point.label] = sides
            else:
                design, setting = sides
            for name in describe(point.device.Response):
                number = getattr(response, name)
                if isinstance(number, jax.Array):
                    shown[point.name(name)] = plain(number)
            ended = word(response.result)
            status = ended if status == "ok" and ended not in point.allowed else status
            for r in responses:
                if point.name(r) in about_objective and _worse(certificates[r], certificate):
                    certificate = certificate_words(certificates[r])
        shown |= {n: plain(q) for n, q in zip(wanted, combine(at), strict=True) if n in quantities}
        return Finished(design, setting, shown, status, certificate)

    return Problem(
        tuple(variables), objective, tuple(constraints), evaluate, values, finish, batched=False
    )


def certificate_words(certificate: Any) -> dict[str, Any]:
    """A concrete certificate as plain Python values."""
    words = {
        "verdict": verdict_word(certificate),
        "reason": reason_text(certificate),
        "method": certificate.method,
    }
    fields = (f.name for f in dataclasses.fields(certificate))
    return words | {n: plain(getattr(certificate, n)) for n in fields if n not in words}


def plain(value: Any) -> Any:
    """A Python value for JSON, lists for arrays: what is not finite is None."""
    if value is None or isinstance(value, str):
        return value
    array = np.asarray(value)
    if array.ndim:
        return [plain(part) for part in array]
    number = array.item()
    return number if np.isfinite(number) else None


@cache
def _judged(
    device: ModuleType, fields: tuple[str, ...], responses: tuple[str, ...], numerics: tuple
) -> Callable:
    """Values, gradients and certificates, compiled once: the loop and the report share it."""
    return jax.jit(value_and_gradient(device.respond, fields, responses, **dict(numerics)))


def _usable(response: Any) -> Array:
    codes = jnp.array([int(code(getattr(RESULTS, name))) for name in FAILURES])
    return ~jnp.any(code(response.result) == codes)


def _worse(certificate: Any, known: dict[str, Any]) -> bool:
    order = ("certified", "uncertified", "refused")
    return not known or order.index(verdict_word(certificate)) > order.index(known["verdict"])


def _asked_of(point: Point, needed: Sequence[str]) -> tuple[str, ...]:
    known = describe(point.device.Response)
    return tuple(r for r in known if point.name(r) in needed)


def _check_names(points: Sequence[Point], asked: Sequence[tuple], needed: Sequence[str]) -> None:
    found = {point.name(r) for point, responses in asked for r in responses}
    for name in needed:
        if name not in found:
            every = (p.name(r) for p in points for r in describe(p.device.Response))
            raise ValueError(f"design: {name} is not a response; these are: {', '.join(every)}.")
    for point, responses in asked:
        if not responses:
            raise ValueError(
                f"design: nothing is asked of the point {point.label!r}; leave it out."
            )


def _field_of(device: ModuleType, text: str) -> tuple[str, str | None]:
    """A field's name, and the entry that is meant: `hinge`, `hinge[3]`, `hinge[:]`."""
    found = re.fullmatch(r"(\w+)(?:\[(\d+|:)\])?", text)
    known = describe(device.Design) | describe(device.Setting)
    if not found or found[1] not in known or known[found[1]].words:
        numbers = ", ".join(n for n, p in known.items() if not p.words)
        raise ValueError(f"device_problem: {text} cannot be free; these can: {numbers}.")
    return found[1], found[2]


def _get(design: Any, setting: Any, name: str) -> Any:
    value = getattr(design if hasattr(design, name) else setting, name)
    if value is None:
        raise ValueError(f"device_problem: {name} has no value here to start from; give it one.")
    return value


def _put(design: Any, setting: Any, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Design and setting with the named fields replaced."""
    own = {f.name for f in dataclasses.fields(design)}
    in_design = {n: v for n, v in x.items() if n in own}
    in_setting = {n: v for n, v in x.items() if n not in own}
    return dataclasses.replace(design, **in_design), dataclasses.replace(setting, **in_setting)
