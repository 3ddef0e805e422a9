"""Orbit shooting on maps with known fixed points: found, judged, differentiated, refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.dynamics.multipliers import spectral_radius
from diffmicro.dynamics.orbits import FOLLOW, RESIDUAL, Search, find_orbit, unstable

MATRIX = np.array([[0.3, 0.4, 0.0], [-0.5, 0.2, 0.1], [0.0, 0.3, -0.6]])
PLAIN = Search(multiples=False, twins=0)


def repeated(once):
    """A period map from `once(q, z) -> (z, displacement)`."""

    def period_map(q, z, periods, tolerance, look=True):
        del tolerance, look

        def body(carry):
            n, z, total = carry
            z, displacement = once(q, z)
            return n + 1, z, total + displacement

        start = (jnp.zeros((), jnp.int32), z, jnp.zeros(()))
        _, z, total = jax.lax.while_loop(lambda carry: carry[0] < periods, body, start)
        return z, jnp.stack([total, total * q[0]])

    return period_map


@repeated
def linear(q, z):
    push = jnp.stack([q[0] * q[1], jnp.sin(q[1]), q[0] ** 2])
    after = jnp.asarray(MATRIX) @ z + push
    return after, after @ after


@repeated
def logistic(q, z):
    after = q[0] * z * (1 - z)
    return after, after[0]


@repeated
def flips(q, z):
    """0 is stable, and so is the pair +-sqrt(u) with a + b u - c u^2 = 1."""
    u = z**2
    after = -z * (0.5 + u - 0.45 * u**2) * q[0]
    return after, after[0] ** 2


@repeated
def halving(q, z):
    after = q * z / 2 + jnp.sin(q)
    return after, after[0]


@repeated
def doubling(q, z):
    after = 2 * z - q[0]
    return after, after[0]


def linear_answer(q):
    """Displacement at the fixed point of `linear`, by linear algebra."""
    push = jnp.stack([q[0] * q[1], jnp.sin(q[1]), q[0] ** 2])
    z = jnp.linalg.solve(jnp.eye(3) - jnp.asarray(MATRIX), push)
    return z @ z


def displacement(period_map, search, size):
    def of(q):
        return find_orbit(period_map, q, jnp.full(size, 0.3), search, 1e-9).observed[0]

    return of


Q = np.array([0.7, 0.4])


@pytest.fixture(scope="module")
def linear_orbit():
    return jax.jit(lambda q, z: find_orbit(linear, q, z, PLAIN, 1e-9))(Q, jnp.zeros(3))


def test_fixed_point_of_a_linear_map(linear_orbit):
    push = np.array([Q[0] * Q[1], np.sin(Q[1]), Q[0] ** 2])
    state = np.linalg.solve(np.eye(3) - MATRIX, push)
    assert bool(linear_orbit.accepted) and int(linear_orbit.periods) == 1
    assert not bool(unstable(linear_orbit.residual, linear_orbit.multiplier))
    np.testing.assert_allclose(linear_orbit.state, state, rtol=1e-13)
    np.testing.assert_allclose(linear_orbit.observed, [state @ state, Q[0] * (state @ state)])
    radius = np.max(np.abs(np.linalg.eigvals(MATRIX)))
    np.testing.assert_allclose(linear_orbit.multiplier, radius, rtol=1e-3)


def test_gradient_is_the_implicit_one():
    found = displacement(linear, PLAIN, 3)
    expected = jax.grad(linear_answer)(jnp.asarray(Q))
    for mode in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(jax.jit(mode(found))(jnp.asarray(Q)), expected, rtol=1e-12)


@pytest.mark.parametrize("outer", [jax.jacfwd, jax.jacrev])
def test_second_derivatives(outer):
    """Forward and reverse over reverse. One Newton correction alone would get these wrong."""
    found = jax.jit(outer(jax.grad(displacement(linear, FOLLOW, 3))))(jnp.asarray(Q))
    expected = jax.hessian(linear_answer)(jnp.asarray(Q))
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_third_derivative():
    """z = sin q / (1 - q / 2)."""

    def found(q):
        return find_orbit(halving, q[None], jnp.zeros(1), FOLLOW, 1e-9).state[0]

    def truth(q):
        return jnp.sin(q) / (1 - q / 2)

    thrice = [jax.jit(jax.jacfwd(jax.jacfwd(jax.jacfwd(f))))(0.4) for f in (found, truth)]
    np.testing.assert_allclose(*thrice, rtol=1e-10)


def test_no_derivative_by_the_start():
    def of(start):
        return find_orbit(linear, jnp.asarray(Q), start, PLAIN, 1e-9).observed[0]

    np.testing.assert_array_equal(jax.jit(jax.grad(of))(jnp.zeros(3)), np.zeros(3))


@pytest.fixture(scope="module")
def logistic_orbit():
    def solve(r):
        def of(q):
            orbit = find_orbit(logistic, q, jnp.array([0.3]), Search(), 1e-9)
            return orbit.observed[0] / orbit.periods, orbit

        return jax.value_and_grad(of, has_aux=True)(r)

    return jax.jit(jax.vmap(solve))


def cycle_mean(r):
    """Mean of the stable logistic cycle of period 1 (r < 3) or 2, and its derivative by r."""
    if r < 3:
        return 1 - 1 / r, 1 / r**2
    return (r + 1) / (2 * r), -1 / (2 * r**2)


def test_longer_periods_are_found_and_chaos_is_refused(logistic_orbit):
    """Period 1, period 2, and r = 3.9, where no cycle is stable."""
    rates = jnp.array([[2.5], [2.9], [3.2], [3.3], [3.9]])
    (mean, orbit), slope = logistic_orbit(rates)
    np.testing.assert_array_equal(orbit.accepted, [True] * 4 + [False])
    np.testing.assert_array_equal(orbit.periods[:4], [1, 1, 2, 2])
    for i in range(4):
        expected, rate = cycle_mean(float(rates[i, 0]))
        np.testing.assert_allclose(mean[i], expected, rtol=1e-12)
        # The matrices are those one Newton step before the end, at a residual of RESIDUAL at most.
        np.testing.assert_allclose(slope[i, 0], rate, rtol=10 * RESIDUAL)
    assert np.isnan(slope[4, 0])


def test_lanes_of_a_batch_equal_single_lanes(logistic_orbit):
    rates = jnp.array([[2.5], [2.9], [3.2], [3.9]])
    (means, orbits), slopes = logistic_orbit(rates)
    for i in range(4):
        (mean, orbit), slope = logistic_orbit(rates[i : i + 1])
        np.testing.assert_array_equal(orbit.accepted[0], orbits.accepted[i])
        np.testing.assert_allclose(mean[0], means[i], rtol=1e-13)
        np.testing.assert_allclose(slope[0], slopes[i], rtol=1e-13)


@pytest.fixture(scope="module")
def flips_orbit():
    def solve(multiples, start):
        search = Search(multiples=multiples)
        return find_orbit(flips, jnp.ones(1), start, search, 1e-9)

    return jax.jit(solve, static_argnums=0)


def test_coexisting_orbit_is_not_accepted(flips_orbit):
    """The simulation settles to a pair of states while Newton's method finds the stable 0."""
    pair = np.sqrt((1 + np.sqrt(0.1)) / 0.9)
    only_one = flips_orbit(False, jnp.array([1.1]))
    assert not bool(only_one.accepted)
    assert float(only_one.residual) < 1e-7 and abs(float(only_one.state[0])) < 1e-6
    assert float(only_one.multiplier) < 0.6
    both = flips_orbit(True, jnp.array([1.1]))
    assert bool(both.accepted) and int(both.periods) == 2
    np.testing.assert_allclose(np.abs(both.state), pair, rtol=1e-10)


