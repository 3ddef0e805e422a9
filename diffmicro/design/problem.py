"""What is to be optimized: variables within bounds, an objective, constraints. Knows no device.

A variable x lives in its box as u in [0, 1]: x = low + (high - low) u, or x = low (high/low)^u on
a logarithmic scale, which is taken where 0 < low and high >= `DECADES` low. The optimizer moves u
and never leaves the box, so nothing is ever evaluated outside the bounds.

An objective is a gain, larger is better: the response, its negative, or -(response - target)^2. A
constraint is a slack, at least zero where it holds. Both name a response, or a `Quantity` made of
several.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro.parameters import Fields, Value
from diffmicro.units import readable

if TYPE_CHECKING:
    from diffmicro.sweep.cluster import Processes

FEASIBLE = 1e-6
"""Share of a bound by which a constraint may be missed: what solvers and rounding leave."""

DECADES = 3.0
"""Ratio of the bounds from which a variable is scaled logarithmically."""


@dataclass(frozen=True)
class Variable:
    """A free variable: between `low` and `high`, starting from `start`.

    scale: how it moves in its box; auto: logarithmic where the bounds are `DECADES` apart. unit: for messages.
    """

    name: str
    low: float
    high: float
    start: float
    scale: Literal["auto", "linear", "log"] = "auto"
    unit: InitVar[str] = "-"

    def __post_init__(self, unit: str) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(
                f"free variable {self.name}: bounds {self.low:g}:{self.high:g} are not allowed; "
                "the lower one has to be finite and below the upper one."
            )
        if not self.low <= self.start <= self.high:
            raise ValueError(
                f"free variable {self.name}: its start {readable(self.start, unit)} is outside its bounds "
                f"{readable(self.low, unit)} to {readable(self.high, unit)}. Widen the bounds or start elsewhere"
                f"{'' if unit in ('', '-') else '; numbers without a unit are in SI'}."
            )
        if self.scale == "log" and self.low <= 0:
            raise ValueError(
                f"free variable {self.name}: a logarithmic scale needs a lower bound above 0, not "
                f"{self.low:g}."
            )

    @property
    def logarithmic(self) -> bool:
        wide = self.low > 0 and self.high >= DECADES * self.low
        return self.scale == "log" or (self.scale == "auto" and wide)


@dataclass(frozen=True)
class Objective:
    """What to do with a response: maximize, minimize, or bring it to `target`."""

    response: str
    goal: Literal["maximize", "minimize", "target"] = "maximize"
    target: float | None = None

    def __post_init__(self) -> None:
        if self.goal not in ("maximize", "minimize", "target"):
            raise ValueError(f"objective: goal {self.goal!r} is not maximize, minimize or target.")
        if (self.goal == "target") != (self.target is not None):
            raise ValueError("objective: give `target` with the goal target, and only with it.")

    def gain(self, value: Value) -> Value:
        """Larger is better."""
        if self.goal == "target":
            return -((value - self.target) ** 2)
        return value if self.goal == "maximize" else -value

    def shown(self, gain: float) -> float:
        """The response's value for a gain, and the gain itself for a target."""
        return -gain if self.goal == "minimize" else gain


@dataclass(frozen=True)
class Constraint:
    """`response >= bound` or `response <= bound`."""

    response: str
    sense: Literal[">=", "<="]
    bound: float

    def __post_init__(self) -> None:
        if self.sense not in (">=", "<=") or not math.isfinite(self.bound):
            raise ValueError(
                f"constraint {self.response} {self.sense} {self.bound}: the sense has to be >= or "
                "<= and the bound a finite number."
            )

    def slack(self, value: Value) -> Value:
        """At least zero where the constraint holds."""
        return value - self.bound if self.sense == ">=" else self.bound - value

    def price(self, multiplier: float) -> JsonObject:
        """What else a result says of it, given the gain per unit of its bound."""
        del multiplier
        return {}

    def __str__(self) -> str:
        return f"{self.response} {self.sense} {self.bound:g}"


@dataclass(frozen=True)
class Quantity:
    """A function of several responses that objective and constraints may name like one of them.

    function takes the values in the order of `responses`.
    """

    responses: tuple[str, ...]
    function: Callable[..., Array]


class Step(NamedTuple):
    """Where a search stands after one iteration. objective: its gain. constraints: slack of each.
    verdict: of its gradient; -1: there is none. reach: length of the next step in the box.
    """

    evaluations: int
    design: dict[str, float]
    objective: float
    constraints: dict[str, float]
    gradient_norm: float
    verdict: int
    accepted: int
    reach: float


Numbers = PyTree


class Sample(NamedTuple):
    """One evaluation, in arrays of JAX where it is made and of NumPy where it is used.

    objective: gain. gradient: by the variables in the box, in their order. slacks, slack_gradients: the same
    of the constraints. usable: whether values and gradients may be used. verdict: code of the objective's
    certificate; -1: none.
    """

    objective: Numbers
    gradient: Numbers
    slacks: Numbers
    slack_gradients: Numbers
    usable: Numbers
    verdict: Numbers


