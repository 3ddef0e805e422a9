"""One and two unknowns: against all active sets, edge cases of contact, lanes, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth import (
    BoxComplementarity,
    LinearComplementarity,
    normal_and_friction,
    one_unknown,
    solve_closed_form,
    two_unknowns,
)
from diffmicro.results import word
from tests.nonsmooth.oracles import enumerate_box

ROUNDING = 1e-12  # relative to the size of z; the matrices below have condition numbers up to 1e3
pair = jax.jit(two_unknowns)
contact = jax.jit(normal_and_friction)
solve_jitted = jax.jit(solve_closed_form)


def random_p_matrices(rng, count):
    """2 x 2, not symmetric, with positive diagonal and determinant; scales from 1e-6 to 1e6."""
    diagonal = 10.0 ** rng.uniform(-6, 6, size=(2, count))
    ratio = rng.uniform(-3, 0.97, size=count)  # m12 m21 / (m11 m22) < 1
    split = 10.0 ** rng.uniform(-1, 1, size=count)
    mean = np.sqrt(diagonal[0] * diagonal[1] * np.abs(ratio))
    sign = rng.choice([-1.0, 1.0], size=count)
    m12 = sign * mean * split
    m21 = np.where(ratio < 0, -sign, sign) * mean / split
    m12, m21 = np.where(rng.random(count) < 0.1, 0, m12), np.where(rng.random(count) < 0.1, 0, m21)
    return (diagonal[0], m12), (m21, diagonal[1])


def entries(arrays, i):
    return np.array([[entry[i] for entry in row] for row in arrays])


def test_two_unknowns_against_all_active_sets(rng):
    count = 10_000
    matrix = random_p_matrices(rng, count)
    unit = [1 / np.sqrt(matrix[0][0]), 1 / np.sqrt(matrix[1][1])]
    vector = [rng.normal(size=count) / unit[i] for i in (0, 1)]
    vector[0][:500] = 0
    vector[1][250:750] = 0
    ends = np.sort(rng.normal(size=(2, 2, count)), axis=0)
    ends[0] = np.where(rng.random((2, count)) < 0.25, -np.inf, ends[0])
    ends[1] = np.where(rng.random((2, count)) < 0.25, np.inf, ends[1])
    ends[0] = np.where(rng.random((2, count)) < 0.1, np.minimum(0, ends[1]), ends[0])
    pinned = rng.random((2, count)) < 0.05
    ends[1] = np.where(pinned & np.isfinite(ends[0]), ends[0], ends[1])
    lower = [ends[0][i] * unit[i] for i in (0, 1)]
    upper = [ends[1][i] * unit[i] for i in (0, 1)]

    found = np.array(pair(matrix, tuple(vector), tuple(lower), tuple(upper)))
    worst = 0.0
    for i in range(count):
        scale = np.array([unit[0][i], unit[1][i]])
        scaled = entries(matrix, i) * scale * scale[:, None]
        q = np.array([vector[0][i], vector[1][i]]) * scale
        bounds = np.array([lower[0][i], lower[1][i]]), np.array([upper[0][i], upper[1][i]])
        expected, violation = enumerate_box(scaled, q, bounds[0] / scale, bounds[1] / scale)
        size = max(np.abs(expected).max(), np.abs(q).max()) or 1.0
        assert violation <= 1e-11 * size
        worst = max(worst, np.abs(found[:, i] / scale - expected).max() / size)
    assert worst < 1e-10  # rounding times condition numbers up to some 1e4


@pytest.mark.parametrize("direction", (1.0, -1.0))
def test_contact_agrees_with_the_general_form(rng, direction):
    light, heavy = 10.0 ** rng.uniform(-7, -5, size=(2, 2000))
    matrix = ((1 / light + 1 / heavy, direction / heavy), (direction / heavy, 1 / heavy))
    vector = tuple(rng.normal(size=(2, 2000)))
    bound = np.abs(rng.normal(size=2000)) * heavy
    closed = rng.random(2000) < 0.7
    general = pair(matrix, vector, (np.zeros(2000), -bound), (np.where(closed, np.inf, 0), bound))
    special = contact(matrix, vector, closed, bound)
    for a, b in zip(general, special, strict=True):
        assert np.max(np.abs(np.asarray(a - b)) / heavy) < ROUNDING


# body of mass 1, hammer of mass 2: z1 pushes the body back and the hammer forward
MASSES = ((1 + 1 / 2, 1.0), (1.0, 1.0))


@pytest.mark.parametrize(
    "vector, closed, bound, expected",
    [
        ((-3.0, 0.5), True, 0.0, (2.0, 0.0)),  # no friction: an impact of two free masses
        ((-3.0, 0.5), False, 0.0, (0.0, 0.0)),  # open and without friction: nothing
        ((-3.0, 0.5), False, 1.0, (0.0, -0.5)),  # open: friction alone brings the body to rest
        ((-3.0, 0.5), True, 9.0, (7.0, -7.5)),  # stuck body: the hammer meets a wall
        ((-3.0, 0.5), True, 2.0, (10 / 3, -2.0)),  # friction saturates during the impact
        ((3.0, -0.5), True, 1.0, (0.0, 0.5)),  # separating contact stays out
        ((0.0, 0.0), True, 1.0, (0.0, 0.0)),  # nothing to do
        ((0.0, 2.0), True, 1.0, (2 / 3, -1.0)),  # friction presses the closed contact
        ((-1.0, 0.0), True, 0.5, (1.0, -0.5)),  # friction saturates
    ],
)
def test_contact_cases_by_hand(vector, closed, bound, expected):
    found = contact(MASSES, vector, closed, bound)
    assert np.allclose(found, expected, rtol=1e-15, atol=1e-15)  # against numbers of order one
    bounds = jnp.array([0.0, -bound]), jnp.array([np.inf if closed else 0.0, bound])
    box = BoxComplementarity(jnp.array(MASSES), jnp.array(vector), *bounds)
    solution = solve_jitted(box)
    assert word(solution.result) == "ok"
    assert np.allclose(solution.z, expected, rtol=1e-15, atol=1e-15)


def test_plastic_impact_leaves_no_relative_velocity_and_sticking_no_velocity():
    solution = solve_jitted(
        BoxComplementarity(
            jnp.array(MASSES), jnp.array([-2.0, 0.1]), jnp.array([0.0, -5.0]), jnp.array([9.0, 5.0])
        )
    )
    assert np.array_equal(solution.w, [0.0, 0.0])


def test_one_unknown_is_a_clip():
    lower, upper = jnp.array([-1.0, -1.0, 0.0, -np.inf]), jnp.array([1.0, 1.0, np.inf, np.inf])
    found = one_unknown(2.0, jnp.array([1.0, -6.0, 3.0, -8.0]), lower, upper)
    assert np.array_equal(found, [-0.5, 1.0, 0.0, 4.0])
    solution = solve_jitted(LinearComplementarity(jnp.array([[2.0]]), jnp.array([-6.0])))
    assert np.array_equal(solution.z, [3.0]) and word(solution.result) == "ok"


def test_single_precision_lanes(rng):
    matrix = ((1.5e6, 1e6), (1e6, 1e6))
    vector = rng.normal(size=(2, 1000))
    bound = np.abs(rng.normal(size=1000)) * 1e-6
    args = (vector[0], vector[1]), vector[0] < 1, bound
    double = contact(matrix, *args)
    single = contact(matrix, *jax.tree.map(lambda x: np.float32(x) if x.dtype != bool else x, args))
    for a, b in zip(single, double, strict=True):
        assert a.dtype == jnp.float32
        assert np.max(np.abs(np.asarray(a) - b)) < 1e-6 * np.max(np.abs(np.asarray(b)))


@pytest.mark.parametrize("matrix", ([[-1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]))
def test_wrong_matrices_end_with_a_status_and_no_number(matrix):
    solution = solve_jitted(LinearComplementarity(jnp.array(matrix), jnp.array([-1.0, -1.1])))
    if word(solution.result) == "ok":  # not a P-matrix, yet what was found is a solution
        assert np.min(matrix @ np.asarray(solution.z) + [-1.0, -1.1]) > -1e-12
    else:
        assert word(solution.result) == "not_converged"
        assert np.isnan(solution.z).all() and np.isnan(solution.w).all()


def test_infinite_bounds_leave_gradients_finite():
    def total(m21, m12, q):
        z = two_unknowns(((2.0, m12), (m21, 1.0)), (q, 0.3), (0.0, -0.2), (jnp.inf, 0.2))
        return z[0] + 3 * z[1]

    for arguments in ((0.5, 0.5, -1.0), (0.0, 0.0, 1.0), (-0.5, -0.5, -1.0)):
        for derivative in (jax.jacfwd, jax.jacrev):
            found = derivative(total, argnums=(0, 1, 2))(*arguments)
            assert np.isfinite(found).all()


def test_more_unknowns_are_refused():
    with pytest.raises(ValueError, match="one or two unknowns, got 3"):
        solve_closed_form(LinearComplementarity(jnp.eye(3), jnp.ones(3)))
