"""What a device is: one public, frozen value that everything else takes.

A device turns a `Design` (what a fabricator could change) and a `Setting` (surface, field, drive) into a
`Response` (named outputs with units, and how the calculation ended). All that certificates, sweeps, searches,
figures and the command line need to know beside that is a field here; nothing is found by its name in a module.

The contract of `respond(design, setting, *, throw=True, **numerics) -> Response`:

- pure, jittable, vmappable, differentiable; bad or unfinished lanes are NaN with a status that gives the reason;
- `throw=True` raises where values are known and there is no result (`results.raise_failure`);
- numerics are arguments and never fields: `steps` and `method` where `methods` has them, `extra` where responses
  are on request, `start` where a state can be carried, and the names that `quick`, `lone` and `recheck` use.

`diffmicro.testing.check_device` tries all of it. Left out: how a device is found by its name, see `devices`.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro.parameters import DesignT, Fields, Parameter, SettingT, Value, describe
from diffmicro.recheck import Recheck, Unchecked
from diffmicro.rules import Rule, check_point
from diffmicro.tolerance import Tolerance

ResponseT = TypeVar("ResponseT", bound=eqx.Module)

Hook = Callable[..., Any] | str
"""A function, or where it is (`package.module:name`) when importing it early would cost too much."""


class Method(NamedTuple):
    """One numerical method of a device.

    steps: its usual resolution, the argument `steps` of `respond`; 0: as fine as it needs; None: it has none.
    scheme: its derivative is that of a time-stepping scheme at fixed contacts, not of the motion.
    carries: it begins in the state that it is given, where the device takes one.
    """

    name: str
    steps: int | None = None
    scheme: bool = False
    carries: bool = True


def method_named(where: str, methods: Sequence[Method], name: str | None) -> Method:
    """The method of this name, the first without a name; ValueError for a name that none has."""
    for method in methods:
        if name in (method.name, None):
            return method
    known = ", ".join(method.name for method in methods)
    raise ValueError(f"{where}: method {name!r} is not one of {known}.")


class Alias(NamedTuple):
    """Another way to give a parameter: the alias is `of` times `times`, both parameters, in the latter's unit."""

    of: str
    times: str
    meaning: str


def _product(name: str, alias: Alias, of: Parameter, times: Parameter) -> Parameter:
    """What is known of an alias: default and, where both are never negative, range are those of the product."""
    found = times._replace(name=name, meaning=alias.meaning, default=None, open_low=False)
    if isinstance(of.default, float) and isinstance(times.default, float):
        found = found._replace(default=of.default * times.default)
    if of.low < 0 or times.low < 0:
        return found._replace(low=-math.inf, high=math.inf)
    open_low = (of.open_low or of.low > 0) and (times.open_low or times.low > 0)
    return found._replace(low=of.low * times.low, high=of.high * times.high, open_low=open_low)


def nothing_against(
    response: Fields, design: Fields, setting: Fields, of: str, method: str
) -> Array:
    """The objection of a device without reasons of its own."""
    del response, design, setting, of, method
    return jnp.asarray(0)


