"""Truncated Taylor series that a vector field can be written with.

A motion x' = f(x) is advanced by its own Taylor series. With time counted in steps of length h,
x(tau) = sum_k x_k tau^k and x_{k+1} = h f_k / (k + 1), where f_k is the k-th coefficient of f along the
motion. `Series` computes those coefficients one order after the other from the arithmetic that f is
written in (the classical recurrences, Moore 1966; Griewank and Walther 2008, ch. 13), so a vector field is
ordinary Python: `stiffness * (gap - 1.0) + force / (gap + fit)**2` works on numbers and on series.

Why series and not Runge-Kutta: the step is a polynomial in time, so every event inside it is the root of a
polynomial and the state at the event is its value there, to the full order and without one more evaluation
of the force. The functions below (`exp`, `log`, `sqrt`, `power`, `tanh`, `sin`, `cos`, `where`) take numbers
too. Not here: what has no Taylor series, such as the sign or the size of a state; a kink is an event (`hybrid`).
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from diffmicro._types import Real

Number = Any
"""A number along a motion: an array, or a `Series` while a step is built. No type checker knows the arithmetic
of both at once."""

# A coefficient that is zero by structure is None, so that no arithmetic is spent on it.
Coefficient = Any


def _plus(a: Coefficient, b: Coefficient) -> Coefficient:
    if a is None:
        return b
    return a if b is None else a + b


def _times(a: Coefficient, b: Coefficient) -> Coefficient:
    return None if a is None or b is None else a * b


def _sum(terms: Sequence[Coefficient]) -> Coefficient:
    total = None
    for term in terms:
        total = _plus(total, term)
    return total


class Series:
    """A function of time given by its Taylor coefficients, each computed on first use.

    `products` lists the results of nonlinear operations on the series of one motion: what a solver may
    want to store rather than have recomputed (see `kernel`).
    """

    # NumPy must leave `array * series` to this class; JAX does so by itself for what it does not know.
    __array_ufunc__ = None

    def __init__(self, rule: Callable[[int], Coefficient], products: "list[Series] | None" = None):
        self._rule = rule
        self._known: list[Coefficient] = []
        self.products = products

    def __getitem__(self, order: int) -> Coefficient:
        while len(self._known) <= order:
            self._known.append(self._rule(len(self._known)))
        return self._known[order]

    def replace(self, order: int, coefficient: Coefficient) -> None:
        """Put an equal value in the place of a known coefficient (see `kernel`)."""
        self._known[order] = coefficient

    def coefficients(self, order: int) -> list[Coefficient]:
        """The coefficients 0..order, zeros by structure as None."""
        return [self[k] for k in range(order + 1)]

    def _with(self, other: "Series", rule: Callable[[int], Coefficient]) -> "Series":
        return Series(rule, self.products if self.products is not None else other.products)

    def _product(self, other: "Series", rule: Callable[[int], Coefficient]) -> "Series":
        result = self._with(other, rule)
        if result.products is not None:
            result.products.append(result)
        return result

    def __add__(self, other: Number) -> "Series":
        other = series(other)
        return self._with(other, lambda k: _plus(self[k], other[k]))

    __radd__ = __add__

    def __neg__(self) -> "Series":
        return self._with(self, lambda k: None if self[k] is None else -self[k])

    def __sub__(self, other: Number) -> "Series":
        return self + (-series(other))

    def __rsub__(self, other: Number) -> "Series":
        return series(other) + (-self)

    def __mul__(self, other: Number) -> "Series":
        if not isinstance(other, Series):
            return self._with(self, lambda k: _times(self[k], other))
        if other is self:
            return self._product(self, self._square)
        return self._product(
            other, lambda k: _sum([_times(self[i], other[k - i]) for i in range(k + 1)])
        )

    __rmul__ = __mul__

    def _square(self, k: int) -> Coefficient:
        pairs = _sum([_times(self[i], self[k - i]) for i in range((k + 1) // 2)])
        twice = None if pairs is None else 2.0 * pairs
        return twice if k % 2 else _plus(twice, _times(self[k // 2], self[k // 2]))

    def __truediv__(self, other: Number) -> "Series":
        if not isinstance(other, Series):
            return self * (1.0 / other)
        inverse = 1.0 / other[0]

        def rule(k: int) -> Coefficient:
            known = _sum([_times(other[i], quotient[k - i]) for i in range(1, k + 1)])
            return _times(_plus(self[k], None if known is None else -known), inverse)

        quotient = self._product(other, rule)
        return quotient

    def __rtruediv__(self, other: Number) -> "Series":
        return series(other) / self

    def __pow__(self, exponent: ArrayLike) -> "Series":
        if not isinstance(exponent, int | float) or exponent < 1 or exponent % 1:
            return power(self, exponent)
        if exponent == 1:
            return self
        half = self ** (exponent // 2)
        return half * half if exponent % 2 == 0 else half * half * self

    def _refused(self, *_: object) -> NoReturn:
        raise TypeError(NO_SIGN)

    __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = _refused
    __eq__ = __ne__ = _refused  # pyright: ignore[reportAssignmentType]
    __hash__ = object.__hash__


NO_SIGN = (
    "Inside a step the motion is a Taylor series in time, which has no sign, no size and no order, so no force "
    "can be chosen by them. Take Coulomb for dry friction, OneSidedSpring or Impact for a stop (they find the "
    "instant at which the force changes), where(flag, a, b) for a choice by a parameter, sqrt(x * x + width**2) "
    "for a smooth |x|."
)


def series(value: Number) -> Series:
    """`value` as a series: a constant when it is a number or an array."""
    if isinstance(value, Series):
        return value
    return Series(lambda k: value if k == 0 else None)


def line(start: Real, rise: Real) -> Series:
    """start + rise tau."""
    return Series(lambda k: start if k == 0 else (rise if k == 1 else None))


def _moments(a: Series, b: Series, k: int) -> Coefficient:
    """sum_i i a_i b_{k-i} / k: coefficient k of the integral of a' b."""
    total = _sum(
        [_times(i * a[i], b[k - i]) if a[i] is not None else None for i in range(1, k + 1)]
    )
    return None if total is None else total * (1.0 / k)


