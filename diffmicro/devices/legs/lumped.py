"""From design and setting of a leg to the numbers that its motion depends on.

Length is measured in the static deflection by the drive, time in drive periods, force over the foot's mobility.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from diffmicro.devices.legs.design import COMPLIANT, Design, Setting
from diffmicro.devices.legs.motion import LegsMotion
from diffmicro.devices.legs.steady import pack
from diffmicro.mechanics import beam_modes
from diffmicro.mechanics.modes import frequency_response
from diffmicro.mechanics.restitution import shares
from diffmicro.parameters import Value

LEG = ("length", "thickness", "width", "young", "density")
"""What a leg needs to make modes: all of these, or none."""

DECAYED = 0.375
"""What an orbit lasts at least, in times in which the slowest mode decays by e (0.02 s of the published legs)."""

MOST_FOLLOWED = 500
"""Drive periods beyond which an orbit is not lengthened: slower modes count as those that do not decay."""


class Modes(NamedTuple):
    """What is known of the modes at the contact foot, SI."""

    frequency: Array
    damping: Array
    gain: Array
    mobility: Array


def modes_of(design: Design) -> Modes:
    """The modes that are given, or those of the leg that is given."""
    damping = jnp.asarray(design.damping)
    if design.leg_length is None:
        numbers = (design.frequency, design.gain, design.mobility)
        frequency, gain, mobility = (jnp.asarray(x) for x in numbers)
        return Modes(frequency, damping, gain, mobility)
    n = damping.shape[0]
    given = (design.leg_length, design.leg_thickness, design.leg_width)
    length, thickness, width = (jnp.asarray(x) for x in given)
    young, density = jnp.asarray(design.leg_young), jnp.asarray(design.leg_density)
    return Modes(
        beam_modes.frequencies(length, thickness, young, density, n),
        damping,
        beam_modes.gains(length, thickness, design.leg_piezo, n),
        beam_modes.mobilities(length, thickness, width, density, n),
    )


def free_amplitude(design: Design, setting: Setting) -> Array:
    """Amplitude of the foot far from the ground at the drive's frequency, from the frequency response [m].

    Of a square wave that is the first harmonic, 4 / pi times the response to a sine.
    """
    modes = modes_of(design)
    at = jnp.asarray(setting.drive_frequency)
    real, imaginary = frequency_response(modes.frequency, modes.damping, at)
    drive = 4 / np.pi if setting.waveform == "square" else 1.0
    in_phase, quadrature = jnp.sum(modes.gain * real), jnp.sum(modes.gain * imaginary)
    return drive * setting.voltage * jnp.hypot(in_phase, quadrature)


class Units(NamedTuple):
    """Units of length [m], time [s] and force over acceleration, the mass at the foot [kg]."""

    length: Array
    time: Array
    mass: Array


def shortest_orbit(design: Design, units: Units) -> Array:
    """The drive periods in which the slowest mode decays noticeably."""
    modes = modes_of(design)
    slowest, turn = jnp.min(modes.frequency * modes.damping), 2 * jnp.pi * units.time
    periods = jax.lax.stop_gradient(DECAYED / (slowest * turn))
    return jnp.clip(jnp.ceil(periods - 1e-9), 1, MOST_FOLLOWED)


def lump(design: Design, setting: Setting) -> tuple[LegsMotion, Units]:
    """The numbers that the motion depends on, in units of the static deflection and the drive period."""
    modes = modes_of(design)
    period = 1.0 / jnp.asarray(setting.drive_frequency)
    total = jnp.sum(modes.mobility)
    free = jax.lax.stop_gradient(setting.voltage * jnp.sum(jnp.abs(modes.gain)))
    # Without a drive the gap is the scale, and without a gap a micrometer.
    gap = jax.lax.stop_gradient(jnp.asarray(setting.gap))
    unit = jnp.where(free > 0, free, jnp.where(gap > 0, gap, 1e-6))
    dominant = None if design.dominant_mode is None else jnp.asarray(design.dominant_mode) - 1
    shape = design.mode_shape if setting.law == "point" else None
    share = shares(setting.law, modes.mobility, dominant, shape)
    impulsive = setting.law in ("full", COMPLIANT) or (setting.law == "point" and shape is None)
    numbers = dict(
        frequency=2 * jnp.pi * modes.frequency * period,
        damping=modes.damping,
        gain=modes.gain * setting.voltage / unit,
        mobility=modes.mobility / total,
        share=share,
        film=design.film * total * (period / unit / unit / unit),
        film_offset=design.film_offset / unit,
        pull=design.electrostatic * setting.voltage**2 * total * (period**2 / unit / unit / unit),
        pull_offset=design.electrostatic_offset / unit,
        adhesion=design.adhesion * total * (period**2 / unit / unit / unit / unit),
        adhesion_offset=design.adhesion_offset / unit,
        gap=setting.gap / unit,
        restitution=setting.restitution,
        threshold=setting.bounce_threshold / unit,
    )
    stiffness = setting.ground_stiffness * total * period**2
    ground = dict(
        stiffness=stiffness, dashpot=2 * jnp.asarray(setting.ground_damping) * jnp.sqrt(stiffness)
    )
    if setting.law == COMPLIANT:
        numbers |= ground
    dtype = jnp.result_type(float, *numbers.values())
    numbers = {name: jnp.asarray(number, dtype) for name, number in numbers.items()}
    rigid: dict[str, Value] = {name: None for name in ground if name not in numbers}
    system = LegsMotion(
        **numbers, **rigid, square=setting.waveform == "square", impulsive=impulsive
    )
    return system, Units(unit, period, 1.0 / total)


def scaled(system: LegsMotion, units: Units, start: PyTree) -> Array:
    """A state in natural units, less the steady response."""
    speed = start.speed * (units.time / units.length)
    return jnp.concatenate([start.displacement / units.length, speed]) + pack(system.rest())
