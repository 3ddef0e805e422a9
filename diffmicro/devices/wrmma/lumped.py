"""From the design to the lumped numbers that the motion depends on, and the units that they count in."""

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro._types import Real
from diffmicro.constants import EPSILON_0
from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.devices.wrmma.motion import WrmmaMotion
from diffmicro.devices.wrmma.rules import RULES
from diffmicro.mechanics.magnetics import force_unit, normalized_force, prism_demagnetization
from diffmicro.parameters import as_arrays
from diffmicro.rules import legal, where_legal


def masses(design: Design) -> tuple[Array | float, Array | float]:
    """Mass of body and hammer [kg]: equal sections, lengths as the masses."""
    area = design.width * design.height
    total = design.density * area * (design.device_length - design.rest_gap)
    body = total / (1.0 + design.mass_ratio)
    return body, design.mass_ratio * body


def drive_period(design: Design, setting: Setting) -> Array | float:
    """Period of the drive [s]."""
    return 1.0 / (setting.frequency_ratio * design.tethered_frequency)


def units(design: Design, setting: Setting) -> Array:
    """Natural units of the state: gap, its rate, the body's speed [SI]."""
    speed = design.rest_gap / drive_period(design, setting)
    return jnp.stack([jnp.asarray(design.rest_gap), speed, speed])


def rest_force(design: Design, setting: Setting) -> Real:
    """F_0 of eq. 19: a quarter of the magnetic force at the rest gap while the field is on [N]."""
    magnetic_length = design.device_length - design.rest_gap
    shape = normalized_force(
        design.rest_gap / magnetic_length, design.gap_fit, design.gain_fit, _demagnetization(design)
    )
    unit = force_unit(design.width * design.height, setting.field)
    return design.force_scale * unit * shape


def eta(design: Design, setting: Setting) -> Real:
    """Magnetic force at rest over friction force, eq. 27 [-]."""
    body, hammer = masses(design)
    weight = setting.load_factor * (body + hammer) * setting.gravity
    return rest_force(design, setting) / (setting.friction * weight)


def clamp_force(setting: Setting) -> Real:
    """F_C0, a quarter of the force while the clamp is on: given, or that of a plate capacitor (eqs. 14 to 16) [N].

    The paper prints F_C0 without the square of the voltage.
    """
    if setting.clamp_voltage is None:
        return setting.clamp_force
    permittivity = setting.substrate_permittivity * EPSILON_0
    field = setting.clamp_voltage / setting.substrate_thickness
    return permittivity * setting.clamp_area * field**2 / 8


def lump(design: Design, setting: Setting) -> WrmmaMotion:
    """The numbers that the motion depends on, in units of rest gap, drive period and hammer mass."""
    body, hammer = masses(design)
    period = drive_period(design, setting)
    gap, magnetic_length = design.rest_gap, design.device_length - design.rest_gap
    turns = design.tethered_frequency * period
    force = hammer * gap / period**2
    acceleration = gap / period**2
    reach = design.gap_fit * magnetic_length / gap
    pull = design.force_scale * force_unit(design.width * design.height, setting.field)
    pull = pull * design.gain_fit**2 * (magnetic_length / gap)
    load = setting.load_factor * (body + hammer) * setting.gravity
    numbers = dict(
        stiffness=(2 * jnp.pi * turns) ** 2,
        damping=design.damping * period / hammer,
        pull=pull / force,
        numerator=reach / _demagnetization(design),
        denominator=reach,
        mass_ratio=design.mass_ratio,
        bound=setting.friction * load / body / acceleration,
        clamp=setting.friction * 4 * clamp_force(setting) / body / acceleration,
        restitution=design.restitution,
        clamp_phase=setting.clamp_phase,
        offset=setting.field_offset,
        rise=setting.field_rise,
    )
    dtype = jnp.result_type(float, *numbers.values())
    numbers = {name: jnp.asarray(number, dtype) for name, number in numbers.items()}
    return WrmmaMotion(
        **numbers,
        sinusoidal=setting.waveform == "sine",
        constant=setting.magnetic_force == "constant",
    )


def numbers(design: Design, setting: Setting) -> Array:
    """What the motion depends on, as one vector."""
    return ravel_pytree(lump(design, setting))[0]


def motion_of(design: Design, setting: Setting) -> Callable[[Array], WrmmaMotion]:
    """The way back from such a vector to the motion, which has the words of this setting."""
    return ravel_pytree(lump(design, setting))[1]


def legal_numbers(design: Design, setting: Setting) -> Array:
    """`numbers`; bad lanes get harmless ones, so that they end."""
    harmless = numbers(*as_arrays((Design(), Setting())))
    return where_legal(legal(RULES, design, setting), numbers(design, setting), harmless)


def _demagnetization(design: Design) -> Array:
    if design.demagnetization is not None:
        return jnp.asarray(design.demagnetization)
    magnetic_length = design.device_length - design.rest_gap
    return prism_demagnetization(
        magnetic_length, jnp.asarray(design.width), jnp.asarray(design.height)
    )
