"""Laws of impact: the paper's matrix (eq. 28), energy, several feet at once, and the small-scale forces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.mechanics import films, restitution
from tests.oracles import closed_forms

E, ALPHA = 0.51, -0.51


@pytest.fixture
def structure(rng):
    """Mode shapes of six feet, eta^2, mobilities at foot 1."""
    shape, mass = rng.normal(size=(6, 6)), 1.3e-4
    return shape, mass, shape[0] ** 2 / mass


def test_eq24_and_modes_that_the_dominant_law_leaves_alone(structure, rng):
    shape, _, mobility = structure
    k = int(np.argmax(mobility))
    share = np.asarray(restitution.shares("dominant", jnp.asarray(mobility)))
    for before in rng.normal(size=(20, 6)):
        # modal velocities q', points x' = Phi q'; shares act on Phi_c q'.
        foot = shape[0] @ before
        change = share * (ALPHA - 1) * foot / np.where(share > 0, shape[0], 1.0)
        after = before + change
        np.testing.assert_array_equal(np.delete(after, k), np.delete(before, k))
        beta = shape[:, k] / shape[0, k] * (ALPHA - 1)
        np.testing.assert_allclose(shape @ (after - before), beta * foot, rtol=1e-12, atol=1e-12)
        matrix = np.eye(6) + np.outer(beta, np.eye(6)[0])
        np.testing.assert_allclose(matrix @ (shape @ before), shape @ after, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("law", restitution.LAWS)
def test_energy_change_is_the_difference_of_energies(law, structure, rng):
    shape, mass, mobility = structure
    share = np.asarray(restitution.shares(law, jnp.asarray(mobility), None, jnp.asarray(shape)))
    assert share.sum() == pytest.approx(1.0, rel=1e-12)
    velocity = rng.normal(size=(200, 6))
    change = np.asarray(
        jax.vmap(
            lambda v: restitution.energy_change(jnp.asarray(share), jnp.asarray(mobility), v, E)
        )(velocity)
    )
    after = velocity - (1 + E) * velocity.sum(1, keepdims=True) * share
    expected = 0.5 * np.sum((after**2 - velocity**2) / mobility, axis=1)
    np.testing.assert_allclose(change, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    foot = velocity.sum(1)
    if law == "full":
        np.testing.assert_allclose(change, -(1 - E**2) * foot**2 / (2 * mobility.sum()), rtol=1e-8)
    if law == "dominant":
        rho = foot - velocity[:, np.argmax(mobility)]
        formula = (1 + E) / (2 * mobility.max()) * (2 * rho * foot - (1 - E) * foot**2)
        np.testing.assert_allclose(change, formula, rtol=1e-8, atol=1e-9 * np.abs(formula).max())
        assert np.array_equal(change > 0, rho / foot > (1 - E) / 2)


def test_point_law_changes_the_foot_alone_and_is_full_for_a_diagonal_mass(structure, rng):
    shape, mass, mobility = structure
    share = np.asarray(restitution.shares("point", jnp.asarray(mobility), None, jnp.asarray(shape)))
    modal = share / shape[0]
    np.testing.assert_allclose(shape @ modal, np.eye(6)[0], atol=1e-10)
    # M = eta^2 Phi^-T Phi^-1 is diagonal for Phi = D Q with an orthogonal Q.
    lumped = np.diag(rng.uniform(0.5, 2, 6)) @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    mobility = lumped[0] ** 2 / mass
    point = restitution.shares("point", jnp.asarray(mobility), None, jnp.asarray(lumped))
    np.testing.assert_allclose(point, mobility / mobility.sum(), rtol=1e-9, atol=1e-12)


def test_several_feet_at_once(structure, rng):
    shape, mass, _ = structure
    feet = jnp.asarray(shape[:4])
    matrix = restitution.delassus(feet, mass)
    solve = jax.jit(jax.vmap(lambda v, t: restitution.feet_impulses(matrix, v, t, E)))
    modal = rng.normal(size=(60, 6))
    touching = rng.uniform(size=(60, 4)) < 0.7
    solution = solve(modal @ np.asarray(feet).T, touching)
    impulse = np.asarray(solution.z)
    assert np.all(np.isfinite(impulse))
    assert np.all(impulse[~touching] == 0)
    assert np.all(impulse >= 0)
    before = modal @ np.asarray(feet).T
    slack = before + impulse @ np.asarray(matrix).T + E * before
    scale = np.abs(before).max()
    assert np.all(slack[touching] > -1e-9 * scale)
    assert np.all(np.abs(impulse * slack)[touching] < 1e-9 * scale * impulse.max())
    after = modal + impulse @ np.asarray(feet) / mass
    assert np.all(np.sum(after**2, 1) <= np.sum(modal**2, 1) * (1 + 1e-12))


def test_one_foot_of_several_is_the_full_law(structure, rng):
    shape, mass, mobility = structure
    modal = rng.normal(size=6)
    foot = shape[:1] @ modal
    modal *= -np.sign(foot[0])
    foot = shape[:1] @ modal
    matrix = restitution.delassus(jnp.asarray(shape[:1]), mass)
    found = restitution.feet_impulses(matrix, jnp.asarray(foot), jnp.array([True]), E)
    change = shape[0] * float(found.z[0]) / mass
    share = np.asarray(restitution.shares("full", jnp.asarray(mobility)))
    np.testing.assert_allclose(shape[0] * change, -(1 + E) * foot[0] * share, rtol=1e-9)


def test_small_scale_forces():
    height = np.linspace(0, 1e-5, 5)
    film = films.squeeze_film(jnp.asarray(height), -2e-3, 4e-20, 2.7e-6)
    assert np.all(film > 0) and np.all(np.diff(film) < 0)
    np.testing.assert_allclose(film, 4e-20 * 2e-3 / (height + 2.7e-6) ** 3, rtol=1e-12)
    pull = films.electrostatic(jnp.asarray(height), 10.0, 1e-18, 2.7e-6)
    np.testing.assert_allclose(pull, -1e-18 * 100 / (height + 2.7e-6) ** 2, rtol=1e-12)
    power = closed_forms.dissipated(height, 2e-3, 4e-20, 2.7e-6)
    np.testing.assert_allclose(power, film * 2e-3, rtol=1e-12)


def test_adhesion_is_the_slope_of_its_energy():
    height = jnp.linspace(0.0, 1e-6, 7)
    force = films.adhesion(height, 3e-27, 2e-7)
    assert np.all(np.asarray(force) < 0) and np.all(np.diff(force) > 0)
    slope = jax.vmap(jax.grad(lambda h: closed_forms.adhesion_energy(h, 3e-27, 2e-7)))(height)
    np.testing.assert_allclose(force, -slope, rtol=1e-12)
    # Hamaker's constant 1e-19 J, 1 mm^2, at 0.2 um: A S / (6 pi h^3).
    known = 1e-19 * 1e-6 / (6 * np.pi) / (2e-7) ** 3
    assert float(films.adhesion(0.0, 1e-25 / (6 * np.pi), 2e-7)) == pytest.approx(-known, rel=1e-12)
