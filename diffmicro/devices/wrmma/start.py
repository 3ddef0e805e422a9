"""Where the motion begins: at rest, or where a ramp of the field or a sweep of the frequency has led to."""

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro.devices.wrmma.design import STARTS, Design, Setting
from diffmicro.devices.wrmma.lumped import drive_period, lump
from diffmicro.devices.wrmma.steady import MotionState, period_map
from diffmicro.dynamics.starts import approached
from diffmicro.parameters import as_arrays, valid

STEPS, TOLERANCE = 12, 1e-9
"""Of the event method on the way."""


def legal(design: Design, setting: Setting) -> Array:
    """Whether all values are allowed, traced ones too."""
    return valid(design, setting) & jnp.all(design.rest_gap < design.device_length)


def units(design: Design, setting: Setting) -> Array:
    """Natural units of the state: gap, its rate, the body's speed [SI]."""
    speed = design.rest_gap / drive_period(design, setting)
    return jnp.stack([jnp.asarray(design.rest_gap), speed, speed])


def numbers(design: Design, setting: Setting) -> Array:
    """What the motion depends on, as one vector. Bad lanes get harmless numbers, so that they end."""
    found, _ = ravel_pytree(lump(design, setting))
    harmless, _ = ravel_pytree(lump(*as_arrays((Design(), Setting()))))
    return jnp.where(legal(design, setting), found, harmless.astype(found.dtype))


def begin(design: Design, setting: Setting) -> MotionState:
    """The state from which the robot is left to itself, by `setting.start`."""
    design, setting = jax.lax.stop_gradient(as_arrays((design, setting)))
    still = jnp.zeros_like(design.rest_gap)
    rest = MotionState(gap=jnp.asarray(design.rest_gap), gap_rate=still, body_speed=still)
    if setting.start == "rest":
        return rest
    approach = STARTS[setting.start]
    _, unravel = ravel_pytree(lump(design, setting))

    def on_the_way(progress: Array) -> tuple[Array, Array]:
        way = approach.at(design, setting, progress)
        return numbers(*way), units(*way)

    mapped = period_map(unravel, STEPS)
    state = jnp.stack([rest.gap, still, still])
    tolerance = jnp.asarray(TOLERANCE, state.dtype)
    return MotionState(*approached(mapped, on_the_way, state, setting.start_periods, tolerance))
