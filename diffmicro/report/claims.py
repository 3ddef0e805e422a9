"""What a report claims: numbers that follow from a question (a device, a design before and after, limits) alone.

The claims are a function of the question, `claims_of`, so that checking them is calculating them once more:
responses at both designs, what the limits leave and what they cost, derivatives of the objective with their
certificate, distances to the ends of what the device does, and the yield by its process.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from diffmicro._device import Device
from diffmicro._json import JsonObject, plain
from diffmicro.boundary.margin import margin_key
from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.design.devices import device_problem
from diffmicro.design.kkt import binding
from diffmicro.design.problem import Constraint, Objective, Problem
from diffmicro.design.shown import per, unit_of
from diffmicro.design.words import parse_constraint
from diffmicro.devices import device as known_device
from diffmicro.fabrication.deviations import Deviations, causes_from
from diffmicro.fabrication.surroundings import Surroundings, surroundings
from diffmicro.parameters import Fields, Parameter, Value, describe, get, idle
from diffmicro.process import Process, process_from
from diffmicro.results import words as status_words
from diffmicro.tolerance import Tolerance

EXACT, SLOPE, PLACE, EDGE = 1e-6, 1e-4, 1e-4, 1e-2
"""Relative differences that another processor may make: of responses, of derivatives, of boundaries, and of where
the start is lost, which is found by halves."""

RESOLVED = 1e-6
"""Distance of a boundary [share of the parameter] below which differences do not count."""

SMALL = 1e-9
"""Share of the scale of its kind below which a number is none."""


class Claim(NamedTuple):
    """One number or word that can be calculated again.

    topic: part of the report. name: what it is, unique. value: number, word, or None. unit: SI. tolerance: largest
    relative difference. scale: below `SMALL` of it, differences do not count. low, high: an interval in which it
    has to lie when it is calculated again.
    """

    topic: str
    name: str
    value: Value
    unit: str = ""
    tolerance: float = EXACT
    scale: float = 0.0
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Question:
    """What was asked, in plain values.

    free: variable -> (low, high). constraints: (response, sense, bound). before, after: values of all fields of
    design and setting. variables: values of the free ones in `after`. rules: of the process, as a table; None: no
    rules. layout: what its geometry has beside the design. deviating: tolerances that were given, beside the
    scatter of the rules. stated: the constraints as they were stated, where the search kept them with a reserve.
    """

    device: str
    goal: str
    objective: str
    free: dict[str, tuple[float, float]]
    constraints: list[tuple[str, str, float]]
    before: dict[str, Value]
    after: dict[str, Value]
    variables: dict[str, float]
    rules: JsonObject | None = None
    layout: dict[str, Value] = field(default_factory=dict)
    deviating: list[JsonObject] = field(default_factory=list)
    stated: list[str] | None = None

    @property
    def of_parts(self) -> list[Constraint]:
        """The limits that parts are judged by, without margins, which are of the design."""
        if self.stated is None:
            return [Constraint(of, sense, bound) for of, sense, bound in self.constraints]  # type: ignore[arg-type]
        limits = [parse_constraint(text) for text in self.stated]
        return [limit for limit in limits if margin_key(limit.response) is None]

    @property
    def process(self) -> Process | None:
        """The rules as a value."""
        return None if self.rules is None else process_from(self.rules)

    def plain(self) -> JsonObject:
        """As JSON has it."""
        return json.loads(json.dumps(asdict(self)))

    @staticmethod
    def of(values: Mapping[str, Value]) -> "Question":
        """The question back from JSON."""
        free = {name: (float(low), float(high)) for name, (low, high) in values["free"].items()}
        limits = [(str(of), str(sense), float(bound)) for of, sense, bound in values["constraints"]]
        return Question(**{**values, "free": free, "constraints": limits})


def question_of_run(folder: Path) -> tuple[Question, JsonObject]:
    """The question of an optimization's folder, and the result that was written there.

    ValueError for a folder that is none, or that is about several points.
    """
    try:
        config = json.loads((folder / "config.json").read_text())
        result = json.loads((folder / "result.json").read_text())
        points = config["about"]["points"]
        if len(points) != 1:
            raise ValueError(
                f"{folder} is about {len(points)} operating points; a report is about one."
            )
        sides = [result[side] for side in ("published", "optimized")]
        question = Question(
            device=points[0]["device"],
            goal=config["objective"]["goal"],
            objective=config["objective"]["response"],
            free={v["name"]: (v["low"], v["high"]) for v in config["variables"]},
            constraints=[
                (c["response"], c["sense"], c["bound"])
                for c in config["constraints"]
                if "rule" not in c
            ],
            before={**sides[0]["design"], **sides[0]["setting"]},
            after={**sides[1]["design"], **sides[1]["setting"]},
            variables=sides[1]["variables"],
            rules=config["about"].get("rules"),
            layout=config["about"].get("layout", {}),
            deviating=config["about"].get("deviating", []),
            stated=config["about"].get("limits"),
        )
    except (OSError, KeyError, TypeError, json.JSONDecodeError):
        raise ValueError(
            f"{folder} does not hold a finished optimization: config.json or result.json is missing or not "
            "readable. Give the folder that `diffmicro optimize ... --out DIR` wrote; of --yield, a round's."
        ) from None
    return question, result | {"config": config}


def point_of(device: Device, values: Mapping[str, Value]) -> tuple[Fields, Fields]:
    """Design and setting of a side of the question."""
    own = describe(device.Design)
    for name in values:
        if name not in device.parameters:
            raise ValueError(f"{device.name} has no parameter {name!r}.")
    design = {k: _given(v) for k, v in values.items() if k in own}
    setting = {k: _given(v) for k, v in values.items() if k not in own}
    return device.published_design(**design), device.published_setting(**setting)


def claims_of(question: Question) -> list[Claim]:
    """All claims; ValueError where the question makes no sense."""
    device = known_device(question.device)
    before, after = (point_of(device, side) for side in (question.before, question.after))
    device.check("report", *after)
    found = _responses(device, "before", before, question)
    found += _responses(device, "after", after, question)
    found += _limits(device, after, question)
    found += _slopes(device, after, question)
    return found + _surroundings(device, after, question)


def keys_of(question: Question) -> list[str]:
    """The fields that were free."""
    return list(dict.fromkeys(name.partition("[")[0] for name in question.free))


def _given(value: Value) -> Value:
    return np.asarray(value, float) if isinstance(value, list) else value


def _responses(
    device: Device, side: str, point: tuple[Fields, Fields], question: Question
) -> list[Claim]:
    named = [question.objective, *(of for of, _, _ in question.constraints)]
    asked = [
        name
        for name in dict.fromkeys((*named, *device.usual_responses))
        if name in device.responses
    ]
    response = device.respond(*point, throw=False, **device.asking_for(asked, {}))
    found = [Claim(side, "status", str(status_words(response.result).item()))]
    for name in asked:
        value = np.asarray(getattr(response, name), float)
        if value.ndim == 0 and name not in ("residual", "multiplier", "margin"):
            unit = device.responses[name].unit
            scale = abs(float(value)) if np.isfinite(value) else 0.0
            found.append(Claim(side, name, plain(float(value)), unit, scale=scale))
    return found


def _limits(device: Device, point: tuple[Fields, Fields], question: Question) -> list[Claim]:
    """Slack of each constraint, and the price of each limit that holds the design."""
    problem = _problem(device, point, question)
    u = problem.start
    sample = problem.sample(jnp.asarray(u))
    gain = float(problem.objective.shown(float(sample.objective)))
    found = [
        Claim("limits", f"slack of {c}", float(s), unit_of(device, c.response), EXACT, abs(c.bound))
        for c, s in zip(problem.constraints, sample.slacks, strict=True)
    ]
    # Multipliers are those of the search: see `design.loop`.
    scales = np.array(
        [
            max(abs(c.bound), abs(float(s)))
            for c, s in zip(problem.constraints, sample.slacks, strict=True)
        ]
    )
    numbers = [
        np.asarray(x, float) for x in (sample.gradient, sample.slacks, sample.slack_gradients)
    ]
    if not all(np.all(np.isfinite(x)) for x in numbers):
        return found
    held = binding(
        *numbers, scales=np.where(scales > 0, scales, 1.0), u=np.asarray(u), unit=abs(gain)
    )
    unit = unit_of(device, question.objective)
    for constraint, price in zip(problem.constraints, held.constraints, strict=True):
        if price > 0:
            cost, of = float(price), per(unit, unit_of(device, constraint.response))
            found.append(Claim("limits", f"price of {constraint}", cost, of, SLOPE, cost))
    for i, variable in enumerate(problem.variables):
        for side, prices in (("lower", held.low), ("upper", held.high)):
            if prices[i] > 0:
                bound = variable.low if side == "lower" else variable.high
                price = float(prices[i] / problem.stretch(i, bound))
                of = per(unit, unit_of(device, variable.name))
                name = f"price of the {side} bound of {variable.name}"
                found.append(Claim("limits", name, price, of, SLOPE, price))
    return found


def _problem(device: Device, point: tuple[Fields, Fields], question: Question) -> Problem:
    """The problem as it was, started at the design after."""
    free = {}
    for name, (low, high) in question.free.items():
        vector = "[" not in name and np.ndim(get(*point, name)) > 0
        value = question.variables[name]
        room = 1e-12 * max(abs(low), abs(high))
        if not low - room <= value <= high + room:
            raise ValueError(f"{name} = {value} is not between its bounds {low:g} and {high:g}.")
        free[f"{name}[:]" if vector else name] = (low, high)
    limits = [Constraint(of, sense, bound) for of, sense, bound in question.constraints]  # type: ignore[arg-type]
    objective = Objective(question.objective, question.goal)  # type: ignore[arg-type]
    held: dict[str, Value] = dict(design=point[0], setting=point[1])
    if question.rules is not None:
        held |= dict(process=question.process, layout=layout_of(device, question))
    return device_problem(device, free, objective, limits, **held)


def layout_of(device: Device, question: Question) -> Fields | None:
    """What the drawing of a question has beside the design; None for a device without one."""
    return device.Layout(**question.layout) if device.Layout else None


def _slopes(device: Device, point: tuple[Fields, Fields], question: Question) -> list[Claim]:
    """Percent of the objective for one percent of each parameter, and what the certificate says."""
    keys = [name for name, known in device.parameters.items() if _counts(known, point)]
    if not keys or question.objective not in device.responses:
        return []
    calculate = value_and_gradient(device, wrt=tuple(keys), of=question.objective)
    value, slopes, certificate, _ = calculate(*point)
    found = [
        Claim("certificate", "verdict", verdict_word(certificate)),
        Claim("certificate", "reason", reason_text(certificate)),
    ]
    shares = {k: float(slopes[k]) * float(get(*point, k)) / float(value) for k in keys}
    largest = max((abs(s) for s in shares.values() if math.isfinite(s)), default=0.0)
    for key, share in shares.items():
        found.append(Claim("elasticity", key, plain(share), "", SLOPE, largest))
        found.append(Claim("elasticity verdict", key, verdict_word(certificate.entries[key])))
    return found


def _counts(known: Parameter, point: tuple[Fields, Fields]) -> bool:
    if not known.differentiable or idle(*point, known.name):
        return False
    value = get(*point, known.name)
    return np.ndim(value) == 0 and float(value) != 0


def deviations_of(
    device: Device, design: Fields, question: Question
) -> tuple[Deviations, tuple[Tolerance, ...]]:
    """How the parts of a question deviate, and the causes at a design."""
    stated = causes_from(question.deviating)
    layout = layout_of(device, question) if question.rules is not None else None
    by, _ = Deviations(device, stated, question.process, layout).where_known(design)
    return by, by(design)


def _surroundings(device: Device, point: tuple[Fields, Fields], question: Question) -> list[Claim]:
    _, causes = deviations_of(device, point[0], question)
    around: Surroundings = surroundings(
        device, *point, keys_of(question), question.of_parts, deviating=causes
    )
    found = []
    if around.start:
        found.append(Claim("ends", "start", around.start))
    for end in around.ends:
        if end.margin is None:
            found.append(Claim("ends", f"nearest end along {end.key}", f"not found: {end.why}"))
        for what, (words, margin) in end.places.items():
            sure = EDGE if words.startswith("start_lost") else PLACE
            name = f"{what} along {end.key}"
            found.append(Claim("ends", name, words))
            found.append(
                Claim("ends", f"distance of the {name}", margin, "", sure, RESOLVED / SMALL)
            )
    if around.parts is not None:
        good = around.parts
        ends = dict(low=float(good.low), high=float(good.high))
        found.append(Claim("yield", "share of good parts", float(good.share), "", **ends))
        for cause, share in good.causes.items():
            found.append(Claim("yield", f"bad by {cause}", float(share), "", 0.5, 0.05 / SMALL))
    return found
