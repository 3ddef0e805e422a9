"""A leg as a clamped piezoelectric beam: modes, mobilities and gains at its tip from its section.

Euler-Bernoulli cantilever of length L, thickness t, width b, Young's modulus Y, density rho:
frequencies (beta_j L)^2 / (2 pi L^2) sqrt(Y t^2 / (12 rho)) with cos(x) cosh(x) = -1 at x = beta_j L; tip mobility
of every mode 4/(rho b t L). Both halves of the thickness are active with opposite fields (a bimorph whose halves
each carry the voltage), so one volt bends it by a curvature 6 d31 / t^2, and the tip rises by 3 d31 L^2 / t^2. A
constant moment acts on a mode by its slope at the tip, so mode j takes the share

    G_j = 3 d31 L^2 / t^2 * 8 sigma_j / x_j^3,   sigma_j = (sinh x - sin x) / (cosh x + cos x),

whose sum over all modes is the static gain (three modes make 1.4 % too little).

A model: an assembled robot is no clamped beam, and its lowest modes move the body. Left out: bonding layers,
electrodes, shear, the foot's mass.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
from jax import Array

Real = Array | float


@cache
def roots(modes: int) -> np.ndarray:
    """The first roots of cos(x) cosh(x) = -1: 1.8751, 4.6941, 7.8548, ..."""
    x = (2 * np.arange(1, modes + 1) - 1) * np.pi / 2
    for _ in range(20):
        # Divided by cosh, so that it does not overflow; the correction is largest for the first root.
        value = np.cos(x) + 1 / np.cosh(x)
        slope = -np.sin(x) - np.tanh(x) / np.cosh(x)
        x = x - value / slope
    return x


@cache
def gain_shares(modes: int) -> np.ndarray:
    """Share of each mode in the static deflection of the tip under a constant moment [-]; they sum to one."""
    x = roots(modes)
    inverse = 1 / np.sinh(x)
    sigma = (1 - np.sin(x) * inverse) / (1 / np.tanh(x) + np.cos(x) * inverse)
    return 8 * sigma / x**3


def frequencies(length: Real, thickness: Real, young: Real, density: Real, modes: int) -> Array:
    """Natural frequencies [Hz]."""
    wave = jnp.asarray(roots(modes) ** 2 / (2 * np.pi * 12**0.5))
    return wave * (thickness / length**2 * jnp.sqrt(young / density))


def mobilities(length: Real, thickness: Real, width: Real, density: Real, modes: int) -> Array:
    """Mobility of each mode at the tip, one over its modal mass there [1/kg]."""
    return jnp.full(modes, 4.0) / (density * width * thickness * length)


def static_gain(length: Real, thickness: Real, piezo: Real) -> Real:
    """Static tip deflection per volt, all modes together [m/V]; piezo: d31 [m/V]."""
    return 3 * piezo * (length / thickness) ** 2


def gains(length: Real, thickness: Real, piezo: Real, modes: int) -> Array:
    """Each mode's share of the static tip deflection per volt [m/V]."""
    return jnp.asarray(gain_shares(modes)) * static_gain(length, thickness, piezo)
