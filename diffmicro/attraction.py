"""Which motions there are, how much of the states leads to each, and how hard a kick loses the wanted one.

Many starts from a box of states are calculated as lanes; those that end alike are one motion. Shares are of the
box's volume, with their intervals; they say nothing of starts outside. The smallest kick is looked for along each
state on its own, up and down, at the start of a drive period: the first loss on a grid, then bisection. A kick is
a bracket and has no derivative, and a basin with holes may be lost by a smaller one between the grid's points.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro._device import Device, hooked
from diffmicro.devices import as_device
from diffmicro.parameters import Fields, as_arrays, describe, put, whole_number
from diffmicro.results import words
from diffmicro.sweep.chunks import Recipe
from diffmicro.sweep.cluster import Processes
from diffmicro.sweep.shared import calculated
from diffmicro.tolerance import share_interval

SAME = 1e-3
"""Relative difference of responses below which two motions are the same."""

WIDER = 1.0
"""How far the usual box goes beyond what the wanted motion visits, in its own width, to either side."""

AMOUNTS = 12
"""Kicks that are tried along each direction before bisection."""

HALVINGS = 14

LEFT_OUT = ("residual", "margin")
"""Responses that tell how a motion was found, not which it is."""


class Motion(NamedTuple):
    """A motion that starts end in.

    share, low, high: of the box that leads to it, with its interval at 95 %. response: numbers of one of its
    starts. start: a state that leads to it [SI]. starts: words of `Setting.start` that do.
    """

    status: str
    share: float
    low: float
    high: float
    response: dict[str, float]
    start: dict[str, float]
    starts: tuple[str, ...]


class Kick(NamedTuple):
    """A sudden change of one state that loses the wanted motion: between `kept` and `lost` [SI]; lost is None
    where nothing in the box does."""

    state: str
    kept: float
    lost: float | None


class Basins(NamedTuple):
    """Motions, the most frequent first, and kicks.

    wanted: which motion the setting's own start reaches; own: its state. box: ends of the box [SI]. states: the
    starts (starts, states); ends: which motion each ends in.
    """

    motions: tuple[Motion, ...]
    wanted: int
    own: dict[str, float]
    kicks: tuple[Kick, ...]
    box: dict[str, tuple[float, float]]
    states: np.ndarray
    ends: np.ndarray


def basins(
    device: Device | str,
    *,
    design: Fields | None = None,
    setting: Fields | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 1000,
    seed: int = 0,
    processes: Processes | None = None,
) -> Basins:
    """All motions that `starts` states from a box end in, and the kicks that lose the setting's own motion.

    box: ends for states by name [SI]; the others reach from what the wanted motion visits one width further, up to
    the rigid stops.
    processes: that share the starts, from `sweep.processes`.
    """
    device = as_device(device)
    device.check_carries("basins")
    design, setting = device.point(design, setting)
    device.check("basins", design, setting)
    starts = whole_number("basins: starts", starts, None, 10, 10**6)
    seed = whole_number("basins: seed", seed, None, 0)
    lanes = _Lanes(device, design, setting, processes)
    names = lanes.names
    low, high = _box(lanes, box or {})
    chance = np.random.default_rng(seed)
    states = low + (high - low) * _evenly(starts, len(names), chance)
    found = lanes.ends(np.concatenate([lanes.own[None], states]))
    kinds = _kinds(found)
    reached = _by_words(device, design, setting, found, kinds)
    every = np.concatenate([lanes.own[None], states])
    kept = [
        _motion(found, kinds, kind, every, names, [w for w, k in reached.items() if k == kind])
        for kind in dict.fromkeys(kinds)
    ]
    ranked = sorted(zip(kept, dict.fromkeys(kinds), strict=True), key=lambda pair: -pair[0].share)
    place = {kind: i for i, (_, kind) in enumerate(ranked)}
    return Basins(
        tuple(motion for motion, _ in ranked),
        place[kinds[0]],
        dict(zip(names, lanes.own.tolist(), strict=True)),
        tuple(_kicks(lanes, low, high, found)),
        dict(zip(names, zip(low.tolist(), high.tolist(), strict=True), strict=True)),
        states,
        np.array([place[kind] for kind in kinds[1:]]),
    )


def _motion(
    found: "Ends",
    kinds: np.ndarray,
    kind: int,
    states: np.ndarray,
    names: Sequence[str],
    starts: Sequence[str],
) -> Motion:
    """One motion; row 0 is the setting's own start, which is not counted."""
    count, hits = len(kinds) - 1, int(np.sum(kinds[1:] == kind))
    response = {name: float(values[kind]) for name, values in found.numbers.items()}
    start = dict(zip(names, states[kind].tolist(), strict=True))
    interval = share_interval(hits, count)
    return Motion(str(found.status[kind]), hits / count, *interval, response, start, tuple(starts))


