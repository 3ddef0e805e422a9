"""The first time at which one of several polynomials falls below zero.

Guards are polynomials of the time tau in [0, end] of one Taylor step; each is positive while its mode
lasts. Signs are looked at in the middle, at the end and at the bottom of dips between them (a hammer that
touches and leaves within one step), the earliest guard is picked by linear interpolation, and its root is
found by Newton's method inside the bracket. A guard that starts from an
exact zero (a body that just left the surface it touched) is divided by tau first, so that the root behind
it is not found again.

The search itself carries no derivative. `root` gives one to what was found, the implicit one
d tau = - d guard / guard', of any order and in any mode. It is what carries the saltation terms of a hybrid
motion.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro.autodiff.rules import Changes, change_along, known
from diffmicro.dynamics.kernel import Kernel
from diffmicro.dynamics.series import derivative, value

NEWTON_STEPS = 4
"""Newton steps from a parabola's root on half a Taylor step at most: the error is squared four times."""

TOUCHING = 1024
"""Depth, in roundings of natural units, from which a dip below zero counts, and from which a guard that is
negative at another guard's root came first after all."""

LANDING = 1e-4
"""Largest height at an accepted root, over the height that the guard came down from. A chatter's last flights
are lower than `TOUCHING`, and impacts that come late by it would feed them for good."""

STATIONARY_STEPS = 4
"""Newton steps in a shrinking bracket; a value there is wrong by the square of the time's error alone."""

NEVER = 2.0
"""A time beyond the end of every step."""


class Crossing(NamedTuple):
    """`time` of the first crossing (NEVER if none), `fired` per guard, `misordered`: shorten the step."""

    time: Array
    fired: tuple[Array, ...]
    misordered: Array


def root(guard: Callable[[PyTree, Array], Array], given: PyTree, guess: Array) -> Array:
    """`guess`, taken to be a root of guard(given, .), with the derivative that a root has."""
    return known(partial(_root_rule, guard), guess, given)


def _root_rule(guard: Callable, at: Array, given: PyTree, changes: Changes) -> Array:
    change = change_along(lambda given: guard(given, at), given, changes)
    _, slope = jax.jvp(lambda t: guard(given, t), (at,), (jnp.ones_like(at),))
    return -change / jnp.where(slope == 0, 1.0, slope)


def first_crossing(guards: Sequence[Sequence[Array]], end: Array, kernel: Kernel) -> Crossing:
    """The first root of the guards' polynomials in (0, end], without its derivative."""
    guards = [[jax.lax.stop_gradient(c) for c in guard] for guard in guards]
    brackets = [_bracket(guard, end, kernel) for guard in guards]
    first = brackets[0].guess
    for bracket in brackets[1:]:
        first = jnp.minimum(first, bracket.guess)
    none = first >= NEVER
    chosen, taken = [], none
    for bracket in brackets:
        chosen.append((bracket.guess == first) & ~taken)
        taken = taken | chosen[-1]

    picked = kernel.keep([pick(chosen, terms) for terms in zip(*guards, strict=True)])
    low, high = (pick(chosen, [b[i] for b in brackets]) for i in range(2))

    def locate(picked, others, chosen, low, high) -> tuple[Array, Array]:
        time = _newton(picked, low, high)
        below = -TOUCHING * float(jnp.finfo(time.dtype).eps)
        earlier = [(value(g, time) < below) & ~m for g, m in zip(others, chosen, strict=True)]
        # An unfinished root is never used: the step is shortened, and the bracket with it.
        height, rate = jnp.abs(value(picked, time)), jnp.abs(picked[1])
        unfinished = height > -below * jnp.maximum(1.0, rate)
        above = (picked[0] > 0) | ((picked[0] == 0) & (picked[1] > 0))
        unfinished = unfinished | (above & (height > LANDING * (picked[0] + rate * time)))
        return time, _any(earlier) | unfinished

    nothing = (jnp.full_like(high, NEVER), jnp.zeros_like(none))
    given = (picked, guards, chosen, low, high)
    time, misordered = kernel.where_needed(~none, locate, nothing, *given)
    (time,) = kernel.keep([time])
    return Crossing(time, tuple(chosen), misordered)


class _Bracket(NamedTuple):
    """Where a guard first changes sign, and the root of the straight line across (NEVER if none)."""

    low: Array
    high: Array
    guess: Array


