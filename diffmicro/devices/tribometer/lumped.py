"""From what is set to what the laws take: the vibrating share of the normal force (eq. 4.23).

A probe whose length changes by dl presses a sphere that is already indented, as a spring of Hertz's stiffness at
the mean force,

    dF_n = lambda 2 E* a(F_n,0) dl,

with lambda = 1 for a smooth, unworn sphere. The thesis fits 2.64. Left out: that the stiffness changes within a
period.
"""

import dataclasses

import jax.numpy as jnp
from jax import Array

from diffmicro.devices.tribometer.design import Design, Setting
from diffmicro.mechanics.elastic import effective_modulus, hertz_contact_radius


def force_ratio(design: Design, setting: Setting) -> Array:
    """Amplitude of the normal force over its mean: given, or by the vibration's amplitude."""
    if setting.vibration_length is None:
        return jnp.asarray(setting.force_ratio)
    return setting.vibration_length / longest(design, setting)


def longest(design: Design, setting: Setting) -> Array:
    """The vibration's amplitude at which the probe is about to lift off (eq. 4.24) [m]."""
    steel = (design.young, design.poisson)
    modulus = effective_modulus(*steel, *steel)
    radius = hertz_contact_radius(setting.normal_force, design.radius, modulus)
    return jnp.asarray(setting.normal_force / (setting.stiffness_factor * 2 * modulus * radius))


def pressed(design: Design, setting: Setting) -> Setting:
    """The setting with the force ratio that its vibration makes."""
    return dataclasses.replace(setting, force_ratio=force_ratio(design, setting))
