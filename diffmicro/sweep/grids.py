"""Points of a sweep: the product of the values on each axis, or values side by side, and how they meet a device.

The first axis is the one a figure shows and along which a state is carried; it runs fastest.
Numbers become one array a field, so that all lanes are one batch; words (`waveform`) cut the points
into batches.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.parameters import DesignT, Fields, Value, describe, entry_of, get, put

Axes = Mapping[str, Sequence[Value] | np.ndarray]


class Batch(NamedTuple):
    """Points of the same words, to calculate together.

    lanes: positions of the points among all points.
    design, setting: with one array of the batch's length for each number.
    """

    lanes: np.ndarray
    design: PyTree
    setting: PyTree


def grid(axes: Axes) -> dict[str, np.ndarray]:
    """The product of all axes as one column a key; the first axis runs fastest."""
    values = {key: _column(list(axis)) for key, axis in axes.items()}
    count, inner = math.prod(map(len, values.values())), 1
    columns = {}
    for key, column in values.items():
        each = np.repeat(column, inner)
        columns[key] = np.tile(each, count // max(len(each), 1))
        inner *= len(column)
    return columns


def side_by_side(axes: Axes) -> dict[str, np.ndarray]:
    """Columns of one length as they are: the n-th point has the n-th value of each key."""
    lengths = {key: len(values) for key, values in axes.items()}
    if len(set(lengths.values())) > 1:
        counted = ", ".join(f"{key} has {count}" for key, count in lengths.items())
        raise ValueError(f"sweep: paired values have to be equally many: {counted}.")
    return {key: _column(list(values)) for key, values in axes.items()}


class Interval(NamedTuple):
    """Where values are drawn from; whole: whole numbers only."""

    low: float
    high: float
    whole: bool = False


def drawn(
    boxes: Mapping[str, Interval | Sequence[Value]],
    count: int,
    seed: int = 0,
    *,
    sobol: bool = False,
) -> dict[str, Value]:
    """`count` values of each key, from an interval or a list, for a paired sweep.

    Independent and even in each interval; `sobol`: a scrambled Sobol sequence, which fills the box more evenly.
    The first values do not depend on the count.
    """
    if sobol:
        from scipy.stats import qmc  # takes half a second to import

        # It is even in powers of two; the first of them are the first of any count.
        shares = qmc.Sobol(len(boxes), rng=seed).random_base2(math.ceil(math.log2(count)))[:count]
    else:
        shares = np.random.default_rng(seed).random((count, len(boxes)))
    return {key: _at(box, share) for (key, box), share in zip(boxes.items(), shares.T, strict=True)}


def _at(box: Interval | Sequence[Value], shares: np.ndarray) -> Sequence[Value] | np.ndarray:
    if not isinstance(box, Interval):
        return [box[int(share * len(box))] for share in shares]
    if box.whole:
        return [int(box.low + share * (box.high - box.low + 1)) for share in shares]
    return box.low + shares * (box.high - box.low)


def batches(points: Sequence[tuple[Fields, Fields]]) -> list[Batch]:
    """Points (design, setting) of one structure stacked, in the order of their first members."""
    groups: dict[Hashable, list[int]] = {}
    for lane, point in enumerate(points):
        leaves, structure = jax.tree.flatten(point)
        groups.setdefault((structure, *map(np.shape, leaves)), []).append(lane)
    found = []
    for lanes in groups.values():
        members = [points[lane] for lane in lanes]
        stacked = jax.tree.map(
            lambda *values: np.stack([np.asarray(v, float) for v in values]), *members
        )
        found.append(Batch(np.array(lanes), *stacked))
    return found


def point_of(
    columns: Mapping[str, Value], row: int, design: Fields, setting: Fields
) -> tuple[Fields, Fields]:
    """Design and setting of a row of the columns; what no column names stays as given."""
    return put(design, setting, {key: column[row] for key, column in columns.items()})


def points_of(
    device: Device, columns: Mapping[str, Value], design: Fields, setting: Fields
) -> list[tuple]:
    """One (design, setting) a row of the columns."""
    columns = fields_of(device, columns, design, setting)
    count = len(next(iter(columns.values()))) if columns else 1
    return [point_of(columns, row, design, setting) for row in range(count)]


def fields_of(
    device: Device, columns: Mapping[str, Value], design: Fields, setting: Fields
) -> dict[str, Value]:
    """The columns with each alias as the field that it gives, row by row. ValueError for what is no field."""
    found = {key: column for key, column in columns.items() if key not in device.aliases}
    for key in columns.keys() - found.keys():
        alias = device.aliases[key]
        if alias.of in found:
            raise ValueError(
                f"sweep: {key} and {alias.of} are given; {key} is {alias.of} times {alias.times}: give one."
            )
        times = found.get(alias.times, get(design, setting, alias.times))
        found[alias.of] = np.asarray(columns[key], float) / np.asarray(times, float)
    _check_fields(device, found)
    return found


def _check_fields(device: Device, columns: Mapping[str, Value]) -> None:
    unknown = {entry_of(key)[0] for key in columns} - device.parameters.keys()
    if unknown:
        raise ValueError(
            f"sweep: {', '.join(sorted(unknown))}: no such field in Design or Setting of "
            f"{device.name}."
        )


def batches_of(
    device: Device, columns: Mapping[str, np.ndarray], design: Fields, setting: Fields
) -> list[Batch]:
    """What `batches` makes of `points_of`, without an object for each point: a million are some columns."""
    static = {name for name, known in device.parameters.items() if known.words or known.whole}
    split = [key for key in columns if entry_of(key)[0] in static or columns[key].dtype == object]
    rows = np.arange(len(next(iter(columns.values()))))
    groups: dict[tuple, list[int]] = {}
    if split:
        kinds = [
            map(_kind, columns[key], [entry_of(key)[0] in static] * len(rows)) for key in split
        ]
        for row, kind in enumerate(zip(*kinds, strict=True)):
            groups.setdefault(kind, []).append(row)
    own = [np.array(members) for members in groups.values()] if split else [rows]
    return [Batch(lanes, *_stacked(columns, lanes, design, setting, static)) for lanes in own]


def _kind(value: Value, static: bool) -> Hashable:
    """What points have in common that are one batch."""
    if static or value is None or isinstance(value, str):
        return value
    return np.shape(value)


def _stacked(
    columns: Mapping[str, np.ndarray],
    lanes: np.ndarray,
    design: Fields,
    setting: Fields,
    static: set[str],
) -> tuple[Fields, Fields]:
    """Design and setting with an array of all lanes for each number. The lanes are of one kind."""

    def wide(value: Value) -> np.ndarray:
        return np.broadcast_to(np.asarray(value, float), (len(lanes), *np.shape(value)))

    first = point_of(columns, lanes[0], design, setting)
    design, setting = jax.tree.map(wide, first)
    for key, column in columns.items():
        name, entry = entry_of(key)
        values = column[lanes]
        if name in static or values[0] is None:
            continue
        if column.dtype == object:
            values = np.stack([np.asarray(value, float) for value in values])
        if name in describe(type(design)):
            design = _with(design, name, entry, values)
        else:
            setting = _with(setting, name, entry, values)
    return design, setting


def _with(home: DesignT, name: str, entry: str, values: np.ndarray) -> DesignT:
    """A field, or an entry of it, with a value for each lane; converters and checks are for a point alone."""
    there = getattr(home, name)
    if entry:
        whole = np.array(there).reshape(len(values), -1)
        columns = slice(None) if entry == ":" else slice(int(entry), int(entry) + 1)
        whole[:, columns] = values[:, None]
        values = whole.reshape(there.shape)
    return eqx.tree_at(lambda tree: getattr(tree, name), home, values)


def _column(values: Sequence[Value]) -> np.ndarray:
    numbers = all(isinstance(value, int | float | np.number) for value in values)
    return np.array(values, float if numbers else object)
