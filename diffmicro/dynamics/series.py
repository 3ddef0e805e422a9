"""Truncated Taylor series that a vector field can be written with.

A motion x' = f(x) is advanced by its own Taylor series. With time counted in steps of length h,
x(tau) = sum_k x_k tau^k and x_{k+1} = h f_k / (k + 1), where f_k is the k-th coefficient of f along the
motion. `Series` computes those coefficients one order after the other from the arithmetic that f is
written in (the classical recurrences, Moore 1966; Griewank and Walther 2008, ch. 13), so a vector field is
ordinary Python: `stiffness * (gap - 1.0) + force / (gap + fit)**2` works on numbers and on series.

Why series and not Runge-Kutta: the step is a polynomial in time, so every event inside it is the root of a
polynomial and the state at the event is its value there, to the full order and without one more evaluation
of the force. Not here: functions beyond + - * / **n, sin and cos; add a recurrence when a device needs it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array

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
    """A function of time given by its Taylor coefficients, each computed when first asked for.

    `products` lists the results of nonlinear operations on the series of one motion: what a solver may
    want to store rather than have recomputed (see `kernel`).
    """

    # Array operands must leave `array * series` to this class.
    __array_priority__ = 1000
    __jax_array__ = None

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

    def __add__(self, other: Any) -> "Series":
        other = series(other)
        return self._with(other, lambda k: _plus(self[k], other[k]))

    __radd__ = __add__

    def __neg__(self) -> "Series":
        return self._with(self, lambda k: None if self[k] is None else -self[k])

    def __sub__(self, other: Any) -> "Series":
        return self + (-series(other))

    def __rsub__(self, other: Any) -> "Series":
        return series(other) + (-self)

    def __mul__(self, other: Any) -> "Series":
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

    def __truediv__(self, other: Any) -> "Series":
        if not isinstance(other, Series):
            return self * (1.0 / other)
        inverse = 1.0 / other[0]

        def rule(k: int) -> Coefficient:
            known = _sum([_times(other[i], quotient[k - i]) for i in range(1, k + 1)])
            return _times(_plus(self[k], None if known is None else -known), inverse)

        quotient = self._product(other, rule)
        return quotient

    def __rtruediv__(self, other: Any) -> "Series":
        return series(other) / self

    def __pow__(self, exponent: int) -> "Series":
        if exponent < 1:
            raise ValueError(
                f"Series ** {exponent}: only whole powers of at least 1; divide instead."
            )
        half = self ** (exponent // 2) if exponent > 1 else None
        if half is None:
            return self
        return half * half if exponent % 2 == 0 else half * half * self


def series(value: Any) -> Series:
    """`value` as a series: a constant when it is a number or an array."""
    if isinstance(value, Series):
        return value
    return Series(lambda k: value if k == 0 else None)


def line(start: Array, rise: Array) -> Series:
    """start + rise tau."""
    return Series(lambda k: start if k == 0 else (rise if k == 1 else None))


def sin_cos(angle: Any) -> tuple[Any, Any]:
    """Sine and cosine of a number or a series (the two recurrences need each other)."""
    if not isinstance(angle, Series):
        return jnp.sin(angle), jnp.cos(angle)

    def chain(of: Series, k: int, sign: float) -> Coefficient:
        total = _sum(
            [
                _times(i * angle[i], of[k - i]) if angle[i] is not None else None
                for i in range(1, k + 1)
            ]
        )
        return None if total is None else (sign / k) * total

    sine = angle._product(angle, lambda k: jnp.sin(angle[0]) if k == 0 else chain(cosine, k, 1.0))
    cosine = angle._product(angle, lambda k: jnp.cos(angle[0]) if k == 0 else chain(sine, k, -1.0))
    return sine, cosine


def value(coefficients: Sequence[Coefficient], at: Array | float) -> Array:
    """The polynomial's value (Horner)."""
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = _plus(_times(total, at), c)
    return total


def derivative(coefficients: Sequence[Coefficient]) -> list[Coefficient]:
    """Coefficients of the polynomial's derivative."""
    return [_times(float(k), c) for k, c in enumerate(coefficients)][1:]
