"""Rules of a process from a file in TOML. Every value is a length with its unit, as people write it:

name = "electroplating"

[layers.nickel]            # the layer's name, or its number in the mask
minimum_width = "8um"
minimum_gap = "6um"
minimum_radius = "2um"
resolution = "2um"         # smallest width and gap on the mask
etch_bias = "0.5um"        # taken from every edge; negative: parts come out larger
etch_scatter = "0.2um"     # standard deviation of the bias; "+-0.2um": at most
thickness = "20um:60um"
undercut = "12um"          # how far the release etch comes under an edge
"""

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from diffmicro._json import Json
from diffmicro.parameters import Value
from diffmicro.process.values import LayerRules, Process
from diffmicro.units import UnitError, in_si

KEYS = tuple(field.name for field in fields(LayerRules) if field.name != "etch_kind")


def read_process(path: Path | str) -> Process:
    """The process of a file; ValueError with the place in it for what means nothing."""
    path = Path(path)
    if not path.exists() or path.is_dir():
        raise ValueError(f"There is no file {path} with rules.")
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        line = 1 + problem.object.count(b"\n", 0, problem.start)
        raise ValueError(f"{path}, line {line}, is not UTF-8. Save it in UTF-8.") from None
    except tomllib.TOMLDecodeError as problem:
        raise ValueError(
            f'{path} is no TOML: {problem}. Lengths stand in quotes, as in "2um".'
        ) from None
    return process_from(content, str(path))


def process_from(content: Mapping[str, Json], where: str = "rules") -> Process:
    """The process of a table, as TOML or JSON has it; `where` begins the messages."""
    for key in content:
        if key not in ("name", "layers"):
            raise ValueError(f"{where}: unknown key {key!r}{_nearest(key, ('name', 'layers'))}")
    layers = content.get("layers")
    if not isinstance(layers, Mapping) or not layers:
        raise ValueError(
            f'{where} has no layers; write a table for each, such as [layers.nickel] with minimum_width = "2um".'
        )
    return Process(
        tuple((name, _layer(f"{where}: layers.{name}", own)) for name, own in layers.items()),
        str(content.get("name", "")),
    )


def _layer(where: str, given: Json) -> LayerRules:
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{where} = {given!r} is no table of rules; write {where.split()[-1]}.minimum_width."
        )
    found: dict[str, Json] = {}
    for key, value in given.items():
        if key not in KEYS:
            raise ValueError(f"{where}: unknown key {key!r}{_nearest(key, KEYS)}")
        own = f"{where}.{key}"
        if key == "thickness":
            found[key] = _range(own, value)
        elif key == "etch_scatter" and isinstance(value, str) and value.strip().startswith("+-"):
            found[key] = _length(own, value.strip().removeprefix("+-"))
            found["etch_kind"] = "interval"
        else:
            found[key] = _length(own, value)
    try:
        return LayerRules(**found)
    except ValueError as problem:
        raise ValueError(f"{where}: {problem}") from None


def _range(where: str, value: Value) -> tuple[float, float]:
    parts = value.split(":") if isinstance(value, str) else []
    if len(parts) != 2 or not any(part.strip() for part in parts):
        raise ValueError(
            f'{where} = {value!r} is not allowed; it has to be a range such as "20um:60um", "20um:" or ":60um".'
        )
    low, high = (part.strip() for part in parts)
    return _length(where, low) if low else 0.0, _length(where, high) if high else math.inf


def _length(where: str, value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, str):
        hint = f'"{value}um"' if isinstance(value, int | float) and value is not True else '"2um"'
        raise ValueError(
            f"{where} = {value!r} has no unit; write a length in quotes, such as {hint}."
        )
    try:
        plain = float(value)
    except ValueError:
        plain = None
    if plain is not None:
        raise ValueError(
            f'{where} = {value!r} has no unit; write a length such as "{value.strip()}um".'
        )
    try:
        return in_si(value, "m")
    except UnitError as problem:
        raise ValueError(f"{where} = {value!r} is not allowed: {problem}.") from None
    except ValueError:
        raise ValueError(f'{where} = {value!r} is no length; write one such as "2um".') from None


def _nearest(name: str, known: Iterable[str]) -> str:
    known = list(known)
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}."
