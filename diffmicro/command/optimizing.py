"""The subcommand `optimize`: a problem from words, its result as a table, as JSON and in a folder.

The folder holds what the run is (`config.json`, `environment.json`), where it got (`history.csv`, `search.png`,
`checkpoint.bin`) and the object that `--json` prints (`result.json`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro.command import words
from diffmicro.command.axes import is_range
from diffmicro.command.codes import OF_SEARCH
from diffmicro.command.options import note_cautions
from diffmicro.command.output import console
from diffmicro.command.ruling import (
    check_drawn,
    check_layers,
    is_rule,
    layers_of,
    print_narrow,
    process_of,
    rule_texts,
)
from diffmicro.command.sharing import ALONE, sharing
from diffmicro.command.surrounding import surroundings_of, surroundings_text
from diffmicro.command.sweeping import check_figure
from diffmicro.command.words import BadInput
from diffmicro.command.yielding import (
    DEFAULT,
    Fabrication,
    stated_limit,
    yield_plain,
    yield_text,
)
from diffmicro.parameters import Fields, Value

if TYPE_CHECKING:
    from diffmicro.design import Objective, Problem, Result, Tolerance
    from diffmicro.fabrication.buildable import Buildable, Deviating
    from diffmicro.process import Process
    from diffmicro.sweep.cluster import Processes


def run_optimize(
    device: str,
    pairs: Sequence[str],
    goals: Mapping[str, str | None],
    free: Sequence[str],
    subject: Sequence[str],
    scatter: tuple[Sequence[str], str],
    out: Path | None,
    as_json: bool,
    options: Mapping[str, Value],
    around: bool = True,
    rules: Path | None = None,
    made: Fabrication = DEFAULT,
    plot: Path | None = None,
    others: tuple[int, str | None] = ALONE,
) -> int:
    """Solve the problem and show it. `goals`: goal -> response, of which one is given.

    scatter: words of --robust, and the measure. around: also look at what lies around the optimum. rules: file.
    made: how parts deviate, and how many are to be good. others: --workers and --cluster.
    """
    from diffmicro.design import Objective
    from diffmicro.fabrication.deviations import causes_plain

    check_figure(plot)
    module = words.device(device)
    goal, response = _goal_of(goals)
    words.names(response, words.responses(module), "response")
    # `--free a=1:2 b=3:4`: words with a range are free wherever they stand.
    ranges = [*free, *filter(is_range, pairs)]
    if not ranges:
        raise BadInput("Nothing is free: give --free key=low:high.")
    given_words = words.split([pair for pair in pairs if not is_range(pair)])
    process, layout = process_of(rules), None
    if process is not None:
        layout, given_words = words.layout(module, given_words)
    fixed = words.point(module, given_words)
    note_cautions(module, fixed)
    if process is not None:
        check_layers(module, process, layers_of(module, fixed.design, layout))
        check_drawn(module, fixed.design, layout, process)
    if fixed.numerics:
        raise BadInput(f"{', '.join(fixed.numerics)}: optimize chooses its own numerics.")
    objective = Objective(response, goal)  # type: ignore[arg-type]
    try:
        words.check_varied(module, given_words, map(_field, _bounds(module, ranges)))
        problem = _problem(module, fixed, ranges, objective, subject, scatter, (process, layout))
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    deviating = made.deviating(module, fixed.design, process, layout)
    if deviating.stated:
        stated = {**problem.about, "deviating": causes_plain(deviating.stated)}
        problem = replace(problem, about=stated)
    with sharing(*others) as processes:
        result, counted = _searched(problem, made.good, deviating, processes, out=out, **options)
    study = result.json(f"{device} {goal} {response}")
    study |= {} if counted is None else yield_plain(counted)
    if process is not None and result.feasible:
        best = words.point(module, {**result.optimized.design, **result.optimized.setting})
        check_drawn(module, best.design, layout, process)
        print_narrow(console(stderr=True), module, process, best.design, layout)
    if around:
        limits, parts = (None, None) if counted is None else (counted.limits, counted.parts)
        study["surroundings"] = surroundings_of(result, deviating, limits, parts)
    _draw(module, result, 0 if counted is None else len(counted.rounds), out, plot)
    if as_json:
        print(json.dumps(study, allow_nan=False))
    else:
        _print(study, response, module)
    return OF_SEARCH[study["status"]]


def _searched(
    problem: "Problem",
    good: float | None,
    deviating: "Deviating | None",
    processes: "Processes | None",
    **options: Value,
) -> tuple["Result", "Buildable | None"]:
    """The best design; with a share of parts that have to be `good`, also how that was counted."""
    from diffmicro.design import optimize_design
    from diffmicro.fabrication import buildable

    try:
        if good is None:
            return optimize_design(problem, processes=processes, **options), None
        counted = buildable(problem, good, deviating, processes=processes, **options)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    return counted.result, counted


def _goal_of(goals: Mapping[str, str | None]) -> tuple[str, str]:
    """Goal and response."""
    given = [(goal, response) for goal, response in goals.items() if response is not None]
    if len(given) != 1:
        raise BadInput("Give exactly one of --maximize RESPONSE and --minimize RESPONSE.")
    return given[0]


def _draw(
    module: Device, result: "Result", rounds: int, out: Path | None, plot: Path | None
) -> None:
    """The last search as a figure in a file, and every round's in its folder."""
    response = result.problem.objective.response
    if out is not None:
        for folder in [out / f"round_{n + 1}" for n in range(rounds)] or [out]:
            _draw_kept(module, response, folder)
    if plot is not None:
        from diffmicro.plot.searches import plot_history

        plot_history(result, words.unit_of_response(module, response)).savefig(plot)


