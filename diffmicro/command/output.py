"""What the command line prints: tables for people, one JSON object a line for programs."""

import json
from collections.abc import Mapping

import numpy as np
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from diffmicro._device import Device
from diffmicro.command.evaluation import Answer, Request
from diffmicro.command.words import parameters, responses
from diffmicro.devices import device, origins
from diffmicro.parameters import Parameter, Value, describe, range_text
from diffmicro.shapes import FRONT, PLAN
from diffmicro.sweep.gradients import derivative_name, unit_per
from diffmicro.units import Shown, readable_unit

WIDE = 160
"""Columns where the output is no terminal and has no width of its own."""


def console(stderr: bool = False) -> Console:
    """Where to print; nothing is cut off where the output is a file or a pipe.

    Text is printed as it is: brackets in the name of a file are no markup.
    """
    options: dict[str, Value] = dict(stderr=stderr, highlight=False, markup=False, emoji=False)
    made = Console(**options)
    return made if made.is_terminal else Console(**options, width=WIDE)


def note(text: str) -> None:
    """A line for people, beside the output."""
    console(stderr=True).print(text, soft_wrap=True)


def json_line(answer: Answer) -> str:
    """The answer in the order of its fields. A number that is not finite would be an error here."""
    return json.dumps(answer._asdict(), allow_nan=False)


def devices_table() -> Table:
    """One line a device: what it is, its source, the package that it comes from."""
    table = Table("device", "what it is", "source", "package", box=None)
    for name, package in origins().items():
        found = device(name)
        table.add_row(*map(Text, (name, found.title, found.source, package)))
    return table


def parameters_table(kind: type, title: str) -> Table:
    """The fields of Design, Setting or Layout with default, range, symbol and source."""
    columns = ("parameter", "default", "unit", "allowed", "symbol", "meaning", "source")
    table = _titled(title, *columns)
    for name, p in describe(kind).items():
        default, unit, allowed = _shown(p)
        row = (name, default, unit, allowed, p.symbol, p.meaning, p.source)
        table.add_row(*map(Text, row))
    return table


def alias_lines(module: Device) -> list[str]:
    """Other ways to give a parameter."""
    return [
        f"{name} [{module.parameters[alias.times].unit}]: {alias.meaning}, {alias.of} times {alias.times}; give "
        f"{name} or {alias.of}."
        for name, alias in module.aliases.items()
    ]


def _unit_of(value: Value, unit: str) -> Shown:
    """The unit that a number, or the largest of several, reads well in."""
    if not _are_numbers(value) or not np.size(value):
        return Shown(1.0, unit)
    return readable_unit(float(np.max(np.abs(np.asarray(value, float)))), unit)


def _shown(known: Parameter) -> tuple[str, str, str]:
    """Default, unit and range of a field, in a unit that reads well."""
    shown = _unit_of(known.default, known.unit)
    shown = shown if _are_numbers(known.default) else Shown(1.0, _unit(known))
    ends = [end * shown.factor for end in (known.low, known.high)]
    allowed = range_text(known._replace(low=ends[0], high=ends[1]))
    return (
        _number(_times(known.default, shown.factor)),
        shown.unit,
        f"{known.size} x {allowed}" if known.size else allowed,
    )


def _are_numbers(value: Value) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_are_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _times(value: Value, factor: float) -> Value:
    """A number, or lists of numbers, times a factor; anything else as it is."""
    if factor == 1 or not _are_numbers(value):
        return value
    if isinstance(value, list | tuple):
        return [_times(part, factor) for part in value]
    return float(f"{value * factor:.12g}")


