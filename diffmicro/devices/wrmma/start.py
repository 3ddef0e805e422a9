"""Where the motion begins: at rest, or where a ramp of the field or a sweep of the frequency has led to."""

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.wrmma.design import STARTS, Design, Setting
from diffmicro.devices.wrmma.lumped import legal_numbers, motion_of, units
from diffmicro.devices.wrmma.steady import MotionState, period_map
from diffmicro.dynamics.starts import approached
from diffmicro.parameters import as_arrays

STEPS, TOLERANCE = 12, 1e-9
"""Of the event method on the way."""


def begin(design: Design, setting: Setting) -> MotionState:
    """The state from which the robot is left to itself, by `setting.start`."""
    design, setting = jax.lax.stop_gradient(as_arrays((design, setting)))
    still = jnp.zeros_like(design.rest_gap)
    rest = MotionState(gap=jnp.asarray(design.rest_gap), gap_rate=still, body_speed=still)
    if setting.start == "rest":
        return rest
    approach = STARTS[setting.start]

    def on_the_way(progress: Array) -> tuple[Array, Array]:
        way = approach.at(design, setting, progress)
        return legal_numbers(*way), units(*way)

    mapped = period_map(motion_of(design, setting), STEPS)
    state = jnp.stack([rest.gap, still, still])
    tolerance = jnp.asarray(TOLERANCE, state.dtype)
    return MotionState(*approached(mapped, on_the_way, state, setting.start_periods, tolerance))
