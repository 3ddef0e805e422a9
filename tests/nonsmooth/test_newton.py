"""Semismooth Newton: against Lemke's algorithm and enumeration, statuses, batches, precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth import (
    BoxComplementarity,
    LinearComplementarity,
    solve_closed_form,
    solve_newton,
)
from diffmicro.results import word, words
from tests.nonsmooth.oracles import enumerate_box, lemke

SIZES = (1, 2, 3, 8, 30)
CASES = 40


@jax.jit
@jax.vmap
def solve_linear(matrix, vector):
    return solve_newton(LinearComplementarity(matrix, vector))


@jax.jit
@jax.vmap
def solve_boxes(matrix, vector, lower, upper):
    return solve_newton(BoxComplementarity(matrix, vector, lower, upper))


def positive_definite(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T / n + 0.05 * np.eye(n)


def p_matrix(rng, n):
    """Positive definite plus a large skew part: every principal minor is positive."""
    skew = rng.normal(size=(n, n))
    return positive_definite(rng, n) + 2 * (skew - skew.T)


def upper_triangular_p_matrix(rng, n):
    """A P-matrix that is not positive definite."""
    return np.eye(n) + np.triu(3 * rng.normal(size=(n, n)), 1) / np.sqrt(n)


def degenerate_vector(rng, matrix):
    """q for which about a third of the pairs (z, w) vanish together at the solution."""
    n = len(matrix)
    kind = rng.integers(3, size=n)
    z, w = np.where(kind == 0, rng.random(n), 0), np.where(kind == 1, rng.random(n), 0)
    return w - matrix @ z


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("draw", (positive_definite, p_matrix, upper_triangular_p_matrix))
def test_agrees_with_lemke(rng, n, draw):
    matrices = np.array([draw(rng, n) for _ in range(CASES)])
    vectors = rng.normal(size=(CASES, n))
    vectors[::4] *= rng.random((CASES // 4, n)) > 0.4  # zeros in q
    vectors[1::4] = [degenerate_vector(rng, matrix) for matrix in matrices[1::4]]
    solution = solve_linear(matrices, vectors)
    assert set(words(solution.result)) == {"ok"}
    for i in range(CASES):
        expected = lemke(matrices[i], vectors[i])
        assert expected is not None
        size = max(np.abs(expected).max(), np.abs(vectors[i]).max()) or 1.0
        conditioned = np.linalg.cond(matrices[i])
        assert np.abs(solution.z[i] - expected).max() <= 1e-13 * conditioned * size
        w = matrices[i] @ np.asarray(solution.z[i]) + vectors[i]
        assert np.abs(solution.w[i] - w).max() <= 1e-13 * conditioned * size
    assert np.max(solution.residual) < 1e-12


@pytest.mark.parametrize("n", (1, 2, 3, 5))
def test_boxes_agree_with_all_active_sets(rng, n):
    matrices = np.array([p_matrix(rng, n) for _ in range(CASES)])
    vectors = 2 * rng.normal(size=(CASES, n))
    lower, upper = np.sort(rng.normal(size=(2, CASES, n)), axis=0)
    lower = np.where(rng.random((CASES, n)) < 0.2, -np.inf, lower)
    upper = np.where(rng.random((CASES, n)) < 0.2, np.inf, upper)
    upper = np.where((rng.random((CASES, n)) < 0.15) & np.isfinite(lower), lower, upper)  # fixed
    solution = solve_boxes(matrices, vectors, lower, upper)
    assert set(words(solution.result)) == {"ok"}
    for i in range(CASES):
        expected, violation = enumerate_box(matrices[i], vectors[i], lower[i], upper[i])
        assert violation < 1e-12
        size = np.abs(expected).max() + np.abs(vectors[i]).max()
        assert np.abs(solution.z[i] - expected).max() < 1e-11 * size


def test_small_problems_agree_with_the_closed_form(rng):
    matrices = np.array([p_matrix(rng, 2) for _ in range(CASES)])
    args = matrices, rng.normal(size=(CASES, 2)), -rng.random((CASES, 2)), rng.random((CASES, 2))
    direct = jax.jit(jax.vmap(lambda *box: solve_closed_form(BoxComplementarity(*box))))(*args)
    assert np.abs(solve_boxes(*args).z - direct.z).max() < 1e-13  # z lies in boxes of size one


def test_problems_without_a_solution_end_with_a_status_and_no_number(rng):
    n = 3
    singular = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    matrices = np.array([-np.eye(n), singular, np.zeros((n, n)), -np.ones((n, n))])
    vectors = -np.ones((4, n))
    assert all(lemke(m, q) is None for m, q in zip(matrices, vectors, strict=True))
    solution = solve_linear(matrices, vectors)
    assert set(words(solution.result)) == {"not_converged"}
    for numbers in (solution.z, solution.w, solution.margin):
        assert np.isnan(numbers).all()
    assert np.min(solution.residual) > 0.1  # it says how far from a solution it ended


@pytest.mark.parametrize("n", (2, 8, 30))
def test_semidefinite_problems_are_right_or_refused(rng, n):
    roots = rng.normal(size=(CASES, n, max(1, n // 2)))
    matrices = roots @ roots.transpose(0, 2, 1)
    vectors = rng.normal(size=(CASES, n))
    solution = solve_linear(matrices, vectors)
    ok = words(solution.result) == "ok"
    solvable = np.array([lemke(m, q) is not None for m, q in zip(matrices, vectors, strict=True)])
    assert not np.any(ok & ~solvable)  # never a solution where none exists
    assert np.sum(ok) >= 0.6 * np.sum(solvable)
    assert set(words(solution.result)[~ok]) <= {"not_converged"}


def test_copositive_problems_are_solved_or_refused(rng):
    matrices, vectors = np.abs(rng.normal(size=(CASES, 8, 8))), rng.normal(size=(CASES, 8))
    solution = solve_linear(matrices, vectors)
    ok = words(solution.result) == "ok"
    assert 0 < np.sum(ok)
    z = np.asarray(solution.z)[ok]
    w = np.einsum("bij,bj->bi", matrices[ok], z) + vectors[ok]
    size = np.abs(vectors[ok]).max(axis=1, keepdims=True)
    assert np.min(z) >= 0 and np.min(w / size) > -1e-10
    assert np.max(np.abs(np.minimum(z, w)) / size) < 1e-10
    assert np.isnan(np.asarray(solution.z)[~ok]).all()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda box: (box[0] * np.nan, *box[1:]),
        lambda box: (box[0], box[1] * np.inf, *box[2:]),
        lambda box: (*box[:2], box[3] + 1, box[2]),
        lambda box: (*box[:3], box[3] * np.nan),
    ],
)
def test_bad_data_is_invalid_input_and_spoils_no_neighbor(spoil):
    good = np.eye(2), np.ones(2), -np.ones(2), np.ones(2)
    batch = [np.array(pair) for pair in zip(good, spoil(good), strict=True)]
    solution = solve_boxes(*batch)
    assert list(words(solution.result)) == ["ok", "invalid_input"]
    assert np.array_equal(solution.z[0], [-1.0, -1.0]) and np.isnan(solution.z[1]).all()


def test_batched_equals_single(rng):
    matrices = np.array([p_matrix(rng, 3) for _ in range(CASES)])
    vectors = rng.normal(size=(CASES, 3))
    batch = solve_linear(matrices, vectors)
    for i in range(0, CASES, 7):
        single = solve_linear(matrices[i : i + 1], vectors[i : i + 1])
        assert np.abs(single.z[0] - batch.z[i]).max() <= 1e-13 * np.abs(batch.z[i]).max()
        assert single.iterations[0] == batch.iterations[i]


@pytest.mark.parametrize("n", (2, 30))
def test_single_precision(rng, n):
    matrices = np.array([positive_definite(rng, n) + np.eye(n) for _ in range(CASES)])
    vectors = rng.normal(size=(CASES, n))
    double = solve_linear(matrices, vectors)
    single = solve_linear(matrices.astype(np.float32), vectors.astype(np.float32))
    assert set(words(single.result)) == {"ok"}
    assert single.z.dtype == jnp.float32
    assert np.abs(single.z - double.z).max() < 1e-5 * np.abs(double.z).max()


@pytest.mark.parametrize("dtype, rounding", [(np.float64, 1e-11), (np.float32, 1e-3)])
def test_units_change_nothing(rng, dtype, rounding):
    """w in units of 1e-6 to 1e6, z likewise, and a unit per component."""
    n = 5
    matrices = np.array([positive_definite(rng, n) for _ in range(CASES)])
    vectors = rng.normal(size=(CASES, n))
    lower, upper = -rng.random((CASES, n)), rng.random((CASES, n))
    reference = solve_boxes(matrices, vectors, lower, upper)
    for unit_z in (1e-6, 1.0, 1e6):
        for unit_w in (1e-6, 1e6):
            own = 10.0 ** rng.uniform(-2, 2, size=n)
            z, w = unit_z * own, unit_w / own
            args = matrices * w[:, None] / z, vectors * w, lower * z, upper * z
            other = solve_boxes(*(x.astype(dtype) for x in args))
            assert set(words(other.result)) == {"ok"}
            z = np.asarray(other.z) / z  # in boxes of size one
            assert np.max(np.abs(z - reference.z)) < rounding
            assert np.max(np.abs(other.margin - reference.margin)) < rounding


def test_any_guess_gives_the_same_solution(rng):
    problem = LinearComplementarity(jnp.array(p_matrix(rng, 3)), jnp.array(rng.normal(size=3)))
    solve = jax.jit(lambda guess: solve_newton(problem, guess))
    plain = solve(jnp.zeros(3))
    for guess in 10 * rng.normal(size=(5, 3)):
        found = solve(guess)
        assert word(found.result) == "ok"
        assert np.abs(found.z - plain.z).max() < 1e-12 * np.abs(plain.z).max()
    assert np.array_equal(jax.jacrev(lambda g: solve(g).z)(jnp.ones(3)), np.zeros((3, 3)))


def test_stops_at_the_iteration_limit(rng):
    problem = LinearComplementarity(jnp.array(p_matrix(rng, 30)), jnp.array(rng.normal(size=30)))
    short = jax.jit(lambda: solve_newton(problem, max_iterations=1))()
    assert word(short.result) == "not_converged"
    assert short.iterations == 1 and np.isnan(short.z).all()
    assert np.isfinite(short.residual)


def test_wrong_guess_shape_is_named():
    with pytest.raises(ValueError, match="guess must have the shape"):
        solve_newton(LinearComplementarity(jnp.eye(2), jnp.ones(2)), jnp.ones(3))
