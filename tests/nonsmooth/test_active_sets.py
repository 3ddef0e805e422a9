"""Every active set tried: the same solutions as Newton's method, and symmetric where they are not unique."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth import LinearComplementarity, solve_newton
from diffmicro.nonsmooth.active_sets import solve_every_active_set


@pytest.fixture(scope="module")
def problems():
    rng = np.random.default_rng(7)
    factors = rng.normal(size=(300, 4, 6))
    matrices = factors @ np.swapaxes(factors, 1, 2)
    skew = rng.normal(size=(300, 4, 4))
    matrices = matrices + 0.3 * (skew - np.swapaxes(skew, 1, 2))
    return matrices, 3 * rng.normal(size=(300, 4))


def test_solutions_are_complementary_and_those_of_newton(problems):
    matrices, vectors = problems
    z = np.asarray(jax.jit(jax.vmap(solve_every_active_set))(matrices, vectors))
    w = np.einsum("nij,nj->ni", matrices, z) + vectors
    assert z.min() >= 0
    assert w.min() > -1e-10
    assert np.abs(z * w).max() < 1e-10
    sizes = np.sum(z > 0, axis=1)
    assert set(sizes) == {0, 1, 2, 3, 4}
    newton = jax.jit(jax.vmap(lambda m, q: solve_newton(LinearComplementarity(m, q)).z))
    np.testing.assert_allclose(z[:50], newton(matrices[:50], vectors[:50]), atol=1e-9)


def test_four_corners_share_what_three_could_carry():
    """The face of a box at rest: the redundant corner's share follows from a weak diagonal."""
    arms = np.array([[1, x, y] for x in (-1, 1) for y in (-1, 1)])
    matrix = arms @ np.diag([1, 3, 3]) @ arms.T
    matrix = matrix + 1e-9 * np.diag(np.diag(matrix))
    z = np.asarray(solve_every_active_set(jnp.asarray(matrix), jnp.full(4, -1.0)))
    np.testing.assert_allclose(z, 0.25, rtol=1e-6)
    assert np.linalg.norm(matrix @ z - 1) < 1e-8


def test_of_several_solutions_it_takes_the_smallest_loads():
    """Not a P-matrix: z = 0 and z = (1, 1) both solve the problem."""
    z = solve_every_active_set(jnp.asarray([[1.0, -2.0], [-2.0, 1.0]]), jnp.ones(2))
    np.testing.assert_array_equal(z, 0)


def test_derivatives_are_those_of_the_active_set():
    matrix = jnp.asarray([[2.0, 0.5], [0.5, 1.0]])
    _, moved = jax.jvp(
        lambda q: solve_every_active_set(matrix, q), (jnp.asarray([-1.0, 2.0]),), (jnp.ones(2),)
    )
    np.testing.assert_allclose(moved, [-0.5, 0.0], atol=1e-12)


def test_too_many_unknowns_are_an_error():
    with pytest.raises(ValueError, match="at most 4 unknowns, got 5"):
        solve_every_active_set(jnp.eye(5), jnp.ones(5))
