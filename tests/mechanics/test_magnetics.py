"""Demagnetizing factor and pull of soft-magnetic bodies."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from diffmicro.constants import MU_0
from diffmicro.mechanics.magnetics import force_unit, normalized_force, prism_demagnetization
from tests.oracles.closed_forms import amplification

LENGTH, WIDTH, HEIGHT = 280e-6, 130e-6, 50e-6  # Nagy 2012: the device without its gap
FIT = {"gap_fit": 0.025, "gain_fit": 3.028, "demagnetization": 0.1161}  # Table I, alpha = 1.5


def shape_correlation(length, width, height):
    """The factor as an integral over wave numbers along the length, by another road.

    A uniformly magnetized prism has charges on its two end faces. Their mean interaction is
    n = integral of the autocorrelation of one face times (1/r(0) - 1/r(length)) / (2 pi).
    """

    def pair(x, y):
        s = np.hypot(x, y)
        weight = (width - x) * (height - y)
        return weight * (1 / s - 1 / np.hypot(s, length))

    def inner(angle):  # polar, so that 1/s is harmless
        c, d = np.cos(angle), np.sin(angle)
        far = min(width / c if c > 1e-15 else np.inf, height / d if d > 1e-15 else np.inf)
        return quad(lambda s: s * pair(s * c, s * d), 0, far, epsabs=0, epsrel=1e-11)[0]

    corner = np.arctan2(height, width)
    total = quad(inner, 0, corner, epsabs=0, epsrel=1e-10)[0]
    total += quad(inner, corner, np.pi / 2, epsabs=0, epsrel=1e-10)[0]
    return 2 * total / (np.pi * width * height * length)


def test_published_factor():
    """Printed as 0.1161, from the equivalent ellipsoid."""
    assert round(float(prism_demagnetization(LENGTH, WIDTH, HEIGHT)), 4) == 0.1161


@pytest.mark.parametrize(
    "edges", [(LENGTH, WIDTH, HEIGHT), (1.0, 1.0, 1.0), (0.2, 1.0, 3.0), (7.0, 0.5, 1.0)]
)
def test_factor_agrees_with_charges_on_the_end_faces(edges):
    expected = shape_correlation(*(e / edges[0] for e in edges))
    assert float(prism_demagnetization(*edges)) == pytest.approx(expected, rel=1e-8)


def test_factors_of_three_edges_add_up_to_one(rng):
    edges = rng.uniform(0.1, 3.0, (3, 50))
    total = sum(prism_demagnetization(*np.roll(edges, k, axis=0)) for k in range(3))
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


def test_factor_of_a_cube_and_of_extreme_shapes():
    assert float(prism_demagnetization(1.0, 1.0, 1.0)) == pytest.approx(1 / 3, rel=1e-13)
    assert 0.99 < float(prism_demagnetization(1.0, 1e3, 1e3)) < 1.0  # plate across the field
    assert 0.0 < float(prism_demagnetization(1e2, 1.0, 1.0)) < 0.01  # needle along the field


def test_factor_in_single_precision():
    single = prism_demagnetization(*map(jnp.float32, (LENGTH, WIDTH, HEIGHT)))
    assert single.dtype == jnp.float32
    assert float(single) == pytest.approx(
        float(prism_demagnetization(LENGTH, WIDTH, HEIGHT)), rel=5e-5
    )


def test_factor_depends_on_shape_only():
    """Euler's relation: the gradient along the dimensions themselves vanishes."""
    edges = jnp.array([LENGTH, WIDTH, HEIGHT])
    slope = jax.grad(lambda e: prism_demagnetization(*e))(edges)
    assert abs(float(slope @ edges)) < 1e-12 * float(jnp.abs(slope) @ edges)


def test_force_fit_is_amplification_squared_over_concentration():
    """Eq. 8, second form."""
    ratio = jnp.linspace(0.0, 0.2, 30)
    concentrated = FIT["gap_fit"] / FIT["demagnetization"] + ratio
    gain = amplification(ratio, FIT["gap_fit"], FIT["demagnetization"])
    np.testing.assert_allclose(
        normalized_force(ratio, **FIT), FIT["gain_fit"] ** 2 * gain**2 / concentrated, rtol=1e-13
    )


def test_force_pulls_harder_the_closer():
    force = jnp.asarray(normalized_force(jnp.linspace(0.0, 0.2, 30), **FIT))
    assert jnp.all(jnp.diff(force) < 0)
    assert float(force[0]) == pytest.approx(3.028**2 / (0.1161 * 0.025), rel=1e-13)
    assert float(amplification(1e9, 0.025, 0.1161)) == pytest.approx(1.0, rel=1e-8)


def test_published_force_against_friction():
    """The printed constants give eta = 57.53 / beta at 5 mT and 300 um (errata of the paper)."""
    pull = force_unit(WIDTH * HEIGHT, 5e-3) * normalized_force(20 / 280, **FIT)
    friction = 0.5 * 8900.0 * WIDTH * HEIGHT * LENGTH * 9.81
    assert float(pull / friction) == pytest.approx(57.53, abs=0.005)


def test_force_unit_is_magnetic_pressure_of_half_the_field():
    assert float(force_unit(2.0, 0.6)) == pytest.approx(2.0 * 0.3**2 / (2 * MU_0), rel=1e-13)
