"""The margin of a design along a parameter: how far the nearest end is, as a share of the parameter.

With s the nearest boundary at which the motion ends (or the nearest of the limits that a device states), and p the
parameter, the margin is |s - p| / |p|. It is smooth where a response has a cliff, and its derivatives are those of
s. Where no end lies within `REACH` of p the margin is `REACH`, with derivatives of zero: it says "at least".

`margin("rest_gap")` is a name, which objectives and constraints take like that of a response. `margin_of` is a
function of JAX. The start does not count: the margin is that of the motion, however it was reached.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.autodiff.rules import Changes, known
from diffmicro.boundary.declared import declared_boundaries
from diffmicro.boundary.find import REACH, span
from diffmicro.boundary.orbit import Motion, boundary_of, followed, orbit_boundaries, settled
from diffmicro.boundary.values import Boundary
from diffmicro.devices import as_device
from diffmicro.dynamics.boundaries import walk
from diffmicro.parameters import Fields, Value, as_arrays, get, idle, put
from diffmicro.results import NoResult

NAME = re.compile(r"margin\((\w+)\)")


def margin(key: str) -> str:
    """The name of the margin along a parameter, for objectives and constraints."""
    return f"margin({key})"


def margin_key(name: str) -> str | None:
    """The parameter of a margin's name; None for any other name."""
    found = NAME.fullmatch(name)
    return found[1] if found else None


class Margin(NamedTuple):
    """A margin: its value [-], derivatives by name, and the boundary it leads to; None where none is within
    reach."""

    value: float
    gradient: dict[str, np.ndarray]
    boundary: Boundary | None


def measured(
    device: Device,
    design: Fields,
    setting: Fields,
    key: str,
    wrt: Sequence[str] = (),
    response: PyTree = None,
    numerics: Mapping[str, Value] | None = None,
) -> Margin:
    """The margin along `key`, with its derivatives by `wrt`. response: the motion, where it is known already.

    `NoResult` where there is no motion. On the host.
    """
    low, high = span(device, design, setting, key, None)
    design, setting = as_arrays((design, setting))
    here = float(get(design, setting, key))
    others = tuple(sorted(set(wrt) - {key}))
    steps = (numerics or {}).get("steps")
    ends: list[Boundary] = []
    if device.orbits is not None:
        if response is None:
            motion = settled(device, design, setting, key, low, high, steps)
        else:
            motion = followed(device, design, setting, key, low, high, steps, response)
        ends += _ends(motion, others)
    if device.limits:
        given = {} if steps is None else {"steps": steps}
        ends += declared_boundaries(device, design, setting, key, low, high, others, given)
    blank = {n: np.zeros(np.shape(get(design, setting, n))) for n in wrt}
    if not ends:
        return Margin(REACH, blank, None)
    nearest = min(ends, key=lambda b: b.distance)
    way = (1.0 if nearest.at > here else -1.0) / abs(here)
    gradient = {n: way * np.asarray(nearest.grad.get(n, np.nan)) + blank[n] for n in others}
    if key in wrt:
        gradient[key] = np.asarray(-way * nearest.at / here)
    return Margin(nearest.distance, gradient, nearest)


def nearby(device: Device, design: Fields, setting: Fields, key: str) -> list[Boundary]:
    """All boundaries along `key`, those of the start and changes at which the motion goes on among them, without
    derivatives. `NoResult` where there is no motion. On the host."""
    low, high = span(device, design, setting, key, None)
    design, setting = as_arrays((design, setting))
    found: list[Boundary] = []
    if device.orbits is not None:
        motion = settled(device, design, setting, key, low, high, None)
        found += orbit_boundaries(motion, (), starts=True, look=False)
        if any(b.kind == "lost" for b in found):  # by a change on the way, that the end lies behind
            found = [b for b in found if b.kind != "lost"] + _ends(motion, ())
    if device.limits:
        found += declared_boundaries(device, design, setting, key, low, high, (), {})
    return found


