"""From words to values: `key=value`, the keys of a JSON point, and `key=start:stop:count`.

The one home of what the command line and files of points may say about a device. A word becomes a
field of its Design or Setting, or one of the `NUMERICS`; whatever cannot is a `BadInput` that names
the key, the value, what is allowed, and the nearest known key. Values are numbers in SI, or words with a unit.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.command.files import BadInput, from_files
from diffmicro.command.remedies import missing_unit, nearest, through_alias, unknown_key
from diffmicro.devices import UnknownDevice
from diffmicro.devices import device as known_device
from diffmicro.parameters import (
    Fields,
    Parameter,
    Value,
    describe,
    entry_of,
    get,
    idle,
    put,
    range_text,
)
from diffmicro.units import UnitError, in_readable_units, in_si, last_alone_has_unit

NUMERICS = ("method", "steps")
"""Words beside the fields of Design and Setting: how to calculate."""

MOST_VALUES = 1_000_000
"""Values on one axis of a sweep. More is a slip of the keyboard."""


class Point(NamedTuple):
    """One point to evaluate; `numerics` holds those of `NUMERICS` that were given. notes: about files."""

    design: PyTree
    setting: PyTree
    numerics: dict[str, Value]
    notes: tuple[str, ...] = ()


def device(name: str) -> Device:
    """The device of this name or place."""
    try:
        return known_device(name)
    except (UnknownDevice, TypeError) as problem:
        raise BadInput(str(problem)) from None


def parameters(module: Device) -> dict[str, Parameter]:
    """All fields of a device's Design and Setting by name."""
    return module.parameters


def responses(module: Device) -> dict[str, Parameter]:
    """The fields of a device's Response that are numbers with a unit."""
    return module.responses


def usual(module: Device) -> tuple[str, ...]:
    """The responses that are always calculated."""
    return module.usual_responses


def names(text: str | None, known: Iterable[str], what: str) -> tuple[str, ...]:
    """The names of a list with commas, each one of the `known`; nothing given is none."""
    known, found = list(known), []
    for name in filter(None, (part.strip() for part in (text or "").split(","))):
        if name not in known:
            raise BadInput(f"{name!r} is not a {what}{nearest(name, known)}")
        if name not in found:
            found.append(name)
    return tuple(found)


def unit_of_parameter(module: Device, key: str) -> str:
    """SI unit of a parameter, or of an entry of it (`hinge[0]`), that is a number."""
    (name,) = free_names(key.partition("[")[0], module)
    return parameters(module)[name].unit.split(", ")[0]


def unit_of_response(module: Device, name: str) -> str:
    """SI unit of a response; a margin is a pure number."""
    from diffmicro.boundary.margin import margin_key

    key = margin_key(name)
    if key is not None:
        free_names(key, module)
        return "-"
    names(name, responses(module), "response")
    return responses(module)[name].unit.split(", ")[0]


def free_names(text: str | None, module: Device) -> tuple[str, ...]:
    """Keys to differentiate by: those of numbers, not of words."""
    table = parameters(module)
    found = names(text, module.keys, "parameter")
    for name in found:
        if name in module.aliases:
            alias = module.aliases[name]
            raise BadInput(
                f"{name} is no parameter of its own: it is {alias.of} times {alias.times}. Give {alias.of} here; "
                f"values may be given by {name}=, also to a sweep."
            )
        if table[name].words:
            raise BadInput(f"{name} takes words ({range_text(table[name])}): it has no derivative.")
        if table[name].whole:
            raise BadInput(
                f"{name} is a whole number that sets the resolution: it has no derivative."
            )
    return found


