"""A periodic motion as a fixed point of the map over its periods, and its derivative.

z = P^n(z, q) with the map P that carries the state z over n drive periods. By the implicit function theorem

    (I - P_z) dz = P_q dq,

with the full matrices P_z and P_q of one forward pass over the orbit. It works in forward and reverse mode and,
as the rule uses nothing but functions that obey the same rule, to any order: each further order is a pass with one
more forward derivative. How the orbit is found does not matter, see `orbits`; what is not accepted has the
derivative NaN.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.autodiff.rules import Changes, explicit, known
from diffmicro.nonsmooth.elimination import solve


class Orbit(NamedTuple):
    """A periodic motion. `state` and `observed` carry derivatives, the rest is how it was judged.

    `matrix` is d(state after, observed)/d(state, parameters). `arrived` is where the simulations ended.
    """

    state: Array
    observed: Array
    residual: Array
    multiplier: Array
    periods: Array
    accepted: Array
    arrived: Array
    matrix: Array


PeriodMap = Callable[..., tuple[Array, Array]]
"""(parameters q, state z, periods n, tolerance, look=True) -> (state after, observed), differentiable in
forward mode. The first observed quantity is the displacement over the n periods; without `look` it may be
the only one."""


def differentiable(period_map: PeriodMap, q: Array, found: Orbit, tolerance: Array) -> Orbit:
    """`found`, however it was found, with the derivatives of a fixed point of `period_map`."""
    found = jax.lax.stop_gradient(found)
    point = Point(q, found.periods, tolerance)
    about = (point, found.accepted, found.matrix)
    state, observed = known(partial(_orbit_rule, period_map), found[:2], about)
    return found._replace(state=state, observed=observed)


class Point(NamedTuple):
    """Where a fixed point belongs to: parameters, periods, tolerance."""

    parameters: Array
    periods: Array
    tolerance: Array


def _orbit_rule(period_map: PeriodMap, value: tuple[Array, Array], given: tuple, changes: Changes):
    (state, observed), (point, accepted, matrix) = value, given
    if changes[0] is None:
        return jnp.zeros_like(state), jnp.zeros_like(observed)
    at = jnp.concatenate([state, point.parameters])
    others = jax.lax.stop_gradient(point[1:])
    by_both = known(partial(_matrix_rule, period_map, state.size), matrix, (at, others))
    # A factor, not a summand: reverse mode transposes what is linear and drops what is added.
    allowed = jnp.where(accepted, 1.0, jnp.nan)
    return jax.tree.map(lambda dot: dot * allowed, fixed_point_changes(by_both, changes[0]))


def fixed_point_changes(matrix: Array, q_dot: Array) -> tuple[Array, Array]:
    """Changes of a fixed point's state and of what is observed there, by the matrix of both by state and
    parameters: (I - P_z) dz = P_q dq."""
    size = matrix.shape[1] - q_dot.size
    by_state, pushed = matrix[:, :size], matrix[:, size:] @ q_dot
    state_dot = solve(jnp.eye(size, dtype=q_dot.dtype) - by_state[:size], pushed[:size])
    return state_dot, pushed[size:] + by_state[size:] @ state_dot


def together(period_map: PeriodMap, size: int) -> Callable[..., Array]:
    """Function of (state and parameters, (periods, tolerance)) -> state after and what was observed."""

    def mapped(zq: Array, others: tuple[Array, Array]) -> Array:
        return jnp.concatenate(period_map(zq[size:], zq[:size], *others))

    return mapped


def _matrix_rule(period_map: PeriodMap, size: int, matrix: Array, given: tuple, changes: Changes):
    """The matrix at the orbit is known; its change is another pass."""
    del matrix
    (at, others), at_dot = given, changes[0]
    return explicit(jax.jacfwd(jax.jacfwd(together(period_map, size))))(at, others) @ at_dot
