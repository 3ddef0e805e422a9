"""What a point does: its responses, a response along a parameter, the motion, the drawing, words to copy."""

import itertools
import shlex
from collections.abc import Iterator
from io import BytesIO

import numpy as np
from jaxtyping import PyTree

from diffmicro._json import JsonObject, plain
from diffmicro.drawing import geometry
from diffmicro.drawing.export import titled
from diffmicro.drawing.picture import drawing as picture
from diffmicro.explore.catalog import catalog, shown_range
from diffmicro.explore.desk import (
    MOST_POINTS,
    POINTS,
    BadQuestion,
    Desk,
    Question,
    Say,
    count_of,
    number_at,
    unit_of,
)
from diffmicro.explore.ranges import effect
from diffmicro.explore.turns import Task
from diffmicro.parameters import Value, as_arrays, describe, put
from diffmicro.plot.states import traces
from diffmicro.results import code, from_code, message, words
from diffmicro.shapes import Angle
from diffmicro.units import readable, readable_unit

MOST_SAMPLES = 400
"""Of a motion's curve; a screen shows no more."""

MOST_CURVES = 8
"""Quantities of a motion."""


def device(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """What there is to turn and to see; first of all, which devices there are."""
    reference = asked.get("device") or desk.devices[0]
    with task.step():
        found = catalog(desk.device(reference), reference)
    own = desk.words if reference == desk.devices[0] else {}
    say({"devices": list(desk.devices), "catalog": found, "words": own})


def curve(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """The responses here, then one response along a parameter, from coarse to fine."""
    q = desk.question(asked)
    found = desk.run(task, say, q.respond, *q.arrays)
    at_here = number_at(q.point, q.along) if q.along else None
    say({"here": _here(q, found) | {"at": at_here}, "copy": copies(q)})
    if not q.along or asked.get("only") == "here":
        return
    value = getattr(found, q.response)
    if np.ndim(value):
        raise BadQuestion(
            f"{q.response} is {np.size(value)} numbers; a curve needs a response that is one.",
            "response",
        )
    ends, count = q.ends, count_of(asked, "count", POINTS, 2, MOST_POINTS)
    largest = abs(float(value)) if np.isfinite(value) else 0.0
    own = readable_unit(number_at(q.point, q.along) or ends.high, unit_of(q.known, q.along))
    unit = q.device.responses[q.response].unit
    axis = {
        "key": q.along,
        "factor": own.factor,
        "unit": own.unit,
        "low": ends.low,
        "high": ends.high,
    }
    shown = readable_unit(largest, unit)
    say(
        {
            "axis": axis,
            "response": q.response,
            "unit": shown._asdict(),
        }
    )
    at = np.linspace(ends.low, ends.high, count)
    for i in coarse_to_fine(count):
        there = as_arrays(put(q.point.design, q.point.setting, {q.along: float(at[i])}))
        y = desk.run(task, say, q.respond, *there)
        value = plain(getattr(y, q.response))
        say({"x": float(at[i]), "y": value, "status": words(y.result).item()})
        if value is not None and abs(value) > largest:
            largest = abs(value)
            if readable_unit(largest, unit) != shown:
                shown = readable_unit(largest, unit)
                say({"unit": shown._asdict()})


def coarse_to_fine(count: int) -> Iterator[int]:
    """The numbers below `count`: the ends, then the middle, then those between, and so on."""
    done: set[int] = set()
    step = 1 << max(count - 2, 0).bit_length()
    while step:
        for i in [*range(0, count, step), count - 1]:
            if i not in done:
                done.add(i)
                yield i
        step //= 2


def _here(q: Question, found: PyTree) -> JsonObject:
    """The responses of a point; a status other than ok comes with its message."""
    status = words(found.result).item()
    table = {}
    for name, known in q.device.responses.items():
        value = plain(getattr(found, name))
        table[name] = {"value": value, "text": _text(value, known.unit)}
    text = "" if status == "ok" else message(from_code(code(found.result)))
    return {"table": table, "status": status, "message": text, "notes": list(q.point.notes)}


def _text(value: Value, unit: str) -> str:
    """A value in the unit that it reads well in; empty where there is none."""
    if value is None:
        return ""
    if not isinstance(value, list):
        return readable(value, unit)
    numbers = np.asarray(value, float)
    units = unit.split(", ")
    if len(units) > 1:
        pairs = zip(numbers.ravel().tolist(), itertools.cycle(units), strict=False)
        return ", ".join(readable(x, own, 4) for x, own in pairs)
    shown = readable_unit(float(np.nanmax(np.abs(numbers), initial=0.0)), unit)
    rows = "; ".join(
        ", ".join(f"{x * shown.factor:.4g}" for x in row) for row in np.atleast_2d(numbers)
    )
    return f"{rows} {shown.unit}".strip()


def copies(q: Question) -> dict[str, str]:
    """The point as a command and as Python, which give the number that the page shows."""
    pairs = [f"{key}={text}" for key, text in q.words.items()]
    command = ["diffmicro", "evaluate", q.reference, *pairs, "--response", q.response]
    changed = {
        role: _changed(getattr(q.point, role), getattr(q.device, f"published_{role}")())
        for role in ("design", "setting")
    }
    numerics = q.device.asking_for((q.response,), q.point.numerics)
    more = "".join(f", {name}={value!r}" for name, value in numerics.items())
    unit = q.device.responses[q.response].unit.replace("-", "")
    lines = [
        "import diffmicro",
        "from diffmicro.results import word",
        "",
        "diffmicro.configure(double=True)",
        f"device = diffmicro.device({q.reference!r})",
        f"design = device.published_design({changed['design']})",
        f"setting = device.published_setting({changed['setting']})",
        f"response = device.respond(design, setting, throw=False{more})",
        f"print(response.{q.response}, {unit!r}, word(response.result))",
    ]
    return {"command": shlex.join(command), "python": "\n".join(lines) + "\n"}


def _changed(value: Value, published: Value) -> str:
    """The fields that differ, as arguments."""
    found = []
    for name in describe(type(value)):
        own = getattr(value, name)
        if not np.array_equal(np.asarray(own), np.asarray(getattr(published, name))):
            own = np.asarray(own).tolist() if isinstance(own, np.ndarray | np.generic) else own
            found.append(f"{name}={own!r}")
    return ", ".join(found)


def drawing(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """The device as `draw` makes it, as SVG, and its dimensions in words."""
    q = desk.question(asked)
    with task.step():
        shape = geometry(q.device, q.point.design)
        file = BytesIO()
        picture(shape, titled(q.device)).savefig(file, format="svg")
    sizes = [
        f"{d.name} {readable(float(d.value()), 'rad' if isinstance(d, Angle) else 'm', 4)}"
        for d in shape.dimensions
    ]
    say({"svg": file.getvalue().decode(), "text": f"{q.device.title}: {', '.join(sizes)}"})


def motion(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """The motion as curves, in units that read well."""
    q = desk.question(asked)
    design, setting = q.arrays
    found = desk.run(task, say, q.respond, design, setting) if q.device.carries else None
    with task.step():
        seen = traces(q.device, design, setting, found)
    size = len(seen.values)
    chosen = np.unique(np.linspace(0, size - 1, min(size, MOST_SAMPLES)).round().astype(int))
    if np.ptp(seen.values) == 0:
        raise BadQuestion(
            f"Nothing moves: {seen.axis} is 0 throughout. Give it a value.", seen.axis
        )
    say({"axis": _column(seen.axis, seen.values[chosen], seen.units.get(seen.axis, "-"))})
    for name in list(seen.columns)[:MOST_CURVES]:
        say({"curve": _column(name, seen.columns[name][chosen], seen.units.get(name, ""))})


def _column(name: str, values: np.ndarray, unit: str) -> JsonObject:
    values = values.astype(float)
    size = float(np.nanmax(np.abs(values), initial=0.0))
    shown = readable_unit(size, unit)
    return {
        "name": name,
        "unit": shown.unit,
        "flag": not unit,
        "values": plain(values * shown.factor),
    }


def reach(desk: Desk, asked: dict[str, Value], task: Task, say: Say) -> None:
    """A range for a parameter that is zero, by its effect on the response."""
    q = desk.question(asked)

    def look(value: float) -> float | None:
        there = as_arrays(put(q.point.design, q.point.setting, {q.along: value}))
        found = desk.run(task, say, q.respond, *there)
        value = plain(getattr(found, q.response))
        return value if isinstance(value, float) and words(found.result).item() == "ok" else None

    for found in effect(q.known, look):
        if found is not None:
            shown = readable_unit(found.high, unit_of(q.known, q.along))
            say(
                {
                    "range": shown_range(found, shown.factor),
                    "unit": shown.unit,
                    "factor": shown.factor,
                }
            )
            return
    raise BadQuestion(
        f"{q.along} changes {q.response} nowhere by a tenth; choose another response, or give both ends.",
        q.along,
    )
