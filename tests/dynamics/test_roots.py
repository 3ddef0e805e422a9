"""First roots of guards against dense sampling and closed forms, and their implicit derivatives."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.dynamics.kernel import kernel
from diffmicro.dynamics.roots import NEVER, extreme, first_crossing, root, stationary_point
from diffmicro.dynamics.series import value

TERMS = 8
CASES = 5000
# Coefficients of a resolved Taylor step fall off: the last is far below the first.
FALL = 0.4 ** np.arange(TERMS)


@jax.jit
@jax.vmap
def crossing_of_one(coefficients):
    return first_crossing([list(coefficients)], jnp.asarray(1.0), kernel())


@jax.jit
@jax.vmap
def crossing_of_two(first, second):
    return first_crossing([list(first), list(second)], jnp.asarray(1.0), kernel())


def padded(roots, scale=1.0):
    terms = np.poly(roots)[::-1] * scale
    return np.pad(terms, (0, TERMS - len(terms)))


def guards(rng, count=CASES):
    coefficients = rng.normal(size=(count, TERMS)) * FALL
    coefficients[:, 0] = np.abs(coefficients[:, 0])
    return coefficients


def true_first_root(terms):
    """The first real root in (0, 1] where the polynomial falls below zero, by NumPy."""
    roots = np.roots(terms[::-1])
    real = np.sort(roots[np.abs(roots.imag) < 1e-9].real)
    slope = np.polynomial.Polynomial(terms).deriv()
    falling = [r for r in real if 0 < r <= 1 and slope(r) < 0]
    return falling[0] if falling else NEVER


def test_first_root_equals_numpy(rng):
    terms = guards(rng)
    found = np.asarray(crossing_of_one(terms).time)
    truth = np.array([true_first_root(t) for t in terms])
    assert np.mean(truth < NEVER) > 0.1
    # A root is found to rounding over its slope.
    slopes = np.array(
        [abs(np.polyval(np.polyder(t[::-1]), r)) for t, r in zip(terms, truth, strict=True)]
    )
    crossing = truth < NEVER
    error = np.where(crossing, np.abs(found - truth) * slopes, np.abs(found - truth))
    assert np.max(error) < 1e-12


@pytest.mark.parametrize("half_width", [0.1, 0.03, 0.01, 1e-3, 1e-4])
@pytest.mark.parametrize("middle", [0.5, 0.26, 0.71, 0.9])
def test_roots_close_together(middle, half_width):
    """A guard that dips below zero for a moment: a weak impact."""
    terms = padded([middle - half_width, middle + half_width])[None]
    found = crossing_of_one(terms)
    assert not bool(found.misordered[0])
    np.testing.assert_allclose(found.time[0], middle - half_width, atol=1e-12 / half_width)


def test_near_miss_is_no_crossing():
    terms = padded([0.5, 0.5])
    terms[0] += 1e-6
    assert float(crossing_of_one(terms[None]).time[0]) == NEVER


def test_root_behind_an_exact_zero_is_found():
    """A body that has just left the floor lands again at 0.7, not at 0."""
    found = crossing_of_one(-padded([0.0, 0.7])[None])
    np.testing.assert_allclose(found.time[0], 0.7, rtol=1e-14)


@pytest.mark.parametrize("from_zero", [False, True])
def test_low_flights_end_when_they_end_or_the_step_is_shortened(from_zero):
    """Flights far below the roundings of the guard, in steps far longer than they last."""
    heights = 10.0 ** -np.arange(9.0, 19.0)
    ups = np.sqrt(2e7 * heights)  # from the ground to that height, against an acceleration of 1e7
    fall = -1e7 * 0.3 ** np.arange(TERMS - 2.0)  # the force changes over the step
    first = np.zeros_like(heights) if from_zero else heights
    terms = np.stack([first, ups, *np.broadcast_to(fall[:, None], (TERMS - 2, heights.size))], 1)
    for shrink in 10.0 ** -np.arange(1.0, 14.0):
        step = terms * shrink ** np.arange(TERMS)
        found = crossing_of_one(step)
        time, done = np.asarray(found.time), ~np.asarray(found.misordered) & (found.time < NEVER)
        truth = np.array([true_first_root(t) for t in step])
        np.testing.assert_allclose(time[done], truth[done], rtol=1e-3)
        # Where the step is of the flight's length its root is found.
        own = (truth > 0.05) & (truth < 1)
        assert done[own].all()


def test_the_earlier_of_two_guards_or_a_shorter_step(rng):
    """The first root of all, unless the step is to be shortened, and then before that root."""
    first, second = guards(rng), guards(rng)
    found = crossing_of_two(first, second)
    truth = np.array([[true_first_root(t) for t in pair] for pair in (first, second)])
    time, misordered = np.asarray(found.time), np.asarray(found.misordered)
    right = np.abs(time - truth.min(axis=0)) < 1e-9
    assert np.all(right | misordered)
    assert np.mean(misordered) < 0.05
    sure = right & (time < NEVER) & ~misordered & (np.abs(truth[0] - truth[1]) > 1e-9)
    np.testing.assert_array_equal(np.asarray(found.fired[0])[sure], (truth[0] < truth[1])[sure])
    assert not np.any(np.asarray(found.fired[0]) & np.asarray(found.fired[1]))


def quadratic_root(c):
    return (-c[1] - jnp.sqrt(c[1] ** 2 - 4 * c[0] * c[2])) / (2 * c[2])


def located(c):
    """First root of c0 + c1 t + c2 t^2 through the library."""
    zero = jnp.zeros(())
    guard = [c[0], c[1], c[2], zero, zero]
    return root(value, guard, first_crossing([guard], jnp.asarray(1.0), kernel()).time)


FIRST = [jax.jit(mode(located)) for mode in (jax.jacfwd, jax.jacrev)]
SECOND = [jax.jit(mode(jax.grad(located))) for mode in (jax.jacfwd, jax.jacrev)]


@pytest.mark.parametrize("coefficients", [[0.5, -1.2, -0.3], [0.3, -1.3, 1.0]])
def test_derivatives_of_the_root(coefficients):
    """Implicit derivatives, the first and the second, forward and reverse."""
    c = jnp.array(coefficients)
    np.testing.assert_allclose(located(c), quadratic_root(c), rtol=1e-14)
    for derivative in FIRST:
        np.testing.assert_allclose(derivative(c), jax.grad(quadratic_root)(c), rtol=1e-12)
    for derivative in SECOND:
        np.testing.assert_allclose(derivative(c), jax.hessian(quadratic_root)(c), rtol=1e-11)


def test_root_passes_its_guess_on():
    assert float(root(value, (jnp.asarray(1.0), jnp.asarray(-2.0)), jnp.asarray(0.5))) == 0.5


def test_an_extreme_has_derivatives_of_any_order():
    """Of a + b t + c t^2 it is a - b^2 / 4c."""

    def closed(p):
        return p[0] - p[1] ** 2 / (4 * p[2])

    def found(p):
        there, exists = extreme(list(p), jnp.asarray(2.0))
        return jnp.where(exists, there, jnp.nan)

    p = jnp.array([0.3, 1.2, -0.7])
    for ways in itertools.product((jax.jacfwd, jax.jacrev), repeat=2):
        one, other = found, closed
        for way in (*ways, jax.jacfwd):
            one, other = way(one), way(other)
        np.testing.assert_allclose(jax.jit(one)(p), jax.jit(other)(p), rtol=1e-9)


def test_stationary_point_equals_numpy(rng):
    """Where the slope changes sign once inside a step that is resolved to 1e-9."""
    fall = 0.05
    terms = rng.normal(size=(1000, TERMS)) * fall ** np.arange(TERMS) / fall**2
    terms[:, 1] *= fall
    find = jax.jit(jax.vmap(lambda c: stationary_point(list(c), jnp.asarray(1.0))))
    times, exist = (np.asarray(x) for x in find(jnp.asarray(terms)))
    checked = 0
    for c, time, exists in zip(terms, times, exist, strict=True):
        roots = np.roots(np.polyder(c[::-1]))
        inside = [r.real for r in roots if abs(r.imag) < 1e-9 and 0 < r.real < 1]
        if len(inside) == 1:
            checked += 1
            assert exists
            lowest = np.polyval(c[::-1], inside[0])
            np.testing.assert_allclose(value(list(c), time), lowest, atol=1e-9)
        elif not inside:
            assert not exists
    assert checked > 50
