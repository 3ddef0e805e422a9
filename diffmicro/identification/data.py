"""Measured points: a table whose columns are parameters and responses, with units, and their standard errors.

A column is headed `key` or `key [unit]`: a parameter that was set (also an entry, `beam_radius[2]`, or another
name of the device, `frequency`), a response that was measured (`velocity [mm/s]`, `rotation[1]`), the standard
error of a response (`velocity_error [mm/s]`), or `sweep` (`up` or `down`: the way that the row was reached).
Without a unit numbers are SI, and a cell may have a unit of its own (`20um`). A name that is a parameter and a
response is a response where it has standard errors, or where the table has no other. All that is kept is SI.
"""

import csv
import difflib
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diffmicro._device import Device
from diffmicro.parameters import Parameter, Value, entry_of, range_text, within
from diffmicro.units import UnitError, in_si, parsed

MOST_ROWS = 10_000
"""Most rows of a table: each is calculated in every step of a fit."""

SWEEP = ("sweep", "direction")
"""Columns that say which way a row was reached; `diffmicro sweep` writes the second one."""

WAYS = ("up", "down")

ERROR = "_error"

HEADER = re.compile(r"\s*(\w+(?:\[(?:\d+|:)\])?)\s*(?:\[([^\[\]]*)\])?\s*")


class DataError(ValueError):
    """What is wrong with a table, and where."""


class Data(NamedTuple):
    """Measured points in SI, column by column.

    keys: values of the parameters that were set, by name; words where a parameter takes words.
    values: of the responses. errors: their standard errors; None where nothing is said about them.
    ways: `up`, `down`, or empty, row by row. lines: where each row stands, for messages.
    """

    keys: dict[str, np.ndarray]
    values: dict[str, np.ndarray]
    errors: dict[str, np.ndarray | None]
    ways: np.ndarray
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def varied(self) -> tuple[str, ...]:
        """The parameters of numbers that have several values, in the order of the columns."""
        return tuple(
            key
            for key, column in self.keys.items()
            if column.dtype != object and len(np.unique(column)) > 1
        )


