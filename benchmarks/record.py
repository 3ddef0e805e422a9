"""What a run of the benchmarks found, as JSON, and what it means: thresholds kept or missed, slower than before.

Benchmarks print Markdown tables. In a table with a column `goal`, each row with a goal is a measure: its name is
made of the cells before the first number, its value is the cell before the goal. A goal reads `at least 20` or `at
most 0.5`; where it is not reached yet, `at least 0.8 (holds 0.4)` names what is. What holds is enforced, with a
tolerance, as ratios within one run still scatter by some per cent.

A history is a file of one JSON object a line, outside the repository: numbers are of one machine.
"""

import json
import os
import platform
import re
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from diffmicro._programs import features

TOLERANCE = 0.15
"""Share by which a ratio may miss what holds; ratios of one run on a busy machine scatter by up to a tenth."""

SLOWER = 0.3
"""Share by which a ratio may be worse than the median of earlier runs on this machine before it is said."""

EARLIER = 10
"""Runs whose median counts."""

GOAL = re.compile(r"at (least|most) ([\d.e+-]+)(?: \(holds ([\d.e+-]+)\))?")


def usual_history() -> Path:
    """Where the history is unless another file is named."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "diffmicro" / "benchmarks.jsonl"


def record_of(name: str, lines: Sequence[str], seconds: float, began: str) -> dict[str, Any]:
    """What one benchmark printed, and where. began: date and time in the ISO format."""
    tables = list(_tables(lines))
    return {
        "benchmark": name,
        "began": began,
        "seconds": round(seconds, 1),
        "load": [round(load, 1) for load in os.getloadavg()],
        "machine": _machine(),
        "versions": {package: metadata.version(package) for package in ("diffmicro", "jax", "jaxlib")},
        "tables": tables,
        "measures": [measure for table in tables for measure in _measures(table)],
    }  # fmt: skip


def misses(record: dict[str, Any], tolerance: float = TOLERANCE) -> list[str]:
    """A line for each measure that misses what holds by more than the tolerance."""
    found = []
    for m in record["measures"]:
        least = m["sense"] == "least"
        bound = m["holds"] * (1 - tolerance if least else 1 + tolerance)
        if (m["value"] < bound) if least else (m["value"] > bound):
            found.append(
                f"{record['benchmark']}, {m['name']}: {m['value']:g}, at {m['sense']} {m['holds']:g} has to hold"
            )
    return found


def slowdowns(record: dict[str, Any], history: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each measure that is worse than it was: than the median of earlier runs on this machine."""
    earlier = [
        other["measures"]
        for other in history
        if (other["benchmark"], other["machine"]) == (record["benchmark"], record["machine"])
    ][-EARLIER:]
    found = []
    for m in record["measures"]:
        values = sorted(o["value"] for run in earlier for o in run if o["name"] == m["name"])
        if not values:
            continue
        usual = values[len(values) // 2]
        worse = usual / m["value"] if m["sense"] == "least" else m["value"] / usual
        if worse > 1 + SLOWER:
            found.append(
                f"{record['benchmark']}, {m['name']}: {m['value']:g}, {usual:g} in {len(values)} earlier runs"
            )
    return found


def read_history(file: Path) -> list[dict[str, Any]]:
    """The records of a history; a line that is torn is left out."""
    found = []
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def keep(record: dict[str, Any], folder: Path, history: Path) -> None:
    """Write the record beside others, and append it to the history."""
    for place in (folder, history.parent):
        place.mkdir(parents=True, exist_ok=True)
    (folder / f"{record['benchmark']}.json").write_text(json.dumps(record, indent=1) + "\n")
    with history.open("a") as file:
        file.write(json.dumps(record) + "\n")


def _tables(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The tables among Markdown lines."""
    heads, rows = None, []
    for line in (*lines, ""):
        if not line.startswith("| "):
            if heads is not None:
                yield {"heads": heads, "rows": rows}
            heads, rows = None, []
            continue
        cells = [cell.strip() for cell in line[1:].rstrip().removesuffix("|").split(" | ")]
        if heads is None:
            heads = cells
        elif set("".join(cells)) != {"-"}:
            rows.append(cells)


def _measures(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows that have a goal."""
    heads = table["heads"]
    if "goal" not in heads:
        return
    column = heads.index("goal")
    for row in table["rows"]:
        goal = GOAL.fullmatch(row[column])
        if goal is None:
            continue
        words = row[: next((n for n, cell in enumerate(row) if _is_number(cell)), 1)] or row[:1]
        yield {
            "name": ", ".join(words),
            "of": heads[column - 1],
            "value": float(row[column - 1]),
            "sense": goal[1],
            "goal": float(goal[2]),
            "holds": float(goal[3] or goal[2]),
        }


def _is_number(cell: str) -> bool:
    return bool(re.match(r"[-+]?[\d.]", cell))


def _machine() -> str:
    """The processor and how many of them this process may use."""
    model = re.search(r"model name\s*: ([^\n]*?)(?= flags|$)", features())
    able = len(os.sched_getaffinity(0)) if platform.system() == "Linux" else os.cpu_count()
    return f"{model[1].strip() if model else platform.machine()}, {able} core(s)"
