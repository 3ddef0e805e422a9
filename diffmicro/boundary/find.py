"""The public function `boundaries`: which kinds of boundaries a device has, and in which range they are looked
for."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.boundary.declared import declared_boundaries
from diffmicro.boundary.orbit import orbit_boundaries, settled
from diffmicro.boundary.values import Boundary
from diffmicro.devices import device as named_device
from diffmicro.parameters import Fields, Parameter, as_arrays, get, idle, one_number

REACH = 0.5
"""How far boundaries are looked for by default, as a share of the parameter's value."""


def boundaries(
    device: Device | str,
    design: Fields | None = None,
    setting: Fields | None = None,
    *,
    along: str,
    wrt: Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    start: PyTree = None,
    steps: int | None = None,
    starts: bool = True,
) -> tuple[Boundary, ...]:
    """The boundaries on either side of a point along one parameter, in order of the parameter.

    design, setting: the point, the published one by default. along: name of a parameter that is a number. wrt:
    by what their places are differentiated; by every other number that is not zero, if not given. between:
    where they are looked for; by default within `REACH` of the parameter's value, as far as its range allows.
    start: the state that the motion settles from, a `Response.state`; the device's usual one by default. steps:
    fewest per period. starts: also look where the start stops to lead to the motion (some dozens of
    simulations).

    On each side they are listed up to the first at which the motion ends. `NoResult` where nothing is settled at
    the point itself. A calculation on the host, not for transformations: for those there is `margin`.
    """
    device = named_device(device) if isinstance(device, str) else device
    design, setting = device.point(design, setting)
    device.check(f"{device.name}.boundaries", design, setting)
    low, high = span(device, design, setting, along, between)
    names = differentiated(device, design, setting, along, wrt)
    point = as_arrays((design, setting))
    found: list[Boundary] = []
    if device.orbits is not None:
        motion = settled(device, point[0], point[1], along, low, high, steps, start)
        found += orbit_boundaries(motion, names, starts)
    if device.limits:
        numerics = {} if steps is None else {"steps": steps}
        found += declared_boundaries(device, point[0], point[1], along, low, high, names, numerics)
    if device.orbits is None and not device.limits:
        raise ValueError(
            f"{device.name}.boundaries: this device states none. One made by hybrid.device has its motion's; "
            "any other lists its own in Device.limits."
        )
    return tuple(sorted(found, key=lambda b: b.at))


def span(
    device: Device, design: Fields, setting: Fields, key: str, between: tuple[float, float] | None
) -> tuple[float, float]:
    """Where boundaries along a parameter are looked for; ValueError for what cannot be looked along."""
    if jnp.result_type(float) != jnp.float64:
        raise ValueError(
            f"{device.name}.boundaries need double precision: call diffmicro.configure(double=True) first."
        )
    where = f"{device.name}.boundaries: along {key}"
    known, value = one_number(where, design, setting, key)
    if between is None:
        if value == 0:
            raise ValueError(
                f"{where}: {key} is 0, so there is no usual range; say which, between=(low, high) or "
                f"--along {key}=low:high."
            )
        between = (value - REACH * abs(value), value + REACH * abs(value))
    low, high = _allowed(known, *between)
    if not low <= value <= high or not low < high:
        raise ValueError(
            f"{where}: the range {low:g} to {high:g} does not contain {key} = {value:g}."
        )
    return low, high


def _allowed(known: Parameter, low: float, high: float) -> tuple[float, float]:
    """A range cut to what the parameter may be; an end that is excluded keeps a little away."""
    bottom = known.low + 1e-3 * (high - max(low, known.low)) if known.open_low else known.low
    return max(low, bottom), min(high, known.high)


def differentiated(
    device: Device, design: Fields, setting: Fields, key: str, wrt: Sequence[str] | None
) -> tuple[str, ...]:
    """The parameters by which places are differentiated, sorted."""
    numbers = [
        n for n, p in device.parameters.items() if p.differentiable and not idle(design, setting, n)
    ]
    if wrt is None:
        nonzero = [n for n in numbers if np.all(np.asarray(get(design, setting, n)) != 0)]
        return tuple(sorted(set(nonzero) - {key}))
    for name in wrt:
        if name not in numbers:
            raise ValueError(
                f"{device.name}.boundaries: {name} is not a parameter that boundaries depend on here; these are: "
                f"{', '.join(numbers)}."
            )
    return tuple(sorted(set(wrt) - {key}))
