"""The subcommand `optimize`: a problem from words, its result as a table, as JSON and in a folder.

The folder holds what the run is (`config.json`, `environment.json`), where it got (`history.csv`,
`checkpoint.bin`) and the object that `--json` prints (`result.json`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from diffmicro.command import words
from diffmicro.command.output import console
from diffmicro.command.words import BadInput

EXIT_CODES = {"ok": 0, "not_converged": 3, "interrupted": 130}


def run_optimize(
    device: str,
    pairs: Sequence[str],
    goals: Mapping[str, str | None],
    free: Sequence[str],
    subject: Sequence[str],
    scatter: tuple[Sequence[str], str],
    out: Path | None,
    as_json: bool,
    options: Mapping[str, Any],
) -> int:
    """Solve the problem and show it. `goals`: goal -> response, of which one is given.

    scatter: words of --robust, and the measure.
    """
    from diffmicro.design import (
        Objective,
        device_problem,
        optimize_design,
        parse_constraint,
        parse_free,
        parse_tolerance,
        robust_problem,
    )
    from diffmicro.design.robust import reach

    module = words.device(device)
    known = words.responses(module)
    given = [(goal, response) for goal, response in goals.items() if response is not None]
    if len(given) != 1:
        raise BadInput("Give exactly one of --maximize RESPONSE and --minimize RESPONSE.")
    ((goal, response),) = given
    words.names(response, known, "response")
    # `--free a=1:2 b=3:4`: words with a range are free wherever they stand.
    ranges = [*free, *(pair for pair in pairs if ":" in pair)]
    if not ranges:
        raise BadInput("Nothing is free: give --free key=low:high.")
    fixed = words.point(module, words.split([pair for pair in pairs if ":" not in pair]))
    if fixed.numerics:
        raise BadInput(f"{', '.join(fixed.numerics)}: optimize chooses its own numerics.")
    try:
        bounds = {key: (low, high) for key, low, high in map(parse_free, ranges)}
        constraints = [parse_constraint(text) for text in subject]
        words.free_names(",".join(key.partition("[")[0] for key in bounds), module)
        words.names(",".join(c.response for c in constraints), known, "response")
        objective = Objective(response, goal)  # type: ignore[arg-type]
        tolerances = [parse_tolerance(text) for text in scatter[0]]
        held = [t.variable for t in tolerances if t.variable not in bounds]
        words.free_names(",".join(held), module)
        for tolerance in tolerances:
            name = tolerance.variable
            if name in held:
                home = fixed.design if hasattr(fixed.design, name) else fixed.setting
                bounds[name] = reach(tolerance, float(getattr(home, name)))
        problem = device_problem(
            module, bounds, objective, constraints, design=fixed.design, setting=fixed.setting
        )
        if tolerances:
            problem = robust_problem(problem, tolerances, scatter[1], held=held)  # type: ignore[arg-type]
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    try:
        result = optimize_design(problem, out=out, **options)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    study = result.json(f"{device} {goal} {response}")
    if as_json:
        print(json.dumps(study, allow_nan=False))
    else:
        _print(study, response)
    return EXIT_CODES.get(result.status, 3)


def _print(study: dict[str, Any], response: str) -> None:
    page = console()
    table = Table("", "before", "after", box=None)
    before, after = study["published"], study["optimized"]
    for name in study["variables"]:
        table.add_row(name, _number(before["variables"][name]), _number(after["variables"][name]))
    named = (constraint["of"] for constraint in study["constraints"].values())
    for name in dict.fromkeys([response, *named]):
        table.add_row(name, _number(before["response"][name]), _number(after["response"][name]))
    page.print(table)
    for name, constraint in study["constraints"].items():
        text = f"constraint {name}: value {_number(constraint['value'])}, "
        if constraint["binds"]:
            text += f"binds; multiplier {_number(constraint['multiplier'])}"
        else:
            text += f"slack {_number(constraint['slack'])}"
        page.print(Text(text))
    for name, bound in study["bounds"].items():
        page.print(
            Text(
                f"{name} is at its bound {_number(bound['bound'])}; multiplier "
                f"{_number(bound['multiplier'])}"
            )
        )
    certificate = study["certificate"]
    page.print(Text(f"status: {study['status']}, by {study['method']}. {study['reason']}"))
    page.print(Text(f"gradient there: {certificate['verdict']}. {certificate['reason']}"))
    page.print(f"{study['evaluations']} evaluations in {study['seconds']} s")


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}"
