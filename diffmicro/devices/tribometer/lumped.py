"""From what is set to what the laws take: the vibrating share of the normal force (eq. 4.23).

A probe whose length changes by dl presses a sphere that is already indented, as a spring of Hertz's stiffness at
the mean force,

    dF_n = lambda 2 E* a(F_n,0) dl,

and contact is lost beyond a ratio of 1 (`mechanics.lift_off`),
with lambda = 1 for the contact as it is described: a sphere, or one with a worn tip or a rough surface (see
`tip`). The thesis fits 2.64 to a smooth sphere. Left out: that the stiffness changes within a period.

Friction that falls with velocity (section 4.3.4: "without excitation the friction decreases") goes from
`friction` at rest to `fast_friction`, by the mean sliding velocity V,

    mu(V) = mu_fast + (mu_slow - mu_fast) exp(-(V / v_s)^2).

The law and v_s are ours. It is taken at the mean velocity, not at that of the instant: in a period at 30 kHz and
10 mm/s the probe goes a third of a micrometer, less than the way over which friction forgets.
"""

import dataclasses

import jax.numpy as jnp
from jax import Array

from diffmicro._types import Scalar
from diffmicro.devices.tribometer.design import Design, Setting
from diffmicro.mechanics import elastic, profiles
from diffmicro.mechanics.presliding import stribeck_curve
from diffmicro.mechanics.profiles import Profile


def force_ratio(design: Design, setting: Setting) -> Array:
    """Amplitude of the normal force over its mean: given, or by the vibration's amplitude."""
    if setting.vibration_length is None:
        return jnp.asarray(setting.force_ratio)
    return setting.vibration_length / longest(design, setting)


def longest(design: Design, setting: Setting) -> Array:
    """The vibration's amplitude at which the probe is about to lift off (eq. 4.24) [m]."""
    modulus = moduli(design)[0]
    profile = profile_of(design)
    if profile is None:
        radius = elastic.hertz_contact_radius(setting.normal_force, design.radius, modulus)
    else:
        radius = profiles.contact_radius(profile, setting.normal_force, modulus)
    return jnp.asarray(setting.normal_force / (setting.stiffness_factor * 2 * modulus * radius))


def moduli(design: Design) -> tuple[Scalar, Scalar]:
    """E* and G* of the contact [Pa]."""
    steel = (design.young, design.poisson)
    modulus = elastic.effective_modulus(*steel, *steel)
    shear = elastic.effective_shear_modulus(*steel, *steel)
    return jnp.asarray(modulus), jnp.asarray(shear)


def profile_of(design: Design) -> Profile | None:
    """Equivalent line of a worn or rough probe; None of a smooth sphere, which has closed forms."""
    tip, roughness = design.tip_radius, design.roughness
    if roughness is not None:
        fractal = (design.hurst, roughness, design.roughness_length)
        return profiles.rough_sphere(design.radius, *fractal, tip)
    return None if tip is None else profiles.FlattenedSphere(design.radius, tip)


def indentation(design: Design, setting: Setting) -> Scalar:
    """Depth to which the mean force presses the probe [m]."""
    modulus = moduli(design)[0]
    profile = profile_of(design)
    if profile is None:
        return elastic.hertz_indentation(setting.normal_force, design.radius, modulus)
    return profile.depth(profiles.contact_radius(profile, setting.normal_force, modulus))


def pressed(design: Design, setting: Setting) -> Setting:
    """The setting with the force ratio that its vibration makes, and the friction at its velocity."""
    return dataclasses.replace(
        setting, force_ratio=force_ratio(design, setting), friction=friction_at(setting)
    )


def friction_at(setting: Setting) -> Array:
    """The coefficient of friction without vibration at the sliding velocity."""
    slow = jnp.asarray(setting.friction)
    if setting.fast_friction is None or setting.sliding_velocity is None:
        return slow
    fast, scale = setting.fast_friction, setting.weakening_velocity
    return jnp.asarray(stribeck_curve(setting.sliding_velocity, slow, fast, scale))
