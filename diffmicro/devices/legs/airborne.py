"""The motion of a foot in the air, as if there were no ground below it: where it begins to touch.

The motion of `motion` without impacts, a smooth periodic motion also where it dips below the ground a little
(the small-scale forces go on there, see `motion.force_on_foot`). So the height of its lowest point crosses
zero where the foot first touches, and its slopes there move that place. Beside it the foot itself may bounce
already, and a motion that bounces may go on where this one no longer touches; for both see `steady`.
"""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro._types import Real
from diffmicro.devices.legs.design import Design, Setting
from diffmicro.devices.legs.lumped import lump, shortest_orbit
from diffmicro.devices.legs.motion import Record
from diffmicro.devices.legs.steady import follow, lengthened, pack, period_map

STEPS = 96
"""Fewest steps per drive period, as the lowest point is that of a cubic over a step. A film needs more."""


@eqx.filter_jit
def lowest_in_air(
    design: Design, setting: Setting, steps: int = STEPS, tolerance: Real = 1e-10
) -> Array:
    """Height of the lowest point of the periodic motion without ground [m]; NaN where there is none."""
    system, units = lump(design, setting)
    system = dataclasses.replace(system, ground=False, stiffness=None, dashpot=None)
    parameters, unravel = ravel_pytree(system)
    count = lengthened(jnp.asarray(1), shortest_orbit(design, units))
    still = jnp.zeros_like(
        pack(system.rest())
    )  # the steady response to the drive: right without forces
    tolerance = jnp.asarray(tolerance, system.gap.dtype)
    orbit = follow(period_map(unravel, steps), parameters, still, tolerance, count)
    low = Record(*orbit.observed).low
    return jnp.where(orbit.accepted, low, jnp.nan) * units.length
