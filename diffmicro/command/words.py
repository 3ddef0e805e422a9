"""From words to values: `key=value`, the keys of a JSON point, and `key=start:stop:count`.

The one home of what the command line and files of points may say about a device. A word becomes a
field of its Design or Setting, or one of the `NUMERICS`; whatever cannot is a `BadInput` that names
the key, the value, what is allowed, and the nearest known key. Values are plain numbers in SI.
"""

import difflib
import inspect
import json
import math
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from diffmicro._parameters import Parameter, check, describe, range_text
from diffmicro.devices import DEVICES, on_request
from diffmicro.devices import device as device_module

NUMERICS = ("method", "steps")
"""Words beside the fields of Design and Setting: how to calculate."""

MOST_VALUES = 1_000_000
"""Values on one axis of a sweep. More is a slip of the keyboard."""


class BadInput(ValueError):
    """Words that mean nothing, or what is not allowed. `status` is the status word for results."""

    def __init__(self, text: str, status: str = "invalid_input"):
        super().__init__(text)
        self.status = status


class Point(NamedTuple):
    """One point to evaluate; `numerics` holds those of `NUMERICS` that were given."""

    design: Any
    setting: Any
    numerics: dict[str, Any]


def device(name: str) -> ModuleType:
    """The module of a device."""
    if name not in DEVICES:
        raise BadInput(f"Device {name!r} is not known{_nearest(name, DEVICES)}")
    return device_module(name)


def parameters(module: ModuleType) -> dict[str, Parameter]:
    """All fields of a device's Design and Setting by name."""
    return describe(module.Design) | describe(module.Setting)


def responses(module: ModuleType) -> dict[str, Parameter]:
    """The fields of a device's Response that are numbers with a unit."""
    return {name: known for name, known in describe(module.Response).items() if known.unit}


def usual(module: ModuleType) -> tuple[str, ...]:
    """The responses that are calculated without being asked for."""
    return tuple(name for name in responses(module) if name not in on_request(module))


def names(text: str | None, known: Iterable[str], what: str) -> tuple[str, ...]:
    """The names of a list with commas, each one of the `known`; nothing given is none."""
    known, found = list(known), []
    for name in filter(None, (part.strip() for part in (text or "").split(","))):
        if name not in known:
            raise BadInput(f"{name!r} is not a {what}{_nearest(name, known)}")
        if name not in found:
            found.append(name)
    return tuple(found)


def free_names(text: str | None, module: ModuleType) -> tuple[str, ...]:
    """Keys to differentiate by: those of numbers, not of words."""
    table = parameters(module)
    found = names(text, table, "parameter")
    for name in found:
        if table[name].words:
            raise BadInput(f"{name} takes words ({range_text(table[name])}): it has no derivative.")
        if isinstance(table[name].default, int):
            raise BadInput(
                f"{name} is a whole number that sets the resolution: it has no derivative."
            )
    return found


