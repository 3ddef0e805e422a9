"""What is observed of a periodic motion: the responses of a device made by `device`.

An observer gathers one number over all steps of the motion. `Watched` adds them to a system, together with what
every device reports: the time at rest and the margin.
"""

import abc
import dataclasses
import math
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.dynamics.margin import Margin
from diffmicro.dynamics.roots import extreme
from diffmicro.dynamics.system import HybridSystem, Mode, Observing, State, Step
from diffmicro.hybrid.motion import Motion, per_second
from diffmicro.hybrid.parts import Coulomb


@dataclasses.dataclass(frozen=True)
class Observer(abc.ABC):
    """One response. name: of a state or a contact of the motion."""

    name: str
    per_period = False
    """Whether it adds up from period to period, and is reported per period of the drive."""
    method = ""
    """The method of the motion by which it sees contacts, if it does."""
    low, high = -math.inf, math.inf
    """What it lies between."""

    @abc.abstractmethod
    def unit(self, motion: Motion) -> str:
        """Its unit."""

    @abc.abstractmethod
    def meaning(self, motion: Motion) -> str:
        """What it is."""

    @abc.abstractmethod
    def known(self, motion: Motion) -> tuple[str, list[str]]:
        """What its name has to be one of, in words, and those that there are."""

    def size(self, units: dict[str, Real], period: Real) -> Real:
        """Its unit over the natural one: a factor."""
        return jnp.ones_like(period)

    def blank(self, motion: Motion, state: State) -> Array:
        """What it starts from."""
        return jnp.zeros_like(state[0])

    @abc.abstractmethod
    def seen(self, before: Array, motion: Motion, step: Step, state: State) -> Array:
        """The number after one more step that ended in `state`."""


@dataclasses.dataclass(frozen=True)
class Drift(Observer):
    """Mean rate of a place that drifts."""

    per_period = True

    def known(self, motion: Motion) -> tuple[str, list[str]]:
        """Places."""
        return "coordinate that drifts", [c.name for c in motion.coordinates if c.drifts]

    def unit(self, motion: Motion) -> str:
        """A rate's."""
        return per_second(motion.coordinate_named(self.name).unit)

    def meaning(self, motion: Motion) -> str:
        """In words."""
        return f"mean rate: {motion.coordinate_named(self.name).meaning}"

    def size(self, units: dict[str, Real], period: Real) -> Real:
        """Scale per period."""
        return units[self.name] / period

    def seen(self, before: Array, motion: Motion, step: Step, state: State) -> Array:
        """The place so far."""
        return getattr(state, self.name)


@dataclasses.dataclass(frozen=True)
class Count(Observer):
    """Events of a contact per period."""

    per_period = True
    low = 0.0
    method = "event"

    def known(self, motion: Motion) -> tuple[str, list[str]]:
        """Contacts."""
        return "contact", [c.name for c in motion.contacts]

    def unit(self, motion: Motion) -> str:
        """A number."""
        return "-"

    def meaning(self, motion: Motion) -> str:
        """In words."""
        return f"events of {self.name} per drive period"

    def seen(self, before: Array, motion: Motion, step: Step, state: State) -> Array:
        """One more, or not."""
        return before + motion.event(self.name, step)


@dataclasses.dataclass(frozen=True)
class Share(Observer):
    """Share of the time in which a contact is closed, or sticks."""

    per_period = True
    low, high = 0.0, 1.0
    method = "holds"

    def known(self, motion: Motion) -> tuple[str, list[str]]:
        """Contacts."""
        return "contact", [c.name for c in motion.contacts]

    def unit(self, motion: Motion) -> str:
        """A number."""
        return "-"

    def meaning(self, motion: Motion) -> str:
        """In words."""
        contact = motion.declared.get(self.name)
        return f"share of time in which {self.name} {'sticks' if isinstance(contact, Coulomb) else 'is closed'}"

    def seen(self, before: Array, motion: Motion, step: Step, state: State) -> Array:
        """The time so far."""
        return before + jnp.where(
            motion.holds(self.name, step.mode), step.duration * step.length, 0.0
        )


@dataclasses.dataclass(frozen=True)
class Extreme(Observer):
    """Largest or smallest value of a state, between the steps' ends too."""

    sign: float = 1.0

    def known(self, motion: Motion) -> tuple[str, list[str]]:
        """States that repeat."""
        return "state", motion.names

    def unit(self, motion: Motion) -> str:
        """The state's."""
        return motion.units_of[self.name]

    def meaning(self, motion: Motion) -> str:
        """In words."""
        return f"{'largest' if self.sign > 0 else 'smallest'} {self.name.replace('_', ' ')}"

    def size(self, units: dict[str, Real], period: Real) -> Real:
        """The state's."""
        return units[self.name]

    def blank(self, motion: Motion, state: State) -> Array:
        """Where the motion begins."""
        return getattr(state, self.name)

    def seen(self, before: Array, motion: Motion, step: Step, state: State) -> Array:
        """With the stationary point inside the step."""
        better = jnp.maximum if self.sign > 0 else jnp.minimum
        along, end = getattr(step.states, self.name), getattr(state, self.name)
        there, exists = extreme(along, step.duration)
        inside = jnp.where(exists, there, end)
        return better(better(before, along[0]), better(end, inside))


def drift(name: str) -> Drift:
    """Mean rate of a coordinate that drifts: what a robot's velocity is."""
    return Drift(name)


def count(name: str) -> Count:
    """How often per drive period a contact closes (friction: is released or reverses)."""
    return Count(name)


def share(name: str) -> Share:
    """Share of the time in which a contact is closed (friction: sticks)."""
    return Share(name)


def largest(name: str) -> Extreme:
    """Largest value of a state: a coordinate, or `<coordinate>_rate`."""
    return Extreme(name, 1.0)


def smallest(name: str) -> Extreme:
    """Smallest value of a state: a coordinate, or `<coordinate>_rate`."""
    return Extreme(name, -1.0)


class Record(NamedTuple):
    """Gathered over periods. seen: by the observers. stick: time in which all that could drift sticks."""

    seen: tuple[Array, ...]
    stick: Array
    course: Margin

    @property
    def margin(self) -> Array:
        """Distance to the nearest change of the sequence of modes [periods]."""
        return self.course.whole


class Watched(Observing):
    """A system with observers."""

    inner: HybridSystem
    motion: Motion = eqx.field(static=True)
    observers: tuple[Observer, ...] = eqx.field(static=True)

    def blank_record(self, state: State) -> Record:
        """Nothing seen yet."""
        zero = jnp.zeros_like(state[0])
        seen = tuple(o.blank(self.motion, state) for o in self.observers)
        return Record(seen, zero, Margin.unknown(zero))

    def observe(self, record: Record, step: Step, state: State) -> Record:
        """All observers, the time at rest, and the distance to the nearest change of the sequence of modes."""
        m = self.motion
        seen = tuple(
            o.seen(before, m, step, state)
            for o, before in zip(self.observers, record.seen, strict=True)
        )
        spent = step.duration * step.length
        rests = resting(m, step.mode)
        return Record(
            seen,
            stick=record.stick + jnp.where(rests, spent, 0.0),
            course=record.course.after(step),
        )


def resting(motion: Motion, mode: Mode) -> Array:
    """Whether all friction on what drifts sticks; False where there is none."""
    found = [
        motion.holds(p.name, mode)
        for p in motion.contacts
        if isinstance(p, Coulomb) and motion.coordinate_named(p.of).drifts
    ]
    return jnp.all(jnp.stack(found)) if found else jnp.asarray(False)
