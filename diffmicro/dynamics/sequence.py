"""The sequence of events of a hybrid motion, and what keeps it from changing.

A motion is cut into phases by its events and by the switches of its drive. In a phase each guard is positive. The
sequence changes, as state and parameters do, where one of these numbers, all positive on its own side, gets zero:

| number | of a guard in a phase | at zero |
|---|---|---|
| `dip` | its smallest value inside the phase | it fires there for an instant (grazing) |
| `end` | its value where something else ends the phase | both events come at once |
| `start` | its value where the phase begins | it fires at once: another mode would have been picked |
| `leaves` | its rate there, where it starts from zero | it turns back at once |
| `crossing` | how fast it falls when it fires | it touches zero without crossing (grazing, seen from inside) |
| `span` | the time since the phase before | two events at once, or a phase of no length |

All of them are kept, with their derivatives, so that the place where one vanishes can be solved for. `Watching`
is a system that records them beside the sequence itself. A switch at which the drive neither jumps nor bends is
none: so nothing is made of an event that passes the end of the period of a smooth drive."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.roots import stationary_point
from diffmicro.dynamics.series import derivative, value
from diffmicro.dynamics.system import ROUNDING, HybridSystem, Mode, Observing, Schedule, State, Step

NUMBERS = ("dip", "end", "start", "leaves", "crossing", "span")
"""See the module docstring."""

ROOM = 48
"""Most phases of a motion that are kept."""

ABSENT = 1e3
"""Stands for a number that a phase does not have."""

AT_ZERO = 1e-11
"""Values and rates [natural units] that count as zero: a release starts from a zero of both."""

SWITCH = 32
"""Endings from here on are switches of the drive, by the number of the segment; below, guards by theirs."""


class Sequence(NamedTuple):
    """What is recorded.

    count: phases that have ended. endings, modes: of each (ROOM); modes count their flags and signs in base 3.
    numbers: see the module docstring (ROOM, guards, NUMBERS). phase: those of the phase under way. since: time
    since it began, `ABSENT` where that was not seen. begins: whether it has just begun. event: whether by an
    event. segment: of the drive."""

    count: Array
    endings: Array
    modes: Array
    numbers: Array
    phase: Array
    since: Array
    begins: Array
    event: Array
    segment: Array


class Watching(Observing):
    """A system that records a `Sequence`. guards: how many it has."""

    inner: HybridSystem
    guards_known: int = eqx.field(static=True)

    def blank_record(self, state: State) -> Sequence:
        """Nothing seen yet."""
        zero = jnp.zeros_like(jnp.asarray(state[0]))
        none = jnp.zeros((), jnp.int32)
        blank = jnp.full((self.guards_known, len(NUMBERS)), ABSENT, zero.dtype) + zero
        return Sequence(
            count=none,
            endings=jnp.zeros(ROOM, jnp.int32),
            modes=jnp.zeros(ROOM, jnp.int32),
            numbers=jnp.full((ROOM, *blank.shape), ABSENT, zero.dtype) + zero,
            phase=blank,
            since=zero + ABSENT,
            begins=jnp.zeros((), bool),
            event=jnp.zeros((), bool),
            segment=none,
        )

    def observe(self, record: Sequence, step: Step, state: State) -> Sequence:
        """The record after one more advance."""
        real = real_switches(self.inner.schedule())
        event = jnp.any(jnp.stack(step.fired))
        switches = step.switched & real[record.segment]
        ends = event | switches
        spent = step.duration * step.length
        since = record.since + spent
        # Two switches of the drive keep their distance whatever the motion does.
        span = jnp.where(ends & (event | record.event) & (since > 0), since, ABSENT)
        seen = jnp.stack(
            [
                jnp.stack([*_numbers(record, step, guard, fired, ends), span])
                for guard, fired in zip(step.guards, step.fired, strict=True)
            ]
        )
        phase = jnp.minimum(record.phase, seen)
        at = jnp.minimum(record.count, ROOM - 1)
        number = jnp.argmax(jnp.stack(step.fired)).astype(jnp.int32)
        ending = jnp.where(event, number, SWITCH + record.segment)
        following = (record.segment + step.switched) % len(real)
        # A switch that is none leaves the phase as it is, and a step without length ends none by itself.
        begins = ends | (record.begins & (step.length <= 0))
        return Sequence(
            count=record.count + ends,
            endings=record.endings.at[at].set(jnp.where(ends, ending, record.endings[at])),
            modes=record.modes.at[at].set(jnp.where(ends, _mode(step.mode), record.modes[at])),
            numbers=record.numbers.at[at].set(phase),
            phase=jnp.where(ends, ABSENT, phase),
            since=jnp.where(ends, 0.0, since),
            begins=begins,
            event=jnp.where(ends, event, record.event),
            segment=following.astype(jnp.int32),
        )


def _numbers(
    record: Sequence, step: Step, guard: list[Array], fired: Array, ends: Array
) -> list[Array]:
    """What one more step adds to the numbers of one guard, `span` apart."""
    instant = step.length <= 0
    length = jnp.where(instant, 1.0, step.length)
    rate, end = derivative(guard), step.duration
    low, dips = stationary_point(guard, jax.lax.stop_gradient(end))
    small = ROUNDING * float(jnp.finfo(end.dtype).eps)
    from_zero = jnp.abs(guard[0]) <= AT_ZERO
    # Symmetry may put the bottom of a dip on the very start of the period.
    starts_low = (record.since <= ABSENT) & (jnp.abs(guard[1]) <= small) & ~from_zero
    dips = dips & ((guard[1] < -small) | starts_low) & ~fired
    falls = value(rate, end) / length
    at_start = record.begins & ~instant
    slope = guard[1] / length

    def where(there: Array, number: Array) -> Array:
        return jnp.where(there, number, ABSENT)

    return [
        where(dips, value(guard, low)),
        where(ends & ~fired & ~instant & (falls < 0), value(guard, end)),
        where(at_start & ~from_zero, guard[0]),
        where(at_start & from_zero & (jnp.abs(slope) > AT_ZERO), slope),
        where(fired & ~instant, -falls),
    ]


def _mode(mode: Mode) -> Array:
    """All flags and signs of a mode as one number."""
    found = jnp.zeros((), jnp.int32)
    for part in mode:
        found = 3 * found + jnp.asarray(part).astype(jnp.int32) + 1
    return found


def mode_parts(number: int, size: int) -> tuple[int, ...]:
    """The flags and signs of a mode from its number."""
    return tuple(number // 3**k % 3 - 1 for k in reversed(range(size)))


def real_switches(schedule: Schedule) -> Array:
    """Whether the drive jumps or bends at the end of each segment."""
    count = len(schedule.ends)
    segments = [schedule.segment(jnp.asarray(i)) for i in range(count)]
    found = []
    for here, there in zip(segments, [*segments[1:], segments[0]], strict=True):
        changes = jnp.zeros((), bool)
        pairs = zip(here.start, here.finish, there.start, there.finish, strict=True)
        for start, finish, onward, last in pairs:
            rise, goes_on = finish - start, last - onward
            bends = rise * there.length != goes_on * here.length
            jumps = (here.length <= 0) & (rise != 0)
            changes = changes | (finish != onward) | bends | jumps
        found.append(changes)
    return jnp.stack(found)
