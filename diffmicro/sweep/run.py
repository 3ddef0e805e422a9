"""Sweeps: the responses of a device over a grid, each point from rest or from its neighbor.

From rest, points are independent. With a carried state the first axis is walked up or down, and
each point starts where the one before ended: so an experiment sweeps a frequency, and so hysteresis
is seen. Each walk starts from rest. A state that is not finite is not handed on; the last good one
is.

Results come in pieces as they are finished, so that an interrupted sweep has something to save.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal

import jax
import numpy as np

from diffmicro._parameters import as_arrays, describe
from diffmicro._results import words
from diffmicro.devices import asking_for, on_request
from diffmicro.sweep.grids import Axes, batches, grid, points_of
from diffmicro.sweep.lanes import calculate, compiled, lane_function, quick_numerics
from diffmicro.sweep.table import Table

Carry = Literal["none", "up", "down", "both"]


def sweep(
    device: ModuleType,
    axes: Axes,
    *,
    design: Any = None,
    setting: Any = None,
    responses: Sequence[str] | None = None,
    carry: Carry = "none",
    **numerics: Any,
) -> Iterator[Table]:
    """The responses of `device` on the grid of `axes` (key -> values) in pieces, for `join`.

    `design`, `setting`: what no axis names; the published ones by default.
    `responses`: which ones, all by default. `numerics` go to the device's `respond`.
    """
    if not axes:
        raise ValueError("sweep: no axis is given. Name at least one parameter and its values.")
    design = device.published_design() if design is None else design
    setting = device.published_setting() if setting is None else setting
    kinds = (device.Design, device.Setting, device.Response)
    units = {name: known.unit for kind in kinds for name, known in describe(kind).items()}
    known = describe(device.Response)
    usual = (name for name in known if units[name] and name not in on_request(device))
    wanted = tuple(responses or usual)
    numerics = asking_for(device, wanted, numerics)
    columns = grid(axes)
    keys = tuple(axes)
    columns = {key: columns[key] for key in keys}
    points = points_of(device, columns, design, setting)
    if carry != "none":
        yield from _carried(device, columns, points, wanted, units, carry, numerics)
        return
    build = lane_function(device.respond, **numerics)
    for batch in batches(points):
        for piece in calculate(build, batch, quick=quick_numerics(device.respond)):
            own = {key: column[piece.lanes] for key, column in columns.items()}
            yield _table(own, piece.output, wanted, piece.lanes, keys, units)


def size(axes: Axes, carry: Carry = "none") -> int:
    """Number of points that a sweep calculates."""
    return int(np.prod([len(values) for values in axes.values()])) * (2 if carry == "both" else 1)


def _carried(
    device: ModuleType,
    columns: Mapping[str, np.ndarray],
    points: Sequence[tuple],
    wanted: Sequence[str],
    units: Mapping[str, str],
    carry: Carry,
    numerics: Mapping[str, Any],
) -> Iterator[Table]:
    """Walks along the first axis, one for each combination of the other keys and each direction."""
    keys = tuple(columns)
    walks: dict[tuple, list[int]] = {}
    for lane in range(len(points)):
        walks.setdefault(tuple(columns[key][lane] for key in keys[1:]), []).append(lane)
    directions = ("up", "down") if carry == "both" else (carry,)
    row = 0
    for lanes in walks.values():
        rising = sorted(lanes, key=lambda lane: columns[keys[0]][lane])
        for direction in directions:
            state = None
            for lane in rising if direction == "up" else reversed(rising):
                response = _from_state(device, points[lane], state, numerics)
                state = _good(response.state, state)
                own = {key: column[lane : lane + 1] for key, column in columns.items()}
                stacked = jax.tree.map(lambda x: np.asarray(x)[None], response)
                way = {"direction": np.array([direction])}
                yield _table(own | way, stacked, wanted, np.array([row]), keys, units)
                row += 1


def _from_state(device: ModuleType, point: tuple, state: Any, numerics: Mapping[str, Any]) -> Any:
    design, setting = as_arrays(point)
    if state is None:
        return compiled(lane_function(device.respond, **numerics))(design, setting)
    return _follow(device.respond, tuple(numerics.items()))(design, setting, state)


@cache
def _follow(respond: Any, numerics: tuple) -> Any:
    """`respond` from a state, compiled once in a process."""
    return jax.jit(
        lambda design, setting, state: respond(
            design, setting, start=state, throw=False, **dict(numerics)
        )
    )


def _good(new: Any, old: Any) -> Any:
    finite = all(bool(np.all(np.isfinite(leaf))) for leaf in jax.tree.leaves(new))
    return new if finite else old


def _table(
    own: Mapping[str, np.ndarray],
    output: Any,
    wanted: Sequence[str],
    rows: np.ndarray,
    keys: tuple[str, ...],
    units: Mapping[str, str],
) -> Table:
    """Parameters, responses and status words of stacked lanes; a vector takes a column an entry."""
    columns = dict(own)
    shown = {key: units[key] for key in keys}
    for name in wanted:
        values = np.asarray(getattr(output, name), float)
        entries = values.reshape(len(values), -1).T
        names = [f"{name}_{n}" for n in range(1, len(entries) + 1)] if values.ndim > 1 else [name]
        columns |= dict(zip(names, entries, strict=True))
        shown |= dict.fromkeys(names, units[name])
    columns["status"] = words(output.result).astype(str)
    return Table(keys, columns, rows, shown)
