"""What a device says at the rows of a table, as a function of the free parameters: values, Jacobians, verdicts.

Every look carries the certificate of its gradient, so a fit walks on certified gradients and knows each point
that has none. A row may start from a state: so it keeps to the motion that it is known to lie on."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.certificate import value_and_gradient
from diffmicro.identification.data import Data, DataError
from diffmicro.parameters import Fields, Value, as_arrays, describe, entry_of, get, put
from diffmicro.reasons import REASONS, VERDICTS
from diffmicro.results import words
from diffmicro.sweep.cluster import Processes
from diffmicro.sweep.grids import Batch, batches
from diffmicro.sweep.lanes import calculate_lanes, cut
from diffmicro.sweep.remote import Call
from diffmicro.sweep.shared import all_of
from diffmicro.sweep.shared import rows as rows_of

REFUSED = VERDICTS.index("refused")


class Looks(NamedTuple):
    """All rows at one place: values (n, m), Jacobians (n, m, p), verdict and reason of each point (n, m),
    status word of each row (n), and the state that each row's motion was left in, leaf by leaf (n, ...)."""

    value: np.ndarray
    jacobian: np.ndarray
    verdict: np.ndarray
    reason: np.ndarray
    status: np.ndarray
    state: tuple[np.ndarray, ...]

    @property
    def usable(self) -> np.ndarray:
        """The points (n, m) that have a value and a gradient that is not refused."""
        finite = np.isfinite(self.value) & np.isfinite(self.jacobian).all(axis=2)
        return finite & (self.verdict != REFUSED)

    def why(self, row: int, column: int) -> str:
        """What speaks against a point."""
        reason = REASONS[int(self.reason[row, column])].text
        return reason if self.status[row] == "ok" else f"{self.status[row]}: {reason}"


States = dict[int, tuple[np.ndarray, ...]]
"""Rows that start from a state, and its leaves; the other rows start as the setting says."""


