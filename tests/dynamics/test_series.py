"""Taylor recurrences against `jax.experimental.jet` and closed forms."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.jet import jet

from diffmicro.dynamics.series import (
    Series,
    cos,
    derivative,
    exp,
    line,
    log,
    power,
    series,
    sin,
    sin_cos,
    sqrt,
    tanh,
    value,
    where,
)

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


@pytest.mark.parametrize(
    "left", [jnp.asarray(1.0), np.float64(1.0), np.ones(1)], ids=["JAX", "number", "NumPy"]
)
def test_an_array_on_the_left_leaves_the_operation_to_the_series(left):
    """Also where it is traced; JAX 0.6 to 0.9 took `__jax_array__ = None` for a method."""
    s = line(jnp.asarray(1.0), jnp.asarray(2.0))
    for result in (left * s, left - s, left + s, left / s):
        assert isinstance(result, Series)
    slope = jax.jit(jax.grad(lambda a: (a * s)[1] + (a - s)[1] + (a / s)[1] + (a + s)[0]))
    assert float(slope(3.0)) == 2.0 - 2.0 + 1.0


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


FUNCTIONS = {
    "exp": (exp, jnp.exp),
    "log": (log, jnp.log),
    "sqrt": (sqrt, jnp.sqrt),
    "tanh": (tanh, jnp.tanh),
    "sin": (sin, jnp.sin),
    "cos": (cos, jnp.cos),
    "real power": (lambda a: power(a, -1.37), lambda a: a**-1.37),
    "power by **": (lambda a: a**2.5, lambda a: a**2.5),
    "negative power": (lambda a: a**-2, lambda a: 1 / a**2),
    "power zero": (lambda a: a**0, lambda a: 0 * a + 1.0),
    "chosen": (lambda a: where(True, a, 3.0), lambda a: a),
    "not chosen": (lambda a: where(False, a, a * a), lambda a: a * a),
    "nested": (
        lambda a: exp(tanh(log(sqrt(a)) * 0.3)) / a,
        lambda a: jnp.exp(jnp.tanh(jnp.log(jnp.sqrt(a)) * 0.3)) / a,
    ),
}


def by_repeated_derivatives(function, coefficients):
    """Taylor coefficients of function(a(tau)) by `jax.jacfwd`, which knows no recurrence."""

    def of_time(time):
        return function(value([jnp.asarray(c) for c in coefficients], time))

    found = []
    for order in range(len(coefficients)):
        found.append(float(of_time(0.0)) / math.factorial(order))
        of_time = jax.jacfwd(of_time)
    return np.array(found)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_equal_repeated_derivatives_and_take_numbers(name, rng):
    ours, theirs = FUNCTIONS[name]
    a = rng.normal(size=5)
    a[0] = 0.7 + abs(a[0])
    expected = by_repeated_derivatives(theirs, a)
    found = series(ours(Series(lambda k: jnp.asarray(a[k])))).coefficients(4)
    found = np.array([0.0 if c is None else float(c) for c in found])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))
    np.testing.assert_allclose(float(ours(jnp.asarray(a[0]))), expected[0], rtol=1e-14)


@pytest.mark.parametrize(
    "act",
    [
        abs,
        bool,
        lambda a: a > 0,
        lambda a: 0.0 <= a,
        lambda a: a == 0,
        lambda a: where(a, 1.0, 2.0),
        lambda a: max(a, 0.0),
    ],
)
def test_what_has_no_series_names_the_remedy(act):
    with pytest.raises(TypeError, match="Coulomb .* OneSidedSpring"):
        act(series(1.0))


def test_numpy_numbers_leave_products_to_the_series():
    product = np.float64(2.0) * line(jnp.asarray(1.0), jnp.asarray(3.0))
    assert isinstance(product, Series)
    assert [float(c) for c in product.coefficients(1)] == [2.0, 6.0]


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
