"""Quaternions against SciPy, and the free rotation against its conserved quantities."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from diffmicro.mechanics import rotations


def test_exponential_product_and_matrix_are_those_of_scipy(rng):
    for size in (1e-12, 1e-4, 0.3, 3.0):
        first, second = rng.normal(size=(2, 3)) * size
        q = rotations.product(rotations.exponential(first), rotations.exponential(second))
        both = Rotation.from_rotvec(first) * Rotation.from_rotvec(second)
        np.testing.assert_allclose(rotations.matrix(q), both.as_matrix(), atol=1e-14)
        np.testing.assert_allclose(np.sum(np.asarray(q) ** 2), 1, rtol=1e-14)


def test_the_exponential_is_smooth_at_zero():
    slope = jax.jacfwd(rotations.exponential)(jnp.zeros(3))
    np.testing.assert_allclose(slope, np.vstack([np.zeros(3), np.eye(3) / 2]), atol=1e-15)
    assert np.isfinite(jax.jacrev(jax.jacfwd(rotations.exponential))(jnp.zeros(3))).all()


def test_free_rotation_keeps_energy_and_turns_the_right_way():
    """Half an hour of a tumbling top: energy to rounding; second order against a fine step."""
    inertia = jnp.asarray([[2.0, 0.1, 0], [0.1, 1.0, 0.2], [0, 0.2, 3.0]])
    inverse, start = jnp.linalg.inv(inertia), jnp.asarray([0.3, 2.0, 0.1])

    @jax.jit
    def after(dt, steps):
        def step(_, spin):
            return rotations.turned_freely(spin, inertia, inverse, jnp.zeros(3), dt)

        return jax.lax.fori_loop(0, steps, step, start)

    def energy(spin):
        return spin @ inertia @ spin / 2

    fine, middle, coarse = (after(2.0 / n, n) for n in (64000, 1000, 500))
    np.testing.assert_allclose(energy(middle), energy(start), rtol=1e-10)
    np.testing.assert_allclose(
        jnp.linalg.norm(inertia @ fine), jnp.linalg.norm(inertia @ start), rtol=1e-8
    )
    ratio = np.linalg.norm(coarse - fine) / np.linalg.norm(middle - fine)
    assert 3.9 < ratio < 4.1
