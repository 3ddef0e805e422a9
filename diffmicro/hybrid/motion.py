"""The class that an author derives a motion from: what it is made of, its period and its accelerations.

All that the author writes and reads is in SI units. Inside, time is counted in periods of the drive and each
coordinate in its own scale.
"""

from collections import namedtuple
from collections.abc import Mapping
from functools import cached_property
from math import inf
from types import SimpleNamespace
from typing import Any, Generic, NoReturn, TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._types import Real
from diffmicro.dynamics.series import Number
from diffmicro.dynamics.starts import Approach
from diffmicro.dynamics.system import HybridSystem, Step
from diffmicro.hybrid.drive import Harmonic, Segmented
from diffmicro.hybrid.parts import (
    Coordinate,
    Coulomb,
    Impact,
    Named,
    OneSidedSpring,
    number,
)
from diffmicro.parameters import DesignT, SettingT, as_arrays


class Now(SimpleNamespace):
    """An instant, for `accelerations`: the values of all that the motion declares, by name, in SI units.

    time [s] and phase = 2 pi time / period [rad]; each coordinate and its rate; each drive; each contact's force
    or compression; `<contact>_closed`, 1.0 while a one-sided spring is touched, else 0.0.
    """

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        known = ", ".join(vars(self))
        raise AttributeError(f"there is no {name!r} here; what a force may depend on: {known}")


class MotionError(TypeError):
    """A motion that cannot be calculated as it is declared. The message names what to change."""


Part = TypeVar("Part", bound=Named)


