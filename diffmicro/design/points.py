"""Problems about operating points of devices: responses with certificates, combined to objective and constraints.

Each `Point` is a device, and how the variables make its design and setting. Several points, of one device or of
several, make one problem: two robots in one field, one robot under two drives.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro._json import JsonObject, plain
from diffmicro._sources import sources
from diffmicro.boundary.margin import margin, margin_key, margin_value
from diffmicro.certificate import Certificate, certificate_words, verdict_word
from diffmicro.design.answers import Answer, Question, answered, answers_of, usable
from diffmicro.design.problem import (
    Constraint,
    Evaluated,
    Finished,
    Objective,
    Place,
    Problem,
    Quantity,
    Variable,
    responses_of,
)
from diffmicro.devices import source_of, written
from diffmicro.parameters import Fields, Value, as_arrays, describe, put
from diffmicro.results import word
from diffmicro.sweep.cluster import Processes
from diffmicro.sweep.remote import Call
from diffmicro.sweep.shared import all_of


class Point(NamedTuple):
    """One operating point of a problem.

    place: {variable: value} -> {field: value} of what the variables decide.
    label: goes before the responses' names, as in `slow.velocity`; empty for the only point.
    allowed: status words that this point may end with.
    """

    device: Device
    design: Fields
    setting: Fields
    place: Callable[[Mapping[str, Value]], dict[str, Value]]
    label: str = ""
    allowed: tuple[str, ...] = ("ok",)

    def name(self, response: str) -> str:
        return f"{self.label}.{response}" if self.label else response

    def at(self, x: Mapping[str, Value]) -> tuple[Fields, Fields]:
        """Design and setting for values of the variables."""
        return put(self.design, self.setting, self.place(x))


def points_problem(
    variables: Sequence[Variable],
    points: Sequence[Point],
    objective: Objective,
    constraints: Sequence[Constraint] = (),
    quantities: Mapping[str, Quantity] | None = None,
    **numerics: Value,
) -> Problem:
    """A problem about one or several operating points, of one device or of several."""
    quantities = dict(quantities or {})
    wanted = tuple(responses_of(objective, constraints))
    needed = _responses_behind(wanted, quantities)
    asked = [(point, _asked_of(point, needed)) for point in points]
    _check_names(points, asked, needed)
    made = _Points(
        tuple(variable.name for variable in variables),
        asked,
        wanted,
        needed,
        frozenset(_responses_behind((objective.response,), quantities)),
        quantities,
        numerics,
    )
    about = {
        "points": [
            {"device": written(p.device), "source": source_of(p.device), "label": p.label}
            | {"allowed": p.allowed}
            | {"design": vars(p.design), "setting": vars(p.setting)}
            for p in points
        ],
        "numerics": numerics,
        "source": sources(),
    }
    return Problem(
        tuple(variables),
        objective,
        tuple(constraints),
        made.evaluate,
        made.values,
        made.finish,
        made.several,
        about,
        lambda others: points_problem(variables, points, objective, others, quantities, **numerics),
        lambda x: tuple(
            Place(p.label, p.device, *p.at(x), p.allowed, tuple(p.place(x))) for p in points
        ),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Points:
    """How a problem about points is evaluated.

    names: of the variables. asked: each point with the responses needed of it. wanted: names in objective and
    constraints. needed: responses behind them. about_objective: responses behind the objective.
    """

    names: tuple[str, ...]
    asked: list[tuple[Point, tuple[str, ...]]]
    wanted: tuple[str, ...]
    needed: tuple[str, ...]
    about_objective: frozenset[str]
    quantities: Mapping[str, Quantity]
    numerics: Mapping[str, Value]

    def combine(self, at: Mapping[str, Value]) -> Array:
        """The wanted values, of the responses' values."""
        found = []
        for name in self.wanted:
            quantity = self.quantities.get(name)
            given = at[name] if quantity is None else [at[r] for r in quantity.responses]
            found.append(given if quantity is None else quantity.function(*given))
        return jnp.stack(found)

    # Small compiled pieces around the big one, which the report uses too.

    @cached_property
    def _combined(self) -> Callable[..., tuple[Array, PyTree]]:
        """The wanted values and their derivatives by the responses."""
        return jax.jit(lambda value: (self.combine(value), jax.jacfwd(self.combine)(value)))

    @cached_property
    def _moves(self) -> list[Callable[[Value], Value]]:
        """Derivatives of each point's fields by the variables."""
        return [jax.jit(jax.jacfwd(point.place)) for point, _ in self.asked]

    def evaluate(self, x: dict[str, Array]) -> Evaluated:
        """Wanted values, their Jacobian by the variables, whether all is usable, the worst verdict."""
        return self.several([x])[0]

    def several(
        self, xs: Sequence[dict[str, Array]], processes: Processes | None = None
    ) -> list[Evaluated]:
        """`evaluate` at each place; processes share the operating points of all places."""
        calls = [
            Call(point.device, answered, (self._question(point, responses, x),))
            for x in xs
            for point, responses in self.asked
        ]

        def named(number: int) -> str:
            return f"an evaluation of {calls[number].device.name}"

        found, size = all_of(calls, named, processes), len(self.asked)
        return [self._together(x, found[i * size : (i + 1) * size]) for i, x in enumerate(xs)]

    def _question(
        self, point: Point, responses: tuple[str, ...], x: Mapping[str, Value]
    ) -> Question:
        fields = tuple(sorted(point.place(x)))
        return Question(point.device, fields, responses, self.numerics, *as_arrays(point.at(x)))

    def _together(self, x: dict[str, Array], answers: Sequence[Answer]) -> Evaluated:
        """What the answers of all operating points say of the place."""
        value, slope, good, verdicts = {}, {}, [], []
        for (point, responses), moves, answer in zip(self.asked, self._moves, answers, strict=True):
            moved = moves(x)
            for r in responses:
                value[point.name(r)] = answer.values[r]
                slope[point.name(r)] = jnp.stack(
                    [
                        sum(jnp.sum(answer.gradients[r][f] * moved[f][n]) for f in sorted(moved))
                        for n in self.names
                    ]
                )
                if point.name(r) in self.about_objective:
                    verdicts.append(answer.verdicts[r])
            good.append(answer.usable)
        stacked, by_response = self._combined(value)
        jacobian = sum(by_response[r][:, None] * slope[r][None, :] for r in self.needed)
        return (
            stacked,
            jnp.asarray(jacobian),
            jnp.all(jnp.stack(good)),
            jnp.max(jnp.stack([jnp.asarray(v) for v in verdicts])),
        )

    def values(self, x: dict[str, Array]) -> tuple[Array, Array]:
        """Wanted values and whether they are usable, by the cheap search and without derivatives."""
        found, good = {}, []
        for point, responses in self.asked:
            quick = {**self.numerics, **point.device.quick, "throw": False}
            response = point.device.respond(
                *point.at(x), **point.device.asking_for(responses, quick)
            )
            design, setting = as_arrays(point.at(x))
            for r in responses:
                key = margin_key(r)
                found[point.name(r)] = (
                    getattr(response, r)
                    if key is None
                    else margin_value(point.device, design, setting, key, response, self.numerics)
                )
            good.append(usable(response))
        stacked = self.combine(found)
        return stacked, jnp.all(jnp.stack(good)) & jnp.all(jnp.isfinite(stacked))

    def finish(self, x: dict[str, float]) -> Finished:
        """A design as it is reported."""
        design, setting, shown, at, status, certificate = {}, {}, {}, {}, "ok", {}
        for point, responses in self.asked:
            question = self._question(point, responses, x)
            known, _, certificates, response = answers_of(question)
            at |= {point.name(r): known[r] for r in responses}
            sides = [plain(vars(tree)) for tree in (question.design, question.setting)]
            if point.label:
                design[point.label], setting[point.label] = sides
            else:
                design, setting = sides
            for name in describe(point.device.Response):
                number = getattr(response, name)
                if isinstance(number, jax.Array):
                    shown[point.name(name)] = plain(number)
            shown |= {point.name(r): plain(known[r]) for r in responses if margin_key(r)}
            ended = word(response.result)
            status = ended if status == "ok" and ended not in point.allowed else status
            for r in responses:
                if r not in certificates or point.name(r) not in self.about_objective:
                    continue
                if _worse(certificates[r], certificate):
                    certificate = certificate_words(certificates[r])
        wanted = zip(self.wanted, self.combine(at), strict=True)
        shown |= {name: plain(value) for name, value in wanted if name in self.quantities}
        return Finished(design, setting, shown, status, certificate)


