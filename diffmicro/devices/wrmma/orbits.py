"""The WRMMA's periodic motions for their boundaries: see `dynamics.periodic`."""

import jax.numpy as jnp
from jax import Array

from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.devices.wrmma.lumped import motion_of, numbers, units
from diffmicro.devices.wrmma.motion import State
from diffmicro.devices.wrmma.steady import MotionState
from diffmicro.dynamics.periodic import Guard, Periodic
from diffmicro.parameters import as_arrays, whole_number

GUARDS = (
    Guard("body", "friction", "slip"),
    Guard("body", "friction", "slip"),
    Guard("hammer", "impact", "closed"),
)
"""The guards of `motion`, by the part of the mode that they end."""


def periodic(design: Design, setting: Setting, steps: int | None = None) -> Periodic:
    """The motions of all devices that have the words of this one."""
    design, setting = as_arrays((design, setting))
    return Periodic(
        system=motion_of(design, setting),
        state=_state,
        lump=numbers,
        natural=_natural,
        physical=_physical,
        guards=GUARDS,
        modes=("slip", "closed"),
        steps=whole_number("steps", steps, 12, 4, 10**5),
    )


def _state(z: Array) -> State:
    return State(z[0], z[1], z[2], jnp.zeros_like(z[0]))


def _natural(design: Design, setting: Setting, state: MotionState) -> Array:
    return jnp.stack([state.gap, state.gap_rate, state.body_speed]) / units(design, setting)


def _physical(design: Design, setting: Setting, z: Array) -> MotionState:
    return MotionState(*(z * units(design, setting)))