def _draw_kept(module: Device, response: str, out: Path) -> None:
    """A search as a figure in its folder, with all that it resumed."""
    from diffmicro.design.shown import LIMIT, with_units
    from diffmicro.plot.searches import history_figure
    from diffmicro.report.write import history_of

    rows = history_of(out)
    if rows:
        unit = words.unit_of_response(module, response)
        limits = {text: float(text.split()[-1]) for text in rows[0] if LIMIT.fullmatch(text)}
        names = {text: with_units(module, text) for text in limits}
        history_figure(rows, response, unit, limits, names).savefig(out / "search.png")


def _problem(
    module: Device,
    fixed: words.Point,
    ranges: Sequence[str],
    objective: "Objective",
    subject: Sequence[str],
    scatter: tuple[Sequence[str], str],
    made_by: "tuple[Process | None, Fields | None]",
) -> "Problem":
    """The problem that the words state; ValueError where they state none. made_by: process and layout."""
    from diffmicro.design import device_problem, parse_constraint, robust_problem

    bounds = _bounds(module, ranges)
    constraints = [
        parse_constraint(text, partial(words.unit_of_response, module)) for text in subject
    ]
    texts = [str(constraint) for constraint in constraints]
    for text in texts:
        if texts.count(text) > 1:
            raise BadInput(f"--subject {text} is given twice.")
    tolerances, held = _deviating(module, fixed, bounds, scatter[0])
    problem = device_problem(
        module,
        {**bounds, **held},
        objective,
        constraints,
        design=fixed.design,
        setting=fixed.setting,
        process=made_by[0],
        layout=made_by[1],
    )
    if tolerances:
        names = [key.partition("[:]")[0] for key in held]
        problem = robust_problem(problem, tolerances, scatter[1], held=names)  # type: ignore[arg-type]
    return problem


