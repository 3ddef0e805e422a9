"""What a certificate sees of a wrong derivative: one derivative of a gradient is spoilt, in every way and place.

For each device, at random points near a smooth one, the derivative by each parameter in turn is dropped, made 10 %
larger, or 1 % larger, everywhere along its route. Counted are derivatives that are certified where they are right
and have an elasticity of more than 1 %; caught is what is not certified any more. Of the other derivatives it
counts how many keep their verdict meanwhile.
"""

import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from benchmarks.timing import table
from diffmicro._device import Device
from diffmicro.certificate import value_and_gradient
from diffmicro.devices import device as named_device
from diffmicro.parameters import as_arrays, get, idle, put
from diffmicro.reasons import VERDICTS

FAULTS = {"dropped": 0.0, "+10 %": 1.1, "+1 %": 1.01}
"""By what the derivative is multiplied."""

WORTH = 0.01
"""Smallest elasticity that is counted."""

SPREAD = 0.15
"""Largest change of a parameter from the smooth point, as a share of it."""


class Place(NamedTuple):
    """A smooth operating point of a device, and the response that is looked at."""

    of: str
    design: dict[str, Any] = {}
    setting: dict[str, Any] = {}
    numerics: dict[str, Any] = {}


PLACES = {
    "wrmma": Place("velocity", setting=dict(load_factor=32.0), numerics=dict(window=0)),
    "tumbler": Place("speed", setting=dict(field_frequency=10.0)),
    "legs": Place("peak_height", setting=dict(gap=25e-6, voltage=6.0)),
    "stickslip": Place("force", dict(damping_ratio=0.03)),
    "tribometer": Place("sliding_velocity", setting=dict(drag_ratio=0.8)),
    "gripper": Place("tip_x", setting=dict(force=5e-5)),
}


class Count(NamedTuple):
    """Of one parameter: how often its derivative counted, how often each fault was caught, and of how many other
    certified derivatives how many stayed so."""

    counted: int
    caught: dict[str, int]
    others: int
    apart: int


def spoilt(device: Device) -> Device:
    """The device, with an argument `factors`: by parameter, what its derivatives are multiplied by."""

    def respond(design: Any, setting: Any, *, factors: dict[str, Array], **numerics: Any) -> Any:
        wrong = {name: _factored(get(design, setting, name), f) for name, f in factors.items()}
        return device.respond(*put(design, setting, wrong), **numerics)

    return dataclasses.replace(device, respond=respond)


@jax.custom_jvp
def _factored(value: Array, factor: Array) -> Array:
    del factor
    return value


@_factored.defjvp
def _factored_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    return _factored(*primals), primals[1] * tangents[0]


def points(device: Device, place: Place, count: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Random designs and settings near the place, the place itself first."""
    design = as_arrays(device.published_design(**place.design))
    setting = as_arrays(device.published_setting(**place.setting))
    for number in range(count):
        if number == 0:
            yield design, setting
            continue
        rng = np.random.default_rng((seed, number))
        moved = {}
        for name in parameters(device, design, setting):
            known, value = device.parameters[name], get(design, setting, name)
            new = value * np.exp(rng.uniform(-SPREAD, SPREAD, np.shape(value)))
            if np.all((new > known.low) & (new < known.high)):
                moved[name] = new
        yield put(design, setting, moved)


def parameters(device: Device, design: Any, setting: Any) -> tuple[str, ...]:
    """The names of all parameters that a derivative may be taken by here."""
    return tuple(
        name
        for name, known in device.parameters.items()
        if known.differentiable and not idle(design, setting, name)
    )


@cache
def _judged(name: str) -> Any:
    device, place = spoilt(named_device(name)), PLACES[name]

    @jax.jit
    def judged(design: Any, setting: Any, factors: dict[str, Array]) -> tuple[Array, Array]:
        of = value_and_gradient(device, tuple(factors), place.of, factors=factors, **place.numerics)
        value, gradient, certificate, _ = of(design, setting)
        size = {n: g * get(design, setting, n) / value for n, g in gradient.items()}
        verdicts = {n: e.verdict.astype(float) for n, e in certificate.entries.items()}
        return ravel_pytree(verdicts)[0], ravel_pytree(size)[0]

    return judged


def examine(name: str, count: int, seed: int = 17) -> dict[str, Count]:
    """Counts by parameter, with the place of an entry behind the name of a vector parameter."""
    device, judged = named_device(name), _judged(name)
    found: dict[str, Count] = {}
    for design, setting in points(device, PLACES[name], count, seed):
        names = sorted(parameters(device, design, setting))
        sound = {n: jnp.ones(np.shape(get(design, setting, n))) for n in names}
        flat, unravel = ravel_pytree(sound)
        labels = [
            n + (f"[{i}]" if np.ndim(sound[n]) else "") for n in names for i in range(sound[n].size)
        ]
        verdicts, sizes = map(np.asarray, judged(design, setting, sound))
        good = verdicts == VERDICTS.index("certified")
        for i in np.flatnonzero(good & (np.abs(sizes) > WORTH)):
            caught, others, apart = {}, 0, 0
            for fault, factor in FAULTS.items():
                after = np.asarray(judged(design, setting, unravel(flat.at[i].set(factor)))[0])
                still = after == VERDICTS.index("certified")
                caught[fault] = int(not still[i])
                rest = good & (np.arange(len(good)) != i)
                others, apart = others + int(rest.sum()), apart + int((rest & still).sum())
            found[labels[i]] = _added(found.get(labels[i]), Count(1, caught, others, apart))
    return found


def _added(one: Count | None, other: Count) -> Count:
    if one is None:
        return other
    caught = {fault: one.caught[fault] + other.caught[fault] for fault in FAULTS}
    others, apart = one.others + other.others, one.apart + other.apart
    return Count(one.counted + other.counted, caught, others, apart)


def summary(found: dict[str, Count]) -> Count:
    """All parameters together."""
    total = None
    for count in found.values():
        total = _added(total, count)
    return total or Count(0, dict.fromkeys(FAULTS, 0), 0, 0)


def run(count: int = 2) -> Iterator[str]:
    """The table: a line a device, then the parameters where a fault was missed."""
    rows, missed = [], []
    for name in PLACES:
        found = examine(name, count)
        total = summary(found)
        shares = [f"{total.caught[f]} of {total.counted}" for f in FAULTS]
        rows.append([name, str(len(found)), *shares, f"{total.apart / max(total.others, 1):.1%}"])
        missed += [
            f"{name} {parameter}: {fault} caught {count.caught[fault]} of {count.counted}"
            for parameter, count in found.items()
            for fault in FAULTS
            if count.caught[fault] < count.counted
        ]
    yield from table(["device", "derivatives by", *FAULTS, "others keep their verdict"], rows)
    yield from missed
