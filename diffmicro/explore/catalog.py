"""What the page has to know of a device: parameters in units that read well, responses, what it can show."""

from collections.abc import Iterator

import numpy as np

from diffmicro._device import Device
from diffmicro._json import JsonObject
from diffmicro.explore.desk import unit_of
from diffmicro.explore.ranges import Range, range_of
from diffmicro.parameters import Parameter, Value, describe, get, range_text
from diffmicro.units import Shown, readable_unit

DIGITS = 7
"""Of numbers in fields."""


def catalog(device: Device, reference: str) -> JsonObject:
    """All of it, in plain values."""
    design, setting = device.published_design(), device.published_setting()
    groups = [("Drive", list(device.drive))]
    for kind in (device.Design, device.Setting):
        groups.append((kind.__name__, [n for n in describe(kind) if n not in device.drive]))
    rows = {
        title: [row for name in names for row in _rows(device, name, get(design, setting, name))]
        for title, names in groups
    }
    # Along what the curve goes at first: what an operator turns, rather than what is fabricated.
    turned = [row for kind in (device.Setting, device.Design) for row in rows[kind.__name__]]
    along = [row["key"] for row in rows["Drive"] if row["kind"] == "number"]
    along += [row["key"] for row in turned if row["range"]]
    methods = [method.name for method in device.methods]
    return {
        "reference": reference,
        "name": device.name,
        "title": device.title,
        "source": device.source,
        "groups": [{"title": title, "rows": own} for title, own in rows.items() if own],
        "along": next(iter(along), ""),
        "methods": methods if len(methods) > 1 else [],
        "responses": [
            {"name": name, "meaning": known.meaning, "unit": known.unit.replace("-", ""),
             "asked": name in device.on_request}
            for name, known in device.responses.items()
        ],
        "draws": device.geometry is not None,
        "moves": device.simulate is not None,
        "bounded": device.orbits is not None or bool(device.limits),
    }  # fmt: skip


def _rows(device: Device, name: str, value: Value) -> Iterator[JsonObject]:
    """The fields of a parameter: one, or one for each entry."""
    known = device.parameters[name]
    if np.ndim(value):
        for i, entry in enumerate(np.asarray(value, float).ravel().tolist()):
            yield _row(known, f"{name}[{i}]", entry) | {"of": name}
    else:
        yield _row(known, name, value)


def _row(known: Parameter, key: str, value: Value) -> JsonObject:
    several = known.shapes != ((),) and value is None
    kind = "word" if known.words else "text" if several else "whole" if known.whole else "number"
    unit = unit_of(known, key)
    shown = readable_unit(float(value), unit) if kind == "number" and value else _plain(unit)
    found = range_of(known, value) if kind == "number" else None
    ends = [end * shown.factor for end in (known.low, known.high)]
    notes = [f"not used where {known.unless} is given"] if known.unless else []
    notes += [f"used where {known.needs} is given"] if known.needs else []
    return {
        "key": key,
        "kind": kind,
        "meaning": "; ".join([known.meaning, *notes]),
        "symbol": known.symbol,
        "unit": shown.unit,
        "factor": shown.factor,
        "value": _text(value, shown.factor),
        "words": list(known.words),
        "optional": known.optional,
        "allowed": range_text(known._replace(low=ends[0], high=ends[1])),
        "range": shown_range(found, shown.factor),
    }


def shown_range(found: Range | None, factor: float) -> JsonObject | None:
    """The ends in the unit that is shown."""
    if found is None:
        return None
    return {
        "low": _round(found.low * factor),
        "high": _round(found.high * factor),
        "how": found.how,
    }


def _plain(unit: str) -> Shown:
    """Of a number that is zero or not there: angles in degrees, all else in its own unit."""
    return readable_unit(0.0, unit)


def _text(value: Value, factor: float) -> str:
    if value is None:
        return ""
    if isinstance(value, str | bool):
        return str(value)
    return f"{_round(float(value) * factor):.12g}"


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
