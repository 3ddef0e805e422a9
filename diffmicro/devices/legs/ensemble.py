"""Statistics of legs from several starts at once, for motions that may be chaotic: values without gradients.

`legs.respond` looks for a periodic motion and simulates on where there is none. Where only means over time
and starts are wanted, as in fits to bounce statistics, this is many times cheaper per set of parameters: every
start is one lane, and `jax.vmap` over designs and settings makes more lanes.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.legs import stepping
from diffmicro.devices.legs.design import Design, Setting
from diffmicro.devices.legs.motion import MOST_STEPS, Record, State, blank, closed_up
from diffmicro.devices.legs.response import STEPS, lump
from diffmicro.devices.legs.rules import RULES
from diffmicro.parameters import as_arrays, whole_number
from diffmicro.rules import check_point


class Ensemble(NamedTuple):
    """Of every start after `settle`, over `window`; NaN where the simulation did not get through.

    mean_height, peak_height, bounce_height: as in `legs.Response` [m]; bounce_rate, impacts: per second [1/s].
    """

    mean_height: Array
    peak_height: Array
    bounce_height: Array
    bounce_rate: Array
    impacts: Array


def ensemble(
    design: Design,
    setting: Setting,
    starts: Array,
    *,
    tolerance: Array | float = 1e-9,
    steps: int = STEPS,
) -> Ensemble:
    """The motions from rest with displacements `starts` (starts, modes) of the foot by each mode [m].

    The flights under way at both ends of the window count as one. `steps`, `tolerance`: see `legs.respond`.
    """
    check_point("legs.ensemble", RULES, design, setting)
    steps = whole_number("steps", steps, STEPS, 10, MOST_STEPS)
    design, setting = as_arrays((design, setting))
    return _ensemble(design, setting, jnp.asarray(starts), jnp.asarray(tolerance), steps=steps)


@eqx.filter_jit
def _ensemble(
    design: Design, setting: Setting, starts: Array, tolerance: Array, *, steps: int
) -> Ensemble:
    system, units = jax.lax.stop_gradient(lump(design, setting))
    count = system.steps(steps, tolerance.astype(system.gap.dtype))
    first = jnp.ceil(setting.settle / units.time - 1e-9).astype(jnp.int32)
    length = jnp.maximum(jnp.floor(setting.window / units.time + 1e-9), 1.0).astype(jnp.int32)
    rest = system.rest()

    def one(start: Array) -> tuple[Array, Record]:
        x = tuple(a + b / units.length for a, b in zip(rest.x, start, strict=True))
        empty = blank(system.gap)
        settled = stepping.run(system, State(x, rest.v), first, count, empty)
        flight = stepping.run(system, settled.state, length, count, empty)
        through = (settled.periods >= first) & (flight.periods >= length)
        return jnp.where(through, 1.0, jnp.nan), closed_up(system, flight.record)

    whole, seen = jax.vmap(one)(starts)
    periods = length.astype(whole.dtype)
    bounce = jnp.where(seen.bounces > 0, seen.heights / jnp.maximum(seen.bounces, 1.0), 0.0)
    return Ensemble(
        seen.height / periods * units.length * whole,
        seen.peak * units.length * whole,
        bounce * units.length * whole,
        seen.bounces / periods / units.time * whole,
        seen.impacts / periods / units.time * whole,
    )
