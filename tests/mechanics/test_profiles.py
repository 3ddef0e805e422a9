"""Equivalent lines: closed forms, the integral of any shape, and boundary elements."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.mechanics import elastic
from diffmicro.mechanics.profiles import (
    FlattenedSphere,
    PowerLine,
    Sphere,
    Together,
    contact_radius,
    normal_force,
    pressure,
    rough_sphere,
    roughness_coefficient,
)
from tests.oracles import round_contact
from tests.oracles.closed_forms import Revolved, power_law

RADIUS, TIP, FORCE = 0.5e-3, 2e-6, 0.25
MODULUS = 1.4725e11
ROUGH = (1.7, 0.92e-6, 383e-6)
PROFILES = {
    "sphere": Sphere(RADIUS),
    "flattened": FlattenedSphere(RADIUS, TIP),
    "cone-like": power_law(0.1, 1.3),
    "rough": rough_sphere(RADIUS, *ROUGH),
    "rough and flattened": rough_sphere(RADIUS, *ROUGH, TIP),
}


def test_sphere_is_hertz():
    a = contact_radius(Sphere(RADIUS), FORCE, MODULUS)
    assert float(a) == pytest.approx(
        float(elastic.hertz_contact_radius(FORCE, RADIUS, MODULUS)), rel=1e-13
    )
    d = Sphere(RADIUS).depth(a)
    assert float(d) == pytest.approx(
        float(elastic.hertz_indentation(FORCE, RADIUS, MODULUS)), rel=1e-13
    )
    r = a * jnp.linspace(0, 0.999, 9)
    hertz = elastic.hertz_peak_pressure(FORCE, a) * jnp.sqrt(1 - (r / a) ** 2)
    np.testing.assert_allclose(pressure(Sphere(RADIUS), r, a, MODULUS), hertz, rtol=1e-12)


def test_flattened_tip_fulfills_eq_3_11():
    a = float(contact_radius(FlattenedSphere(RADIUS, TIP), FORCE, MODULUS))
    force = 2 * MODULUS / (3 * RADIUS) * (2 * a**2 + TIP**2) * np.sqrt(a**2 - TIP**2)
    assert force == pytest.approx(FORCE, rel=1e-13)


def test_flattened_tip_of_no_size_is_the_sphere():
    """Value and derivatives; the one by the tip's size is zero."""

    def radius(sphere, tip):
        return contact_radius(FlattenedSphere(sphere, tip), FORCE, MODULUS)

    value, slopes = jax.value_and_grad(radius, (0, 1))(RADIUS, 0.0)
    assert float(value) == pytest.approx((0.75 * FORCE * RADIUS / MODULUS) ** (1 / 3), rel=1e-13)
    assert float(slopes[0]) == pytest.approx(float(value) / (3 * RADIUS), rel=1e-12)
    assert float(slopes[1]) == 0.0


def test_a_flat_tip_without_roughness_is_the_flattened_sphere():
    """Within the tip there is no force: the search has to come back out of it."""
    whole = float(contact_radius(Sphere(RADIUS), FORCE, MODULUS))
    tips, forces = np.meshgrid(np.array([0.5, 1.0, 1.2]) * whole, np.array([0.1, 0.5, 1.0]) * FORCE)

    def radius(tip, force, smooth):
        flat = FlattenedSphere(RADIUS, tip)
        line = flat if smooth else rough_sphere(RADIUS, 1.7, 0.0, 383e-6, tip)
        return contact_radius(line, force, MODULUS)

    alone, together = (
        jax.jit(jax.vmap(jax.value_and_grad(lambda t, f, s=s: radius(t, f, s))))(
            tips.ravel(), forces.ravel()
        )
        for s in (True, False)
    )
    np.testing.assert_allclose(together, alone, rtol=1e-9)


def test_power_laws_of_parabola_and_cone():
    """kappa_2 = 2 (Hertz), kappa_1 = pi / 2 (the cone of Galin)."""
    assert float(power_law(1.0, 2.0).coefficient) == pytest.approx(2, rel=1e-14)
    assert float(power_law(1.0, 1.0).coefficient) == pytest.approx(np.pi / 2, rel=1e-14)


def test_rough_line_is_eq_3_12():
    hurst, rms, length = ROUGH
    x = 3e-6
    factor = (2 * (hurst + 1) / (1.9412 * length)) ** (hurst + 1) * (hurst + 1) * length
    expected = x**2 / RADIUS + factor / (2 * hurst) * rms * x**hurst
    assert float(PROFILES["rough"].depth(x)) == pytest.approx(expected, rel=1e-13)
    assert float(roughness_coefficient(*ROUGH)) == pytest.approx(factor / (2 * hurst) * rms)


