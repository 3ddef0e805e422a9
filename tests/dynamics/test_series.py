"""Taylor recurrences against `jax.experimental.jet` and closed forms."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.jet import jet

from diffmicro.dynamics.series import Series, derivative, line, series, sin_cos, value

ORDER = 8
FACTORIALS = np.array([math.factorial(k) for k in range(ORDER + 1)], float)


def given(coefficients):
    return Series(lambda k: coefficients[k])


def of(result):
    """Coefficients of a result as an array, zeros by structure filled in."""
    terms = series(result).coefficients(ORDER)
    return np.array([0.0 if c is None else float(c) for c in terms])


def by_jet(function, *arguments):
    primals = [jnp.asarray(a[0]) for a in arguments]
    terms = [[jnp.asarray(x) for x in a[1:] * FACTORIALS[1:]] for a in arguments]
    first, others = jet(function, primals, terms)
    return np.array([first, *others], float) / FACTORIALS


EXPRESSIONS = {
    "sum": lambda a, b: a + b - 2.0 - (1.5 - a),
    "product": lambda a, b: a * b * 3.0,
    "square": lambda a, b: a * a + b,
    "quotient": lambda a, b: a / b,
    "reciprocal": lambda a, b: 2.0 / (b + 1.0) / 3.0,
    "cube": lambda a, b: (a - b) ** 3,
    "sixth": lambda a, b: a**6,
    "force": lambda a, b: -(a - 1.0) * 4.0 + b * b * (a + 0.3) / (a + 0.2) ** 2,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_arithmetic_equals_jet(name, rng):
    a, b = rng.normal(size=(2, ORDER + 1))
    b[0] = 2.0 + abs(b[0])
    a[0] = 1.0 + abs(a[0])
    found = of(EXPRESSIONS[name](given(a), given(b)))
    expected = by_jet(EXPRESSIONS[name], a, b)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))


def test_sine_and_cosine_equal_jet(rng):
    a = rng.normal(size=ORDER + 1)
    for found, function in zip(sin_cos(given(a)), (jnp.sin, jnp.cos), strict=True):
        expected = by_jet(function, a)
        np.testing.assert_allclose(of(found), expected, atol=1e-12 * np.max(np.abs(expected)))


def test_sine_of_a_line_is_the_sine_series():
    sine, cosine = sin_cos(line(jnp.asarray(0.0), jnp.asarray(1.0)))
    signs = np.array([[0, 1, 0, -1], [1, 0, -1, 0]])
    for found, sign in zip((sine, cosine), signs, strict=True):
        expected = np.resize(sign, ORDER + 1) / FACTORIALS
        np.testing.assert_allclose(of(found), expected, atol=1e-16)


def test_numbers_pass_through():
    sine, cosine = sin_cos(jnp.asarray(0.3))
    np.testing.assert_allclose([sine, cosine], [math.sin(0.3), math.cos(0.3)], rtol=1e-15)


def test_zeros_by_structure_cost_nothing():
    product = line(jnp.asarray(1.0), jnp.asarray(2.0)) * series(3.0)
    assert product.coefficients(4)[2:] == [None, None, None]


def test_products_are_listed_once_each(rng):
    stored: list[Series] = []
    a = Series(lambda k: 1.0 / (k + 1), stored)
    expression = a * a + 2.0 * (a / (a + 1.0)) - a
    expression.coefficients(3)
    assert len(stored) == 2


@pytest.mark.parametrize("exponent", [0, -1])
def test_powers_below_one_are_refused(exponent):
    with pytest.raises(ValueError, match="at least 1"):
        _ = series(1.0) ** exponent


def test_value_and_derivative_of_polynomials(rng):
    coefficients = rng.normal(size=ORDER)
    at = 0.7
    polynomial = np.polynomial.Polynomial(coefficients)
    terms = list(coefficients)
    terms[3] = None
    gap = coefficients[3] * at**3
    np.testing.assert_allclose(value(list(coefficients), at), polynomial(at), rtol=1e-13)
    np.testing.assert_allclose(value(terms, at), polynomial(at) - gap, rtol=1e-12)
    slope = value(derivative(list(coefficients)), at)
    np.testing.assert_allclose(slope, polynomial.deriv()(at), rtol=1e-13)
