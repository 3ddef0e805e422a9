"""Drives over one period of time: harmonic, or linear on segments (square, sawtooth, steps, samples).

A drive is a pure number under its name; `accelerations` multiplies it by what it drives. A segmented drive is
passed to the engine as it is, so that a switch is met exactly and its instant has a derivative. Its segments have
to fill the period in their order (`segments_rule`).
"""

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import ClassVar

import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._types import Real
from diffmicro.dynamics import series
from diffmicro.dynamics.system import Drive, Schedule
from diffmicro.hybrid.parts import Named, Number, number
from diffmicro.parameters import Fields
from diffmicro.rules import Rule

Segment = tuple[Real, Real, Real]
"""End [shares of the period], value at the start, value at the end."""


@dataclasses.dataclass(frozen=True)
class Harmonic(Named):
    """cos(multiple * 2 pi t / T + phase), phase [rad]."""

    multiple: int = 1
    phase: Number = 0.0

    def value(self, angle: series.Number, design: Fields, setting: Fields) -> series.Number:
        """At the angle 2 pi t / T."""
        return series.cos(angle * float(self.multiple) + number(self.phase, design, setting))


@dataclasses.dataclass(frozen=True)
class Segmented(Named, abc.ABC):
    """A drive that is linear on segments. remedy: what keeps their ends in order, for the message."""

    remedy: ClassVar[str] = "Change its segments."

    @abc.abstractmethod
    def segments(self, design: Fields, setting: Fields) -> Sequence[Segment]:
        """The segments of one period in their order; no end lies before the one ahead of it, the last is 1."""


@dataclasses.dataclass(frozen=True)
class Square(Segmented):
    """From `low` to `high` at the start of the period, back after `duty` of it.

    rise: share of the period that a switch takes, from its nominal instant on [-].
    """

    remedy: ClassVar[str] = "Keep its rise at most duty, and duty + rise at most 1."

    low: Number = -1.0
    high: Number = 1.0
    duty: Number = 0.5
    rise: Number = 0.0

    def segments(self, design: Fields, setting: Fields) -> Sequence[Segment]:
        """Up, high, down, low."""
        low, high, duty, rise = (
            number(n, design, setting) for n in (self.low, self.high, self.duty, self.rise)
        )
        plateaus = (duty, high, high), (1.0, low, low)
        if isinstance(self.rise, float) and self.rise == 0:
            return plateaus
        return (rise, low, high), plateaus[0], (duty + rise, high, low), plateaus[1]


@dataclasses.dataclass(frozen=True)
class Sawtooth(Segmented):
    """From `low` up to `high` in the share `rise` of the period, and back in the rest of it."""

    remedy: ClassVar[str] = "Keep its rise from 0 to 1."

    rise: Number = 0.5
    low: Number = -1.0
    high: Number = 1.0

    def segments(self, design: Fields, setting: Fields) -> Sequence[Segment]:
        """Up, down."""
        rise, low, high = (number(n, design, setting) for n in (self.rise, self.low, self.high))
        return (rise, low, high), (1.0, high, low)


@dataclasses.dataclass(frozen=True)
class Steps(Segmented):
    """Constant levels: ((end, level), ...), as shares of the period, the last one to 1."""

    remedy: ClassVar[str] = "Order its levels by their ends, the last one at 1."

    levels: Callable[..., Sequence[tuple[Real, Real]]] | None = None

    def segments(self, design: Fields, setting: Fields) -> Sequence[Segment]:
        """One for each level."""
        assert self.levels is not None
        return [(end, level, level) for end, level in self.levels(design, setting)]


@dataclasses.dataclass(frozen=True)
class Samples(Segmented):
    """Equally spaced values over a period, joined by lines. Each is a segment of its own: some dozens at most."""

    remedy: ClassVar[str] = "Give it one value at least."

    values: tuple[float, ...] = (0.0, 1.0)

    def segments(self, design: Fields, setting: Fields) -> Sequence[Segment]:
        """From each value to the next, from the last to the first."""
        count = len(self.values)
        following = (*self.values[1:], *self.values[:1])
        return [
            ((k + 1) / count, a, b)
            for k, (a, b) in enumerate(zip(self.values, following, strict=True))
        ]


def segments_rule(drive: Segmented) -> Rule:
    """What a segmented drive keeps: ends that do not fall, from 0 to 1, the last one 1, all but for a rounding.

    A segment of no length, at which the drive jumps, is allowed.
    """

    def ends(design: Fields, setting: Fields) -> list[Real]:
        return [end for end, *_ in drive.segments(design, setting)]

    def kept(design: Fields, setting: Fields) -> Array:
        of = jnp.stack([jnp.zeros(()), *(jnp.asarray(end, float) for end in ends(design, setting))])
        rounding = 8 * jnp.finfo(of.dtype).eps
        return jnp.all(of[1:] >= of[:-1] - rounding) & (jnp.abs(of[-1] - 1) <= rounding)

    def message(design: Fields, setting: Fields) -> str:
        given = ", ".join(f"{float(end):g}" for end in ends(design, setting)) or "nowhere"
        return (
            f"the segments of the drive {drive.name!r} end at {given}, as shares of the period; each end has to "
            f"be at least the one before it, from 0 to 1, and the last one 1. {drive.remedy}"
        )

    return Rule(kept, message)


def schedule(
    drives: Sequence[Segmented],
    kind: Callable[..., Drive],
    design: PyTree,
    setting: PyTree,
    like: Array,
) -> Schedule:
    """All segmented drives as one schedule of `kind` (a NamedTuple with an entry for each)."""
    given = [drive.segments(design, setting) for drive in drives]
    own = [
        [jnp.stack([jnp.asarray(x, like.dtype) for x in column]) for column in zip(*s, strict=True)]
        for s in given
    ]
    if not own:
        return Schedule((jnp.ones_like(like),), (kind(),), (kind(),))
    ends = jnp.concatenate([columns[0] for columns in own])
    of = jnp.concatenate([jnp.full(len(s), i) for i, s in enumerate(given)])
    order = jnp.argsort(ends)
    ends, of = ends[order], of[order]
    before = jnp.concatenate([jnp.zeros(1, like.dtype), ends[:-1]])
    starts, finishes = [], []
    for i, (until, first, last) in enumerate(own):
        # Its own segment at each joint one: how many of its ends lie behind, counted, not compared.
        passed = jnp.cumsum(of == i) - (of == i)
        at = jnp.minimum(passed, len(until) - 1)
        since = jnp.concatenate([jnp.zeros(1, like.dtype), until[:-1]])[at]
        length = until[at] - since
        safe = jnp.where(length > 0, length, 1.0)
        rise = (last - first)[at]
        # A segment of no length begins and ends at its own values.
        starts.append(first[at] + rise * jnp.where(length > 0, (before - since) / safe, 0.0))
        finishes.append(first[at] + rise * jnp.where(length > 0, (ends - since) / safe, 1.0))
    count = ends.size - len(given) + 1  # all end at 1, and one end is enough
    return Schedule(
        tuple(ends[j] for j in range(count)),
        tuple(kind(*(s[j] for s in starts)) for j in range(count)),
        tuple(kind(*(f[j] for f in finishes)) for j in range(count)),
    )
