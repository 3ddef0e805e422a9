"""Problems as data, and the residual and margin that judge solutions."""

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth import BoxComplementarity, LinearComplementarity, margin, residual

MATRIX = jnp.array([[2.0, 1.0], [1.0, 3.0]])
PROBLEM = LinearComplementarity(MATRIX, jnp.array([-2.0, 1.0]))  # z = (1, 0), w = (0, 2)


def box(problem, lower=0.0, upper=jnp.inf):
    n = len(problem.vector)
    return BoxComplementarity(
        problem.matrix, problem.vector, jnp.full(n, lower), jnp.full(n, upper)
    )


def test_residual_vanishes_at_the_solution_only():
    assert residual(PROBLEM, jnp.array([1.0, 0.0])) < 1e-15
    assert residual(box(PROBLEM), jnp.array([1.0, 0.0])) < 1e-15
    for z in ([1.1, 0.0], [1.0, 0.1], [1.0, -0.1], [0.0, 0.0]):
        assert residual(PROBLEM, jnp.array(z)) > 0.05


def test_residual_is_a_share_of_the_data():
    """An error of one part in a million in z1 shows as such: |w1| / |q1|, whatever the units."""
    for unit in (1e-9, 1.0, 1e9):
        problem = LinearComplementarity(MATRIX * unit, PROBLEM.vector / unit)
        found = residual(problem, jnp.array([1 + 1e-6, 0.0]) / unit**2)
        assert abs(found / 1e-6 - 1) < 1e-6


def test_residual_does_not_fade_with_growing_z():
    """w = -1 for z = (t, t) of this unsolvable problem: no t makes it look solved."""
    problem = LinearComplementarity(jnp.array([[1.0, -1.0], [-1.0, 1.0]]), -jnp.ones(2))
    for t in (1.0, 1e8, 1e16):
        assert residual(problem, jnp.array([t, t])) > 0.5


def test_margin_is_the_distance_to_the_next_active_set():
    # in natural units z1 = 1 and w2 = 2 / sqrt(m22) / (|q1| / sqrt(m11)) = sqrt(2/3), the smaller
    assert abs(margin(PROBLEM, jnp.array([1.0, 0.0])) - (2 / 3) ** 0.5) < 1e-15
    weak = LinearComplementarity(jnp.eye(2), jnp.array([-1.0, 0.0]))
    assert margin(weak, jnp.array([1.0, 0.0])) == 0
    near = BoxComplementarity(jnp.eye(1), -jnp.ones(1), jnp.zeros(1), jnp.array([1.0 + 1e-3]))
    assert abs(margin(near, jnp.ones(1)) - 1e-3) < 1e-12


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda: LinearComplementarity(jnp.eye(3), jnp.ones(2)), "matrix must be"),
        (lambda: LinearComplementarity(jnp.eye(1), jnp.array(1.0)), "matrix must be"),
        (
            lambda: BoxComplementarity(jnp.eye(2), jnp.ones(2), jnp.zeros(1), jnp.ones(2)),
            "lower must have",
        ),
        (
            lambda: BoxComplementarity(jnp.eye(2), jnp.ones(2), jnp.zeros(2), jnp.array(1.0)),
            "upper must have",
        ),
    ],
)
def test_wrong_shapes_are_named(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_linear_problem_is_the_box_from_zero_to_infinity():
    assert np.array_equal(PROBLEM.lower, [0, 0]) and np.array_equal(PROBLEM.upper, [np.inf] * 2)
