"""Files in place of words: `outline=body.dxf`, a file of points; and what every complaint about words is."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from diffmicro._device import Device, hooked
from diffmicro._json import Json
from diffmicro.parameters import Value


class BadInput(ValueError):
    """Words that mean nothing, or what is not allowed. `status` is the status word for results."""

    def __init__(self, text: str, status: str = "invalid_input"):
        super().__init__(text)
        self.status = status


DRAWINGS = (".dxf", ".gds", ".csv")
"""Endings of files that may stand in place of a word."""


def from_files(
    module: Device, given: Mapping[str, Value]
) -> tuple[Mapping[str, Value], tuple[str, ...]]:
    """The values with what files stand for, as `outline=body.dxf`, and what was made of these."""
    notes = []
    for key, value in given.items():
        if key not in module.files or not str(value).lower().endswith(DRAWINGS):
            continue
        try:
            fields, note = hooked(module.files[key])(str(value))
        except ValueError as complaint:
            raise BadInput(f"{key}: {complaint}") from None
        twice = [name for name in fields if name in given and name != key]
        if twice:
            raise BadInput(
                f"{key}={value} gives {', '.join(twice)} too; leave {twice[0]}={given[twice[0]]} out."
            )
        given = {**given, **fields}
        notes.append(note)
    return given, tuple(notes)


def file_points(path: Path) -> list[Mapping[str, Value] | BadInput]:
    """One point a line, each a JSON object. A line that is none is a `BadInput` in its place.

    The file is UTF-8, as JSON is, and a line ends at \\n and nothing else.
    """
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"Cannot read points from {path}: {problem}.") from None
    return [_file_point(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _file_point(number: int, line: str) -> Mapping[str, Value] | BadInput:
    try:
        found = json.loads(line, object_pairs_hook=_once)
    except BadInput as problem:
        return BadInput(f"Line {number}: {problem}")
    except json.JSONDecodeError as problem:
        return BadInput(f"Line {number} is not JSON: {problem}.")
    except RecursionError:
        return BadInput(f"Line {number} has more brackets inside each other than any value here.")
    except ValueError:  # Python refuses to read whole numbers of thousands of digits
        return BadInput(f"Line {number} has a number with too many digits; write it as 1e300.")
    if not isinstance(found, dict):
        return BadInput(f"Line {number} is not an object of key: value, it is {line.strip()[:40]}.")
    return found


def _once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Value]:
    """A JSON object, each of whose keys is there once."""
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise BadInput(f"{key} is given twice, as {found[key]} and as {value}.")
        found[key] = value
    return found
