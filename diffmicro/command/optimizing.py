"""The subcommand `optimize`: a problem from words, its result as a table, as JSON and in a folder.

`result.json` in the folder holds the object that `--json` prints, `history.jsonl` one line an
iteration.
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
    out: Path | None,
    as_json: bool,
    options: Mapping[str, Any],
) -> int:
    """Solve the problem and show it. `goals`: goal -> response, of which one is given."""
    from diffmicro.design import (
        Objective,
        device_problem,
        optimize_design,
        parse_constraint,
        parse_free,
    )

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
        words.free_names(",".join(bounds), module)
        words.names(",".join(c.response for c in constraints), known, "response")
        objective = Objective(response, goal)  # type: ignore[arg-type]
        problem = device_problem(
            module, bounds, objective, constraints, design=fixed.design, setting=fixed.setting
        )
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    result = optimize_design(problem, **options)
    study = result.json(f"{device} {goal} {response}")
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "result.json").write_text(json.dumps(study, indent=2) + "\n")
        lines = (json.dumps(step._asdict(), default=float) for step in result.history)
        (out / "history.jsonl").write_text("".join(line + "\n" for line in lines))
    if as_json:
        print(json.dumps(study, allow_nan=False))
    else:
        _print(study, list(bounds), response)
    return EXIT_CODES.get(result.status, 3)


def _print(study: dict[str, Any], free: Sequence[str], response: str) -> None:
    page = console()
    table = Table("", "before", "after", box=None)
    before, after = study["published"], study["optimized"]
    for name in free:
        place = "design" if name in before["design"] else "setting"
        table.add_row(name, _number(before[place][name]), _number(after[place][name]))
    for name in dict.fromkeys([response, *study["constraints"]]):
        if name in before["response"]:
            table.add_row(name, _number(before["response"][name]), _number(after["response"][name]))
    page.print(table)
    for name, constraint in study["constraints"].items():
        value, slack = _number(constraint["value"]), _number(constraint["slack"])
        page.print(Text(f"constraint {name}: value {value}, slack {slack}"))
    certificate = study["certificate"]
    page.print(Text(f"status: {study['status']}. {study['reason']}"))
    page.print(Text(f"gradient there: {certificate['verdict']}. {certificate['reason']}"))
    page.print(f"{study['evaluations']} evaluations in {study['seconds']} s")


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}"