class Motion(Generic[DesignT, SettingT]):
    """Coordinates, contacts and drives as attributes of the class; `period` and `accelerations` as methods.

    An expert overrides `system`: with `assembled(self, design, setting, Own)`, where `Own` derives from
    `Assembled`, or with a `System` of his own in natural units (see `units`), whose state is `State`. Then there
    are neither contacts nor `accelerations`, each coordinate has its `scale`, and `event` and `holds` are
    overridden where `count` and `share` rest on them.
    """

    def period(self, design: DesignT, setting: SettingT) -> Real:
        """Period of the drive [s]."""
        raise unwritten(self, "period")

    def accelerations(self, now: Now, design: DesignT, setting: SettingT) -> Mapping[str, Number]:
        """The second derivative of each coordinate by its name (the first where its order is 1), in SI units."""
        raise unwritten(self, "accelerations")

    def __init_subclass__(cls, **given: object) -> None:
        super().__init_subclass__(**given)
        taken = [k for k, v in vars(cls).items() if isinstance(v, Named) and k in vars(Motion)]
        if taken:
            raise TypeError(
                f"{cls.__name__}: {taken[0]!r} is taken by Motion itself; choose another name."
            )
        declared: dict[str, Named] = {}
        for base in reversed(cls.__mro__):
            declared |= {k: v for k, v in vars(base).items() if isinstance(v, Named)}
        cls.declared = declared

    declared: Mapping[str, Named] = {}

    starts: Mapping[str, Approach] = {}
    """Ways to get going beside `rest`, by their words; the Setting has `start_field(starts)` for the choice."""

    @property
    def by_hand(self) -> bool:
        """Whether the system is the author's own, so that nothing is derived from accelerations."""
        derived = self.writes("accelerations") or bool(self.contacts)
        return self.writes("system") and not derived

    def writes(self, name: str) -> bool:
        """Whether the author wrote the method of this name, or wrote it anew."""
        return getattr(type(self), name) is not getattr(Motion, name)

    def _of(self, kind: type[Part]) -> tuple[Part, ...]:
        return tuple(part for part in self.declared.values() if isinstance(part, kind))

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Those of the class, in their order."""
        return self._of(Coordinate)

    @cached_property
    def contacts(self) -> tuple[Coulomb | Impact | OneSidedSpring, ...]:
        """Those of the class, in their order."""
        return tuple(
            p for p in self.declared.values() if isinstance(p, Coulomb | Impact | OneSidedSpring)
        )

    def contact_named(self, name: str) -> Coulomb | Impact | OneSidedSpring:
        """The contact of this name."""
        return next(c for c in self.contacts if c.name == name)

    @cached_property
    def rigid(self) -> tuple[Coulomb | Impact, ...]:
        """Contacts whose force follows from what they forbid."""
        return tuple(c for c in self.contacts if isinstance(c, Coulomb | Impact))

    @cached_property
    def springs(self) -> tuple[OneSidedSpring, ...]:
        """Contacts whose force follows from a compression."""
        return self._of(OneSidedSpring)

    @cached_property
    def harmonics(self) -> tuple[Harmonic, ...]:
        """Drives that are functions of time."""
        return self._of(Harmonic)

    @cached_property
    def segmented(self) -> tuple[Segmented, ...]:
        """Drives that are linear on segments."""
        return self._of(Segmented)

    @cached_property
    def units_of(self) -> dict[str, str]:
        """Units of the states by name: first those that repeat, then the places that drift."""
        places = {c.name: c.unit for c in self.coordinates if not c.drifts}
        rates = {c.rate: per_second(c.unit) for c in self.coordinates if c.order == 2}
        return places | rates | {c.name: c.unit for c in self.coordinates if c.drifts}

    @cached_property
    def repeating(self) -> int:
        """How many states a periodic motion repeats; places that drift come after them."""
        return len(self.units_of) - sum(c.drifts for c in self.coordinates)

    @property
    def names(self) -> list[str]:
        """The states that a periodic motion repeats."""
        return list(self.units_of)[: self.repeating]

    @cached_property
    def State(self) -> Any:
        """NamedTuple of all states."""
        return namedtuple("State", list(self.units_of))

    def state_of(self, values: Mapping[str, Real], units: Mapping[str, Real]) -> PyTree:
        """The state in natural units from values in SI, 0 where none is given."""
        zero = 0.0 * units[self.names[0]]
        natural = {n: (values.get(n, zero) + zero) / units[n] for n in units}
        return self.State(**natural)

    @cached_property
    def Mode(self) -> Any:
        """NamedTuple of the contacts' modes: the direction of sliding (0: sticks), or whether it is closed."""
        return namedtuple("Mode", [c.name for c in self.contacts])

    @cached_property
    def Drive(self) -> Any:
        """NamedTuple of the segmented drives."""
        return namedtuple("Drive", [d.name for d in self.segmented])

    def coordinate_named(self, name: str) -> Coordinate:
        """The coordinate of this name."""
        return next(c for c in self.coordinates if c.name == name)

    def scales(self, design: DesignT, setting: SettingT) -> dict[str, Real]:
        """The natural unit of each coordinate [its unit]: what it is given, else from its swing and its stops."""
        given = {
            c.name: number(c.scale, design, setting)
            for c in self.coordinates
            if c.scale is not None
        }
        if len(given) == len(self.coordinates):
            return given
        found = self._swings(design, setting)
        for c in self.coordinates:
            stops = [p.at for p in self.contacts if not isinstance(p, Coulomb) and p.of == c.name]
            sizes = [number(n, design, setting) for n in (c.start, *stops)] + [found[c.name]]
            square = sum(jnp.square(size) for size in sizes)
            found[c.name] = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        return found | given

    def _swings(self, design: DesignT, setting: SettingT) -> dict[str, Real]:
        """Amplitudes that the accelerations at the start amount to, a_rms (T/2pi)^2, were they free."""
        period = self.period(design, setting)
        shares = jnp.arange(8, dtype=jnp.result_type(period, float)) / 8
        rates = jax.vmap(lambda share: self._at_start(share, design, setting))(shares)
        swings = {}
        for c in self.coordinates:
            square = jnp.mean(jnp.square(rates[c.name]))
            rms = jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)
            swings[c.name] = rms * (period / (2 * jnp.pi)) ** c.order
        return swings

    def _at_start(self, share: Array, design: DesignT, setting: SettingT) -> dict[str, Real]:
        """Accelerations of the motion at its start with all contacts open, after a share of the period."""
        values = {"time": share * self.period(design, setting), "phase": 2 * jnp.pi * share}
        values |= self.start(design, setting)
        zero = jnp.zeros_like(share)
        values |= {d.name: d.value(values["phase"], design, setting) for d in self.harmonics}
        for d in self.segmented:
            corners = [x for _, *ends in d.segments(design, setting) for x in ends]
            values[d.name] = jnp.sqrt(sum(jnp.square(x) for x in corners) / len(corners))
        values |= {p.name: zero for p in self.contacts}
        values |= {f"{p.name}_closed": zero for p in self.springs}
        rates = self.accelerations(Now(**values), design, setting)
        if not isinstance(rates, Mapping):
            raise MotionError(
                f"{type(self).__name__}.accelerations returns {rates!r}; it has to return the acceleration of "
                f"each coordinate by its name: {', '.join(c.name for c in self.coordinates)}."
            )
        return {name: rate + zero for name, rate in rates.items()}

    def units(self, design: DesignT, setting: SettingT) -> dict[str, Real]:
        """The natural unit of each state [its unit]."""
        period, scales = self.period(design, setting), self.scales(design, setting)
        rates = {c.rate: scales[c.name] / period for c in self.coordinates}
        return {name: (scales | rates)[name] for name in self.units_of}

    def start(self, design: DesignT, setting: SettingT) -> dict[str, Real]:
        """The motion at rest at its start [SI], without the places that drift."""
        places = {c.name: number(c.start, design, setting) for c in self.coordinates}
        zero = 0.0 * as_arrays(self.period(design, setting))
        return {name: zero + places.get(name, 0.0) for name in self.names}

    def walls(self, design: DesignT, setting: SettingT) -> dict[str, tuple[float, float]]:
        """Between which places rigid stops keep a coordinate [its unit]."""
        found: dict[str, tuple[float, float]] = {}
        for p in self.contacts:
            if isinstance(p, Impact):
                at, (low, high) = float(number(p.at, design, setting)), found.get(p.of, (-inf, inf))
                found[p.of] = (max(low, at), high) if p.side == "below" else (low, min(high, at))
        return found

    def system(self, design: DesignT, setting: SettingT) -> HybridSystem:
        """The motion for the engine."""
        from diffmicro.hybrid.system import assembled

        return assembled(self, design, setting)

    def event(self, name: str, step: Step) -> Array:
        """Whether a step ends with the contact of this name closing (friction: with a release or a reversal)."""
        from diffmicro.hybrid.system import fired_of

        contact = self.contact_named(name)
        fired = fired_of(self, step.fired)[name]
        if isinstance(contact, Coulomb):
            return fired[0] | fired[1]
        return fired[0] & ~getattr(step.mode, name)

    def holds(self, name: str, mode: PyTree) -> Array:
        """Whether the contact of this name is closed, or sticks."""
        held = getattr(mode, name)
        return held == 0 if isinstance(self.contact_named(name), Coulomb) else held


def unwritten(motion: Motion, name: str) -> MotionError:
    """The error about a method that the author has to write, with its first line."""
    values = ", ".join(f'"{c.name}": ...' for c in motion.coordinates)
    line = {
        "period": "period(self, design, setting): return 1 / setting.frequency",
        "accelerations": f"accelerations(self, now, design, setting): return {{{values}}}",
        "event": "event(self, name, step): return step.fired[0]",
        "holds": "holds(self, name, mode): return mode.closed",
    }[name]
    return MotionError(f"{type(motion).__name__} has no {name}; write def {line}")


def per_second(unit: str) -> str:
    """The unit of a rate."""
    return "1/s" if unit == "-" else f"{unit}/s"
