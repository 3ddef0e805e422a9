"""Writes a report: the page, and report.json beside it with the question and all claims."""

import csv
import json
from dataclasses import replace as replaced
from pathlib import Path

from diffmicro._files import replace
from diffmicro._json import Json, JsonObject
from diffmicro.design.run import environment
from diffmicro.devices import device as known_device
from diffmicro.report.claims import claims_of, question_of_run
from diffmicro.report.page import page
from diffmicro.report.verify import FORMAT, digest_of


def report(run: Path | str, out: Path | str) -> JsonObject:
    """Write the report of an optimization's folder to `out` (.html) and the .json beside it; its content.

    ValueError for a folder that is none of a finished optimization of one operating point.
    """
    run, out = Path(run), Path(out)
    if out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{out}: the ending has to be .html.")
    question, result = question_of_run(run)
    claims = claims_of(question)
    made = _environment(run)
    device = known_device(question.device)
    question = replaced(question, device=in_a_report(question.device))
    for point in result["config"]["about"]["points"]:
        point["device"] = in_a_report(point["device"])
    kept = ("status", "reason", "method", "evaluations", "seconds", "starts")
    content: dict[str, Json] = {
        "report": FORMAT,
        "question": question.plain(),
        "claims": [claim._asdict() for claim in claims],
        "search": {name: result[name] for name in kept},
        "config": result["config"],
        "environment": made,
    }
    content = json.loads(json.dumps(content, allow_nan=False))
    content["digest"] = digest_of(content)
    claimed = out.with_suffix(".json")
    text = page(device, question, claims, result, history_of(run), made, claimed.name)
    replace(claimed, (json.dumps(content, indent=1) + "\n").encode())
    replace(out, text.encode())
    return content


def in_a_report(reference: str) -> str:
    """How a report names a device: a file without its folders, which are those of one machine."""
    place, colon, name = reference.rpartition(":")
    return f"{Path(place).name}:{name}" if place.endswith(".py") else reference


def history_of(run: Path) -> list[dict[str, str]]:
    """The rows of the search's history; none where there is no file."""
    file = run / "history.csv"
    if not file.is_file():
        return []
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _environment(run: Path) -> JsonObject:
    """What the search ran on, as it was written then."""
    file = run / "environment.json"
    return json.loads(file.read_text()) if file.is_file() else environment()