def derivatives(
    grad: str | None, of: str | None, module: Device
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What `--grad` and `--of` mean: keys to differentiate by, and responses, by default the first."""
    wrt = free_names(grad, module)
    if of and not wrt:
        raise BadInput(
            f"--of {of} names the response to differentiate; name the parameters with --grad KEYS."
        )
    known = responses(module)
    return wrt, (names(of, known, "response") or (next(iter(known)),)) if wrt else ()


def check_free(design: Fields, setting: Fields, wrt: Iterable[str]) -> None:
    """`BadInput` for a key that nothing depends on at this point."""
    for key in wrt:
        why = idle(design, setting, key)
        if why:
            raise BadInput(f"{key} {why}: there is nothing to differentiate by.")


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


def point(module: Device, given: Mapping[str, Value]) -> Point:
    """The published design and setting with the given values, and how to calculate them."""
    table = parameters(module)
    given, notes = from_files(module, given)
    numerics, values, entries, named = {}, {}, {}, {}
    for key, value in given.items():
        if key in NUMERICS:
            numerics[key] = _numeric(module, key, value)
        elif key in module.aliases:
            named[key] = _by_alias(module, key, value, given)
        else:
            (entries if "[" in key else values)[key] = _value(
                module, _known(module, key, table), value
            )
    design, setting = _with_entries(module, *_built(module, values), entries)
    for key, value in named.items():
        alias = module.aliases[key]
        share = value / float(get(design, setting, alias.times))
        design, setting = put(design, setting, {alias.of: share})
    try:
        check_ranges(module, design, setting)
    except BadInput as complaint:
        hint = through_alias(module, given, str(complaint)) + missing_unit(
            module, given, str(complaint)
        )
        raise BadInput(f"{complaint}{hint}", complaint.status) from None
    return Point(design, setting, numerics, notes)


def check_varied(module: Device, given: Mapping[str, Value], varied: Iterable[str]) -> None:
    """`BadInput` for an alias with one value where what it is made with varies: its parameter would have many."""
    for key in given.keys() & module.aliases.keys():
        alias = module.aliases[key]
        if alias.times in varied:
            raise BadInput(
                f"{key}={given[key]}: {key} is {alias.of} times {alias.times}, which varies here; give {alias.of}."
            )


def numbers(module: Device, point: Point) -> dict[str, float]:
    """The parameters of a point that are single numbers, in SI."""
    trees = {**vars(point.design), **vars(point.setting)}
    found = {n: v for n, v in trees.items() if module.parameters[n].differentiable}
    return {n: float(v) for n, v in found.items() if v is not None and not np.ndim(v)}


def layout(module: Device, given: Mapping[str, Value]) -> tuple[Fields | None, dict[str, Value]]:
    """The layout of a drawing with the given values, and the words that are none of its fields.

    None for a device without one.
    """
    table = describe(module.Layout) if module.Layout else {}
    rest = {key: value for key, value in given.items() if key not in table}
    for key in rest:
        if key not in NUMERICS and key not in module.aliases:
            _known(module, key, {**parameters(module), **table})
    if module.Layout is None:
        return None, rest
    own = {key: _value(module, table[key], given[key]) for key in given if key in table}
    return module.Layout(**own), rest


def check_ranges(module: Device, design: Fields, setting: Fields) -> None:
    """`BadInput` with status out_of_range for values outside what the model allows."""
    try:
        # A device may know contradictions beside the ranges.
        module.check(module.name, design, setting)
    except ValueError as complaint:
        raise BadInput(in_readable_units(str(complaint)), "out_of_range") from None


def refusal(
    module: Device, complaint: ValueError, numerics: Mapping[str, Value]
) -> BadInput | None:
    """What a device says about its input or one of the `NUMERICS`, of which it is the judge, as `BadInput`.

    A device's complaint begins with its name. Any other ValueError from a calculation is a fault of the program.
    """
    text = str(complaint)
    own = text.startswith(f"{module.name}.")
    if own or any(key in text and str(value) in text for key, value in numerics.items()):
        return BadInput(text)
    return None


def is_vector(module: Device, key: str) -> bool:
    """Whether a parameter is always several numbers."""
    known = parameters(module).get(key)
    return known is not None and () not in known.shapes


def axis(module: Device, key: str, text: str) -> np.ndarray | list[Value]:
    """Values of one word of a sweep: `start:stop:count`, a list with commas, or a single value."""
    known = _known(module, key, module.keys)
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
        return [_value(module, known, x) for x in values] if known.whole else values
    values = [_value(module, known, part) for part in text.split(",")]
    numbers = all(isinstance(value, float) for value in values)
    return np.array(values) if numbers else values


def one_number(known: Parameter, value: Value, entry: int = 0) -> float:
    """One finite number for a field, or for one entry of it, in SI: from a number, or from text as `20um`."""
    own = known.unit.split(", ")
    own = own[entry % len(own)]
    try:
        if isinstance(value, bool):
            raise ValueError
        found = in_si(value, own) if isinstance(value, str) else float(value)
    except UnitError as problem:
        raise BadInput(
            f"{known.name} = {value} is not allowed: {problem}. The default is {known.usual}."
        ) from None
    except (TypeError, ValueError, OverflowError):
        several = isinstance(value, list | tuple) or (isinstance(value, str) and "," in value)
        unit = "" if known.unit in ("", "-") else f" in {known.unit}"
        raise BadInput(
            f"{known.name} = {value} is not allowed; it has to be one number{unit}"
            f"{', not a vector' if several else ''}: {range_text(known)}. "
            f"The default is {known.usual}."
        ) from None
    if not math.isfinite(found):
        raise BadInput(
            f"{known.name} = {value} is not allowed; it has to be finite: {range_text(known)}. "
            f"The default is {known.usual}."
        )
    return found


def _built(module: Device, values: Mapping[str, Value]) -> tuple[Fields, Fields]:
    own = describe(module.Design)
    design = {key: value for key, value in values.items() if key in own}
    setting = {key: value for key, value in values.items() if key not in own}
    return module.published_design(**design), module.published_setting(**setting)


def known(module: Device, key: str) -> Parameter:
    """What is known of a key of a device, also of an entry of a vector."""
    return _known(module, key, module.keys)


def _known(module: Device, key: str, table: Mapping[str, Parameter]) -> Parameter:
    """What is known of a key; of an entry such as `hinge[3]` or `hinge[:]`, that it is one number."""
    name, entry = entry_of(key)
    if name not in table:
        raise BadInput(unknown_key(module, name, [*table, *module.aliases, *NUMERICS]))
    if name == key:
        return table[name]
    known = table[name]
    if not re.fullmatch(r"\w+\[(\d+|:)\]", key) or known.shapes == ((),) or known.words:
        several = [n for n, p in table.items() if p.shapes != ((),)]
        raise BadInput(
            f"{key} is no entry: write name[number], from 0 on, or name[:] for all alike, of one of "
            f"{', '.join(several) or 'none here'}."
        )
    units = known.unit.split(", ")
    unit = known.unit if entry == ":" else units[int(entry) % len(units)]
    return known._replace(name=key, unit=unit, shapes=((),), optional=False)


def _with_entries(
    module: Device, design: Fields, setting: Fields, entries: Mapping[str, float]
) -> tuple[Fields, Fields]:
    for key in entries:
        name, entry = entry_of(key)
        value = get(design, setting, name)
        if value is None:
            raise BadInput(
                f"{key}: {name} has no value here whose entry could be changed; give it whole."
            )
        if entry != ":" and int(entry) >= np.size(value):
            raise BadInput(f"{key}: {name} has {np.size(value)} entries, from 0 on.")
    return put(design, setting, entries) if entries else (design, setting)


def _by_alias(module: Device, key: str, value: Value, given: Mapping[str, Value]) -> float:
    """The number that an alias is given, in SI."""
    alias = module.aliases[key]
    if alias.of in given:
        raise BadInput(
            f"{key} and {alias.of} are given; {key} is {alias.of} times {alias.times}: give one."
        )
    return one_number(module.keys[key], value)


def cautions(module: Device, point: Point, keys: Iterable[str] = ()) -> list[str]:
    """What to know about parameters that differ from the published ones, or that `keys` names."""
    published = (module.published_design(), module.published_setting())
    by_reason: dict[str, list[str]] = {}
    for name, why in module.cautions.items():
        own = get(point.design, point.setting, name)
        if name in keys or not np.array_equal(np.asarray(own), np.asarray(get(*published, name))):
            by_reason.setdefault(why, []).append(name)
    return [f"{', '.join(names)}: {why}." for why, names in by_reason.items()]


def _value(module: Device, known: Parameter, value: Value) -> Value:
    """A number, word, vector or None for a field, from text or from JSON."""
    if value is None or value == "None":
        if not known.optional:
            raise BadInput(f"{known.name} has to be a number, not None: {range_text(known)}.")
        return None
    if known.words:
        if value not in known.words:
            near = nearest(str(value), known.words)
            every = f" It has to be {range_text(known)}." if near.endswith("?") else ""
            raise BadInput(f"{known.name} = {value} is not allowed{near}{every}")
        return value
    if known.shapes != ((),):
        return _array(known, value)
    number = one_number(known, value)
    if not known.whole:
        return number
    if number != int(number):
        raise BadInput(f"{known.name} = {value} is not allowed; it has to be a whole number.")
    return int(number)


def _array(known: Parameter, value: Value) -> Value:
    """Numbers in one of the shapes that are allowed, from `1,2,3`, rows `1,2;3,4`, or lists of JSON.

    A plain list may stand for a table of known size, row by row.
    """
    rows: Value = value
    if isinstance(value, str):
        lists = [row.split(",") for row in value.split(";")]
        if last_alone_has_unit([part for row in lists for part in row]):
            text = "only the last number has a unit; give each its own"
            raise BadInput(f"{known.name} = {value} is not allowed: {text}.")
        rows = lists[0] if len(lists) == 1 else lists
        rows = rows[0] if rows == [value] else rows
    try:
        parts = np.asarray(rows, object)
        if parts.ndim and any(isinstance(part, list | tuple) for part in parts.ravel()):
            raise TypeError
        found = [one_number(known, part, i) for i, part in enumerate(parts.ravel())]
        numbers = np.array(found).reshape(parts.shape)
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
    count = f"{numbers.size} number{'s' if numbers.size != 1 else ''}"
    count = "rows of unlike lengths" if numbers.shape == (0, 0, 0) else count
    raise BadInput(
        f"{known.name} = {value} has {count}; it needs {known.size}: numbers separated by commas, rows "
        f"by semicolons{f'; {known.name}[:]={value} sets all alike' if numbers.ndim == 0 else ''}."
    )


def _numeric(module: Device, key: str, value: Value) -> Value:
    """`method` as it is, `steps` as a whole number; the device judges both, if it has them."""
    choices = {"method": len(module.methods) > 1, "steps": module.methods[0].steps is not None}
    if not choices[key]:
        raise BadInput(f"{key} = {value}: {module.name} has no {key} to choose; leave it out.")
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
