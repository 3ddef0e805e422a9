"""What a laboratory measures on a leg, as functions of its design: to identify designs from data.

Three kinds of data say different things. The frequency response far from the ground knows frequencies, damping
and gains. Velocities before and after impacts know the restitution and how modes share an impulse, and no
mobility itself: only ratios. Short windows of motion near the ground know the products of mobilities with film
and attraction.
"""

from typing import Any

import jax.numpy as jnp
from jax import Array

from diffmicro.devices import legs_stepping
from diffmicro.devices.legs import Design, Setting, lump, modes_of
from diffmicro.devices.legs_motion import State, phase_at
from diffmicro.mechanics.modes import frequency_response


def foot_response(design: Design, drive_frequency: Array) -> Array:
    """Complex response of the foot per volt far from the ground at each drive frequency [m/V]."""
    modes = modes_of(design)
    real, imaginary = frequency_response(
        modes.frequency[None, :], modes.damping[None, :], drive_frequency[:, None]
    )
    return jnp.sum(modes.gain[None, :] * (real + 1j * imaginary), axis=1)


def impact_shares(design: Design, setting: Setting) -> Array:
    """Change of each mode's speed at the foot in an impact, per speed of the foot, taken positive [-]."""
    system, _ = lump(design, setting)
    return (1.0 + system.restitution) * system.share


def carried(
    design: Design, setting: Setting, state: Array, first: Array, length: int, steps: int
) -> Array:
    """The state, displacements and speeds of all modes at the foot [m, m/s], some steps later.

    `first`: number of the step of the drive period at which it starts; `length`: steps that it is carried
    over; `steps`: steps per period, an even number. Differentiable in forward mode.
    """
    system, units = lump(design, setting)
    n = system.modes()
    speed = units.length / units.time
    count = jnp.asarray(float(steps), system.gap.dtype)
    first = jnp.asarray(first, jnp.int32)

    def steady(share: Array) -> tuple[Any, Any]:
        return system.steady(phase_at(share))

    x, v = steady(first / count)
    start = State(tuple(state[:n] / units.length - x), tuple(state[n:] / speed - v))
    flight = legs_stepping.carry(system, start, count, first, length)
    x, v = steady(flight.step / count)
    arrived = jnp.stack(flight.state.x) + x, jnp.stack(flight.state.v) + v
    return jnp.concatenate([arrived[0] * units.length, arrived[1] * speed])
