"""What an experiment answers with, how it is judged, and how it is written down.

Verdict: `reproduced` when every statement of the source holds, `not` when none does, else `partly`,
with what was measured instead as the reason.
"""

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class Check(NamedTuple):
    """One statement of the source against what was measured."""

    statement: str
    stated: str
    measured: str
    holds: bool


class Outcome(NamedTuple):
    """What an experiment found: statements, numbers for the file, and its figure."""

    checks: list[Check]
    data: dict[str, Any]
    draw: Callable[[Figure], None]


class Experiment(NamedTuple):
    """A figure or table of a source. `size` of its drawing is in inches."""

    title: str
    run: Callable[[], Outcome]
    size: tuple[float, float] = (6.0, 4.0)


def near(statement: str, stated: float, measured: float, within: float, unit: str = "") -> Check:
    """Holds when the measured number is as close to the stated one as said."""
    unit = f" {unit}" if unit else ""
    return Check(
        statement,
        f"{stated:g}{unit} (within {within:.3g})",
        f"{measured:.4g}{unit}",
        bool(abs(measured - stated) <= within * (1 + 1e-9)),
    )


def verdict(checks: Iterable[Check]) -> str:
    """`reproduced`, `partly` or `not`."""
    held = [check.holds for check in checks]
    return "reproduced" if all(held) else "partly" if any(held) else "not"


def reason(checks: Iterable[Check]) -> str:
    """What was measured where a statement does not hold; empty when all do."""
    return "; ".join(f"{c.statement}: {c.measured}" for c in checks if not c.holds)


def record(name: str, experiment: Experiment, found: Outcome) -> dict[str, Any]:
    """The outcome as an object for JSON."""
    return {
        "experiment": name,
        "title": experiment.title,
        "verdict": verdict(found.checks),
        "reason": reason(found.checks),
        "checks": [check._asdict() for check in found.checks],
        "data": _plain(found.data),
    }


def write(name: str, experiment: Experiment, found: Outcome, folder: Path) -> dict[str, Any]:
    """Write NAME.json and NAME.png into the folder; the record is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    known = record(name, experiment, found)
    (folder / f"{name}.json").write_text(json.dumps(known, indent=1, allow_nan=False) + "\n")
    figure = Figure(figsize=experiment.size, layout="constrained")
    FigureCanvasAgg(figure)
    found.draw(figure)
    figure.savefig(folder / f"{name}.png", dpi=130)
    return known


def scoreboard(records: Iterable[dict[str, Any]]) -> str:
    """A table in Markdown: what was reproduced, and why not where not."""
    lines = [
        "| experiment | what | verdict | statements | reason |",
        "|---|---|---|---|---|",
    ]
    for known in records:
        held = sum(check["holds"] for check in known["checks"])
        count = f"{held} of {len(known['checks'])}"
        why = known["reason"].replace("|", "\\|")
        lines.append(
            f"| {known['experiment']} | {known['title']} | {known['verdict']} | {count} | {why} |"
        )
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> Any:
    """Numbers and lists for JSON; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, str | bool | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    array = np.asarray(value)
    if array.ndim:
        return [_plain(entry) for entry in array]
    number = array.item()
    if isinstance(number, float):
        return float(f"{number:.9g}") if math.isfinite(number) else None
    return number