def split(pairs: Sequence[str]) -> dict[str, str]:
    """`key=value` words as a dictionary."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or not value:
            raise BadInput(f"{pair!r} is not of the form key=value, such as mass_ratio=1.5.")
        if key in found:
            raise BadInput(f"{key} is given twice, as {found[key]} and as {value}.")
        found[key] = value
    return found


def point(module: ModuleType, given: Mapping[str, Any]) -> Point:
    """The published design and setting with the given values, and how to calculate them."""
    table = parameters(module)
    numerics, values = {}, {}
    for key, value in given.items():
        if key in NUMERICS:
            numerics[key] = _numeric(module, key, value)
        else:
            values[key] = _value(module, _known(key, table), value)
    point = Point(*_built(module, values), numerics)
    check_ranges(module, point.design, point.setting)
    return point


def check_ranges(module: ModuleType, design: Any, setting: Any) -> None:
    """`BadInput` with status out_of_range for values outside what the model allows."""
    try:
        # A device may know contradictions beside the ranges.
        getattr(module, "check_point", check)(short_name(module), design, setting)
    except ValueError as complaint:
        raise BadInput(str(complaint), "out_of_range") from None


def raise_if_numerics(complaint: ValueError, numerics: Mapping[str, Any]) -> None:
    """`BadInput` where a device complains about one of the `NUMERICS`, of which it is the judge.

    Any other ValueError from a calculation is a fault of the program, not of the input.
    """
    text = str(complaint)
    if any(key in text and str(value) in text for key, value in numerics.items()):
        raise BadInput(text) from None


def file_points(path: Path) -> list[Mapping[str, Any] | BadInput]:
    """One point a line, each a JSON object. A line that is none is a `BadInput` in its place."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"Cannot read points from {path}: {problem}.") from None
    return [_file_point(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def is_vector(module: ModuleType, key: str) -> bool:
    """Whether a parameter is always several numbers."""
    known = parameters(module).get(key)
    return known is not None and () not in known.shapes


def axis(module: ModuleType, key: str, text: str) -> np.ndarray | list[Any]:
    """Values of one word of a sweep: `start:stop:count`, a list with commas, or a single value."""
    known = _known(key, parameters(module))
    if ":" in text:
        ends = text.split(":")
        if len(ends) != 3 or known.words:
            raise BadInput(f"{key}={text}: a range is key=start:stop:count, for numbers.")
        start, stop = (one_number(known, end) for end in ends[:2])
        try:
            count = int(ends[2])
        except ValueError:
            count = 0
        if not 1 <= count <= MOST_VALUES:
            raise BadInput(
                f"{key}={text}: the count has to be a whole number from 1 to {MOST_VALUES}."
            )
        if () not in known.shapes:
            raise BadInput(f"{key} is {known.size} numbers; a range is for single numbers.")
        values = np.linspace(start, stop, count)
        return [_value(module, known, x) for x in values] if type(known.default) is int else values
    values = [_value(module, known, part) for part in text.split(",")]
    numbers = all(isinstance(value, float) for value in values)
    return np.array(values) if numbers else values


def one_number(known: Parameter, value: Any) -> float:
    """One finite number for a field."""
    try:
        if isinstance(value, bool):
            raise ValueError
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        several = isinstance(value, list | tuple) or (isinstance(value, str) and "," in value)
        unit = "" if known.unit in ("", "-") else f" in {known.unit}"
        raise BadInput(
            f"{known.name} = {value} is not allowed; it has to be one number{unit}"
            f"{', not a vector' if several else ''}: {range_text(known)}. "
            f"The default is {known.default}."
        ) from None
    if not math.isfinite(found):
        raise BadInput(
            f"{known.name} = {value} is not allowed; it has to be finite: {range_text(known)}. "
            f"The default is {known.default}."
        )
    return found


def _file_point(number: int, line: str) -> Mapping[str, Any] | BadInput:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as problem:
        return BadInput(f"Line {number} is not JSON: {problem}.")
    if not isinstance(found, dict):
        return BadInput(f"Line {number} is not an object of key: value, it is {line.strip()[:40]}.")
    return found


def _built(module: ModuleType, values: Mapping[str, Any]) -> tuple[Any, Any]:
    own = describe(module.Design)
    design = {key: value for key, value in values.items() if key in own}
    setting = {key: value for key, value in values.items() if key not in own}
    return module.published_design(**design), module.published_setting(**setting)


def _known(key: str, table: Mapping[str, Parameter]) -> Parameter:
    if key not in table:
        raise BadInput(f"Unknown key {key!r}{_nearest(key, [*table, *NUMERICS])}")
    return table[key]


def _value(module: ModuleType, known: Parameter, value: Any) -> Any:
    """A number, word, vector or None for a field, from text or from JSON."""
    if value is None or value == "None":
        if not _may_be_none(module, known.name):
            raise BadInput(f"{known.name} has to be a number, not None: {range_text(known)}.")
        return None
    if known.words:
        if value not in known.words:
            near = _nearest(str(value), known.words)
            raise BadInput(f"{known.name} = {value} is not allowed{near}")
        return value
    if known.shapes != ((),):
        return _array(known, value)
    number = one_number(known, value)
    if not isinstance(known.default, int):
        return number
    if number != int(number):
        raise BadInput(f"{known.name} = {value} is not allowed; it has to be a whole number.")
    return int(number)


def _array(known: Parameter, value: Any) -> Any:
    """Numbers in one of the shapes that are allowed, from `1,2,3`, rows `1,2;3,4`, or lists of JSON.

    A plain list may stand for a table of known size, row by row.
    """
    rows: Any = value
    if isinstance(value, str):
        lists = [row.split(",") for row in value.split(";")]
        rows = lists[0] if len(lists) == 1 else lists
        rows = rows[0] if rows == [value] else rows
    try:
        parts = np.asarray(rows, object)
        if parts.ndim and any(isinstance(part, list | tuple) for part in parts.ravel()):
            raise TypeError
        numbers = np.array([one_number(known, part) for part in parts.ravel()]).reshape(parts.shape)
    except BadInput:
        raise
    except (TypeError, ValueError):
        numbers = np.zeros((0, 0, 0))  # rows of unlike lengths have no shape
    if known.fits(numbers.shape):
        return numbers if numbers.ndim else float(numbers)
    for shape in known.shapes:
        sizes = [n for n in shape if isinstance(n, int)]
        if numbers.ndim < 2 and len(sizes) == len(shape) and numbers.size == math.prod(sizes):
            return numbers.reshape(sizes)
        if numbers.ndim == 0 and len(shape) == 1 and not sizes:
            return numbers.reshape(1)
    count = f"{numbers.size} number{'s' if numbers.size > 1 else ''}"
    count = count if numbers.size else "rows of unlike lengths"
    raise BadInput(
        f"{known.name} = {value} has {count}; it needs {known.size}: numbers separated by commas, rows "
        "by semicolons."
    )


def _numeric(module: ModuleType, key: str, value: Any) -> Any:
    """`method` as it is, `steps` as a whole number; the device judges both, if it has them."""
    if key not in inspect.signature(module.respond).parameters:
        raise BadInput(
            f"{key} = {value}: {short_name(module)} has no {key} to choose; leave it out."
        )
    if key == "method":
        if not isinstance(value, str):
            raise BadInput(f"method = {value} is not allowed; it has to be a word.")
        return value
    try:
        number = float(value)
        if isinstance(value, bool) or number != int(number):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{key} = {value} is not allowed; it has to be a whole number.") from None
    return int(number)


def _may_be_none(module: ModuleType, name: str) -> bool:
    hints = typing.get_type_hints(module.Design) | typing.get_type_hints(module.Setting)
    return type(None) in typing.get_args(hints[name])


def _nearest(name: str, known: Iterable[str]) -> str:
    """Which of the known names was probably meant, or what there is to choose from."""
    known = list(known)
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.4)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}."


def short_name(module: ModuleType) -> str:
    """What a device is called."""
    return module.__name__.rpartition(".")[2]