class Ends(NamedTuple):
    """What each start ends in: status and usual responses."""

    status: np.ndarray
    numbers: dict[str, np.ndarray]

    def like(self, other: "Ends", row: int) -> np.ndarray:
        """Which of these are the motion in that row of the other."""
        same = self.status == other.status[row]
        for name, values in self.numbers.items():
            known = other.numbers[name]
            # Of this response's size here: a drift of 1e-12 m/s is none where others are some millimeters.
            size = np.nanmax(np.abs(known)) if np.isfinite(known).any() else 0.0
            near = np.abs(values - known[row]) <= SAME * max(abs(known[row]), 1e-3 * size)
            same &= near | (np.isnan(values) & np.isnan(known[row]))
        # What is not periodic has no number to tell it by.
        return np.where(self.status == "erratic", other.status[row] == "erratic", same)


class _Lanes:
    """A device at one design and setting, calculated from many states."""

    def __init__(
        self, device: Device, design: Fields, setting: Fields, processes: Processes | None = None
    ):
        self.device, self.processes = device, processes
        self.point = as_arrays((design, setting))
        response = device.respond(*self.point, throw=False)
        own, self.unravel = ravel_pytree(response.state)
        self.own = np.asarray(own)
        self.status = str(words(response.result))
        self.names = _names(response.state)
        self.walls = hooked(device.walls)(design, setting) if device.walls else {}
        if not np.all(np.isfinite(self.own)):
            raise ValueError(
                f"basins: from its own start {device.name} ends {self.status}, without a state to start "
                "others beside."
            )

    def ends(self, states: np.ndarray) -> Ends:
        """Status and responses of every state's motion."""
        points = jax.tree.map(lambda x: np.broadcast_to(x, (len(states), *np.shape(x))), self.point)
        starts = jax.vmap(self.unravel)(jnp.asarray(states))
        usual = tuple(name for name in self.device.usual_responses if name not in LEFT_OUT)
        found = calculated(Recipe(self.device, usual, {}), points, starts, self.processes)
        return Ends(found["status"], {n: found[n] for n in usual if found[n].ndim == 1})


def _names(state: PyTree) -> tuple[str, ...]:
    """A name for each number of a state."""
    found = []
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        name = jax.tree_util.keystr(path, simple=True, separator=".") or "state"
        size = np.size(leaf)
        found += [name] if not np.ndim(leaf) else [f"{name}[{i}]" for i in range(size)]
    return tuple(found)


