"""Complete elliptic integrals by the arithmetic-geometric mean, differentiable.

    K(m) = int_0^(pi/2) dt / sqrt(1 - m sin^2 t) = pi / (2 agm(1, sqrt(1 - m))),
    E(m) = int_0^(pi/2) sqrt(1 - m sin^2 t) dt,

with the parameter m = k^2 (not the modulus k). Abramowitz and Stegun, section 17.6. The mean converges
quadratically from any ratio, so a fixed number of steps serves values and derivatives of every order.

Left out: incomplete integrals, the third kind, parameters above one.
"""

import jax.numpy as jnp

from diffmicro._types import Lanes
from diffmicro.parameters import as_arrays

MEANS = 9
"""Steps of the mean: ratios down to 1e-30 end within rounding."""


def agm(a: Lanes | float, b: Lanes | float) -> Lanes:
    """Arithmetic-geometric mean of two positive numbers."""
    larger, smaller = as_arrays((a, b))
    for _ in range(MEANS):
        larger, smaller = (larger + smaller) / 2, jnp.sqrt(larger * smaller)
    return larger


def complete_first(parameter: Lanes | float) -> Lanes:
    """K(m) for m below one."""
    return jnp.pi / (2 * agm(1.0, jnp.sqrt(1 - jnp.asarray(parameter))))


def complete_second(parameter: Lanes | float) -> Lanes:
    """E(m) for m below one."""
    m = as_arrays(parameter)
    a, b = jnp.ones_like(m), jnp.sqrt(1 - m)
    # E / K = 1 - sum_n 2^(n-1) c_n^2 with c_0^2 = m and c_(n+1) = (a_n - b_n) / 2
    lost, weight = m / 2, 0.5
    for _ in range(MEANS):
        a, b, c = (a + b) / 2, jnp.sqrt(a * b), (a - b) / 2
        weight = 2 * weight
        lost = lost + weight * c**2
    return jnp.pi / (2 * a) * (1 - lost)