Evaluated = tuple[Array, Array, Array, Array]
"""Values (k,), gradients (k, n), usable, verdict, see `Problem.evaluate`."""


class Place(NamedTuple):
    """An operating point: its label (empty for the only one), the device, its design and setting; status words
    that it may end with; the fields that the variables decide."""

    label: str
    device: Device
    design: Fields
    setting: Fields
    allowed: tuple[str, ...] = ("ok",)
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """Variables, objective, constraints, and how a point is evaluated.

    evaluate: {variable: value} -> (values (k,), gradients (k, n), usable, verdict) of the
        objective's response and the constraints', in this order; jittable and vmappable.
    values: {variable: value} -> (values (k,), usable), without gradients.
    finish: {variable: value} -> what a study reports of a design, with its full certificate.
    several: (places, processes) -> `evaluate` at each place, shared by processes where there are any; None where a
        batch of lanes is worth its compilation.
    about: what else makes it this problem, in plain values: devices, what is held, tolerances.
    under: constraints -> the same problem under these instead; None where it cannot be stated again.
    places: {variable: value} -> the operating points there; none for a problem about no device.
    """

    variables: tuple[Variable, ...]
    objective: Objective
    constraints: tuple[Constraint, ...]
    evaluate: Callable[[dict[str, Array]], Evaluated]
    values: Callable[[dict[str, Array]], tuple[Array, Array]]
    finish: Callable[[dict[str, float]], "Finished"]
    several: "Callable[[Sequence[dict[str, Array]], Processes | None], list[Evaluated]] | None" = (
        None
    )
    about: Mapping[str, Json] = field(default_factory=dict, compare=False)
    under: Callable[[Sequence[Constraint]], "Problem"] | None = field(default=None, compare=False)
    places: Callable[[Mapping[str, Value]], tuple["Place", ...]] = field(
        default=lambda x: (), compare=False
    )

    @property
    def batched(self) -> bool:
        """Whether several places are evaluated as one batch."""
        return self.several is None

    @property
    def scales(self) -> np.ndarray:
        """What each constraint's slack is measured by: its bound, or one where that is zero."""
        return np.array([abs(c.bound) or 1.0 for c in self.constraints])

    def feasible(self, sample: "Sample") -> bool:
        """Whether a sample is usable and all its constraints hold, to `FEASIBLE` of their bounds."""
        return bool(sample.usable) and bool(np.all(sample.slacks >= -FEASIBLE * self.scales))

    def missed(self, finished: "Finished") -> list[str]:
        """What keeps a reported design from counting: its status, no value, constraints."""
        values = {
            name: number(finished.response[name])
            for name in responses_of(self.objective, self.constraints)
        }
        if finished.status != "ok":
            return [f"ended {finished.status}"]
        if not all(map(math.isfinite, values.values())):
            return [f"has no {name}" for name, value in values.items() if not math.isfinite(value)]
        pairs = zip(self.constraints, self.scales, strict=True)
        return [f"misses {c}" for c, s in pairs if c.slack(values[c.response]) < -FEASIBLE * s]

    def gain(self, finished: "Finished") -> float:
        """The objective's gain of a reported design."""
        return float(self.objective.gain(number(finished.response[self.objective.response])))

    def step(self, u: Numbers, sample: "Sample", used: int, accepted: int, reach: float) -> Step:
        """An entry of the history."""
        slacks = {str(c): float(s) for c, s in zip(self.constraints, sample.slacks, strict=True)}
        norm = float(np.linalg.norm(sample.gradient))
        gain, verdict = float(sample.objective), int(sample.verdict)
        return Step(used, self.named(u), gain, slacks, norm, verdict, accepted, float(reach))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @property
    def start(self) -> np.ndarray:
        """The variables' starts in the box."""
        return np.array([_to_box(variable) for variable in self.variables])

    def point(self, u: Array) -> Array:
        """Values of the variables at `u` in the box, within their bounds to the last bit."""
        x = [_from_box(variable, u[i]) for i, variable in enumerate(self.variables)]
        return jnp.stack(x)

    def stretch(self, i: int, value: float) -> float:
        """How fast variable i changes with its place in the box, where it has this value."""
        variable = self.variables[i]
        if variable.logarithmic:
            return value * math.log(variable.high / variable.low)
        return variable.high - variable.low

    def named(self, u: Numbers) -> dict[str, float]:
        """Values by name, as Python floats."""
        return dict(zip(self.names, np.asarray(self.point(jnp.asarray(u))).tolist(), strict=True))

    def sample(self, u: Array) -> Sample:
        """Gain, slacks and their gradients by u."""
        x, scale = self._placed(u)
        return self._sampled(u, scale, self.evaluate(x))

    def samples(
        self, trials: Sequence[Array], processes: "Processes | None" = None
    ) -> list[Sample]:
        """The sample of each trial."""
        placed = [self._placed(u) for u in trials]
        found = self.evaluated([x for x, _ in placed], processes)
        return [
            self._sampled(u, scale, one)
            for u, (_, scale), one in zip(trials, placed, found, strict=True)
        ]

    def evaluated(
        self, xs: Sequence[dict[str, Array]], processes: "Processes | None" = None
    ) -> list[Evaluated]:
        """`evaluate` at each place."""
        if self.several is None:
            return [self.evaluate(x) for x in xs]
        return self.several(xs, processes)

    def _placed(self, u: Array) -> tuple[dict[str, Array], Array]:
        """The variables at `u`, and how fast each changes with its place in the box."""
        x, scale = jax.jvp(self.point, (u,), (jnp.ones_like(u),))
        return dict(zip(self.names, x, strict=True)), scale

    def _sampled(self, u: Array, scale: Array, evaluated: Evaluated) -> Sample:
        values, jacobian, usable, verdict = evaluated
        jacobian = jacobian * scale[None, :]
        gain, slope = jax.value_and_grad(self.objective.gain)(values[0])
        rows = jnp.arange(1, values.shape[0])
        signs = jnp.array([1.0 if c.sense == ">=" else -1.0 for c in self.constraints], u.dtype)
        slacks = [c.slack(values[1 + i]) for i, c in enumerate(self.constraints)]
        return Sample(
            objective=gain,
            gradient=slope * jacobian[0],
            slacks=jnp.array(slacks, u.dtype),
            slack_gradients=signs[:, None] * jacobian[rows],
            usable=usable & jnp.all(jnp.isfinite(values)) & jnp.all(jnp.isfinite(jacobian)),
            verdict=verdict,
        )


