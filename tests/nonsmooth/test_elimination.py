"""Small linear systems: against LAPACK, singular ones, badly scaled rows, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth.elimination import UNROLLED_UP_TO, _clear_columns, _factorize, solve

SIZES = (1, 3, UNROLLED_UP_TO, UNROLLED_UP_TO + 3)
solve_jitted = jax.jit(solve)


def relative(found, expected):
    return np.max(np.abs(found - expected)) / np.max(np.abs(expected))


@pytest.mark.parametrize("n", SIZES)
def test_agrees_with_lapack_on_batches_and_several_right_sides(rng, n):
    matrix, rhs = rng.normal(size=(50, n, n)), rng.normal(size=(50, n, 2))
    found = solve_jitted(matrix, rhs)
    assert found.shape == (50, n, 2)
    defect = np.abs(matrix @ np.asarray(found) - rhs).max(axis=(1, 2))
    size = np.abs(matrix).sum(axis=2).max(axis=1) * np.abs(found).max(axis=(1, 2))
    assert np.max(defect / size) < 1e-14  # backward error, some units of rounding
    one = solve_jitted(matrix[0], rhs[0, :, 0])
    assert one.shape == (n,)
    assert relative(one, np.linalg.solve(matrix[0], rhs[0, :, 0])) < 1e-11


@pytest.mark.parametrize("n", (3, UNROLLED_UP_TO + 3))
def test_rows_in_units_of_very_different_size(rng, n):
    matrix, rhs = rng.normal(size=(n, n)), rng.normal(size=n)
    units = 10.0 ** rng.uniform(-12, 12, size=n)
    expected = np.linalg.solve(matrix, rhs)
    assert relative(solve_jitted(matrix * units[:, None], rhs * units), expected) < 1e-11


def test_zero_on_the_diagonal_needs_an_exchange():
    cyclic = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]])
    assert np.array_equal(solve_jitted(cyclic, np.array([2.0, 4.0, 8.0])), np.ones(3))


@pytest.mark.parametrize("n", (3, UNROLLED_UP_TO + 3))
def test_singular_lane_is_nan_and_spoils_no_neighbor(rng, n):
    matrix, rhs = rng.normal(size=(3, n, n)), rng.normal(size=(3, n))
    matrix[1, -1] = matrix[1, 0] / 3 - matrix[1, 1] / 7  # singular to rounding, not exactly
    matrix[2, 0] = 0
    found = np.asarray(solve_jitted(matrix, rhs))
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1:]).any(axis=1).all()


@pytest.mark.parametrize("n", (3, UNROLLED_UP_TO + 3))
def test_derivatives_agree_with_the_inverse(rng, n):
    matrix, rhs = rng.normal(size=(n, n)), rng.normal(size=n)
    direction = rng.normal(size=(n, n))
    weight = rng.normal(size=n)

    def weighted(t):
        return weight @ solve(matrix + t * direction, jnp.asarray(rhs))

    inverse = np.linalg.inv(matrix)
    x = inverse @ rhs
    first = -weight @ inverse @ direction @ x
    second = 2 * weight @ inverse @ direction @ inverse @ direction @ x
    for derivative in (jax.jacfwd, jax.jacrev):
        assert abs(jax.jit(derivative(weighted))(0.0) / first - 1) < 1e-10
    for outer, inner in ((jax.jacfwd, jax.jacrev), (jax.jacrev, jax.jacrev)):
        assert abs(jax.jit(outer(inner(weighted)))(0.0) / second - 1) < 1e-9


def test_single_precision_stays_single(rng):
    matrix, rhs = rng.normal(size=(20, 3, 3)), rng.normal(size=(20, 3))
    single = solve_jitted(matrix.astype(np.float32), rhs.astype(np.float32))
    assert single.dtype == jnp.float32
    condition = np.linalg.cond(matrix).max()
    expected = np.linalg.solve(matrix, rhs[..., None])[..., 0]
    assert relative(single, expected) < 10 * condition * np.finfo(np.float32).eps


@pytest.mark.parametrize(
    "matrix, rhs, words",
    [((2, 3), (2,), "square"), ((3, 3), (2,), "rows"), ((4, 3, 3), (3,), "batch")],
)
def test_wrong_shapes_are_named(matrix, rhs, words):
    with pytest.raises(ValueError, match=words):
        solve(jnp.zeros(matrix), jnp.zeros(rhs))


@pytest.mark.parametrize("n", (2, 5, 9))
def test_the_elimination_of_other_platforms_is_the_inverse_too(rng, n):
    matrix = rng.normal(size=(40, n, n))
    matrix[::4, 0] = 0.0  # singular
    matrix[1::4, 0, 0] = 0.0  # rows have to be exchanged
    matrix[2::4, :, 1] = 0.0  # singular at its second column
    found, expected = _clear_columns(matrix), _factorize(matrix)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    sound = ~np.isnan(expected).any(axis=(1, 2))
    assert sound.sum() == 20
    assert relative(found[sound], expected[sound]) < 1e-11


def test_no_library_is_called_on_other_platforms():
    """LU is LAPACK's on a CPU; a GPU runs the elimination."""
    matrix, rhs = np.eye(UNROLLED_UP_TO + 3), np.ones(UNROLLED_UP_TO + 3)
    lowered = {
        platform: jax.jit(solve).trace(matrix, rhs).lower(lowering_platforms=(platform,)).as_text()
        for platform in ("cpu", "cuda", "tpu")
    }
    assert "getrf" in lowered["cpu"]
    assert "custom_call" not in lowered["cuda"] + lowered["tpu"]