class Limit(NamedTuple):
    """A boundary that a device has beside those of periodic motions.

    name: what it is called, in one or two words. meaning: in a line. room: (response, design, setting) -> what
    is left to it: zero at it and smooth inside, where it may be of either sign; None where there is no such
    limit in this setting. Without it the status alone says where the limit is, and its place has no derivative.
    needs: responses on request that `room` needs. status: how calculations end beyond it, where they have no
    room to tell. alone: room depends on design and setting alone, so that it is known where no motion is; it is
    positive inside."""

    name: str
    meaning: str
    room: Callable[..., Array | None] | None = None
    needs: tuple[str, ...] = ()
    status: str = ""
    alone: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Device(Generic[DesignT, SettingT, ResponseT]):
    """A robot, or whatever else has a design, a setting and a response. See the module docstring.

    name: one word. title: what it is, in a line. source: the paper, or whoever derived it.
    Design, Setting: `eqx.Module`s of `parameter`s. Response: `eqx.Module` of `output`s and `result`.
    respond: the one entry point. simulate: `(design, setting)` -> a trajectory with `time`, for looking at.
    published_design, published_setting: `(**overrides)` -> the source's values; by default those of the class.
    methods: the numerical methods, the usual one first. recheck: how a gradient is checked again.
    rules: what fields of Design and Setting have to keep together; `respond` masks lanes that do not
    (`rules.legal`).
    objection: `(response, design, setting, of, method)` -> code of a reason (`reasons.reason_code`) not to trust
    the gradient of that response here, 0 for none.
    on_request: responses that are calculated only when the argument `extra` names them.
    cautions: parameters that are better left alone in an optimization, and why.
    process: how parts deviate from the drawing where nothing else is said, see `Tolerance`.
    drive: names of the parameters that an operator turns: amplitude, frequency, load.
    shown_at: a parameter's value at which the device is seen at work, where it rests at the published one.
    aliases: other names that people may give a parameter by, see `Alias`; for words of the command line and keys
    of sweeps.
    quick: numerics of a search that is cheap in batches and fails where it is not sure; repeated without them.
    lone: numerics that are soonest done for one point, compiling included; of `share` see `recheck.ByResolution`.
    hasty: whether one point is soonest done by a program that was compiled without optimization; not where the
    calculation is long.
    carries: `respond` takes `start`, a `Response.state`.
    walls: `(design, setting)` -> {state: (low, high)}, between which rigid stops keep it [SI]; or None.
    branches: `(design, setting, key, start, stop, *, seeds, steps, watch)` -> iterator of branches, or None.
    orbits: `(design, setting, steps)` -> `dynamics.periodic.Periodic`, where the motion is a periodic one of the
    hybrid engine: its boundaries follow from it. Or None.
    limits: other boundaries, see `Limit`.
    animation: `(design, setting, frames)` -> figure, function that draws frame i, number of frames; None: states
    over time.
    geometry: `(design, layout)` -> `shapes.Geometry`, what the device looks like; or None.
    Layout: `eqx.Module` of what the drawing needs beside the design (widths of plates, springs), with defaults
    from the process.
    files: words that may be a drawing too: name -> `(path)` -> ({field: value}, what was made of it).
    features: `(design, layout)` -> `shapes.Feature`s, the widths, gaps, radii and thicknesses that the rules of a
    process are about, by formulas; or None.
    etched: `(design, layout, taken)` -> the design of a part of which an etch took `taken[layer name]` more from
    every edge than the drawing allows for [m]; or None.
    """

    name: str
    title: str
    source: str
    Design: type[DesignT]
    Setting: type[SettingT]
    Response: type[ResponseT]
    respond: Callable[..., ResponseT]
    simulate: Callable[..., Any] | None = None
    published_design: Callable[..., PyTree] = None  # pyright: ignore[reportAssignmentType]
    published_setting: Callable[..., PyTree] = None  # pyright: ignore[reportAssignmentType]
    methods: tuple[Method, ...] = (Method("event"),)
    recheck: Recheck = Unchecked()
    rules: tuple[Rule, ...] = ()
    objection: Callable[[ResponseT, DesignT, SettingT, str, str], Array] = nothing_against
    on_request: tuple[str, ...] = ()
    cautions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    process: tuple[Tolerance, ...] = ()
    drive: tuple[str, ...] = ()
    shown_at: Mapping[str, float] = dataclasses.field(default_factory=dict)
    aliases: Mapping[str, Alias] = dataclasses.field(default_factory=dict)
    quick: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    lone: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    hasty: bool = True
    carries: bool = False
    walls: Hook | None = None
    branches: Hook | None = None
    orbits: Hook | None = None
    limits: tuple[Limit, ...] = ()
    animation: Hook | None = None
    geometry: Hook | None = None
    Layout: type | None = None
    files: Mapping[str, Hook] = dataclasses.field(default_factory=dict)
    features: Hook | None = None
    etched: Hook | None = None

    def __post_init__(self) -> None:
        for name in ("Design", "Setting"):
            if getattr(self, f"published_{name.lower()}") is None:
                object.__setattr__(self, f"published_{name.lower()}", getattr(self, name))
        complaints = contract_breaches(self)
        if complaints:
            raise TypeError(f"device {self.name!r} is not complete: " + "; ".join(complaints) + ".")
        _DEVICE_OF.setdefault(self.respond, self)  # a changed copy does not take its place

    @property
    def parameters(self) -> dict[str, Parameter]:
        """All fields of Design and Setting by name."""
        return {**describe(self.Design), **describe(self.Setting)}

    @property
    def keys(self) -> dict[str, Parameter]:
        """What takes a value by its name: all fields of Design and Setting, and aliases, in the unit of theirs."""
        known = self.parameters
        return known | {
            name: _product(name, alias, known[alias.of], known[alias.times])
            for name, alias in self.aliases.items()
        }

    @property
    def responses(self) -> dict[str, Parameter]:
        """The fields of Response that are numbers with a unit."""
        return {name: known for name, known in describe(self.Response).items() if known.unit}

    @property
    def usual_responses(self) -> tuple[str, ...]:
        """The responses that are calculated in every case."""
        return tuple(name for name in self.responses if name not in self.on_request)

    def check(self, where: str, design: Fields, setting: Fields) -> None:
        """Raise ValueError for numbers out of range, or that break the rules; traced values pass."""
        check_point(where, self.rules, design, setting)

    def point(self, design: Fields | None, setting: Fields | None) -> tuple[Fields, Fields]:
        """Design and setting, for None the published ones."""
        design = self.published_design() if design is None else design
        return design, self.published_setting() if setting is None else setting

    def part(
        self, design: Fields | None = None, layout: Fields | None = None
    ) -> tuple[Fields, Fields]:
        """What is drawn or etched: for None the published design, and the usual layout."""
        assert self.Layout is not None
        design = self.published_design() if design is None else design
        return design, self.Layout() if layout is None else layout

    def method(self, name: str | None = None) -> Method:
        """The method of this name, the usual one without a name."""
        return method_named(self.name, self.methods, name)

    def check_carries(self, where: str, name: str | None = None) -> None:
        """Raise ValueError where the method of this name begins in no state that it is given."""
        if not self.carries:
            raise ValueError(f"{where}: {self.name} takes no state to start from.")
        if not self.method(name).carries:
            able = " or ".join(method.name for method in self.methods if method.carries)
            raise ValueError(
                f"{where}: {self.name} takes no state to start from by the method {name}; take {able} for that."
            )

    def asking_for(
        self, responses: Sequence[str], numerics: Mapping[str, Value]
    ) -> dict[str, Value]:
        """The numerics of `respond` with what it takes to get these responses."""
        extra = tuple(name for name in self.on_request if name in responses)
        extra += tuple(name for name in numerics.get("extra", ()) if name not in extra)
        return {**numerics, "extra": extra} if extra else dict(numerics)


