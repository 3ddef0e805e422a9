"""The motion over one step as Taylor polynomials of its share, and how far they are accurate.

The series of the state follows from the flow, order by order. A step is as long as its last coefficients allow
(Jorba and Zou 2005): those of the state and, as what is at rest has none, those of the guards.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.kernel import Kernel
from diffmicro.dynamics.series import Coefficient, Number, Series, line, series
from diffmicro.dynamics.system import Drive, HybridSystem, Mode, Numerics, Segment, State


class Taylor(NamedTuple):
    """The motion over a step as polynomials of its share.

    states, guards: their coefficients. drive, rise: the drive at its start, and its change over the step.
    accurate: share of the step up to which the series is accurate.
    """

    states: State
    guards: tuple[list[Array], ...]
    drive: Drive
    rise: Drive
    accurate: Array


def taylor(
    system: HybridSystem,
    segment: Segment,
    start: tuple[Array, State, Mode],
    h: Array,
    numerics: Numerics,
    kern: Kernel,
) -> Taylor:
    """The motion from a start (time, state, mode) over a step of the length h."""
    (clock, state, mode), order = start, numerics.order
    drive, rise = segment.drive(clock), segment.rise(h)
    along = jax.tree.map(line, drive, rise)
    states, watch = _solution(system, line(clock, h), state, mode, along, h, order, kern)
    guards = tuple(_filled(series(g), h, order) for g in watch())
    worst = jnp.maximum(_largest(states, order), _largest_of_guards(guards, h))
    quality = numerics.tolerance / (worst + jnp.finfo(h.dtype).tiny)
    # The eighth root is three square roots, which vectorize; near enough for orders 6 to 9.
    accurate = jax.lax.stop_gradient(jnp.minimum(1.0, jnp.sqrt(jnp.sqrt(jnp.sqrt(quality)))))
    polynomials = type(state)(*(_filled(s, h, order) for s in states))
    return Taylor(polynomials, guards, drive, rise, accurate)


def _solution(
    system: HybridSystem,
    time: Series,
    state: State,
    mode: Mode,
    drive: Drive,
    h: Array,
    order: int,
    kern: Kernel,
) -> tuple[State, Callable[[], tuple[Number, ...]]]:
    """The state as series, each order of all its entries kept together, and what gives the guards."""
    rates: list[Series] = []
    products: list[Series] = []

    def entry(i: int, start: Array) -> Series:
        def rule(k: int) -> Coefficient:
            if k == 0:
                return start
            rate = rates[i][k - 1]
            return None if rate is None else rate * h * (1.0 / k)

        return Series(rule, products)

    states = type(state)(*(entry(i, s) for i, s in enumerate(state)))
    flow, watch = system.laws(time, states, mode, drive)
    rates.extend(series(r) for r in flow)
    # Order by order, what the next order is built from is stored once.
    for k in range(1, order + 1):
        computed = [(s, k) for s in states] + [(p, k - 1) for p in products]
        computed = [(s, j) for s, j in computed if s[j] is not None]
        for (s, j), kept in zip(computed, kern.keep([s[j] for s, j in computed]), strict=True):
            s.replace(j, kept)
    return states, watch


def _largest(states: State, order: int) -> Array:
    """Largest of the last coefficients; of the last two for the first entry, should one vanish."""
    ends = [s[order] for s in states if s[order] is not None] + [states[0][order - 1]]
    worst = jnp.zeros_like(states[0][0])
    for c in ends:
        if c is not None:
            worst = jnp.maximum(worst, jnp.abs(jax.lax.stop_gradient(c)))
    return worst


def _largest_of_guards(guards: tuple[list[Array], ...], h: Array) -> Array:
    """Largest of the last two coefficients of the guards' integrals over time; of large guards, over their size.

    What is at rest has no coefficients of its own, but the force that will set it free has. As integrals, guards
    that are accelerations ask for no shorter steps than the rates that they change. Two, as one may vanish.
    Coefficients that overflow do not count: the motion is lost, and its state is not finite in the end.
    """
    worst = jnp.zeros_like(h)
    for guard in jax.lax.stop_gradient(guards):
        size = jnp.maximum(1.0, jnp.maximum(jnp.abs(guard[0]), jnp.abs(guard[1])))
        order = len(guard) - 1
        last = jnp.maximum(jnp.abs(guard[-2]) / order, jnp.abs(guard[-1]) / (order + 1))
        share = last * h / size
        worst = jnp.maximum(worst, jnp.where(share < jnp.inf, share, 0.0))
    return worst


def _filled(s: Series, like: Array, order: int) -> list[Array]:
    zero = jnp.zeros_like(like)
    return [zero if c is None else jnp.asarray(c, like.dtype) for c in s.coefficients(order)]
