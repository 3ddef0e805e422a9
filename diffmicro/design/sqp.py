"""Sequential quadratic programming as a transformation of optax, for smooth values, limits and bounds.

    minimize f(u) with c(u) >= 0 and lower <= u <= upper

`update` is given f, c and their derivatives at u and returns the step to the u that is to be evaluated next. A
trial is accepted where the merit f + sum_i w_i max(0, -c_i) falls as its model promised (weights by Powell
1978). A trial that fails for the bend of a limit is corrected once (Fletcher 1982); where that does not help, or
nothing finite came back, the trust region shrinks. The curvature of the Lagrangian is learned by Powell's damped
BFGS, from rejected trials too. Steps solve the elastic program of `quadratic`, so limits that contradict each
other end with the least violation. No unit of f, c or u has to be chosen.

The state is a pytree of arrays: vmap it over starts, keep it, chain it. Left out: equalities, exact second
derivatives.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import PyTree

from diffmicro.design.quadratic import solve_quadratic, times
from diffmicro.parameters import Value

ACCEPT, GOOD = 1e-4, 0.75
"""Shares of the promised improvement from which a trial is accepted, and the trust region grows."""

FIRST = 0.3
"""Curvature at first, in units of the gradient over the box: a step reaches far, but not everywhere."""

PART = 0.8
"""Share of what a step can mend of a violation that it has to mend, where it cannot mend all."""

CREDIBLE = 100.0
"""Multiplier, in units of the gradient over the limit's, beyond which it is no price but a contradiction."""

BALANCED = 1e-3
"""Share of the gradient that the curvature holds back where a short step still means an optimum."""

SEARCHING, CONVERGED, STUCK = 0, 1, 2
"""Codes of `SQPState.status`. Stuck: no step is an improvement, or limits contradict each other."""


class Evaluation(NamedTuple):
    """What is known at u: f and its gradient, c and its Jacobian."""

    u: Array
    value: Array
    gradient: Array
    slacks: Array
    jacobian: Array


class SQPState(NamedTuple):
    """Where the search stands, in flat arrays and in units of the box.

    unit: of each variable. best: the incumbent. known: whether there is one. curvature: of the Lagrangian.
    multipliers: of the last program. weights: of the merit. radius: of the trust region. corrected: whether the
    trial under way is a correction.
    """

    unit: Array
    best: Evaluation
    known: Array
    curvature: Array
    multipliers: Array
    weights: Array
    radius: Array
    corrected: Array
    status: Array


def sqp(
    constraints: int = 0,
    *,
    lower: ArrayLike = 0.0,
    upper: ArrayLike = 1.0,
    radius: float = 1.0,
    tolerance: float = 1e-7,
) -> optax.GradientTransformationExtraArgs:
    """The transformation for a number of constraints; bounds are numbers or pytrees like u.

    update(gradient, state, u, *, value, slacks, jacobian, usable=True): slacks (constraints,); jacobian like u
    with a leading axis of the constraints. radius, tolerance: of the trust region at first and at the end,
    shares of the box (of the size of u where a variable has no box).
    """

    def bounds(flat: Array) -> tuple[Array, ...]:
        return tuple(jnp.broadcast_to(ravel_pytree(b)[0], flat.shape) for b in (lower, upper))

    def init(u: PyTree) -> SQPState:
        flat, _ = ravel_pytree(u)
        low, high = bounds(flat)
        unit = jnp.where(jnp.isfinite(high - low), high - low, jnp.maximum(jnp.abs(flat), 1.0))
        none, zero = jnp.zeros(constraints, flat.dtype), jnp.zeros((), flat.dtype)
        rows = jnp.zeros((constraints, flat.size), flat.dtype)
        return SQPState(
            unit=unit.astype(flat.dtype),
            best=Evaluation(flat / unit, zero, jnp.zeros_like(flat), none, rows),
            known=jnp.asarray(False),
            curvature=jnp.eye(flat.size, dtype=flat.dtype),
            multipliers=none,
            weights=none,
            radius=zero + radius,
            corrected=jnp.asarray(False),
            status=jnp.asarray(SEARCHING),
        )

    def update(
        gradient: PyTree,
        state: SQPState,
        u: PyTree,
        *,
        value: Value,
        slacks: ArrayLike | None = None,
        jacobian: ArrayLike | None = None,
        usable: ArrayLike = True,
        **_: object,
    ) -> tuple[PyTree, SQPState]:
        flat, unravel = ravel_pytree(u)
        slope = ravel_pytree(gradient)[0] * state.unit
        new = state.best._replace(u=flat / state.unit, value=jnp.asarray(value), gradient=slope)
        if constraints:
            rows = jax.vmap(lambda row: ravel_pytree(row)[0])(jacobian)
            new = new._replace(slacks=jnp.asarray(slacks), jacobian=rows * state.unit[None, :])
        new = jax.tree.map(lambda part: part.astype(flat.dtype), new)
        finite = jnp.isfinite(sum(jnp.sum(part) for part in new))
        judged, aim = _judged(state, new, finite & jnp.asarray(usable))
        low, high = (side / state.unit for side in bounds(flat))
        step, after = _proposed(judged, aim, low, high, tolerance)
        ended = state.status != SEARCHING
        after = jax.tree.map(lambda fresh, old: jnp.where(ended, old, fresh), after, state)
        place = after.best.u + jnp.where(after.status == SEARCHING, step, 0.0)
        move = jnp.where(after.known, place * state.unit - flat, 0.0)
        return unravel(_within(flat, move, *bounds(flat))), after

    return optax.GradientTransformationExtraArgs(init, update)  # type: ignore[arg-type]


