"""The WRMMA's periodic motions for their boundaries: see `dynamics.periodic`."""

import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.devices.wrmma.lumped import drive_period, lump
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
        system=ravel_pytree(lump(design, setting))[1],
        state=_state,
        lump=_lump,
        natural=_natural,
        physical=_physical,
        guards=GUARDS,
        modes=("slip", "closed"),
        steps=whole_number("steps", steps, 12, 4, 10**5),
    )


def _state(z: Array) -> State:
    return State(z[0], z[1], z[2], jnp.zeros_like(z[0]))


def _lump(design: Design, setting: Setting) -> Array:
    return ravel_pytree(lump(design, setting))[0]


def _units(design: Design, setting: Setting) -> Array:
    gap = jnp.asarray(design.rest_gap)
    speed = gap / drive_period(design, setting)
    return jnp.stack([gap, speed, speed])


def _natural(design: Design, setting: Setting, state: MotionState | None) -> Array:
    if state is None:
        return jnp.zeros(3).at[0].set(1.0)
    return jnp.stack([state.gap, state.gap_rate, state.body_speed]) / _units(design, setting)


def _physical(design: Design, setting: Setting, z: Array) -> MotionState:
    return MotionState(*(z * _units(design, setting)))