def _responses_behind(names: Sequence[str], quantities: Mapping[str, Quantity]) -> tuple[str, ...]:
    """The responses that these names need, each once."""
    behind = (quantities[name].responses if name in quantities else (name,) for name in names)
    return tuple(dict.fromkeys(r for responses in behind for r in responses))


def _worse(certificate: Certificate, known: JsonObject) -> bool:
    order = ("certified", "uncertified", "refused")
    return not known or order.index(verdict_word(certificate)) > order.index(known["verdict"])


def _asked_of(point: Point, needed: Sequence[str]) -> tuple[str, ...]:
    known = describe(point.device.Response)
    margins = [n for n, p in point.device.parameters.items() if p.differentiable and () in p.shapes]
    names = (*known, *map(margin, margins))
    return tuple(r for r in names if point.name(r) in needed)


def _check_names(points: Sequence[Point], asked: Sequence[tuple], needed: Sequence[str]) -> None:
    found = {point.name(r) for point, responses in asked for r in responses}
    for name in needed:
        if name not in found:
            every = (p.name(r) for p in points for r in describe(p.device.Response))
            raise ValueError(f"design: {name} is not a response; these are: {', '.join(every)}.")
    for point, responses in asked:
        if not responses:
            raise ValueError(
                f"design: no response is needed of the point {point.label!r}; leave it out."
            )
