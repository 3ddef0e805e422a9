"""A study: a problem, how to solve it, what to draw. The files of `optimize/` are made of these.

`run_study` solves it and returns the object that `--json` prints; `summary` says it in a few lines.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from diffmicro._json import Json, JsonObject
from diffmicro.design.loop import optimize_design
from diffmicro.design.problem import Problem
from diffmicro.design.result import Result
from diffmicro.design.search import random_search
from diffmicro.design.shown import in_units, per, said_of, unit_in
from diffmicro.parameters import Value

SHOWN = 3
"""Optima that the summary lists."""


@dataclass(frozen=True)
class Study:
    """What a study decides.

    problem: makes the problem, with the published design as its start.
    options: of `optimize_design`: method, budget, starts and so on.
    random_designs: how many random designs to compare with; 0: none.
    draw: (result, path of the figure) draws published and optimized design.
    show: name -> (factor, unit) of the numbers in the summary.
    """

    name: str
    problem: Callable[[], Problem]
    options: Mapping[str, Value] = field(default_factory=dict)
    random_designs: int = 0
    draw: Callable[[Result, Path], object] | None = None
    show: Mapping[str, tuple[float, str]] = field(default_factory=dict)


def run_study(
    study: Study,
    seed: int = 0,
    out: Path | None = None,
    progress: bool = True,
    resume: bool = False,
    around: Callable[[Result], Mapping[str, Json] | None] | None = None,
    **changed: Value,
) -> JsonObject:
    """Solve, look around the optimum, compare with random designs, draw.

    around: what lies around the optimum, in plain values. `changed` replaces options, or `random_designs`.

    The run is kept in the folder `out`; `resume` goes on with the one that is there.
    """
    count = changed.pop("random_designs", study.random_designs)
    problem = study.problem()
    options = {**study.options, **changed}
    result = optimize_design(
        problem, seed=seed, progress=progress, out=out, resume=resume, **options
    )
    if around is not None:
        result = replace(result, surroundings=around(result))
    found = result.json(study.name)
    if count:
        found["random"] = random_search(problem, count, seed, progress=progress)._asdict()
    if out is not None and study.draw is not None:
        out.mkdir(parents=True, exist_ok=True)
        path = out / f"{study.name}.png"
        study.draw(result, path)
        found["figure"] = str(path)
    return found


def summary(study: Study, found: Mapping[str, Json]) -> str:
    """The result in a few lines."""
    rows = [f"{'':30}{'published':>14}{'optimized':>14}"]
    sides = [found["published"], found["optimized"]]
    for name in found["variables"]:
        values = [side["variables"][name] for side in sides]
        rows.append(_row(name, values, study.show.get(name.partition("[")[0], (1.0, ""))))
    for name in dict.fromkeys(
        [found["objective"], *(c["of"] for c in found["constraints"].values())]
    ):
        values = [side["response"][name] for side in sides]
        rows.append(_row(name, values, study.show.get(name, (1.0, ""))))
    problem = study.problem()
    rows += [
        _limit(problem, name, found["objective"], known)
        for name, known in found["constraints"].items()
    ]
    certificate = found["certificate"]
    rows.append(f"{found['status']}: {in_units(problem, found['reason'])}")
    if certificate:
        rows.append(f"gradient there: {certificate['verdict']}; {certificate['reason']}")
    factor, unit = study.show.get(found["objective"], (1.0, ""))
    for rank, optimum in enumerate(found["optima"][:SHOWN], 1):
        text = f"optimum {rank} of {len(found['optima'])}: {factor * optimum['objective']:.5g} {unit}".rstrip()
        rows.append(
            f"{text}, from {optimum['starts']} starts, held by {len(optimum['limits'])} limits"
        )
    if "random" in found:
        random = found["random"]
        best = (
            "none feasible" if random["value"] is None else f"{factor * random['value']:.4g} {unit}"
        )
        rows.append(f"best of {random['evaluations']} random designs: {best}")
    rows.append(f"{found['evaluations']} evaluations, {found['seconds']:.0f} s")
    if "figure" in found:
        rows.append(f"figure: {found['figure']}")
    return "\n".join(rows)


def _limit(problem: Problem, name: str, objective: str, known: Mapping[str, Json]) -> str:
    """What a constraint leaves, or that it binds and at what price."""
    text = f"constraint {in_units(problem, name)}: "
    if not known["binds"]:
        slack = known["slack"]
        return (
            text + f"slack {'unknown' if slack is None else said_of(problem, known['of'], slack)}"
        )
    price = known.get("multiplier")
    if price is None:
        return text + "binds"
    units = [unit_in(problem, of) for of in (objective, known["of"])]
    return text + f"binds, multiplier {price:.4g} {per(*units)}".removesuffix(" 1")


def _row(name: str, values: list[float], shown: tuple[float, str]) -> str:
    factor, unit = shown
    numbers = "".join(
        f"{'-':>14}" if value is None else f"{factor * value:>14.5g}" for value in values
    )
    return f"{name:30}{numbers} {unit}".rstrip()