def read_data(
    device: Device,
    path: Path | str,
    *,
    ignore: Sequence[str] = (),
    errors: Mapping[str, float] | None = None,
) -> Data:
    """The points of a CSV file (UTF-8; commas, semicolons or tabs; lines with # are comments). See
    `data_of`."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as problem:
        raise DataError(f"Cannot read {path}: {problem.strerror}.") from None
    except UnicodeDecodeError as problem:
        line = 1 + problem.object.count(b"\n", 0, problem.start)
        raise DataError(f"{path}, line {line}, is not UTF-8. Save it as CSV in UTF-8.") from None
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = [(n, line) for n, line in lines if not line.lstrip().startswith("#")]
    if not lines:
        raise DataError(f"{path} is empty; its first line names the columns: frequency [kHz],...")
    if len(lines) - 1 > MOST_ROWS:
        raise DataError(
            f"{path} has {len(lines) - 1} rows; {MOST_ROWS} at most are read: each is calculated in every step. "
            "Average neighboring rows, or take every n-th."
        )
    head = lines[0][1]
    parting = max(",;\t", key=head.count)
    rows = list(csv.reader(io.StringIO("\n".join(line for _, line in lines)), delimiter=parting))
    names = [name.strip() for name in rows[0]]
    for (number, _), row in zip(lines[1:], rows[1:], strict=False):
        if len(row) != len(names):
            raise DataError(
                f"{path}, line {number}: {len(row)} cells, but the first line names {len(names)} columns."
            )
    _once(names, str(path))
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(names)}
    numbers = [number for number, _ in lines[1:]]
    return data_of(device, columns, ignore=ignore, errors=errors, lines=numbers, where=str(path))


def data_of(
    device: Device,
    columns: Mapping[str, Iterable[Value]],
    *,
    ignore: Sequence[str] = (),
    errors: Mapping[str, float] | None = None,
    lines: Sequence[int] | None = None,
    where: str = "data",
) -> Data:
    """Points from columns by their headers. `DataError` says what is wrong and where.

    ignore: headers or names of columns that do not count. errors: one standard error for all rows of a
    response, in SI, where the table has none."""
    table = {header: list(column) for header, column in columns.items()}
    counts = {header: len(column) for header, column in table.items()}
    if len(set(counts.values())) > 1:
        raise DataError(f"{where}: columns are of unlike lengths: {counts}.")
    count = next(iter(counts.values()), 0)
    if not count:
        raise DataError(f"{where}: there are no rows below the names of the columns.")
    if count > MOST_ROWS:
        raise DataError(f"{where} has {count} rows; {MOST_ROWS} at most. Average neighboring rows.")
    numbers = list(range(1, count + 1)) if lines is None else list(lines)
    measured = _both(device, [_split(header, where)[0] for header in table])
    keys: dict[str, np.ndarray] = {}
    values: dict[str, np.ndarray] = {}
    spreads: dict[str, np.ndarray] = {}
    ways = np.full(count, "", object)
    for header, cells in table.items():
        name, unit = _split(header, where)
        if header in ignore or name in ignore:
            continue
        place = _Place(where, header, numbers)
        if name in (*keys, *values) or (name in SWEEP and ways.any()):
            raise DataError(f"{where}: {name} is there twice.")
        if name in SWEEP:
            ways = _ways(cells, place)
        elif name not in measured and (known := _parameter(device, name)) is not None:
            keys[name] = _column(known, unit, cells, place)
            _allowed(keys[name], known, cells, place)
        elif (known := _response(device, name)) is not None:
            values[name] = _column(known, unit, cells, place)
        elif (known := _response(device, _measured(name))) is not None:
            spreads[_measured(name)] = _column(known, unit, cells, place)
            _positive(spreads[_measured(name)], place)
        else:
            raise DataError(f"{where}: {_unknown(device, name)}")
    if not values:
        raise DataError(
            f"{where} has no column of a response; the responses of {device.name}: {', '.join(device.responses)}."
        )
    given = _given(errors or {}, values, spreads, count)
    return Data(keys, values, {name: given.get(name) for name in values}, ways, np.array(numbers))


class _Place(NamedTuple):
    """Where a column stands, for messages."""

    where: str
    header: str
    lines: Sequence[int]

    def fault(self, row: int, what: str) -> DataError:
        return DataError(f"{self.where}, line {self.lines[row]}, column {self.header}: {what}")


def _split(header: str, where: str) -> tuple[str, str | None]:
    """`velocity [mm/s]` as name and unit."""
    found = HEADER.fullmatch(header)
    if not found:
        raise DataError(
            f"{where}: a column is headed {header!r}; write name or name [unit], such as frequency [kHz]."
        )
    return found[1], found[2]


def _once(names: Sequence[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{where}: the column {name!r} is there twice.")


def _measured(name: str) -> str:
    """The response whose standard error a column holds: `velocity_error`, `rotation_error[1]`."""
    field, entry = entry_of(name)
    if not field.endswith(ERROR):
        return ""
    return field.removesuffix(ERROR) + (f"[{entry}]" if entry else "")


def _both(device: Device, names: Sequence[str]) -> list[str]:
    """Which columns are responses, of those that are the name of a parameter too (a velocity that is set or
    found): those with standard errors, and all of them where no other response is there."""
    twice = [name for name in names if name in device.parameters and name in device.responses]
    plain = any(_response(device, name) is not None for name in names if name not in twice)
    return [name for name in twice if not plain or f"{name}{ERROR}" in names]


def _parameter(device: Device, name: str) -> Parameter | None:
    field, entry = entry_of(name)
    if field in device.aliases and not entry:
        return device.keys[field]
    known = device.parameters.get(field)
    if known is None:
        return None
    if entry and known.shapes != ((),):
        return known._replace(name=name, shapes=((),))
    if entry or () not in known.shapes:
        raise DataError(
            f"{name}: {field} is {known.size or 'one number'}; a column holds one number: "
            f"{field if known.shapes == ((),) else f'{field}[0], from 0 on, or {field}[:] for all alike'}."
        )
    return known


def _response(device: Device, name: str) -> Parameter | None:
    known = device.responses.get(entry_of(name)[0])
    return None if known is None else known._replace(name=name)


def _unknown(device: Device, name: str) -> str:
    known = [*device.parameters, *device.aliases, *device.responses, SWEEP[0]]
    known += [f"{response}{ERROR}" for response in device.responses]
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    near = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}."
    return (
        f"the column {name!r} is no parameter, response or standard error (name_error) of {device.name}; {near} "
        "Columns that do not matter can be named as ignored (--ignore)."
    )


def _column(
    known: Parameter, unit: str | None, cells: Sequence[Value], place: _Place
) -> np.ndarray:
    """A column in SI, or its words."""
    if known.words:
        for row, cell in enumerate(cells):
            if cell not in known.words:
                raise place.fault(
                    row, f"{cell!r} is not allowed; it has to be {range_text(known)}."
                )
        return np.array([str(cell) for cell in cells], object)
    own = known.unit.split(", ")[0]
    factor = 1.0 if unit is None else _factor(unit, own, place)
    found = [_number(cell, own, unit, place, row) for row, cell in enumerate(cells)]
    return np.array(found) * factor


def _factor(unit: str, own: str, place: _Place) -> float:
    where = f"{place.where}, column {place.header}"
    try:
        given = parsed(unit.strip() or "-")
    except UnitError as problem:
        raise DataError(f"{where}: {problem}.") from None
    if given.powers != parsed(own or "-").powers:
        wanted = "a pure number" if own in ("", "-") else f"in {own}"
        raise DataError(f"{where}: {unit} is of another dimension; it has to be {wanted}.")
    return given.factor


def _number(cell: Value, own: str, unit: str | None, place: _Place, row: int) -> float:
    text = cell.strip() if isinstance(cell, str) else cell
    if text is None or text == "":
        raise place.fault(row, "there is no number. Fill it in, or delete the row.")
    try:
        found = in_si(text, own) if unit is None and isinstance(text, str) else float(text)
    except UnitError as problem:
        raise place.fault(row, f"{problem}.") from None
    except (TypeError, ValueError):
        raise place.fault(
            row, f"{cell!r} is no number; write digits with a point, such as 1.5e-3."
        ) from None
    if not math.isfinite(found):
        raise place.fault(row, f"{cell} is not finite. Fill in a number, or delete the row.")
    return found


def _allowed(column: np.ndarray, known: Parameter, cells: Sequence[Value], place: _Place) -> None:
    for row, value in enumerate(column if not known.words else ()):
        if not within(value, known):
            raise place.fault(
                row, f"{cells[row]} is not allowed; it has to be {range_text(known)}."
            )


def _positive(column: np.ndarray, place: _Place) -> None:
    for row in np.flatnonzero(column <= 0):
        raise place.fault(int(row), "a standard error has to be above 0.")


def _ways(cells: Sequence[Value], place: _Place) -> np.ndarray:
    words = [str(cell).strip().lower() for cell in cells]
    for row, word in enumerate(words):
        if word not in ("", *WAYS):
            raise place.fault(
                row, f"{cells[row]!r} is not allowed; it has to be up, down or empty."
            )
    return np.array(words, object)


def _given(
    errors: Mapping[str, float],
    values: Mapping[str, np.ndarray],
    spreads: dict[str, np.ndarray],
    count: int,
) -> dict[str, np.ndarray]:
    """Standard errors of the columns and those given for all rows."""
    for name in spreads:
        if name not in values:
            raise DataError(f"{name}{ERROR} is the standard error of {name}, which has no column.")
    for name, size in errors.items():
        if name not in values or name in spreads:
            why = "has a column of them" if name in spreads else "is no response with a column"
            raise DataError(f"A standard error of {name} is given, but {name} {why}.")
        if not (np.isfinite(size) and size > 0):
            raise DataError(f"The standard error of {name} is {size}; it has to be above 0.")
    return spreads | {name: np.full(count, float(size)) for name, size in errors.items()}
