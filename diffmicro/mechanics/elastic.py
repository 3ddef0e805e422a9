"""Contact of two elastic bodies: effective moduli, the sphere of Hertz, and its tangential law.

    1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b,    1/G* = (2 - nu_a)/(4 G_a) + (2 - nu_b)/(4 G_b).

A sphere pressed by the force F_n: F_n = 4/3 E* sqrt(R) d^(3/2), a = sqrt(R d) (Hertz 1882). Then displaced
sideways by u (Cattaneo 1938, Mindlin 1949): F_x = mu F_n (1 - (1 - u/u_1)^(3/2)) up to the presliding
displacement u_1 = mu E*/G* d, where it slides.

Every function works on numbers and arrays of any batch shape, forward and reverse. Left out: adhesion,
plasticity, coupling of normal and tangential displacement (bodies of similar materials).
"""

import jax.numpy as jnp

from diffmicro._types import Lanes


def shear_modulus(young: Lanes | float, poisson: Lanes | float) -> Lanes | float:
    """Shear modulus of an isotropic material [Pa]."""
    return young / (2 * (1 + poisson))


def effective_modulus(
    young_a: Lanes | float,
    poisson_a: Lanes | float,
    young_b: Lanes | float,
    poisson_b: Lanes | float,
) -> Lanes | float:
    """E* of two materials in normal contact [Pa]."""
    return 1 / ((1 - poisson_a**2) / young_a + (1 - poisson_b**2) / young_b)


def effective_shear_modulus(
    young_a: Lanes | float,
    poisson_a: Lanes | float,
    young_b: Lanes | float,
    poisson_b: Lanes | float,
) -> Lanes | float:
    """G* of two materials in tangential contact [Pa]."""
    soft_a = (2 - poisson_a) / (4 * shear_modulus(young_a, poisson_a))
    soft_b = (2 - poisson_b) / (4 * shear_modulus(young_b, poisson_b))
    return 1 / (soft_a + soft_b)


def hertz_indentation(
    normal_force: Lanes | float, radius: Lanes | float, modulus: Lanes | float
) -> Lanes:
    """Depth to which a sphere is pressed into a plane [m]; `modulus` is E*."""
    return jnp.cbrt((3 * normal_force / (4 * modulus)) ** 2 / radius)


def hertz_contact_radius(
    normal_force: Lanes | float, radius: Lanes | float, modulus: Lanes | float
) -> Lanes:
    """Radius of the contact of a sphere [m]; `modulus` is E*."""
    return jnp.cbrt(3 * normal_force * radius / (4 * modulus))


def hertz_peak_pressure(normal_force: Lanes | float, contact_radius: Lanes | float) -> Lanes:
    """Pressure in the middle of the contact of a sphere [Pa]."""
    return jnp.asarray(3 * normal_force / (2 * jnp.pi * contact_radius**2))


def contact_stiffness(contact_radius: Lanes | float, modulus: Lanes | float) -> Lanes | float:
    """Stiffness of a round contact [N/m]: normal with E*, tangential without slip with G*."""
    return 2 * modulus * contact_radius


def presliding(
    indentation: Lanes | float,
    friction: Lanes | float,
    modulus: Lanes | float,
    shear: Lanes | float,
) -> Lanes | float:
    """u_1: tangential displacement at which a contact of any axisymmetric shape begins to slide [m]."""
    return friction * modulus / shear * indentation