def _within(u: Array, move: Array, low: Array, high: Array) -> Array:
    """The move, less the rounding by which u + move would step over a bound."""
    slip = 2 * jnp.finfo(u.dtype).eps * (jnp.abs(u) + jnp.abs(move))
    return jnp.where(u + move > high, move - slip, jnp.where(u + move < low, move + slip, move))


def _judged(state: SQPState, new: Evaluation, usable: Array) -> tuple[SQPState, Array]:
    """The state after a trial was accepted, is to be corrected, or turned down; and the slacks to aim with."""
    best = state.best
    step = new.u - best.u
    linear = best.slacks + times(best.jacobian, step)
    missed, hoped, met = (
        jnp.sum(state.weights * jnp.maximum(0, -c)) for c in (best.slacks, linear, new.slacks)
    )
    fall = missed - hoped - jnp.sum(best.gradient * step)
    promised = fall - jnp.sum(step * times(state.curvature, step)) / 2
    gained = best.value - new.value + missed - met
    noise = 100 * jnp.finfo(step.dtype).eps * (jnp.abs(best.value) + missed)
    better = gained + noise >= ACCEPT * promised
    accepted = usable & (better | ~state.known)
    bent = met - hoped >= 0.5 * (promised - gained)
    correct = usable & ~accepted & bent & ~state.corrected

    reached = jnp.max(jnp.abs(step))
    # Where a parabola through both ends has its minimum; a trial without a value tells nothing.
    share = jnp.where(usable, jnp.clip(0.5 * fall / (fall - gained), 0.1, 0.5), 0.25)
    wide = (gained > GOOD * promised) & (reached > 0.8 * state.radius)
    radius = jnp.where(wide, 2 * state.radius, state.radius)
    size = jnp.sqrt(jnp.sum(new.gradient**2))
    curvature = jnp.where(
        state.known, _learned(state, new, step), FIRST * size * jnp.eye(len(step))
    )
    after = state._replace(
        best=jax.tree.map(lambda fresh, old: jnp.where(accepted, fresh, old), new, best),
        known=state.known | usable,
        curvature=jnp.where(usable, curvature, state.curvature),
        radius=jnp.where(accepted | correct | ~state.known, radius, share * reached),
        corrected=correct,
    )
    # A correction aims with the slacks that the trial met: the limit's bend is known now.
    return after, jnp.where(correct, new.slacks - linear + best.slacks, after.best.slacks)


def _learned(state: SQPState, new: Evaluation, step: Array) -> Array:
    """The curvature after a step, by Powell's damped BFGS, which keeps it positive."""
    old, tiny = state.best, jnp.finfo(step.dtype).tiny
    change = new.gradient - old.gradient
    change = change - times((new.jacobian - old.jacobian).T, state.multipliers)
    pull = times(state.curvature, step)
    size, agree = jnp.maximum(jnp.sum(step * pull), tiny), jnp.sum(step * change)
    damping = jnp.where(agree >= 0.2 * size, 1.0, 0.8 * size / (size - agree))
    change = damping * change + (1 - damping) * pull
    gain = change[:, None] * change[None, :] / jnp.maximum(jnp.sum(step * change), tiny)
    learned = state.curvature - pull[:, None] * pull[None, :] / size + gain
    return jnp.where(jnp.isfinite(jnp.sum(learned)), learned, state.curvature)


def _proposed(
    state: SQPState, aim: Array, low: Array, high: Array, tolerance: float
) -> tuple[Array, SQPState]:
    """The next step, with its multipliers and weights, or the end of the search."""
    best, radius = state.best, state.radius
    rows, size = best.jacobian, jnp.sqrt(jnp.sum(best.gradient**2))
    low, high = jnp.maximum(low - best.u, -radius), jnp.minimum(high - best.u, radius)
    room = jnp.sum(jnp.maximum(rows * low[None, :], rows * high[None, :]), axis=1)
    aim = jnp.maximum(aim, -PART * room)
    found = solve_quadratic(state.curvature, best.gradient, aim, rows, low, high)
    lengths = jnp.sqrt(jnp.sum(rows**2, axis=1))
    most = jnp.where(lengths > 0, CREDIBLE * size / lengths, 0.0)
    weights = (jnp.minimum(state.weights, most) + found.multipliers) / 2

    longest = jnp.max(jnp.abs(found.step))
    short = (longest < tolerance) & ~state.corrected
    # What a wrong curvature holds back is no optimum: a longer step corrects it.
    stiff = jnp.max(jnp.abs(times(state.curvature, found.step))) > BALANCED * size
    longer = short & stiff & (radius > 100 * tolerance)
    stretch = jnp.where(longer, radius / 10 / jnp.maximum(longest, jnp.finfo(size.dtype).tiny), 1)
    held = jnp.all(-best.slacks <= 2 * tolerance * lengths)
    # A step that the trust region cuts short says nothing about an optimum.
    settled = short & held & (radius >= tolerance)
    ended = (short & ~longer) | (radius < tolerance)
    status = jnp.where(ended & state.known, jnp.where(settled, CONVERGED, STUCK), SEARCHING)
    return jnp.clip(stretch * found.step, low, high), state._replace(
        multipliers=jnp.minimum(found.multipliers, most),
        weights=jnp.maximum(found.multipliers, weights),
        status=status,
    )
