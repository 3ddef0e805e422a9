"""The first time at which one of several polynomials falls below zero.

Guards are polynomials of the time tau in [0, end] of one Taylor step; each is positive while its mode
lasts. Signs are looked at in the middle and at the end, the earliest guard is picked by linear
interpolation, and its root is found by Newton's method inside the bracket. A guard that starts from an
exact zero (a body that just left the surface it touched) is divided by tau first, so that the root behind
it is not found again.

The root's derivative is the implicit one, d tau = - d guard / guard', of any order and in any mode. It is
what carries the saltation terms of a hybrid motion.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.kernel import Kernel
from diffmicro.dynamics.series import derivative, value


NEWTON_STEPS = 4
"""Newton steps on a bracket of half a Taylor step: the error is squared four times."""

MISORDERED = 1e-12
"""A guard below minus this (state in natural units) at another guard's root came first after all."""

NEVER = 2.0
"""A time beyond the end of every step."""


class Crossing(NamedTuple):
    """`time` of the first crossing (NEVER if none), `fired` per guard, `misordered`: shorten the step."""

    time: Array
    fired: tuple[Array, ...]
    misordered: Array


@jax.custom_jvp
def root(coefficients: tuple[Array, ...], guess: Array) -> Array:
    """`guess`, taken to be a root of the polynomial, with the derivative that a root has."""
    del coefficients
    return guess


@root.defjvp
def _root_jvp(primals, tangents):
    coefficients, guess = primals
    change, _ = tangents
    at = root(coefficients, guess)
    slope = value(derivative(coefficients), at)
    safe = jnp.where(slope == 0, 1.0, slope)
    return at, -value(change, at) / safe


def first_crossing(guards: Sequence[Sequence[Array]], end: Array, kernel: Kernel) -> Crossing:
    """The first root of the guards' polynomials in (0, end]."""
    frozen = [[jax.lax.stop_gradient(c) for c in guard] for guard in guards]
    middle = kernel.keep([value(g, 0.5 * end) for g in frozen])
    final = kernel.keep([value(g, end) for g in frozen])
    early = _any([m < 0 for m in middle])
    none = ~(early | _any([f < 0 for f in final]))

    # Where each guard would cross if it were a straight line across the bracket.
    shares = []
    for guard, half, whole in zip(frozen, middle, final, strict=True):
        left = jnp.where(early, guard[0], half)
        right = jnp.where(early, half, whole)
        shares.append(jnp.where(right < 0, jnp.maximum(left, 0.0) / (jnp.abs(left) - right), NEVER))
    first = shares[0]
    for share in shares[1:]:
        first = jnp.minimum(first, share)
    chosen, taken = [], none
    for share in shares:
        chosen.append((share == first) & ~taken)
        taken = taken | chosen[-1]

    picked = [_pick(chosen, terms) for terms in zip(*guards, strict=True)]
    picked = kernel.keep(picked)
    low = jnp.where(early, 0.0, 0.5 * end)
    time = _newton([jax.lax.stop_gradient(c) for c in picked], low, low + 0.5 * end, first, kernel)
    before = [
        (value(guard, time) < -MISORDERED) & ~mine
        for guard, mine in zip(frozen, chosen, strict=True)
    ]
    misordered = _any(before) & ~none
    located = root(tuple(picked), time)
    (located,) = kernel.keep([jnp.where(none, NEVER, located)])
    return Crossing(located, tuple(chosen), misordered)


def _newton(polynomial: list[Array], low: Array, high: Array, share: Array, kernel: Kernel) -> Array:
    """Newton's method kept inside [low, high], on the polynomial without its root at zero."""
    at_zero = polynomial[0] == 0
    shifted = [
        jnp.where(at_zero, later, here)
        for here, later in zip(polynomial, [*polynomial[1:], jnp.zeros_like(low)], strict=True)
    ]
    slope = derivative(shifted)
    # The straight line through a root at zero says nothing about the next root: start in the middle.
    share = jnp.where(at_zero & (low == 0), 0.5, jnp.clip(share, 0.0, 1.0))
    (time,) = kernel.keep([low + (high - low) * share])
    for _ in range(NEWTON_STEPS):
        rate = value(slope, time)
        step = value(shifted, time) / jnp.where(rate == 0, 1.0, rate)
        (time,) = kernel.keep([jnp.clip(time - step, low, high)])
    return time


def stationary_point(polynomial: Sequence[Array], end: Array) -> tuple[Array, Array]:
    """Time of an interior stationary point in (0, end), and whether there is one.

    Its time carries no derivative: at a stationary point the value's derivative does not need it.
    """
    rate = [jax.lax.stop_gradient(c) for c in derivative(polynomial)]
    bend = derivative(rate)
    left, right = rate[0], value(rate, end)
    exists = left * right < 0
    time = end * jnp.where(exists, left / jnp.where(exists, left - right, 1.0), 0.5)
    for _ in range(NEWTON_STEPS):
        curvature = value(bend, time)
        time = time - value(rate, time) / jnp.where(curvature == 0, 1.0, curvature)
        time = jnp.clip(time, 0.0, end)
    return jax.lax.stop_gradient(time), exists


def _any(flags: Sequence[Array]) -> Array:
    total = flags[0]
    for flag in flags[1:]:
        total = total | flag
    return total


def _pick(chosen: Sequence[Array], values: Sequence[Array]) -> Array:
    picked = values[-1]
    for flag, v in zip(chosen[:-1], values[:-1], strict=True):
        picked = jnp.where(flag, v, picked)
    return picked