class _Lane(NamedTuple):
    """What is calculated at one row; the compiled function is kept by it.

    free: keys of theta. fields: those of them, and what their aliases move. of: responses, each with its entry.
    aliases: names of columns that are aliases.
    """

    device: Device
    free: tuple[str, ...]
    of: tuple[tuple[str, str], ...]
    aliases: tuple[str, ...]
    numerics: tuple[tuple[str, Value], ...]

    def place(self, row: "_Row", theta: Array | np.ndarray) -> tuple[Fields, Fields]:
        """Design and setting of a row: the free values, and then what an alias stands for with them."""
        design, setting = put(row.design, row.setting, dict(zip(self.free, theta, strict=True)))
        for name, value in zip(self.aliases, row.named, strict=True):
            alias = self.device.aliases[name]
            share = value / get(design, setting, alias.times)
            design, setting = put(design, setting, {alias.of: share})
        return design, setting

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that theta moves."""
        moved = [entry_of(key)[0] for key in self.free]
        aliases = [self.device.aliases[name] for name in self.aliases]
        moved += [alias.of for alias in aliases if alias.times in moved]
        return tuple(dict.fromkeys(moved))


class _Row(NamedTuple):
    """A row in arrays. named: values of its aliases. state: leaves of the state that it starts from; or
    none."""

    design: Fields
    setting: Fields
    named: Sequence[ArrayLike]
    theta: Array | np.ndarray
    state: PyTree


@cache
def _function(lane: _Lane, started: bool) -> Callable[..., Callable[[_Row, object], PyTree]]:
    """Makes the calculation of one row, for `calculate`."""

    def build(**numerics: Value) -> Callable[[_Row, object], PyTree]:
        def look(row: _Row, _: object) -> dict[str, PyTree]:
            given = {**dict(lane.numerics), **numerics}
            design, setting = as_arrays(lane.place(row, row.theta))
            if started:
                given["start"] = jax.tree.unflatten(_structure(lane, row), row.state)

            def move(theta: Array | np.ndarray) -> dict[str, Array]:
                there = lane.place(row, theta)
                return {name: jnp.asarray(get(*there, name), float) for name in lane.fields}

            responses = tuple(dict.fromkeys(name for name, _ in lane.of))
            judged = value_and_gradient(lane.device, lane.fields, responses, throw=False, **given)
            values, slopes, certificates, response = judged(design, setting)
            moved = jax.jacfwd(move)(row.theta)
            chosen = [_entry(jnp.asarray(values[name]), entry) for name, entry in lane.of]
            jacobian = [_chained(slopes[name], moved, entry) for name, entry in lane.of]
            leaves = jax.tree.leaves(response.state) if lane.device.carries else []
            return dict(
                value=jnp.stack(chosen),
                jacobian=jnp.stack(jacobian),
                verdict=jnp.stack([certificates[name].verdict for name, _ in lane.of]),
                reason=jnp.stack([certificates[name].reason for name, _ in lane.of]),
                result=response.result,
                state=tuple(leaves),
            )

        return look

    return build


def _looked_at(lane: _Lane, started: bool, row: _Row, width: int) -> list[dict[str, PyTree]]:
    """What is said at each of some rows, which are stacked; width: see `calculate_lanes`."""
    lanes = np.arange(len(row.theta))
    pieces = calculate_lanes(
        _function(lane, started),
        Batch(lanes, row, np.zeros(len(lanes))),
        lanes,
        width,
        quick=dict(lane.device.quick),
        result_of=lambda output: output["result"],
    )
    found = {}
    for piece in pieces:
        status = words(piece.output["result"]).astype(str)
        looks = {name: values for name, values in piece.output.items() if name != "result"}
        for i, at in enumerate(piece.lanes):
            found[int(at)] = rows_of(looks, i) | {"status": status[i]}
    return [found[lane] for lane in range(len(lanes))]


def _structure(lane: _Lane, row: _Row) -> PyTree:
    shape = jax.eval_shape(
        lambda d, s: lane.device.respond(d, s, throw=False, **dict(lane.numerics)),
        row.design,
        row.setting,
    )
    return jax.tree.structure(shape.state)


def _entry(value: Array, entry: str) -> Array:
    return value.ravel()[int(entry)] if entry else value


def _chained(slopes: Mapping[str, Array], moved: Mapping[str, Array], entry: str) -> Array:
    """The derivative by theta: that by each field, times how theta moves the field."""
    total = jnp.zeros(next(iter(moved.values())).shape[-1])
    for name, by_theta in moved.items():
        slope = slopes[name]
        size = by_theta[..., 0].size
        rows = slope.reshape(-1, size)[int(entry) if entry else 0]
        total = total + rows @ by_theta.reshape(size, -1)
    return total


class Model:
    """A device at the rows of a table. free: keys whose values are theta.

    design, setting: all that neither a column nor theta says; the published ones by default. processes: that share
    the rows. evaluations: looks that were taken so far; `watch` is called at each.
    """

    def __init__(
        self,
        device: Device,
        data: Data,
        free: Sequence[str],
        design: Fields | None = None,
        setting: Fields | None = None,
        processes: Processes | None = None,
        **numerics: Value,
    ):
        self.processes = processes
        self.device, self.data, self.free = device, data, tuple(free)
        self.of = tuple(entry_of(name) for name in data.values)
        plain = {k: column for k, column in data.keys.items() if k not in device.aliases}
        self.aliases = tuple(k for k in data.keys if k in device.aliases)
        self._named = np.array([data.keys[k] for k in self.aliases]).T.reshape(len(data), -1)
        for name in self.aliases:
            of, times = device.aliases[name].of, device.aliases[name].times
            if of in plain or of in self.free:
                raise DataError(f"{name} is {of} times {times}, and {of} is given too; give one.")
        self.base = based(device, plain, design, setting)
        self.points = [
            put(*self.base, {key: column[i] for key, column in plain.items()})
            for i in range(len(data))
        ]
        self.batches = batches(self.points)
        asked = device.asking_for([name for name, _ in self.of], numerics)
        self.lane = _Lane(device, self.free, self.of, self.aliases, tuple(asked.items()))
        self.evaluations = 0
        self.watch: Callable[[int], None] = lambda count: None
        self._none: States = {}
        self._kept: list[tuple[np.ndarray, States, Looks]] = []

    def check(self, theta: np.ndarray) -> None:
        """`DataError` for rows that are out of range, or contradict themselves, at theta."""
        for i, point in enumerate(self.points):
            row = _Row(*point, self._named[i] if self.aliases else (), theta, ())
            try:
                self.device.check(self.device.name, *self.lane.place(row, theta))
            except ValueError as complaint:
                raise DataError(f"line {self.data.lines[i]}: {complaint}") from None

    def shapes(self) -> None:
        """`DataError` for a response that is no single number, or an entry that it does not have."""
        design, setting = as_arrays(self.points[0])
        response = jax.eval_shape(
            lambda d, s: self.device.respond(d, s, throw=False, **dict(self.lane.numerics)),
            design,
            setting,
        )
        for name, entry in self.of:
            shape = getattr(response, name).shape
            size = int(np.prod(shape))
            if (not entry and shape) or (entry and (not shape or int(entry) >= size)):
                several = f"{size} numbers: name one, {name}[0] to {name}[{size - 1}]"
                raise DataError(f"{name} has {several if shape else 'one number, no entries'}.")

    def looks(
        self, theta: np.ndarray, states: States | None = None, rows: np.ndarray | None = None
    ) -> Looks:
        """Every row at theta. states: of those that do not start as the setting says. rows: which ones are
        calculated (n), all by default; the others are as if they had no value."""
        states = states or self._none
        for known_theta, known_states, known in self._kept:
            if known_states is states and np.array_equal(known_theta, theta):
                return known
        rows = np.ones(len(self.data), bool) if rows is None else rows
        found = self._looked(theta, states, rows)
        if rows.all():
            self._kept = [(np.array(theta), states, found), *self._kept[:1]]
        return found

    def _looked(self, theta: np.ndarray, states: States, rows: np.ndarray) -> Looks:
        self.evaluations += 1
        self.watch(1)
        pieces: dict[int, PyTree] = {}
        for batch in self.batches:
            for started in (False, True):
                kept = np.array([(int(row) in states) == started for row in batch.lanes])
                kept &= rows[batch.lanes]
                if kept.any():
                    pieces |= self._calculated(batch, kept, theta, states if started else None)
        any_row = next(iter(pieces.values()))
        blank = any_row | {
            "value": np.full_like(any_row["value"], np.nan),
            "jacobian": np.full_like(any_row["jacobian"], np.nan),
            "verdict": np.full_like(any_row["verdict"], REFUSED),
        }
        whole = [pieces.get(row, blank) for row in range(len(self.data))]
        fields = {
            name: np.stack([each[name] for each in whole])
            for name in ("value", "jacobian", "verdict", "reason")
        }
        status = np.array([each["status"] for each in whole])
        leaves = zip(*(each["state"] for each in whole), strict=True)
        return Looks(status=status, state=tuple(np.stack(leaf) for leaf in leaves), **fields)

    def look(self, row: int, theta: np.ndarray, state: tuple[np.ndarray, ...] | None) -> dict:
        """One row alone."""
        (batch,) = (batch for batch in self.batches if row in batch.lanes)
        return self._calculated(
            batch, batch.lanes == row, theta, None if state is None else {row: state}
        )[row]

    def _calculated(
        self, batch: Batch, kept: np.ndarray, theta: np.ndarray, states: States | None
    ) -> dict[int, dict[str, PyTree]]:
        rows = batch.lanes[kept]
        design, setting = jax.tree.map(lambda x: x[kept], (batch.design, batch.setting))
        started: PyTree = ()
        if states is not None:
            leaves = zip(*(states[int(row)] for row in rows), strict=True)
            started = tuple(np.stack(leaf) for leaf in leaves)
        theta = np.broadcast_to(np.asarray(theta, float), (len(rows), len(self.free)))
        named = tuple(self._named[rows].T)
        row = _Row(design, setting, named, theta, started)
        parts = cut(len(rows))
        width = len(parts[0])
        calls = [
            Call(
                self.device, _looked_at, (self.lane, states is not None, rows_of(row, part), width)
            )
            for part in parts
        ]

        def called(part: int) -> str:
            lines = self.data.lines[rows[parts[part]]]
            return f"the look at line {lines[0]}" + (f" to {lines[-1]}" if len(lines) > 1 else "")

        found = [one for looks in all_of(calls, called, self.processes) for one in looks]
        return dict(zip(map(int, rows), found, strict=True))


def based(
    device: Device, columns: Mapping[str, Value], design: Fields | None, setting: Fields | None
) -> tuple[Fields, Fields]:
    """The point that rows start from: what is given, else the published one with the first row's values.

    With these a device derives what is not given from what is, as a drag from a velocity.
    """
    first = {key: column[0] for key, column in columns.items() if "[" not in key}
    own = describe(device.Design)
    in_design = {k: v for k, v in first.items() if k in own}
    in_setting = {k: v for k, v in first.items() if k not in own}
    return (
        device.published_design(**in_design) if design is None else design,
        device.published_setting(**in_setting) if setting is None else setting,
    )
