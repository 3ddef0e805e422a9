"""Moreau's time stepping: the loops over steps and periods, and the motion that they settle to.

The scheme (Moreau 1988; Nagy 2012, section III-A) takes the positions to the middle of the step,
finds the closed contacts there, solves their impulses together with the velocities at the end of
the step, and ends with those velocities:

    q_M = q + dt/2 u,   M (u' - u) = h(q_M, u, t + dt/2) dt + W P,   q' = q_M + dt/2 u'

It never locates an event: impacts, reversals and switches of the drive take effect at the next
step, so it is robust, and first-order accurate in dt. Forces and contacts are the device's; here is
what repeats them.

**Derivatives** of it, in all modes, are those of the discretization at its active set. They are not
the derivatives of the motion: the instants of impacts and reversals stay put in a step, so the
saltation terms are missing, at every dt. On sliding reversals, impacts and clamped motions they are
off by tens of percent or have no meaning; the event method (`hybrid`) is right. The same holds for
the multiplier.

Left out: Newton shooting. The map of states is only piecewise smooth on the scale of a step, so the
motion is found by simulation alone.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Tree
from diffmicro.dynamics.fixed_point import Orbit, PeriodMap, differentiable
from diffmicro.dynamics.multipliers import spectral_radius
from diffmicro.dynamics.orbits import MAX_MULTIPLE, RESIDUAL

STEPS = 1000
"""Steps per period of the paper."""

MOST_PERIODS = 1000
"""Periods after which a motion that has not settled is called so."""

AGREE = 1e-11
"""Two consecutive states that agree this well [natural units] are one."""

UNROLL = 4
"""Steps per turn of the compiled loop: 5 % faster than one; more gain nothing."""


def march(step: Callable[[Tree, Array], Tree], carry: Tree, steps: int) -> Tree:
    """`carry` after one period of `step(carry, k)`, k = 0 .. steps - 1."""

    def body(carry, k):
        return step(carry, k), None

    return loops.scan(body, carry, jnp.arange(steps, dtype=jnp.int32), unroll=UNROLL)[0]


class Settling(NamedTuple):
    """A simulation on its way: state, distance to the state one period ago, periods so far."""

    state: Array
    defect: Array
    earlier: Array
    periods: Array


def settle(advance: Callable[[Array], Array], start: Array, most: int = MOST_PERIODS) -> Settling:
    """Simulate by `advance`, one period a call, until two states agree within `AGREE` or rounding.

    In a batch, lanes that have settled stand still. `earlier` is the defect half-way through, by
    which a slow approach counts as one.
    """
    close = _close(start)
    far = jnp.full((), jnp.inf, start.dtype)

    def go_on(now: Settling) -> Array:
        return (now.defect > close) & (now.periods < most)

    def period(now: Settling) -> Settling:
        after = advance(now.state)
        defect = jnp.max(jnp.abs(after - now.state))
        # A state that is no longer finite has not settled, and will not.
        defect = jnp.where(jnp.isfinite(defect), defect, far)
        earlier = jnp.where(now.periods == most // 2, now.defect, now.earlier)
        return Settling(after, defect, earlier, now.periods + 1)

    return loops.while_loop(go_on, period, Settling(start, far, far, jnp.zeros((), jnp.int32)))


def find_orbit(
    period_map: PeriodMap, parameters: Array, start: Array, most: int = MOST_PERIODS
) -> Orbit:
    """The motion that the simulation from `start` settles to, as `orbits.find_orbit` returns it.

    Accepted when two states, n = 1 .. 8 periods apart, agree within `AGREE`; also when they agree
    within `orbits.RESIDUAL` after `most` periods and did worse half-way (a weakly damped motion).
    What makes no displacement over 8 periods while the rest rings down is accepted as at rest.
    """
    tolerance = jnp.zeros((), parameters.dtype)
    q, start = jax.lax.stop_gradient((parameters, start))
    one = jnp.ones((), jnp.int32)
    end = settle(lambda z: period_map(q, z, one, tolerance)[0], start, most)
    small = max(RESIDUAL, 40 * float(jnp.finfo(start.dtype).eps))

    def on(z, _):
        after, observed = period_map(q, z, one, tolerance)
        return after, (after, observed[0])

    arrived, (visited, displaced) = loops.scan(on, end.state, None, length=MAX_MULTIPLE)
    returns = jnp.max(jnp.abs(visited - end.state[None]), axis=-1)
    settled = (end.defect < small) & ((end.periods < most) | (end.defect < end.earlier))
    multiple = jnp.any(returns <= _close(start)) & ~settled
    rests = jnp.all(displaced == 0) & (end.defect < end.earlier) & ~settled
    n = jnp.where(multiple, jnp.argmax(returns <= _close(start)) + 1, 1).astype(jnp.int32)

    def both(zq: Array) -> tuple[Array, tuple[Array, Array]]:
        after, observed = period_map(zq[start.size :], zq[: start.size], n, tolerance)
        return jnp.concatenate([after, observed]), (after, observed)

    matrix, (after, observed) = jax.jacfwd(both, has_aux=True)(jnp.concatenate([end.state, q]))
    found = Orbit(
        state=end.state,
        observed=observed,
        residual=jnp.max(jnp.abs(after - end.state)),
        multiplier=spectral_radius(matrix[: start.size, : start.size]),
        periods=n,
        accepted=(settled | multiple | rests) & jnp.all(jnp.isfinite(end.state)),
        arrived=arrived[None],
        matrix=matrix,
    )
    return differentiable(period_map, parameters, found, tolerance)


def _close(like: Array) -> float:
    return max(AGREE, 40 * float(jnp.finfo(like.dtype).eps))


class Halt(NamedTuple):
    """The paper's rule of when a frequency is done (section III-A)."""

    difference: Array | float  # between the displacements of two consecutive periods
    most: Array | int  # periods


def until_steady(
    advance: Callable[[Tree], tuple[Tree, Array]], start: Tree, halt: Halt
) -> tuple[Tree, Array, Array]:
    """State, displacement of the last period, and number of periods, by the paper's rule.

    The rule depends on velocities only: it may stop while a stuck body's hammer still rings, and
    gives up on motions that settle slowly without saying so. It is here to reproduce the paper.
    """
    unknown = jnp.full((), jnp.inf)

    def go_on(carry):
        _, moved, before, periods = carry
        steady = jnp.abs(moved - before) < halt.difference
        return (periods < halt.most) & ~steady

    def period(carry):
        state, moved, _, periods = carry
        state, now = advance(state)
        return state, now, moved, periods + 1

    dtype = jax.eval_shape(advance, start)[1].dtype
    first = unknown.astype(dtype)
    carry = (start, first, -first, jnp.zeros((), jnp.int32))
    state, moved, _, periods = loops.while_loop(go_on, period, carry)
    return state, moved, periods
