"""What costs more than a look: elasticities with their verdicts, boundaries, a search for a better design."""

import shlex
import warnings
from collections.abc import Callable, Mapping
from functools import cache

import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject, plain
from diffmicro.boundary import boundaries as ends_along
from diffmicro.boundary.find import differentiated
from diffmicro.certificate import certificate_words, value_and_gradient
from diffmicro.design import Objective, Result, device_problem, optimize_design
from diffmicro.explore.desk import BadQuestion, Desk, Question, Say, count_of, finite, number_at
from diffmicro.explore.turns import Task
from diffmicro.parameters import Value, entry_of, get
from diffmicro.results import FAILURES, NoResult, code, from_code, message, words
from diffmicro.sweep.lanes import HASTY
from diffmicro.units import readable

MOST_FREE = 12
LEAST_EVALUATIONS, MOST_EVALUATIONS = 10, 200
USUAL_EVALUATIONS = 40
"""Of a search from the page."""


def elasticities(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """Percent of the response for one percent of each parameter, as `evaluate --grad` certifies it."""
    q = desk.question(asked)
    design, setting = q.arrays
    names = differentiated(q.device, q.point.design, q.point.setting, "", None)
    for numerics in [{**q.point.numerics, **q.device.lone}, q.point.numerics]:
        judged = _judged(q.device, names, q.response, tuple(numerics.items()))
        value, gradient, certificate, response = desk.run(task, say, judged, design, setting)
        if words(response.result).item() not in FAILURES:
            break
    checked = certificate_words(certificate)
    status = words(response.result).item()
    text = "" if status == "ok" else message(from_code(code(response.result)))
    say(
        {
            "verdict": checked["verdict"],
            "reason": checked["reason"],
            "status": status,
            "message": text,
        }
    )
    if np.ndim(value):
        raise BadQuestion(f"{q.response} is several numbers; choose a response that is one.")
    for name in names:
        at = np.asarray(get(design, setting, name), float)
        share = (
            np.asarray(gradient[name]) * at / float(value) if value else np.full(at.shape, np.nan)
        )
        entry = checked["entries"][name]
        parts = entry.get("parts", [entry])
        for i, (own, part) in enumerate(zip(share.ravel().tolist(), parts, strict=True)):
            key = f"{name}[{i}]" if at.ndim else name
            reach = part["reach"]
            say({
                "key": key, "elasticity": plain(own), "verdict": part["verdict"], "reason": part["reason"],
                "reach": reach,
            })  # fmt: skip


@cache
def _judged(
    device: Device, wrt: tuple[str, ...], of: str, numerics: tuple[tuple[str, Value], ...]
) -> Callable[..., PyTree]:
    function = value_and_gradient(device, wrt=wrt, of=of, **dict(numerics))
    return jax.jit(function, compiler_options=HASTY if device.hasty else {})


def boundaries(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """Where the device stops doing what it does, along the curve's parameter."""
    q = desk.question(asked)
    ends = q.ends
    with task.step():
        say({"note": "searching"})
        try:
            found = ends_along(
                q.device,
                q.point.design,
                q.point.setting,
                along=q.along,
                between=(ends.low, ends.high),
                steps=q.point.numerics.get("steps"),
            )
        except (NoResult, ValueError) as problem:
            raise BadQuestion(str(problem), q.along) from None
    unit = q.known.unit
    for b in found:
        say({
            "kind": b.kind, "at": b.at, "text": readable(b.at, unit), "side": b.side, "ends": b.ends,
            "beyond": b.beyond, "distance": b.distance, "verdict": b.certificate.verdict,
            "reason": b.certificate.reason,
        })  # fmt: skip
    say({"count": len(found)})


def search(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """The best value of the response within bounds, with a few evaluations, from here."""
    q = desk.question(asked)
    goal = asked.get("goal")
    if goal not in ("maximize", "minimize"):
        raise BadQuestion(f"goal = {goal!r} is not allowed; it has to be maximize or minimize.")
    budget = count_of(asked, "budget", USUAL_EVALUATIONS, LEAST_EVALUATIONS, MOST_EVALUATIONS)
    bounds = _bounds(q, asked.get("free"))

    def watch(used: int) -> None:
        if task.ended:
            raise KeyboardInterrupt
        say({"evaluations": used, "budget": budget})

    # What is said about a device or an idle variable goes to the page and not to the terminal.
    with task.step(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        say({"note": "compiling"})
        try:
            problem = device_problem(
                q.device,
                bounds,
                Objective(q.response, goal),
                design=q.point.design,
                setting=q.point.setting,
            )
            result = optimize_design(problem, budget=budget, progress=False, watch=watch)
        except ValueError as complaint:
            raise BadQuestion(str(complaint)) from None
        notes = list(dict.fromkeys(str(w.message).partition(": ")[2] for w in said))
        command = _command(q, goal, bounds, budget)
        say(_result_words(q, result, bounds) | {"command": command, "notes": notes})


def _bounds(q: Question, free: Json) -> dict[str, tuple[float, float]]:
    """Free keys and their bounds [SI], from {key: [low, high]}."""
    if not isinstance(free, dict) or not 1 <= len(free) <= MOST_FREE:
        raise BadQuestion(f"Choose from 1 to {MOST_FREE} parameters that are free.")
    found = {}
    for key, pair in free.items():
        if not isinstance(pair, list) or len(pair) != 2 or not all(map(finite, pair)):
            raise BadQuestion(f"{key}: bounds have to be two numbers.", key)
        if entry_of(key)[0] not in q.device.parameters:
            raise BadQuestion(f"{key!r} is no parameter of {q.device.name}.")
        here = number_at(q.point, key)
        found[key] = (min(pair[0], here), max(pair[1], here))
    return found


def _command(q: Question, goal: str, bounds: Mapping[str, tuple[float, float]], budget: int) -> str:
    """The same search on the command line."""
    command = ["diffmicro", "optimize", q.reference, f"--{goal}", q.response]
    for key, (low, high) in bounds.items():
        command += ["--free", f"{key}={low!r}:{high!r}"]
    return shlex.join(
        [*command, "--budget", str(budget), *(f"{k}={v}" for k, v in q.words.items())]
    )


def _result_words(
    q: Question, result: Result, bounds: Mapping[str, tuple[float, float]]
) -> JsonObject:
    """The result in plain values: words about how it ended, and what to type to get there."""
    unit = q.device.responses[q.response].unit
    values = [plain(side.response[q.response]) for side in (result.published, result.optimized)]
    units = {key: q.device.parameters[entry_of(key)[0]].unit.split(", ")[0] for key in bounds}
    at_bound = result.bounds
    return {
        "status": result.status,
        "reason": result.reason,
        "before": "no value" if values[0] is None else readable(values[0], unit),
        "after": "no value" if values[1] is None else readable(values[1], unit),
        "verdict": result.optimized.certificate.get("verdict", ""),
        "evaluations": result.evaluations,
        "variables": [
            {
                "key": key,
                "before": readable(result.start[key], units[key]),
                "after": readable(result.variables[key], units[key]),
                "value": result.variables[key],
                "held": at_bound[key]["side"] if key in at_bound else "",
            }
            for key in result.variables
        ],
    }