def drawing_lines(module: Device, named: str) -> list[str]:
    """Where to see the dimensions of a device, `named` as on the command line; nothing without a geometry."""
    if module.geometry is None:
        return []
    from diffmicro.drawing import geometry

    start = f"Dimensions as arrows: diffmicro draw {named} --out {module.name}.png"
    try:
        known = geometry(module).dimensions
    except ValueError as complaint:  # the published design may have no dimensions
        return [f"{start}. {complaint}"]
    names = {view: dict.fromkeys(d.name for d in known if d.view == view) for view in (PLAN, FRONT)}
    parts = [f"{view}: {', '.join(of)}" for view, of in names.items() if of]
    return [f"{start} ({'; '.join(parts)})"]


def responses_table(module: Device) -> Table:
    """The responses with unit and meaning."""
    table = _titled("Response", "response", "unit", "meaning")
    for name, known in responses(module).items():
        asked = " (on request)" if name in module.on_request else ""
        table.add_row(*map(Text, (name, _unit(known), known.meaning + asked)))
    return table


def answer_tables(
    request: Request, answer: Answer, at: Mapping[str, float]
) -> list[RenderableType]:
    """One point for people: responses, status, each gradient with its elasticity and verdict.

    at: the parameters of the point that are single numbers, in SI.
    """
    units = {name: _unit(known) for name, known in responses(request.device).items()}
    table = _titled("", "response", "value", "unit")
    for name, value in answer.response.items():
        shown_in = _unit_of(value, units[name])
        table.add_row(name, _number(_times(value, shown_in.factor)), shown_in.unit)
    shown: list[RenderableType] = [
        table,
        Text(f"status: {answer.status}. {answer.message}".strip()),
    ]
    for of in answer.grad:
        shown += _gradient_table(request, answer, of, at)
    return shown


def _gradient_table(
    request: Request, answer: Answer, of: str, at: Mapping[str, float]
) -> list[RenderableType]:
    known = parameters(request.device)
    unit = _unit(responses(request.device)[of])
    table = _titled("", "gradient", "value", "unit", "elasticity", "verdict", "holds over")
    certificate = answer.certificate[of]
    for key, slope in answer.grad[of].items():
        value = answer.response.get(of)
        entry = certificate["entries"][key]
        table.add_row(
            derivative_name(of, key),
            _number(slope),
            unit_per(unit, known[key].unit),
            _elasticity(slope, at.get(key), value),
            entry["verdict"],
            "-" if entry["reach"] is None else f"{100 * entry['reach']:.2g} %",
        )
    verdict = Text(
        f"gradient of {of}: {certificate['verdict']}. {certificate['reason'] or ''}".strip()
    )
    margins = ", ".join(
        f"{name} {_number(certificate[name])}"
        for name in ("margin", "multiplier", "discrepancy", "error_estimate")
        if certificate[name] is not None
    )
    others = _other_reasons(certificate)
    return [table, verdict, *others, *([Text(margins, style="dim")] if margins else [])]


def _other_reasons(certificate: dict[str, Value]) -> list[Text]:
    """Of derivatives that are not certified for another reason than the worst one."""
    said = {certificate["reason"]}
    lines = []
    for entry in certificate["entries"].values():
        if entry["verdict"] != "certified" and entry["reason"] not in said:
            said.add(entry["reason"])
            keys = [k for k, e in certificate["entries"].items() if e["reason"] == entry["reason"]]
            lines.append(Text(f"by {', '.join(keys)}: {entry['verdict']}. {entry['reason']}"))
    return lines


def _elasticity(slope: Value, at: float | None, value: Value) -> str:
    """Percent of the response for one percent of the parameter: slope * parameter / response."""
    numbers = all(isinstance(x, int | float) for x in (slope, at, value))
    return f"{slope * at / value:.4g}" if numbers and value else "-"


def _titled(title: str, *columns: str) -> Table:
    return Table(*columns, title=title or None, title_justify="left", box=None, title_style="bold")


def _unit(known: Parameter) -> str:
    return "" if known.unit == "-" else known.unit


def _number(value: Value) -> str:
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        nested = any(isinstance(part, list | tuple) for part in value)
        return ("; " if nested else ", ").join(map(_number, value))
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)