class Finished(NamedTuple):
    """A design as it is reported: responses, status and certificate as plain Python values."""

    design: JsonObject
    setting: JsonObject
    response: JsonObject
    status: str
    certificate: JsonObject


def number(value: float | None) -> float:
    """A reported value as a number: NaN where there is none."""
    return math.nan if value is None else float(value)


def responses_of(objective: Objective, constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """The responses of objective and constraints, the objective's first."""
    return (objective.response, *(c.response for c in constraints))


def function_problem(
    function: Callable[[dict[str, Array]], Mapping[str, Array]],
    variables: Sequence[Variable],
    objective: Objective,
    constraints: Sequence[Constraint] = (),
) -> Problem:
    """A problem about a differentiable function {variable: value} -> {response: value}."""
    wanted = responses_of(objective, constraints)
    if isinstance(variables, Mapping) or not all(isinstance(v, Variable) for v in variables):
        raise ValueError(
            "function_problem: variables has to be a list of Variable(name, low, high, start), as a function has "
            f"no published design to start from; got {type(variables).__name__}."
        )
    names = tuple(variable.name for variable in variables)

    def stacked(x: dict[str, Array]) -> Array:
        found = function(x)
        missing = [name for name in wanted if name not in found]
        if missing:
            raise ValueError(
                f"function_problem: the function gives no {missing[0]}, only {', '.join(found)}. Return it, or "
                "name another response."
            )
        return jnp.stack([found[name] for name in wanted])

    def values(x: dict[str, Array]) -> tuple[Array, Array]:
        found = stacked(x)
        return found, jnp.all(jnp.isfinite(found))

    def evaluate(x: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
        found = stacked(x)
        by_name = jax.jacfwd(stacked)(x)
        jacobian = jnp.stack([by_name[name] for name in names], axis=1)
        return found, jacobian, jnp.all(jnp.isfinite(found)), jnp.asarray(-1)

    def finish(x: dict[str, float]) -> Finished:
        values = function(jax.tree.map(jnp.asarray, x)).items()
        found = {n: float(v) if math.isfinite(float(v)) else None for n, v in values}
        status = "not_converged" if None in found.values() else "ok"
        return Finished(dict(x), {}, found, status, {})

    return Problem(tuple(variables), objective, tuple(constraints), evaluate, values, finish)


def _to_box(variable: Variable) -> float:
    low, high, x = variable.low, variable.high, variable.start
    if variable.logarithmic:
        return math.log(x / low) / math.log(high / low)
    return (x - low) / (high - low)


def _from_box(variable: Variable, u: Array) -> Array:
    low, high = variable.low, variable.high
    if variable.logarithmic:
        x = low * jnp.exp(math.log(high / low) * u)
    else:
        x = low + (high - low) * u
    # Rounding may step over a bound. `where` keeps the derivative that `clip` would halve there.
    return x + jax.lax.stop_gradient(jnp.clip(x, low, high) - x)
