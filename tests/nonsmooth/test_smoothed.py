"""Smoothed complementarity: closed forms, order of the error in the width, all derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth import (
    BoxComplementarity,
    LinearComplementarity,
    solve_newton,
    solve_smoothed,
)
from diffmicro.results import word, words

N = 3
SLOPE, FORCE, WIDTH = 2.0, -1.0, 0.05


@jax.jit
def solve_one(slope, force, width):
    return solve_smoothed(LinearComplementarity(slope[None, None], force[None]), width)


@jax.jit
def solve_friction(force, bound, width):
    one = jnp.ones(1)
    return solve_smoothed(
        BoxComplementarity(jnp.eye(1), force * one, -bound * one, bound * one), width
    )


@jax.jit
@jax.vmap
def solve_boxes(matrix, vector, lower, upper, width):
    return solve_smoothed(BoxComplementarity(matrix, vector, lower, upper), width)


def draw_boxes(rng, cases):
    root = rng.normal(size=(cases, N, N))
    matrices = root @ root.transpose(0, 2, 1) / N + 0.1 * np.eye(N)
    lower, upper = np.sort(rng.normal(size=(2, cases, N)), axis=0)
    lower = np.where(rng.random((cases, N)) < 0.2, -np.inf, lower)
    upper = np.where(rng.random((cases, N)) < 0.2, np.inf, upper)
    return matrices, 2 * rng.normal(size=(cases, N)), lower, upper


def one_closed_form(slope, force, width):
    """z (slope z + force) = width with z > 0, and its derivatives by slope, force and width."""
    return (-force + jnp.sqrt(force**2 + 4 * slope * width)) / (2 * slope)


def test_one_unknown_has_a_closed_form_with_all_derivatives():
    arguments = jnp.array(SLOPE), jnp.array(FORCE), jnp.array(WIDTH)

    def solved(*args):
        return solve_one(*args).z[0]

    by = (0, 1, 2)
    assert abs(solved(*arguments) / one_closed_form(*arguments) - 1) < 1e-14
    pairs = [
        (jax.jacfwd, None),
        (jax.jacrev, None),
        (jax.jacfwd, jax.jacrev),
        (jax.jacrev, jax.jacrev),
        (jax.jacfwd, jax.jacfwd),
    ]
    for inner, outer in pairs:

        def derive(function, inner=inner, outer=outer):
            first = inner(function, argnums=by)
            return jax.jit(first if outer is None else outer(first, argnums=by))

        found = np.array(derive(solved)(*arguments))
        expected = np.array(derive(one_closed_form)(*arguments))
        assert np.max(np.abs(found - expected)) < 1e-12 * np.max(np.abs(expected))


def test_friction_law_is_symmetric_and_strictly_inside_its_bound():
    """w = width (1/(z + b) - 1/(b - z)), so force = -z - 2 width z / (b^2 - z^2)."""
    bound, width = 0.3, 1e-3
    for z in (0.0, 0.1, 0.29, 0.2999):
        force = -z - 2 * width * z / (bound**2 - z**2)
        for sign in (1, -1):
            solution = solve_friction(sign * force, bound, width)
            assert word(solution.result) == "ok"
            assert abs(solution.z[0] - sign * z) < 1e-12 * bound


def test_zero_bound_is_no_friction_and_derivatives_stay_finite():
    solution = solve_friction(-1.0, 0.0, 1e-3)
    assert word(solution.result) == "ok" and solution.z[0] == 0 and solution.w[0] == -1
    slope = jax.jacrev(lambda force: solve_friction(force, 0.0, 1e-3).z[0])(-1.0)
    assert slope == 0


def test_error_is_of_first_order_in_the_width(rng):
    cases = 20
    boxes = draw_boxes(rng, cases)
    exact = jax.jit(jax.vmap(lambda *box: solve_newton(BoxComplementarity(*box))))(*boxes)
    strict = np.asarray(exact.margin) > 0.05
    assert np.sum(strict) >= 5
    errors = []
    for width in (1e-5, 1e-6, 1e-7):
        smooth = solve_boxes(*boxes, np.full(cases, width))
        assert set(words(smooth.result)) == {"ok"}
        errors.append(np.abs(smooth.z - exact.z).max(axis=1)[strict])
        assert np.all(np.asarray(smooth.residual)[strict] > 0)  # the error of smoothing shows
    for coarse, fine in zip(errors, errors[1:], strict=False):
        order = np.log10(coarse / fine)
        assert np.max(np.abs(order - 1)) < 0.05


def test_error_is_the_root_of_the_width_where_complementarity_is_not_strict():
    for width in (1e-4, 1e-8):
        z = solve_one(jnp.array(4.0), jnp.array(0.0), width).z[0]
        assert abs(z / (width / 4) ** 0.5 - 1) < 1e-12


def test_derivatives_tend_to_the_exact_ones(rng):
    cases = 20
    boxes = draw_boxes(rng, cases)
    direction = rng.normal(size=(cases, N))

    def slope(solver, *box_and_width):
        matrix, vector, *rest, along = box_and_width
        return jax.jvp(lambda q: solver(matrix, q, *rest), (vector,), (along,))[1]

    @jax.jit
    @jax.vmap
    def slopes(matrix, vector, lower, upper, along):
        def smooth(matrix, vector, lower, upper):
            return solve_smoothed(BoxComplementarity(matrix, vector, lower, upper), 1e-8).z

        def exact(matrix, vector, lower, upper):
            return solve_newton(BoxComplementarity(matrix, vector, lower, upper)).z

        args = matrix, vector, lower, upper, along
        return slope(smooth, *args), slope(exact, *args)

    margins = jax.jit(jax.vmap(lambda *box: solve_newton(BoxComplementarity(*box)).margin))(*boxes)
    strict = np.asarray(margins) > 0.05
    smooth, exact = (np.asarray(part)[strict] for part in slopes(*boxes, direction))
    assert np.max(np.abs(smooth - exact)) < 1e-4 * np.max(np.abs(exact))


def test_units_and_precision(rng):
    cases = 20
    matrices, vectors, lower, upper = draw_boxes(rng, cases)
    widths = np.full(cases, 1e-3)
    reference = solve_boxes(matrices, vectors, lower, upper, widths)
    for z, w in ((1e-6, 1e3), (1e6, 1e6)):
        args = matrices * w / z, vectors * w, lower * z, upper * z, widths * z * w
        other = solve_boxes(*args)
        assert np.max(np.abs(other.z / z - reference.z)) < 1e-10 * np.max(np.abs(reference.z))
    single = solve_boxes(*(x.astype(np.float32) for x in (*args[:4], args[4])))
    assert set(words(single.result)) == {"ok"}
    assert np.max(np.abs(single.z / z - reference.z)) < 1e-4 * np.max(np.abs(reference.z))


def test_unsolvable_problems_and_bad_widths_end_with_a_status():
    solve = jax.jit(lambda m, q, h: solve_smoothed(LinearComplementarity(m, q), h))
    singular = jnp.array([[1.0, -1.0], [-1.0, 1.0]])
    for matrix in (-jnp.eye(2), singular, jnp.zeros((2, 2))):
        solution = solve(matrix, -jnp.ones(2), 1e-6)
        assert word(solution.result) == "not_converged" and np.isnan(solution.z).all()
    for width in (0.0, -1.0, jnp.nan):
        solution = solve(jnp.eye(2), -jnp.ones(2), width)
        assert word(solution.result) == "invalid_input" and np.isnan(solution.z).all()
    with pytest.raises(ValueError, match="width must be positive"):
        solve_smoothed(LinearComplementarity(jnp.eye(2), jnp.ones(2)), 0.0)
