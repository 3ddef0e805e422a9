"""Derivatives of exact solutions: closed forms, both modes, degenerate and failed problems."""

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro.nonsmooth import (
    BoxComplementarity,
    LinearComplementarity,
    solve_closed_form,
    solve_newton,
    with_implicit_derivative,
)
from diffmicro.results import word, words

MATRIX = np.array([[2.0, 0.5, 0.3], [-0.4, 1.5, 0.2], [0.1, 0.6, 1.0]])
VECTOR = np.array([-1.0, -2.0, 4.0])
LOWER, UPPER = np.array([0.0, -1.0, -2.0]), np.array([np.inf, 1.0, 2.0])  # z1 free, z2 up, z3 low


def sum_of(solution):
    return jnp.array([1.0, 2.0, 4.0]) @ solution.z + jnp.array([0.5, 0.25, 0.125]) @ solution.w


def box_value(matrix, vector, lower, upper):
    return sum_of(solve_newton(BoxComplementarity(matrix, vector, lower, upper)))


def known_value(matrix, vector, lower, upper):
    """The same with the active set written out."""
    z2, z3 = upper[1], lower[2]
    z1 = -(vector[0] + matrix[0, 1] * z2 + matrix[0, 2] * z3) / matrix[0, 0]
    z = jnp.array([z1, z2, z3])
    w = matrix @ z + vector
    return jnp.array([1.0, 2.0, 4.0]) @ z + jnp.array([0.25, 0.125]) @ w[1:]


def test_first_and_second_derivatives_with_respect_to_all_data():
    data = tuple(jnp.array(x) for x in (MATRIX, VECTOR, LOWER, UPPER))
    assert abs(jax.jit(box_value)(*data) - known_value(*data)) < 1e-14
    every = (0, 1, 2, 3)
    expected = jax.grad(known_value, argnums=every)(*data)
    for derivative in (jax.jacfwd, jax.jacrev):
        found = jax.jit(derivative(box_value, argnums=every))(*data)
        for a, b in zip(found, expected, strict=True):
            assert np.max(np.abs(a - b)) < 1e-13  # all are of order one
    curved = jax.jit(jax.hessian(box_value))(*data)
    assert np.max(np.abs(curved - jax.hessian(known_value)(*data))) < 1e-12


def test_agrees_with_large_steps_inside_one_active_set(rng):
    """z is linear in q there, so a central difference of any length inside the set is exact."""
    n, cases = 3, 20
    root = rng.normal(size=(cases, n, n))
    matrices = root @ root.transpose(0, 2, 1) + 0.2 * np.eye(n)
    vectors, along = rng.normal(size=(2, cases, n))

    @jax.jit
    @jax.vmap
    def solved(matrix, vector, along):
        def z(q):
            return solve_newton(LinearComplementarity(matrix, q)).z

        solution = solve_newton(LinearComplementarity(matrix, vector))
        step = 0.05
        difference = (z(vector + step * along) - z(vector - step * along)) / (2 * step)
        return solution, jax.jvp(z, (vector,), (along,))[1], difference

    solution, slope, difference = solved(matrices, vectors, along)
    inside = np.asarray(solution.margin) > 0.5
    assert np.sum(inside) >= 3
    size = np.max(np.abs(slope[inside]))
    assert size > 0.1
    assert np.max(np.abs(slope - difference)[inside]) < 1e-10 * size


def test_vmapped_gradients_equal_single_ones():
    factors = jnp.array([0.8, 1.0, 1.3])

    def value(factor):
        return box_value(MATRIX, factor * VECTOR, LOWER, UPPER)

    batched = jax.jit(jax.vmap(jax.grad(value)))(factors)
    single = jax.jit(jax.grad(value))
    assert np.max(np.abs(batched - np.array([single(f) for f in factors]))) < 1e-13


def test_weakly_active_constraint_is_reported_and_its_derivative_is_one_sided():
    """z = max(0, -q) at q = 0: no derivative; both one-sided ones are 0 and -1."""

    def solve(q):
        return solve_closed_form(LinearComplementarity(jnp.eye(2), jnp.stack([q, -jnp.ones(())])))

    solution = solve(0.0)
    assert word(solution.result) == "ok"
    assert solution.margin == 0
    assert jax.grad(lambda q: solve(q).z[0])(0.0) in (0.0, -1.0)
    assert abs(solve(1e-3).margin - 1e-3) < 1e-15


def test_failed_lane_has_nan_derivatives_and_spoils_no_neighbor():
    def z(q):
        matrix = jnp.array([[1.0, -1.0], [-1.0, 1.0]])
        return solve_newton(LinearComplementarity(matrix, jnp.stack([q, -1.0 + 0 * q])))

    solve = jax.jit(jax.vmap(z))
    factors = jnp.array([2.0, -1.0])  # q = (2, -1) is solved by (0, 1), q = (-1, -1) by nothing
    assert list(words(solve(factors).result)) == ["ok", "not_converged"]
    slopes = jax.jit(jax.vmap(jax.jacrev(lambda q: z(q).z)))(factors)
    assert np.array_equal(slopes[0], [0.0, 0.0]) and np.isnan(slopes[1]).all()
    forward = jax.jit(jax.vmap(jax.jacfwd(lambda q: z(q).z)))(factors)
    assert np.array_equal(forward[0], [0.0, 0.0]) and np.isnan(forward[1]).all()


def cube(z, c):
    return z**3 - c


def test_higher_derivatives_of_a_nonlinear_root():
    """z = c^(1/3); one Newton correction would give a wrong second derivative."""

    def root(c):
        return with_implicit_derivative(cube, jnp.cbrt(c), c)[0]

    c = jnp.array([8.0])
    assert root(c) == 2.0
    assert abs(jax.grad(root)(c)[0] - 1 / 12) < 1e-15
    second = -2 / 9 * 8 ** (-5 / 3)
    assert abs(jax.jacfwd(jax.grad(root))(c)[0, 0] / second - 1) < 1e-14
    assert abs(jax.jacrev(jax.grad(root))(c)[0, 0] / second - 1) < 1e-14
    third = 10 / 27 * 8 ** (-8 / 3)
    assert abs(jax.jacfwd(jax.jacfwd(jax.jacfwd(root)))(c).squeeze() / third - 1) < 1e-13
