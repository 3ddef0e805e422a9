"""The rules of a process as constraints of a problem: features of the geometry by formulas, with their gradients.

A constraint on a feature is named by it, as `gap(rest_gap) >= 4e-06`, and says which rule it comes from. Its
multiplier is the price of that rule. Features that no free variable moves are judged at once. Rules that no design
within the bounds keeps together are found before the search: the largest of all misses, in shares of the bounds,
is made as small as it gets, and what is still missed there contradicts each other.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._device import Device
from diffmicro._json import JsonObject
from diffmicro.design.points import Point
from diffmicro.design.problem import (
    FEASIBLE,
    Constraint,
    Evaluated,
    Finished,
    Problem,
    Variable,
)
from diffmicro.design.starts import evenly
from diffmicro.parameters import Fields, Value, as_arrays, describe, entry_of
from diffmicro.process import Limit, Process, features, kinds, limits
from diffmicro.sweep.cluster import Processes
from diffmicro.units import readable

STARTS = 8
"""Places in the box, beside the start, from which a design that keeps all rules is looked for."""


@dataclass(frozen=True)
class RuleConstraint(Constraint):
    """A bound of a feature. rule: name of the one that sets it. layer: which it holds in."""

    rule: str = ""
    layer: str = ""

    def price(self, multiplier: float) -> JsonObject:
        """Which rule it is, and the gain for one micrometer of it."""
        return {"rule": self.rule, "layer": self.layer, "per_um": 1e-6 * multiplier}


def ruled_problem(
    problem: Problem, point: Point, process: Process, layout: Fields | None = None
) -> Problem:
    """The problem with the rules of a process among its constraints; ValueError where they cannot be met.

    point: the operating point whose design is made. layout: what its drawing needs beside the design.
    """
    device = point.device
    layout = (device.Layout() if device.Layout else None) if layout is None else layout
    known = kinds(device, point.design, layout)
    bounds = limits(process, known)
    if not bounds:
        layers = ", ".join(dict.fromkeys(feature.layer.name for feature in known))
        raise ValueError(f"rules: they say nothing about {device.name}, whose layers are {layers}.")
    made = _Features(device, point, layout)
    moved = _kept_apart(device, made, bounds, problem.variables)
    _check_together(device, problem, made, moved)
    own = tuple(RuleConstraint(b.feature, b.sense, b.bound, b.rule, b.layer) for b in moved)
    fields = {n: getattr(layout, n) for n in describe(type(layout))}

    def keeping(base: Problem) -> Problem:
        """A problem about this point and the rules."""
        stated = base.under
        wrapped = _Ruled(
            base, made, tuple(b.number for b in moved), tuple(b.feature for b in moved)
        )
        return replace(
            base,
            constraints=(*base.constraints, *own),
            evaluate=wrapped.evaluate,
            several=None if base.batched else wrapped.several,
            values=wrapped.values,
            finish=wrapped.finish,
            about={**base.about, "rules": process.plain(), "layout": fields},
            under=None if stated is None else lambda given: keeping(stated(of_parts(given))),
        )

    return keeping(problem)


def of_parts(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """The constraints that a part is judged by: rules of a process are about the drawing."""
    return tuple(c for c in constraints if not isinstance(c, RuleConstraint))


@dataclass(frozen=True, eq=False)
class _Features:
    """The features' values as a function of the variables."""

    device: Device
    point: Point
    layout: Fields | None

    def at(self, x: Mapping[str, Value]) -> Array:
        design = as_arrays(self.point.at(x)[0])
        found = features(self.device, design, self.layout)
        return jnp.stack([jnp.asarray(feature.value, float) for feature in found])

    @cached_property
    def with_slopes(self) -> Callable[[dict[str, Array]], tuple[Array, dict[str, Array]]]:
        """Values, and their derivatives by each variable; compiled once."""

        def twice(x: dict[str, Array]) -> tuple[Array, Array]:
            values = self.at(x)
            return values, values

        return jax.jit(lambda x: jax.jacfwd(twice, has_aux=True)(x)[::-1])

    def table(self, x: Mapping[str, Value]) -> tuple[Array, Array]:
        """Values, and their derivatives with a column for each variable."""
        given = {name: jnp.asarray(value, float) for name, value in x.items()}
        values, slopes = self.with_slopes(given)
        return values, jnp.stack([slopes[name] for name in given], axis=1)


