"""From design and setting of a leg to the numbers that its motion depends on.

Length is measured in the static deflection by the drive, time in drive periods, force over the foot's mobility.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.devices.legs.design import Design, Setting
from diffmicro.devices.legs.motion import LegsMotion
from diffmicro.devices.legs.steady import pack
from diffmicro.mechanics import beam_modes
from diffmicro.mechanics.modes import frequency_response
from diffmicro.mechanics.restitution import shares
from diffmicro.parameters import is_traced

LEG = ("length", "thickness", "width", "young", "density")
"""What a leg needs to make modes: all of these, or none."""


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
    impulsive = setting.law == "full" or (setting.law == "point" and shape is None)
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
    dtype = jnp.result_type(float, *numbers.values())
    numbers = {name: jnp.asarray(number, dtype) for name, number in numbers.items()}
    system = LegsMotion(**numbers, square=setting.waveform == "square", impulsive=impulsive)
    return system, Units(unit, period, 1.0 / total)


def scaled(system: LegsMotion, units: Units, start: Any) -> Array:
    """A state in natural units, less the steady response."""
    speed = start.speed * (units.time / units.length)
    return jnp.concatenate([start.displacement / units.length, speed]) + pack(system.rest())


def harmless(design: Design) -> Any:
    """A design of the same shapes that makes sense, for lanes that do not."""

    def like(value: Any, number: float) -> Array:
        return jnp.full(jnp.shape(value), number)

    leg = design.leg_length is not None
    shape = design.mode_shape
    section = dict(
        leg_length=1e-2, leg_thickness=3e-4, leg_width=1e-3, leg_young=60e9, leg_density=7600.0
    )
    return type(design)(
        frequency=like(design.frequency, 100.0),
        damping=like(design.damping, 0.05),
        gain=like(design.gain, 1e-7),
        mobility=like(design.mobility, 1e4),
        mode_shape=None if shape is None else jnp.eye(*np.shape(shape)[:2]) + 0.5,
        dominant_mode=None if design.dominant_mode is None else 1.0,
        **(section if leg else {}),
    )


def check_sizes(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that contradict each other; traced ones pass."""
    sizes = {name: np.shape(getattr(design, name)) for name in Modes._fields}
    if design.leg_length is None and len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} {shape}" for name, shape in sizes.items())
        raise ValueError(
            f"{where}: Design has modes of unlike number: {told}. Give frequency, damping, gain and mobility "
            "one value per mode each."
        )
    n = sizes["damping"][0]
    leg = {name: getattr(design, f"leg_{name}") for name in LEG}
    missing = [f"leg_{name}" for name, value in leg.items() if value is None]
    if 0 < len(missing) < len(LEG):
        raise ValueError(
            f"{where}: Design.{missing[0]} is missing. A leg needs all of "
            f"{', '.join('leg_' + name for name in LEG)}; leave all out to give the modes themselves."
        )
    shape = design.mode_shape
    if shape is not None:
        points, columns = np.shape(shape)
        if columns != n or (setting.law == "point" and points != n):
            raise ValueError(
                f"{where}: Design.mode_shape has {points} points and {columns} modes, but there are {n} modes. "
                "Give one column per mode; the law `point` needs as many points as modes."
            )
    k = design.dominant_mode
    if (
        k is not None
        and not is_traced(k)
        and not np.all(np.isin(np.asarray(k), np.arange(1, n + 1)))
    ):
        raise ValueError(
            f"{where}: Design.dominant_mode = {k} is not allowed; it has to be a whole number from 1 to {n}, the "
            "number of the mode that takes the impulse."
        )
