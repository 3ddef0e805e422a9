"""What the command line prints: tables for people, one JSON object a line for programs."""

import json
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from diffmicro._device import Device
from diffmicro.command.evaluation import Answer, Request
from diffmicro.command.words import parameters, responses
from diffmicro.devices import device, origins
from diffmicro.parameters import Parameter, range_text

WIDE = 160
"""Columns where the output is no terminal and has no width of its own."""


def console(stderr: bool = False) -> Console:
    """Where to print; nothing is cut off where the output is a file or a pipe.

    Text is printed as it is: brackets in the name of a file are no markup.
    """
    options: dict[str, Any] = dict(stderr=stderr, highlight=False, markup=False, emoji=False)
    made = Console(**options)
    return made if made.is_terminal else Console(**options, width=WIDE)


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


def parameters_table(module: Device, kind: type, title: str) -> Table:
    """The fields of Design or Setting with default, range, symbol and source."""
    known = parameters(module)
    columns = ("parameter", "default", "unit", "allowed", "symbol", "meaning", "source")
    table = _titled(title, *columns)
    for name in kind.__dataclass_fields__:  # type: ignore[attr-defined]
        p = known[name]
        allowed = f"{p.size} x {range_text(p)}" if p.size else range_text(p)
        row = (name, _number(p.default), _unit(p), allowed, p.symbol, p.meaning, p.source)
        table.add_row(*map(Text, row))
    return table


def responses_table(module: Device) -> Table:
    """The responses with unit and meaning."""
    table = _titled("Response", "response", "unit", "meaning")
    for name, known in responses(module).items():
        asked = " (on request)" if name in module.on_request else ""
        table.add_row(*map(Text, (name, _unit(known), known.meaning + asked)))
    return table


def answer_tables(request: Request, answer: Answer, given: dict[str, Any]) -> list[Any]:
    """One point for people: responses, status, each gradient with its elasticity and verdict."""
    units = {name: _unit(known) for name, known in responses(request.device).items()}
    table = _titled("", "response", "value", "unit")
    for name, value in answer.response.items():
        table.add_row(name, _number(value), units[name])
    shown: list[Any] = [table, Text(f"status: {answer.status}. {answer.message}".strip())]
    for of in answer.grad:
        shown += _gradient_table(request, answer, of, given)
    return shown


def _gradient_table(request: Request, answer: Answer, of: str, given: dict[str, Any]) -> list[Any]:
    known = parameters(request.device)
    unit = _unit(responses(request.device)[of])
    table = _titled("", "gradient", "value", "unit", "elasticity", "verdict", "holds over")
    told = answer.certificate[of]
    for key, slope in answer.grad[of].items():
        at, value = given.get(key, known[key].default), answer.response.get(of)
        below = _unit(known[key])
        per = f"{unit or '1'} / ({below})" if " " in below else f"{unit or '1'} / {below}"
        entry = told["entries"][key]
        table.add_row(
            f"d{of}/d{key}",
            _number(slope),
            per if below else unit,
            _elasticity(slope, at, value),
            entry["verdict"],
            "-" if entry["reach"] is None else f"{100 * entry['reach']:.2g} %",
        )
    verdict = Text(f"gradient of {of}: {told['verdict']}. {told['reason'] or ''}".strip())
    margins = ", ".join(
        f"{name} {_number(told[name])}"
        for name in ("margin", "multiplier", "discrepancy", "error_estimate")
        if told[name] is not None
    )
    others = _other_reasons(told)
    return [table, verdict, *others, *([Text(margins, style="dim")] if margins else [])]


def _other_reasons(told: dict[str, Any]) -> list[Text]:
    """Of derivatives that are not certified for another reason than the worst one."""
    said = {told["reason"]}
    lines = []
    for entry in told["entries"].values():
        if entry["verdict"] != "certified" and entry["reason"] not in said:
            said.add(entry["reason"])
            keys = [k for k, e in told["entries"].items() if e["reason"] == entry["reason"]]
            lines.append(Text(f"by {', '.join(keys)}: {entry['verdict']}. {entry['reason']}"))
    return lines


def _elasticity(slope: Any, at: Any, value: Any) -> str:
    """Percent of the response for one percent of the parameter: slope * parameter / response."""
    if not all(isinstance(x, int | float) for x in (slope, value)) or not value:
        return "-"
    try:
        return f"{slope * float(at) / value:.4g}"  # `at` may be a word of the command line
    except (TypeError, ValueError):  # a vector, or None
        return "-"


def _titled(title: str, *columns: str) -> Table:
    return Table(*columns, title=title or None, title_justify="left", box=None, title_style="bold")


def _unit(known: Parameter) -> str:
    return "" if known.unit == "-" else known.unit


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        nested = any(isinstance(part, list | tuple) for part in value)
        return ("; " if nested else ", ").join(map(_number, value))
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)