def _box(lanes: _Lanes, given: Mapping[str, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the box, in the order of the states."""
    for name, (low, high) in given.items():
        if name not in lanes.names:
            raise ValueError(f"basins: {name} is not a state; these are: {', '.join(lanes.names)}.")
        if not low < high:
            raise ValueError(f"basins: {name}={low:g}:{high:g}: the first end has to be the lower.")
    path = None
    if lanes.device.simulate is not None:
        path = lanes.device.simulate(
            *lanes.point, start=lanes.unravel(jnp.asarray(lanes.own))
        )._asdict()
    ends = []
    for name, value in zip(lanes.names, lanes.own, strict=True):
        visited = np.asarray(path[name]) if path and name in path else np.array([0.0, value])
        low, high = float(np.nanmin(visited)), float(np.nanmax(visited))
        wide = WIDER * ((high - low) or max(abs(value), 1e-12))
        # What never changes its sign keeps it: gaps and heights.
        bottom = low - wide if low <= 0 else max(low - wide, 0.02 * low)
        top = high + wide if high >= 0 else min(high + wide, 0.02 * high)
        wall = lanes.walls.get(name, (-np.inf, np.inf))
        if name in given and (given[name][0] < wall[0] or given[name][1] > wall[1]):
            raise ValueError(
                f"basins: {name}={given[name][0]:g}:{given[name][1]:g} reaches behind a stop; from {wall[0]:g} to "
                f"{wall[1]:g} it is free."
            )
        ends.append(given.get(name, (max(bottom, wall[0]), min(top, wall[1]))))
    low, high = np.array(ends, float).T
    return low, high


def _evenly(count: int, n: int, chance: np.random.Generator) -> np.ndarray:
    """Points of the unit cube, one in each of `count` layers along every axis (Latin hypercube)."""
    layers = np.stack([chance.permutation(count) for _ in range(n)], axis=1)
    return (layers + chance.random((count, n))) / count


def _kinds(found: Ends) -> np.ndarray:
    """The number of each start's motion, in the order in which they are met."""
    kinds = np.full(len(found.status), -1)
    for row in range(len(kinds)):
        if kinds[row] < 0:
            kinds[found.like(found, row) & (kinds < 0)] = row
    return kinds


def _by_words(
    device: Device, design: Fields, setting: Fields, found: Ends, kinds: np.ndarray
) -> dict[str, int]:
    """Which motion each word of `Setting.start` reaches; -1: one that no start from the box does."""
    known = describe(device.Setting)
    if "start" not in known or not known["start"].words:
        return {}
    reached = {}
    for word in known["start"].words:
        own = _Lanes(device, *put(design, setting, {"start": word}))
        alike = found.like(own.ends(own.own[None]), 0)
        reached[word] = int(kinds[np.argmax(alike)]) if alike.any() else -1
    return reached


def _kicks(lanes: _Lanes, low: np.ndarray, high: np.ndarray, found: Ends) -> Sequence[Kick]:
    """The smallest kick along each state, down and up, within the box."""
    ways = [(i, end) for i in range(len(low)) for end in (low[i], high[i])]
    most = np.array([end - lanes.own[i] for i, end in ways])
    which = np.array([i for i, _ in ways])

    def lost(kicks: np.ndarray) -> np.ndarray:
        """Whether the wanted motion is lost, for kicks (ways, amounts)."""
        states = np.tile(lanes.own, (*kicks.shape, 1))
        rows = np.arange(len(which))
        states[rows, :, which] += kicks
        ends = lanes.ends(states.reshape(-1, len(lanes.own)))
        return np.logical_not(ends.like(found, 0)).reshape(kicks.shape)

    grid = most[:, None] * (np.arange(1, AMOUNTS + 1) / AMOUNTS)
    bad = lost(grid)
    first = np.argmax(bad, axis=1)
    ever = np.asarray(bad.any(axis=1))
    rows = np.arange(len(which))
    beyond = grid[rows, first]
    within = np.where(first > 0, grid[rows, np.maximum(first - 1, 0)], 0.0)
    for _ in range(HALVINGS if ever.any() else 0):
        middle = (within + beyond) / 2
        fails = lost(middle[:, None]).ravel()
        beyond, within = np.where(fails, middle, beyond), np.where(fails, within, middle)
    return [
        Kick(
            lanes.names[i],
            float(within[k] if ever[k] else most[k]),
            float(beyond[k]) if ever[k] else None,
        )
        for k, i in enumerate(which)
    ]