def _bounds(module: Device, ranges: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Key and bounds of each range."""
    from diffmicro.design import parse_free

    bounds: dict[str, tuple[float, float]] = {}
    for key, low, high in (
        parse_free(text, partial(words.unit_of_parameter, module)) for text in ranges
    ):
        if key in bounds:
            known = "{:g}:{:g}".format(*bounds[key])
            raise BadInput(f"{key} is given twice, as {known} and as {low:g}:{high:g}.")
        bounds[key] = (low, high)
    return bounds


def _deviating(
    module: Device, fixed: words.Point, bounds: Mapping[str, Value], texts: Sequence[str]
) -> "tuple[list[Tolerance], dict[str, tuple[float, float]]]":
    """A tolerance for each variable that deviates, and bounds for those of them that are not free.

    Each entry of a field deviates on its own; a field that is free as one number deviates as one.
    """
    from diffmicro.design import parse_tolerance
    from diffmicro.design.devices import entries
    from diffmicro.design.robust import reach

    free = [e.variable for key in bounds for e in entries(module, *fixed[:2], key)]
    found: list[Tolerance] = []
    held: dict[str, tuple[float, float]] = {}
    for text in texts:
        tolerance = parse_tolerance(text, partial(words.unit_of_parameter, module))
        key, name = tolerance.variable, _field(tolerance.variable)
        if name in free:
            if key not in (name, f"{name}[:]"):
                raise BadInput(f"--robust {key}: {name} is free as one number, so give {name}.")
            key = f"{name}[:]"
        made = entries(module, *fixed[:2], key)
        if key.endswith("[:]") and name not in free:
            values = {entry.value for entry in entries(module, *fixed[:2], name)}
            if len(values) > 1:
                raise BadInput(
                    f"--robust {key}: the entries of {name} differ. Give {name}, and each deviates on "
                    "its own, or one entry."
                )
        for entry in made:
            found.append(replace(tolerance, variable=entry.variable))
            if entry.variable not in free:
                held[key if key.endswith("[:]") else entry.variable] = reach(tolerance, entry.value)
    return found, held


def _field(key: str) -> str:
    """`hinge` of `hinge[3]`."""
    return key.partition("[")[0]


def _print(study: JsonObject, response: str, device: Device) -> None:
    from diffmicro.design.shown import per, show, unit_of, with_units

    def value(name: str, number: Json) -> str:
        return show(device, name, number, 6)

    def price(name: str, number: float | None) -> str:
        return f"multiplier {_number(number)} {per(unit, unit_of(device, name))}".removesuffix(" 1")

    page, unit = console(), unit_of(device, response)
    table = Table("", "before", "after", box=None)
    before, after = study["published"], study["optimized"]
    for name in study["variables"]:
        table.add_row(name, *(value(name, side["variables"][name]) for side in (before, after)))
    others = {n: c for n, c in study["constraints"].items() if not is_rule(c)}
    named = (constraint["of"] for constraint in others.values())
    for name in dict.fromkeys([response, *named]):
        table.add_row(name, *(value(name, side["response"][name]) for side in (before, after)))
    page.print(table)
    for name, constraint in others.items():
        of = constraint["of"]
        stated = stated_limit(name, study["yield"]["limits"]) if "yield" in study else name
        text = f"constraint {with_units(device, stated)}"
        text += f", kept with a reserve as {with_units(device, name)}" if stated != name else ""
        text += f": value {value(of, constraint['value'])}, "
        if constraint["binds"]:
            text += f"binds; {price(of, constraint['multiplier'])}"
        else:
            text += f"slack {value(of, constraint['slack'])}"
        page.print(Text(text))
    for line in rule_texts(study["constraints"], response, unit):
        page.print(Text(line))
    for name, bound in study["bounds"].items():
        cost = price(name, bound["multiplier"])
        page.print(Text(f"{name} is at its bound {value(name, bound['bound'])}; {cost}"))
    certificate, reason = study["certificate"], with_units(device, study["reason"])
    page.print(Text(f"status: {study['status']}, by {study['method']}. {reason}"))
    page.print(Text(f"gradient there: {certificate['verdict']}. {certificate['reason']}"))
    page.print(f"{study['evaluations']} evaluations in {study['seconds']} s")
    for line in yield_text(device, study["yield"], response) if "yield" in study else ():
        page.print(Text(line))
    for line in surroundings_text(study["surroundings"]) if study.get("surroundings") else ():
        page.print(Text(with_units(device, line)))


def _number(value: Value) -> str:
    return "-" if value is None else f"{value:.6g}"
