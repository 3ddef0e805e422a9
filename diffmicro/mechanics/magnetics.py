"""Soft-magnetic bodies in a homogeneous field: demagnetizing factor, and pull across a small gap.

Two soft-magnetic parts of common cross-section A and total magnetic length L face each other across
a gap g. They concentrate the applied flux B by the amplification (Nagy 2012, eq. 7)

    A_m = (c_g mu_eff + r) / (c_g + r),   r = g / L,   mu_eff = 1 / n_x

and attract each other with (eqs. 8-13)

    F = A B^2 / (8 mu_0) * N(r) * (s + offset)^2,   N(r) = kappa^2 (c_g mu_eff + r) / (c_g + r)^2

where B (s + offset) / 2 is the applied flux and c_g, kappa are fitted to finite elements (Table I).
The paper's text writes the argument as the elongation of the spring; it can only be the gap itself,
since the force would be singular at an elongation of -c_g L (see the errata).

n_x is the magnetometric demagnetizing factor of a rectangular prism, in the closed form of
A. Aharoni, J. Appl. Phys. 83 (1998) 3432. The paper takes it from the equivalent ellipsoid, which
is defined by having the prism's volume and factors, so both are the same number: 0.11613 for
280 x 130 x 50 um (printed: 0.1161).

Left out: saturation, finite permeability of the material, fringes beyond the fit, torque.
"""

import jax.numpy as jnp

from diffmicro._types import Lanes
from diffmicro.constants import MU_0

Real = Lanes | float


def prism_demagnetization(length: Real, width: Real, height: Real) -> Lanes:
    """Demagnetizing factor of a rectangular prism along its length [-].

    All three dimensions are positive [m]. The factors along the three edges add up to one.
    """
    # With the length as unit nothing under- or overflows in single precision, and inverse
    # hyperbolic sines keep the digits that the logarithms of nearly equal numbers would lose.
    a, b = jnp.asarray(width / length), jnp.asarray(height / length)
    ab2, a2, b2 = a**2 + b**2, a**2, b**2
    r, ac, bc = jnp.sqrt(1 + ab2), jnp.sqrt(1 + a2), jnp.sqrt(1 + b2)
    edges = (
        (1 - b2) / b * jnp.arcsinh(a / bc)
        + (1 - a2) / a * jnp.arcsinh(b / ac)
        + b * jnp.arcsinh(a / b)
        + a * jnp.arcsinh(b / a)
        - jnp.arcsinh(b) / a
        - jnp.arcsinh(a) / b
    )
    corners = (a * a2 + b * b2 - 2 + (ab2 - 2) * r - ab2**1.5 - bc**3 - ac**3) / (3 * a * b)
    faces = (ac + bc) / (a * b)
    # arctan2, because jaxlib 0.10.2 vectorizes arctan wrongly on some processors.
    return (edges + corners + 2 * jnp.arctan2(a * b, r) + faces) / jnp.pi


def normalized_force(gap_ratio: Real, gap_fit: Real, gain_fit: Real, demagnetization: Real) -> Real:
    """Pull in units of A B^2 / (8 mu_0), eq. 13 [-]; `gap_ratio` is gap over magnetic length."""
    concentrated = gap_fit / demagnetization + gap_ratio
    return gain_fit**2 * concentrated / (gap_fit + gap_ratio) ** 2


def force_unit(pole_area: Real, field: Real) -> Real:
    """A B^2 / (8 mu_0) [N] for a facing area [m^2] and a flux density [T], eq. 12."""
    return pole_area * field**2 / (8 * MU_0)