def measured_or_nan(
    device: Device,
    design: Fields,
    setting: Fields,
    key: str,
    wrt: Sequence[str] = (),
    response: PyTree = None,
    numerics: Mapping[str, Value] | None = None,
) -> Margin:
    """The same; NaN where there is no motion, or none that has derivatives."""
    try:
        return measured(device, design, setting, key, wrt, response, numerics)
    except NoResult:
        slopes = {n: np.full(np.shape(get(design, setting, n)), np.nan) for n in wrt}
        return Margin(np.nan, slopes, None)


def margin_value(
    device: Device,
    design: Fields,
    setting: Fields,
    key: str,
    response: PyTree,
    numerics: Mapping[str, Value] | None = None,
) -> Array:
    """The margin of the motion of a response, without derivatives, or NaN. Also within a compiled program, which
    calls the host for it, one lane after another."""

    def on_host(design: Fields, setting: Fields, response: PyTree) -> Array:
        found = measured_or_nan(device, design, setting, key, (), response, numerics)
        return jnp.asarray(found.value, float)

    shape = jax.ShapeDtypeStruct((), float)
    return eqx.filter_pure_callback(
        on_host, design, setting, response, result_shape_dtypes=shape, vmap_method="sequential"
    )


def _ends(motion: Motion, wrt: Sequence[str]) -> list[Boundary]:
    """The end above, and that below where it is nearer."""
    found: list[Boundary] = []
    for side, sign in (("above", 1.0), ("below", -1.0)):
        first = motion.first._replace(
            tangent=sign * motion.first.tangent, side=sign * motion.first.side
        )
        until = abs(found[0].at - motion.here) if found else np.inf
        changes = [c for c in walk(motion.course, first, ends=True, until=until) if c.ends]
        found += [boundary_of(motion, change, side, wrt, look=False) for change in changes]
    return found


def margin_of(device: Device | str, key: str) -> Callable[[Fields, Fields], Array]:
    """Function of (design, setting) to the margin along `key`, with first derivatives in forward and reverse mode.

    It is found on the host, one lane after another; where there is no motion it is NaN, and so are second
    derivatives everywhere.
    """
    known_device = as_device(device)
    names = tuple(n for n, p in known_device.parameters.items() if p.differentiable)

    def of_point(design: Fields, setting: Fields) -> Array:
        given = {n: get(design, setting, n) for n in names}
        given = {n: jnp.asarray(v, float) for n, v in given.items() if v is not None}
        blank = jax.tree.map(lambda leaf: None, (design, setting))

        def on_host(given: dict[str, Array]) -> tuple[np.ndarray, list[np.ndarray]]:
            return _on_host(known_device, key, put(blank[0], blank[1], given), tuple(given))

        leaves, tree = jax.tree.flatten(given)
        shape = jax.ShapeDtypeStruct((), jnp.zeros(()).dtype)
        shapes = (shape, [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves])
        fixed = jax.lax.stop_gradient(given)
        value, slopes = jax.pure_callback(on_host, shapes, fixed, vmap_method="sequential")
        slopes = known(_unknown, slopes, leaves)
        return known(_by_slopes, value, (leaves, slopes))

    return of_point


def _by_slopes(value: Array, given: tuple[list[Array], list[Array]], changes: Changes) -> Array:
    """What does not move has no part in it: its slope may be unknown."""
    leaves, slopes = given
    moved = zip(slopes, changes[: len(leaves)], strict=True)
    return sum(
        (jnp.sum(slope * change) for slope, change in moved if change is not None),
        jnp.zeros_like(value),
    )


def _unknown(value: list[Array], given: list[Array], changes: Changes) -> list[Array]:
    """Second derivatives are not calculated: NaN, not zero."""
    moved = sum(jnp.sum(change) for change in changes if change is not None)
    return [jnp.full_like(slope, jnp.nan) * moved for slope in value]


def _on_host(
    device: Device, key: str, point: tuple[Fields, Fields], names: tuple[str, ...]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Margin and its slopes by all numbers, in the order of a tree's leaves; NaN where there is no motion."""
    used = [n for n in names if not idle(*point, n)]
    found = measured_or_nan(device, *point, key, used)
    slopes = {n: np.zeros(np.shape(get(*point, n))) for n in names}
    if np.isnan(found.value):
        slopes = {n: slope * np.nan for n, slope in slopes.items()}
    return np.asarray(found.value, float), jax.tree.leaves({**slopes, **found.gradient})