@pytest.mark.parametrize("name", PROFILES)
def test_pressure_carries_the_force(name):
    profile = PROFILES[name]
    a = contact_radius(profile, FORCE, MODULUS)
    assert float(normal_force(profile, a, MODULUS)) == pytest.approx(FORCE, rel=1e-12)
    nodes, weights = np.polynomial.legendre.leggauss(3000)
    total = 0.0
    for low, high in ((0.0, TIP), (TIP, float(a))):
        r = low + (high - low) * (1 + nodes) / 2
        values = np.asarray(pressure(profile, jnp.asarray(r), a, MODULUS))
        total += np.sum(values * 2 * np.pi * r * weights) * (high - low) / 2
    assert total == pytest.approx(FORCE, rel=1e-8)


@pytest.mark.parametrize("name", PROFILES)
def test_stiffness_is_twice_modulus_times_radius(name):
    """dF/dd = 2 E* a for every profile, through derivatives of force and depth."""
    profile = PROFILES[name]
    a = 5e-6
    force = jax.grad(lambda a: normal_force(profile, a, MODULUS))(a)
    depth = jax.grad(profile.depth)(a)
    assert float(force / depth) == pytest.approx(2 * MODULUS * a, rel=1e-12)
    assert float(depth) == pytest.approx(float(profile.slope(a)), rel=1e-12)
    assert float(jax.grad(profile.area)(a)) == pytest.approx(float(profile.depth(a)), rel=1e-12)


@pytest.mark.parametrize("name", PROFILES)
def test_derivatives_of_the_radius_from_scaling(name):
    """F(a) = E* f(a): elasticities by force and modulus are opposite; by force it is F / (a F')."""
    profile = PROFILES[name]
    a, (by_force, by_modulus) = jax.value_and_grad(
        lambda force, modulus: contact_radius(profile, force, modulus), (0, 1)
    )(FORCE, MODULUS)
    slope = jax.grad(lambda a: normal_force(profile, a, MODULUS))(float(a))
    assert float(by_force) == pytest.approx(1 / float(slope), rel=1e-11)
    assert float(by_modulus * MODULUS) == pytest.approx(-float(by_force) * FORCE, rel=1e-11)


def test_any_shape_equals_the_closed_forms():
    x = jnp.asarray([1e-6, 2.5e-6, 7e-6])
    pairs = [
        (Revolved(lambda r: r / RADIUS), Sphere(RADIUS)),
        (
            Revolved(lambda r: jnp.where(r > TIP, r / RADIUS, 0.0), (TIP,)),
            FlattenedSphere(RADIUS, TIP),
        ),
        (Revolved(lambda r: 3e3 * 3 * r**2), power_law(3e3, 3.0)),
    ]
    for general, closed in pairs:
        np.testing.assert_allclose(general.depth(x), closed.depth(x), rtol=1e-12, atol=1e-22)
        np.testing.assert_allclose(general.area(x), closed.area(x), rtol=1e-12, atol=1e-28)
        np.testing.assert_allclose(general.slope(x), closed.slope(x), rtol=1e-10, atol=1e-16)


def test_profiles_add():
    both = Together((Sphere(RADIUS), PowerLine(2.0, 1.5)))
    x = jnp.asarray([0.0, 1e-6])
    np.testing.assert_allclose(both.depth(x), x**2 / RADIUS + 2 * x**1.5, rtol=1e-14)
    assert np.isfinite(jax.grad(lambda n: PowerLine(2.0, n).depth(0.0))(1.5))


def test_radius_in_batches_and_single_precision():
    forces = jnp.asarray([0.01, 0.1, 1.0])
    batch = jax.vmap(lambda force: contact_radius(PROFILES["rough"], force, MODULUS))(forces)
    single = [float(contact_radius(PROFILES["rough"], float(f), MODULUS)) for f in forces]
    np.testing.assert_allclose(batch, single, rtol=1e-14)
    low = contact_radius(Sphere(jnp.float32(RADIUS)), jnp.float32(FORCE), jnp.float32(MODULUS))
    assert low.dtype == jnp.float32
    assert float(low) == pytest.approx(
        float(contact_radius(Sphere(RADIUS), FORCE, MODULUS)), rel=1e-6
    )


@pytest.mark.parametrize("tip, nodes, within", [(0.0, 80, 1e-4), (0.06, 80, 5e-5)])
def test_boundary_elements_agree(tip, nodes, within):
    """Depth, force and pressure by rings on a half-space, which know nothing of one dimension."""
    outer, reach = 1.0, 0.1
    places = round_contact.graded(reach, tip, nodes)

    def shape(r):
        return np.where(r > tip, (r**2 - tip**2) / (2 * outer), 0.0)

    depth, force, values = round_contact.solve(shape, reach, places, 1.0)
    profile = FlattenedSphere(outer, tip)
    assert depth == pytest.approx(float(profile.depth(reach)), rel=within)
    assert force == pytest.approx(float(normal_force(profile, reach, 1.0)), rel=within)
    away = (np.abs(places - tip) > 2e-3) & (places < 0.98 * reach)
    mine = np.asarray(pressure(profile, jnp.asarray(places), reach, 1.0))
    np.testing.assert_allclose(mine[away], values[away], rtol=5e-3)
