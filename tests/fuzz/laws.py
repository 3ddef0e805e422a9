"""What every answer has to keep, whatever the input."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from diffmicro import Device
from diffmicro.command.evaluation import Answer, Request, answer_points
from diffmicro.command.files import file_points
from diffmicro.command.output import json_line
from diffmicro.command.words import usual
from diffmicro.parameters import range_text, within
from diffmicro.results import STATUS_WORDS
from tests.fuzz.inputs import Line

REFUSED = ("invalid_input", "out_of_range")
"""How what is no point of the device ends; it has no number then."""


class Broken(NamedTuple):
    """A law that an answer does not keep, and the line that shows it."""

    law: str
    line: str


def answers(device: Device, lines: Sequence[Line | str], folder: Path) -> list[Answer]:
    """What `evaluate --points FILE --json` answers to these lines."""
    file = folder / "points.jsonl"
    file.write_text("\n".join(x if isinstance(x, str) else x.text for x in lines) + "\n")
    return list(answer_points(Request(device, usual(device)), file_points(file)))


def answered(
    device: Device, lines: Sequence[Line], folder: Path
) -> Iterator[tuple[Answer | None, list[Broken]]]:
    """Each line's answer, if it has one, and the laws that it breaks.

    What raises an error is looked for by halves.
    """
    try:
        found = answers(device, lines, folder)
    except Exception as problem:
        if len(lines) > 2:
            half = len(lines) // 2
            yield from answered(device, lines[:half], folder)
            yield from answered(device, lines[half:], folder)
            return
        for line in lines:
            yield None, [Broken(f"{type(problem).__name__}: {problem}"[:300], line.text[:2000])]
        return
    assert len(found) == len(lines), "lines without an answer"
    for line, answer in zip(lines, found, strict=True):
        yield answer, judged(device, line, answer)


def judged(device: Device, line: Line, answer: Answer) -> list[Broken]:
    """The laws that this answer breaks."""
    found = []
    if answer.status not in STATUS_WORDS:
        found.append(f"the status {answer.status} is not known")
    if line.kind == "wrong":
        refused = answer.status in REFUSED
        named = not line.keys or any(key in answer.message for key in line.keys)
        if not refused:
            found.append(f"nonsense in {line.keys} is {answer.status}")
        elif not named:
            found.append(f"the complaint names none of {line.keys}: {answer.message}")
    if answer.status != "ok" and not answer.message.strip():
        found.append(f"{answer.status} without a reason")
    for name, value in answer.response.items():
        known = device.responses[name]
        if answer.status == "ok":
            if _missing(value):
                found.append(f"{name} has no value, and the status is ok")
            elif not within(value, known):
                found.append(f"{name} = {value} is not {range_text(known)}")
        elif answer.status in REFUSED and _has_a_float(value):
            found.append(f"{name} has a value, and the status is {answer.status}")
    json.loads(json_line(answer), parse_constant=lambda text: found.append(f"{text} in JSON"))
    return [Broken(law, line.text[:2000]) for law in found]


def _missing(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_missing, value))
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _has_a_float(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_a_float, value))
    return isinstance(value, float) and np.isfinite(value)