@dataclass(frozen=True, eq=False)
class _Ruled:
    """How a problem with rules is evaluated. numbers, names: of the features that constraints are about."""

    problem: Problem
    made: _Features
    numbers: tuple[int, ...]
    names: tuple[str, ...]

    def evaluate(self, x: dict[str, Array]) -> Evaluated:
        return self._with_rules(x, self.problem.evaluate(x))

    def several(
        self, xs: Sequence[dict[str, Array]], processes: Processes | None = None
    ) -> list[Evaluated]:
        found = self.problem.evaluated(xs, processes)
        return [self._with_rules(x, one) for x, one in zip(xs, found, strict=True)]

    def _with_rules(self, x: dict[str, Array], evaluated: Evaluated) -> Evaluated:
        values, jacobian, usable, verdict = evaluated
        chosen = jnp.array(self.numbers, int)
        own, slopes = self.made.table({name: x[name] for name in self.problem.names})
        both = (jnp.concatenate([values, own[chosen]]), jnp.concatenate([jacobian, slopes[chosen]]))
        return *both, usable, verdict

    def values(self, x: dict[str, Array]) -> tuple[Array, Array]:
        found, usable = self.problem.values(x)
        own = self.made.at(x)[jnp.array(self.numbers, int)]
        return jnp.concatenate([found, own]), usable & jnp.all(jnp.isfinite(own))

    def finish(self, x: dict[str, float]) -> Finished:
        finished = self.problem.finish(x)
        values = np.asarray(self.made.at(x))
        own = {n: float(values[i]) for n, i in zip(self.names, self.numbers, strict=True)}
        return finished._replace(response={**finished.response, **own})


def _kept_apart(
    device: Device, made: _Features, bounds: Sequence[Limit], variables: Sequence[Variable]
) -> list[Limit]:
    """The limits of features that the variables move; ValueError for a broken one of those that they do not."""
    places = [{v.name: v.start for v in variables}]
    places += [
        {v.name: v.low + (v.high - v.low) * float(s) for v, s in zip(variables, row, strict=True)}
        for row in evenly(3, len(variables))
    ]
    tables = [made.table(place) for place in places]
    moves = np.any([np.any(np.asarray(slopes) != 0, axis=1) for _, slopes in tables], axis=0)
    values = np.asarray(tables[0][0])
    fixed = [bound for bound in bounds if not moves[bound.number]]
    broken = [b for b in fixed if not b.room(values[b.number]) >= -FEASIBLE * b.bound]
    if broken:
        raise ValueError(
            f"rules: {device.name} cannot keep {_listed(broken, values)}, and nothing that is free changes it. "
            "Give other values of the layout or the design, free what it depends on, or relax the rule."
        )
    return [bound for bound in bounds if moves[bound.number]]


def _check_together(
    device: Device, problem: Problem, made: _Features, bounds: Sequence[Limit]
) -> None:
    """ValueError where no design within the variables' bounds was found that keeps all limits."""
    if not bounds:
        return
    from scipy.optimize import minimize

    n = len(problem.variables)
    scale = np.array([bound.bound for bound in bounds])
    signs = np.array([1.0 if bound.sense == ">=" else -1.0 for bound in bounds])
    numbers = [bound.number for bound in bounds]

    def rooms(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, stretch = jax.jvp(problem.point, (jnp.asarray(u),), (jnp.ones(n),))
        values, slopes = made.table(dict(zip(problem.names, x, strict=True)))
        room = signs * (np.asarray(values)[numbers] - scale) / scale
        return room, signs[:, None] * (np.asarray(slopes) * np.asarray(stretch)[None, :])[
            numbers
        ] / scale[:, None]

    least, where = np.inf, np.asarray(problem.start)
    for start in (problem.start, *evenly(STARTS, n)):
        missed = max(0.0, float(-np.min(rooms(start)[0])))
        if missed <= FEASIBLE:
            return
        found = minimize(
            lambda z: z[-1],
            [*start, missed],
            jac=lambda z: np.append(np.zeros(n), 1.0),
            bounds=[(0.0, 1.0)] * n + [(0.0, None)],
            constraints={
                "type": "ineq",
                "fun": lambda z: rooms(z[:-1])[0] + z[-1],
                "jac": lambda z: np.column_stack([rooms(z[:-1])[1], np.ones(len(bounds))]),
            },
            method="SLSQP",
            options={"ftol": 1e-10},
        )
        u = np.clip(found.x[:-1], 0.0, 1.0)
        miss = float(-np.min(rooms(u)[0]))
        if miss <= FEASIBLE:
            return
        if miss < least:
            least, where = miss, u
    room, slopes = rooms(where)
    tight = [i for i in range(len(bounds)) if room[i] < -least + 1e-3 * max(least, 1e-3)]
    missed = [bounds[i] for i in tight]
    values = np.asarray(made.table(problem.named(where))[0])
    moving = [v for j, v in enumerate(problem.variables) if np.any(slopes[tight][:, j])]
    units = {v.name: device.parameters[entry_of(v.name)[0]].unit.split(", ")[0] for v in moving}
    ends = (
        (v.name, readable(v.low, units[v.name]), readable(v.high, units[v.name])) for v in moving
    )
    boxes = ", ".join(f"{name} ({low} to {high})" for name, low, high in ends)
    raise ValueError(
        f"rules: no design of {device.name} within its bounds was found that keeps {_listed(missed, values)}"
        f"{' together' if len(missed) > 1 else ''}; this is the nearest. Widen {boxes}, or relax "
        f"{'one of these rules' if len(missed) > 1 else 'the rule'}."
    )


def _listed(bounds: Sequence[Limit], values: np.ndarray) -> str:
    return ", ".join(
        f"{b.feature} {b.sense} {readable(b.bound, 'm')} ({b.rule} of {b.layer}; it is "
        f"{readable(float(values[b.number]), 'm', 4)})"
        for b in bounds
    )