def test_orbit_is_accepted_from_its_own_basin(flips_orbit):
    orbit = flips_orbit(False, jnp.array([0.3]))
    assert bool(orbit.accepted) and abs(float(orbit.state[0])) < 1e-10


def test_unstable_orbit_is_refused_and_has_no_derivative():
    """z = q is a fixed point that every simulation leaves."""

    def of(q):
        orbit = find_orbit(doubling, q, jnp.array([0.5]), FOLLOW, 1e-9)
        return orbit.observed[0], orbit

    (value, orbit), slope = jax.jit(jax.value_and_grad(of, has_aux=True))(jnp.array([0.5]))
    assert float(orbit.residual) < 1e-7 and not bool(orbit.accepted)
    assert bool(unstable(orbit.residual, orbit.multiplier))
    np.testing.assert_allclose(orbit.multiplier, 2.0, rtol=1e-3)
    assert np.isfinite(value) and np.all(np.isnan(slope))


@pytest.mark.parametrize("compact", [False, True])
def test_one_search_serves_afresh_and_near(compact):
    """Afresh from 0.3 the pair is not met; near 1.12 Newton's method alone finds it, unjudged by simulation.
    Near 0.3, and from 0.3 afresh, the orbit is 0."""
    search = Search(compact=compact)
    solve = jax.jit(
        lambda start, n, near: find_orbit(flips, jnp.ones(1), start, search, 1e-9, n, near)
    )
    pair = np.sqrt((1 + np.sqrt(0.1)) / 0.9)
    for start, n, near, state in [
        (0.3, 1, False, 0.0),
        (0.2, 1, True, 0.0),
        (pair + 1e-3, 2, True, pair),
        (pair + 1e-3, 1, False, pair),
    ]:
        orbit = solve(jnp.array([start]), n, near)
        assert bool(orbit.accepted) and int(orbit.periods) == (2 if state else 1)
        np.testing.assert_allclose(np.abs(orbit.state), state, rtol=1e-10, atol=1e-10)
    follow = find_orbit(flips, jnp.ones(1), jnp.array([pair + 1e-3]), FOLLOW, 1e-9, 2)
    near = solve(jnp.array([pair + 1e-3]), 2, True)
    for name in ("state", "observed", "residual", "multiplier", "matrix"):
        np.testing.assert_allclose(
            getattr(near, name), getattr(follow, name), rtol=1e-13, atol=1e-15
        )
    # Near the unstable orbit between both it is found, and refused for its multiplier alone.
    edge = np.sqrt((1 - np.sqrt(0.1)) / 0.9)
    between = solve(jnp.array([edge + 1e-3]), 2, True)
    assert not bool(between.accepted) and float(between.multiplier) > 1
    np.testing.assert_allclose(np.abs(between.state), edge, rtol=1e-10)


def test_twins_that_part_refuse_the_orbit():
    """A start within a thousandth of the edge between two basins: what happens is not known."""
    edge = np.sqrt((1 - np.sqrt(0.1)) / 0.9)

    @jax.jit
    def solve(start):
        return [
            find_orbit(flips, jnp.ones(1), start, Search(multiples=False, twins=n), 1e-9).accepted
            for n in (0, 3)
        ]

    alone, with_twins = solve(jnp.array([edge - 2e-4]))
    assert bool(alone) and not bool(with_twins)


def test_spectral_radius(rng):
    matrices = rng.normal(size=(200, 3, 3))
    matrices[0] = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    matrices[1] = np.diag([0.5, -0.5, 0.5])
    found = jax.jit(jax.vmap(spectral_radius))(jnp.asarray(matrices))
    expected = np.max(np.abs(np.linalg.eigvals(matrices)), axis=1)
    assert float(found[0]) < 1e-12
    np.testing.assert_allclose(found[1:], expected[1:], rtol=2e-3)
