"""Friction in a ball: its law at random data, its derivatives, and its limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth.ellipsoid import friction_in_ball

COUNT = 2000


@pytest.fixture(scope="module")
def data():
    """Inverse masses with ratios up to 1e4, slips and bounds over many orders of magnitude."""
    rng = np.random.default_rng(3)
    turns = np.linalg.qr(rng.normal(size=(COUNT, 3, 3)))[0]
    sizes = 10 ** rng.uniform(-2, 2, (COUNT, 3))
    matrices = np.einsum("nij,nj,nkj->nik", turns, sizes, turns)
    slips = rng.normal(size=(COUNT, 3)) * 10 ** rng.uniform(-6, 3, (COUNT, 1))
    free = np.linalg.norm(np.linalg.solve(matrices, slips[..., None])[..., 0], axis=1)
    bounds = free * 10 ** rng.uniform(-5, 1, COUNT)
    return matrices, slips, bounds


@pytest.fixture(scope="module")
def solved(data):
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(friction_in_ball))(*data))


def test_the_law_holds(data, solved):
    matrices, slips, bounds = data
    f, s = solved.force, solved.multiplier
    length = np.linalg.norm(f, axis=1)
    velocity = np.einsum("nij,nj->ni", matrices, f) + slips
    left = np.linalg.norm(velocity + s[:, None] * f, axis=1)
    assert np.all(left < 1e-9 * np.linalg.norm(slips, axis=1))
    assert np.all(length <= bounds * (1 + 1e-12))
    slides = s > 0
    assert 0.5 < slides.mean() < 0.95
    np.testing.assert_allclose(length[slides], bounds[slides], rtol=1e-9)
    assert np.all(
        np.linalg.norm(velocity[~slides], axis=1) < 1e-9 * np.linalg.norm(slips[~slides], axis=1)
    )


def test_derivatives_are_those_of_the_law(data, solved):
    """H df + db = -s df - ds f and f.df = r dr while it slides; H df = -db while it sticks."""
    matrices, slips, bounds = data
    direction = np.random.default_rng(4).normal(size=(COUNT, 3))
    db = direction * np.linalg.norm(slips, axis=1)[:, None]
    dr = direction[:, 0] * bounds
    df = np.einsum("nij,nj->ni", solved.by_slip, db) + solved.by_bound * dr[:, None]
    change = np.einsum("nij,nj->ni", matrices, df) + db + solved.multiplier[:, None] * df
    slides = solved.multiplier > 0
    along = solved.force / np.linalg.norm(solved.force, axis=1)[:, None]
    across = change - np.sum(change * along, axis=1)[:, None] * along
    scale = np.linalg.norm(db, axis=1)
    assert np.all(np.linalg.norm(np.where(slides[:, None], across, change), axis=1) < 1e-8 * scale)
    stretch = np.sum(along * df, axis=1)[slides]
    np.testing.assert_allclose(
        stretch, dr[slides], atol=1e-7 * np.abs(bounds[slides]).max(), rtol=1e-6
    )


def test_without_a_load_there_is_no_friction():
    rubbed = friction_in_ball(jnp.eye(3), jnp.asarray([1.0, 0, 0]), jnp.asarray(0.0))
    np.testing.assert_array_equal(rubbed.force, 0)
    np.testing.assert_allclose(rubbed.by_bound, [-1, 0, 0], atol=1e-12)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("slip", [0.0, 1e-15, 1e-6])
def test_rest_stays_finite(slip, dtype):
    mass, bound = jnp.eye(3, dtype=dtype), jnp.ones((), dtype)

    @jax.jit
    def rubbed(b):
        return friction_in_ball(mass, b, bound), jax.jacfwd(friction_in_ball, 1)(mass, b, bound)

    value, slope = rubbed(jnp.full(3, slip, dtype))
    assert all(np.isfinite(part).all() for part in (*value, *slope))
    np.testing.assert_allclose(value.force, -slip, rtol=1e-6)
    np.testing.assert_allclose(slope.force, -np.eye(3), atol=1e-6)