def _less(a: Coefficient, b: Coefficient) -> Coefficient:
    return _plus(a, None if b is None else -b)


def sin_cos(angle: Number) -> tuple[Number, Number]:
    """Sine and cosine of a number or a series (the two recurrences need each other)."""
    if not isinstance(angle, Series):
        return jnp.sin(angle), jnp.cos(angle)
    sine = angle._product(
        angle, lambda k: jnp.sin(angle[0]) if k == 0 else _moments(angle, cosine, k)
    )
    cosine = angle._product(
        angle,
        lambda k: jnp.cos(angle[0]) if k == 0 else _less(None, _moments(angle, sine, k)),
    )
    return sine, cosine


def sin(angle: Number) -> Number:
    """Sine. Who needs the cosine too takes `sin_cos`."""
    return sin_cos(angle)[0]


def cos(angle: Number) -> Number:
    """Cosine. Who needs the sine too takes `sin_cos`."""
    return sin_cos(angle)[1]


def exp(x: Number) -> Number:
    """Exponential: y' = y x'."""
    if not isinstance(x, Series):
        return jnp.exp(x)
    y = x._product(x, lambda k: jnp.exp(x[0]) if k == 0 else _moments(x, y, k))
    return y


def log(x: Number) -> Number:
    """Natural logarithm: x y' = x'."""
    if not isinstance(x, Series):
        return jnp.log(x)

    def rule(k: int) -> Coefficient:
        if k == 0:
            return jnp.log(x[0])
        known = _sum([_times(_times(y[i], x[k - i]), i / k) for i in range(1, k)])
        return _times(_less(x[k], known), 1.0 / x[0])

    y = x._product(x, rule)
    return y


def power(x: Number, exponent: ArrayLike) -> Number:
    """x to a real power, for x above zero: x y' = exponent y x'."""
    if not isinstance(x, Series):
        return jnp.power(x, exponent)

    def rule(k: int) -> Coefficient:
        if k == 0:
            return jnp.power(x[0], exponent)
        known = _sum(
            [_times(_times(x[i], y[k - i]), exponent * i - (k - i)) for i in range(1, k + 1)]
        )
        return _times(known, 1.0 / (k * x[0]))

    y = x._product(x, rule)
    return y


def sqrt(x: Number) -> Number:
    """Square root, for x above zero."""
    return power(x, 0.5) if isinstance(x, Series) else jnp.sqrt(x)


def tanh(x: Number) -> Number:
    """Hyperbolic tangent: y' = (1 - y^2) x'."""
    if not isinstance(x, Series):
        return jnp.tanh(x)
    y = x._product(x, lambda k: jnp.tanh(x[0]) if k == 0 else _moments(x, rest, k))
    rest = 1.0 - y * y
    return y


def where(flag: ArrayLike, one: Number, other: Number) -> Number:
    """`one` where the flag is set, else `other`; the flag is known for the whole step (a mode, a parameter)."""
    if isinstance(flag, Series):
        raise TypeError(NO_SIGN)
    if not isinstance(one, Series) and not isinstance(other, Series):
        return jnp.where(flag, one, other)
    a, b = series(one), series(other)

    def rule(k: int) -> Coefficient:
        if a[k] is None and b[k] is None:
            return None
        return jnp.where(flag, *(0.0 if c is None else c for c in (a[k], b[k])))

    return a._with(b, rule)


def value(coefficients: Sequence[Coefficient], at: Array | float) -> Array:
    """The polynomial's value (Horner)."""
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = _plus(_times(total, at), c)
    return total


def derivative(coefficients: Sequence[Coefficient]) -> list[Coefficient]:
    """Coefficients of the polynomial's derivative."""
    return [_times(float(k), c) for k, c in enumerate(coefficients)][1:]
