"""The periodic motions of a device as fixed points, with their sequence of events, for all parameters at once.

`Periodic` is what a device says of them; `look` is one compiled pass over a motion from which everything about
its boundaries follows (`dynamics.boundaries`): where the state is after the motion's periods, the sequence of
events, the numbers that keep it, and the derivatives of all of these by state and parameters.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro.dynamics.hybrid import run
from diffmicro.dynamics.sequence import ABSENT, ROOM, SWITCH, Sequence, Watching, mode_parts
from diffmicro.dynamics.system import HybridSystem, Numerics, State

VERBS = {
    "friction": ("slips", "stops"),
    "impact": ("hits", "lets go"),
    "spring": ("touches", "leaves"),
}
"""What happens when a guard fires, by its kind: where the contact sticks or is open, and otherwise."""


class Guard(NamedTuple):
    """A guard in words: of which contact, its kind (friction, impact, spring or other), and which part of the mode
    says how that contact is."""

    name: str
    kind: str
    part: str


Lump = Callable[..., Array]


class Periodic(eqx.Module):
    """Periodic motions of the devices that differ in numbers alone.

    system: from the vector of parameters q to the system. state: from what repeats, z, to the system's state.
    lump: (design, setting) -> q. natural: (design, setting, `Response.state`) -> z. physical: (design, setting, z)
    -> what `respond` takes as `start`. guards: of the system, in their order. modes: names of the parts of its
    mode. steps: fewest per period."""

    system: Callable[[Array], HybridSystem]
    state: Callable[[Array], State]
    lump: Lump
    natural: Callable[..., Array]
    physical: Callable[..., PyTree]
    guards: tuple[Guard, ...] = eqx.field(static=True)
    modes: tuple[str, ...] = eqx.field(static=True)
    steps: int = eqx.field(static=True, default=12)


class Look(NamedTuple):
    """One pass, as arrays of the host.

    after: P^n z. events: (mode, ending) of each phase, in turn; None where there are more than are kept. numbers
    (m): those of `sequence.NUMBERS` that there are; places (m, 3): the phase, guard and kind of each. matrix:
    derivative of after by (z, q); slopes (m, .): those of the numbers.
    """

    after: np.ndarray
    events: tuple[tuple[int, int], ...] | None
    numbers: np.ndarray
    places: np.ndarray
    matrix: np.ndarray
    slopes: np.ndarray


def look(
    family: Periodic, q: Array, z: Array | np.ndarray, periods: int, tolerance: float = 1e-9
) -> Look:
    """One pass over `periods` periods from the state z."""
    at = jnp.concatenate([jnp.asarray(z, q.dtype), q])
    (after, seen), (matrix, slopes) = _looked(
        family, at, len(z), jnp.asarray(periods, jnp.int32), jnp.asarray(tolerance, q.dtype)
    )
    endings, modes, table = (np.asarray(x) for x in (seen.endings, seen.modes, seen.numbers))
    count = int(seen.count)
    events = tuple(zip(modes[:count].tolist(), endings[:count].tolist(), strict=True))
    chatter = _chatter(family, events)
    events = tuple(e for i, e in enumerate(events) if i not in chatter)
    places = np.argwhere(table < 0.5 * ABSENT)
    places = places[~np.isin(places[:, 0], list(chatter))]
    rows = tuple(places.T)
    return Look(
        np.asarray(after),
        events if count < ROOM else None,
        table[rows],
        places,
        np.asarray(matrix),
        np.asarray(slopes)[rows],
    )


def _chatter(family: Periodic, events: tuple[tuple[int, int], ...]) -> set[int]:
    """The phases between the first impact of a chatter and its lasting contact: without end on the way down, their
    number means nothing."""
    found: set[int] = set()
    for last, event in enumerate(events):
        following = events[(last + 1) % len(events)]
        if not (closes(family, *event) and _held(family, event[1], following[0])):
            continue
        first = last
        while first > 0 and events[first - 1] == event:
            first -= 1
        found |= set(range(first + 1, last + 1))
    return found


def _held(family: Periodic, ending: int, mode: int) -> bool:
    """Whether the contact whose guard this is lasts in a mode."""
    part = family.modes.index(family.guards[ending].part)
    return mode_parts(mode, len(family.modes))[part] == 1


@eqx.filter_jit
def _looked(
    family: Periodic, at: Array, size: int, periods: Array, tolerance: Array
) -> tuple[tuple[Array, Sequence], tuple[Array, Array]]:
    def passed(zq: Array) -> tuple[tuple[Array, Array], tuple[Array, Sequence]]:
        watching = Watching(family.system(zq[size:]), len(family.guards))
        start = family.state(zq[:size])
        numerics = Numerics(steps=family.steps, tolerance=tolerance)
        motion = run(watching, start, periods, numerics, observe=True)
        whole = jnp.where(motion.periods >= periods, 1.0, jnp.nan)
        after = jnp.stack(motion.state[:size]) * whole
        return (after, motion.record.numbers), (after, motion.record)

    derivatives, values = jax.jacfwd(passed, has_aux=True)(at)
    return values, derivatives


@eqx.filter_jit
def bent(family: Periodic, at: Array, size: int, periods: Array, tolerance: Array) -> Array:
    """Second derivative of the state after `periods` periods by the state and by (z, q): what the multipliers'
    own derivatives are made of (size, size, z and q)."""

    def by_state(zq: Array) -> Array:
        def after(z: Array) -> Array:
            numerics = Numerics(steps=family.steps, tolerance=tolerance)
            system = family.system(zq[size:])
            return jnp.stack(run(system, family.state(z), periods, numerics).state[:size])

        return jax.jacfwd(after)(zq[:size])

    return jax.jacfwd(by_state)(at)


def same_sequence(one: Look, other: Look) -> bool:
    """Whether two motions have the same events in the same order, from wherever it is counted."""
    a, b = one.events, other.events
    if a is None or b is None:
        return False
    return len(a) == len(b) and (a == b or any(a[i:] + a[:i] == b for i in range(1, len(a))))


def impacts(family: Periodic, seen: Look) -> int:
    """Closings of contacts of the kind impact, or of springs, in all its periods."""
    return sum(closes(family, *event) for event in seen.events or ())


def closes(family: Periodic, mode: int, ending: int) -> bool:
    """Whether a guard that fires in this mode closes its contact; one of friction never does."""
    if ending >= SWITCH:
        return False
    guard = family.guards[ending]
    if guard.kind not in ("impact", "spring"):
        return False
    return mode_parts(mode, len(family.modes))[family.modes.index(guard.part)] == 0


def sticking(family: Periodic, seen: Look) -> int:
    """Phases in which a contact of friction sticks."""
    return _runs(family, seen, ("friction",), 0)


def holding(family: Periodic, seen: Look) -> int:
    """Phases in which a contact of the kind impact lasts."""
    return _runs(family, seen, ("impact",), 1)


def _runs(family: Periodic, seen: Look, kinds: tuple[str, ...], part: int) -> int:
    """How often a contact of these kinds goes into a part of its mode; phases on end count as one."""
    names = {g.part for g in family.guards if g.kind in kinds}
    found = 0
    for i, name in enumerate(family.modes):
        if name not in names:
            continue
        is_in = [mode_parts(mode, len(family.modes))[i] == part for mode, _ in seen.events or ()]
        pairs = zip(is_in, is_in[-1:] + is_in[:-1], strict=True)
        found += sum(now and not before for now, before in pairs)
    return found


def in_words(family: Periodic, seen: Look) -> str:
    """The sequence of events in words."""
    if seen.events is None:
        return f"more than {ROOM - 1} events"
    words: list[str] = []
    for mode, ending in seen.events:
        if ending >= SWITCH:  # a jump of the drive begins and ends at one instant
            words += ["switch"] if words[-1:] != ["switch"] else []
            continue
        guard = family.guards[ending]
        if guard.kind == "other":
            words.append(guard.name)
            continue
        part = mode_parts(mode, len(family.modes))[family.modes.index(guard.part)]
        words.append(f"{guard.name} {VERBS[guard.kind][part != 0]}")
    return ", ".join(words)
