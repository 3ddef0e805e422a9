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