def _bracket(guard: list[Array], end: Array, kernel: Kernel) -> _Bracket:
    """Signs at the middle and the end, and where a dip between them is deepest (else halfway)."""
    slope = derivative(guard)
    middle = 0.5 * end
    rates = [guard[1], *kernel.keep([value(slope, middle), value(slope, end)])]
    times = [jnp.zeros_like(end)]
    for i, left in enumerate((times[0], middle)):
        down, up = rates[i], rates[i + 1]
        dips = (down < 0) & (up > 0)
        share = jnp.where(dips, down / jnp.where(dips, down - up, 1.0), 0.5)
        times += [left + middle * share, left + middle]
    heights = [guard[0], *kernel.keep([value(guard, t) for t in times[1:]])]
    below = -TOUCHING * float(jnp.finfo(end.dtype).eps)
    low, high, before, after = times[-2], times[-1], heights[-2], heights[-1]
    for i in range(len(times) - 1, 0, -1):
        # A dip counts if it goes deeper than rounding, an end if it is negative at all.
        hit = heights[i] < (below if i % 2 else 0.0)
        left, above = times[i - 1], heights[i - 1]
        if i % 2 == 0:  # a dip that did not count where it ends was the way down
            left = jnp.where(above < 0, times[i - 2], left)
            above = jnp.where(above < 0, heights[i - 2], above)
        low, high = jnp.where(hit, left, low), jnp.where(hit, times[i], high)
        before = jnp.where(hit, above, before)
        after = jnp.where(hit, heights[i], after)
    crosses = after < 0
    # From an exact zero the line is drawn for the polynomial without that root.
    from_zero = (guard[0] == 0) & (low == 0)
    before = jnp.maximum(jnp.where(from_zero, guard[1], before), 0.0)
    after = jnp.where(from_zero, after / jnp.where(high > 0, high, 1.0), after)
    share = before / jnp.where(crosses, before - after, 1.0)
    return _Bracket(low, high, jnp.where(crosses, low + (high - low) * share, NEVER))


def _newton(polynomial: list[Array], low: Array, high: Array) -> Array:
    """Newton's method in a shrinking bracket, on the polynomial without its root at zero.

    It starts from the root of the parabola through both ends with the slope of the second: exact where the
    bracket ends at the bottom of a dip, however shallow, where a straight line would start far off.
    """
    at_zero = polynomial[0] == 0
    shifted = [
        jnp.where(at_zero, later, here)
        for here, later in zip(polynomial, [*polynomial[1:], jnp.zeros_like(low)], strict=True)
    ]
    slope = derivative(shifted)
    left, right, steep = value(shifted, low), value(shifted, high), value(slope, high)
    left, right = jnp.maximum(left, 0.0), jnp.minimum(right, 0.0)
    width = jnp.where(high > low, low - high, -1.0)
    bend = (left - right - steep * width) / (width * width)
    spread = jnp.sqrt(jnp.maximum(steep * steep - 4 * bend * right, 0.0)) - steep
    start = high + 2 * right / jnp.where(spread > 0, spread, 1.0)
    time = jnp.clip(jnp.where(spread > 0, start, 0.5 * (low + high)), low, high)

    def closer(_, at):
        time, low, high = at
        height, rate = value(shifted, time), value(slope, time)
        low, high = jnp.where(height > 0, time, low), jnp.where(height > 0, high, time)
        onward = time - height / jnp.where(rate == 0, 1.0, rate)
        inside = (onward >= low) & (onward <= high)
        return jnp.where(inside, onward, 0.5 * (low + high)), low, high

    # A loop, as XLA would copy the early steps into every use of the late ones.
    return loops.fori_loop(0, NEWTON_STEPS, closer, (time, low, high))[0]


def stationary_point(polynomial: Sequence[Array], end: Array) -> tuple[Array, Array]:
    """Time of an interior stationary point in (0, end), and whether there is one.

    Its time carries no derivative; `extreme` has the value there with all of them.
    """
    rate = [jax.lax.stop_gradient(c) for c in derivative(polynomial)]
    bend = derivative(rate)
    left, right = rate[0], value(rate, end)
    exists = (left * right <= 0) & (left != right)
    guess = end * jnp.where(exists, left / jnp.where(exists, left - right, 1.0), 0.5)

    def closer(_, at):
        time, low, high = at
        slope, curvature = value(rate, time), value(bend, time)
        before = slope * left > 0
        low, high = jnp.where(before, time, low), jnp.where(before, high, time)
        onward = time - slope / jnp.where(curvature == 0, 1.0, curvature)
        inside = (onward >= low) & (onward <= high)
        return jnp.where(inside, onward, 0.5 * (low + high)), low, high

    start = (jax.lax.stop_gradient(x) for x in (guess, jnp.zeros_like(end), end))
    time = loops.fori_loop(0, STATIONARY_STEPS, closer, tuple(start))[0]
    return jax.lax.stop_gradient(time), exists


def extreme(polynomial: Sequence[Array], end: Array) -> tuple[Array, Array]:
    """Value at an interior stationary point in (0, end), and whether there is one.

    A first derivative does not need that of the time, so none is calculated for it; the next one does.
    """
    at, exists = stationary_point(polynomial, end)
    return known(_extreme_rule, value(polynomial, at), (list(polynomial), at)), exists


def _extreme_rule(_value: Array, given: tuple[list[Array], Array], changes: Changes) -> Array:
    polynomial, at = given
    time = root(_rate_at, polynomial, at)
    moved = changes[: len(polynomial)]
    return value([jnp.zeros_like(at) if c is None else c for c in moved], time)


def _rate_at(polynomial: list[Array], time: Array) -> Array:
    return value(derivative(polynomial), time)


def _any(flags: Sequence[Array]) -> Array:
    total = flags[0]
    for flag in flags[1:]:
        total = total | flag
    return total


def pick(chosen: Sequence[Array], values: Sequence[Array]) -> Array:
    """The value whose flag is set, the last one if none is."""
    picked = values[-1]
    for flag, v in zip(chosen[:-1], values[:-1], strict=True):
        picked = jnp.where(flag, v, picked)
    return picked