_DEVICE_OF: WeakKeyDictionary[Callable, Device] = WeakKeyDictionary()


def device_of(respond: Callable) -> Device | None:
    """The device whose `respond` this function is; None for a function that belongs to none."""
    return _DEVICE_OF.get(respond)


def hooked(hook: Hook) -> Callable[..., Any]:
    """The function itself, imported where only its place is given."""
    if not isinstance(hook, str):
        return hook
    module, _, name = hook.partition(":")
    return getattr(import_module(module), name)


def contract_breaches(device: Device) -> list[str]:
    """What is missing or contradicts itself, as far as it shows without a calculation."""
    found = []
    kinds = (device.Design, device.Setting, device.Response)
    for kind, role in zip(kinds, ("Design", "Setting", "Response"), strict=True):
        if not (isinstance(kind, type) and issubclass(kind, eqx.Module)):
            found.append(f"{role} has to be a class that derives from equinox.Module")
    if found:
        return found
    for kind in (device.Design, device.Setting):
        for name, known in describe(kind).items():
            if not known.words and not (known.unit and known.meaning):
                found.append(
                    f"{kind.__name__}.{name} has no unit or no meaning; write parameter(default, "
                    "'meaning', 'unit'), with the unit '-' for a pure number"
                )
    twice = describe(device.Design).keys() & describe(device.Setting).keys()
    if twice:
        found.append(f"{', '.join(sorted(twice))} stands in Design and in Setting; rename one")
    outputs = describe(device.Response)
    if "result" not in outputs:
        found.append("Response has no field `result`, the status of the calculation")
    if not device.responses:
        found.append(
            "Response has no field with a unit; write velocity: Array = output('meaning', 'm/s')"
        )
    if device.carries and "state" not in outputs:
        found.append("carries needs a field `state` in Response")
    found += _unknown(device.on_request, device.responses, "on_request", "Response")
    found += _unknown(device.cautions, device.parameters, "cautions", "Design or Setting")
    moved = [name.partition("[")[0] for own in device.process for name, _ in own.moves]
    found += _unknown(moved, device.parameters, "process", "Design or Setting")
    found += _unknown(device.drive, device.parameters, "drive", "Design or Setting")
    found += _unknown(device.files, device.parameters, "files", "Design or Setting")
    found += _layout_breaches(device)
    for name, alias in device.aliases.items():
        found += _unknown(
            (alias.of, alias.times), device.parameters, "aliases", "Design or Setting"
        )
        if name in device.parameters:
            found.append(f"the alias {name} is a parameter; rename it")
    if not device.methods:
        found.append(
            "methods is empty; name the numerical method: methods=(Method('event', steps=12),)"
        )
    return found


def _layout_breaches(device: Device) -> list[str]:
    if (device.geometry is None) != (device.Layout is None):
        return ["geometry and Layout go together: give both or none"]
    if device.geometry is None and (device.features or device.etched):
        return ["features and etched are about a geometry: give geometry and Layout too"]
    if device.Layout is None:
        return []
    if not (isinstance(device.Layout, type) and issubclass(device.Layout, eqx.Module)):
        return ["Layout has to be a class that derives from equinox.Module"]
    twice = describe(device.Layout).keys() & device.parameters.keys()
    return [f"{', '.join(sorted(twice))} stands in Layout too; rename one"] if twice else []


def _unknown(
    names: Sequence[str] | Mapping[str, object], known: Mapping, role: str, home: str
) -> list[str]:
    return [f"{role} names {name}, which is not in {home}" for name in names if name not in known]
