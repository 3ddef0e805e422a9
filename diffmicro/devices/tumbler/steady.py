"""The steady motion of a tumbler: found by following the motion, differentiated as a fixed point.

The motion is looked at once per half turn of the field. Landing on a face is plastic and sticking wipes out the
rest, so its past does not matter: multipliers are zero, and after a half turn or two the state returns to
rounding. Newton shooting (`dynamics.orbits`) has nothing to do here and would cost a matrix in every step; the
simulation itself is the search, and what it does not reach is not accepted. It ends when

- the state returns after n <= 8 half turns: a periodic motion;
- the body has rolled `UNBROKEN` half turns in step with the field, without slip or flight: a smooth outline keeps
  a swing about the field for ever, and its mean speed is the perimeter's whatever the swing (the swing may
  carry it across the place where laps are counted, so in step is: half a turn, give or take half of that);
- the body slides down faster and faster;
- `window` half turns are over: no period, and the second half of them gives means.

The derivative of a periodic motion is that of the fixed point z = P^n(z, q), dz = (I - P_z)^-1 P_q dq, with the
matrices of one forward pass over the fields of design and setting that move, which works in forward and reverse
mode and to any order. Rolling without slip slides nowhere, so there it is zero beside the derivative of the
perimeter.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro.autodiff.rules import Changes, explicit, known
from diffmicro.dynamics.fixed_point import fixed_point_changes, together

LONGEST = 8
"""Longest period looked for, in half turns."""

UNBROKEN = 8
"""Half turns of rolling in step with the field that are taken to go on for ever."""

ROLL = 2
"""Entry of a state that is the roll."""

RUNAWAY = -30.0
"""Sliding [hull radii per half turn] at the speed of which, and rising, nothing stops a body any more."""


class Observed(NamedTuple):
    """Auxiliary output of a number of half turns, in natural units: sums over them, of `pull` and `margin`
    extremes. Displacement and half turns, then the fields of `state.Record`."""

    slipped: Array
    lap: Array
    contact_time: Array
    face_time: Array
    slip_time: Array
    hops: Array
    events: Array
    pull: Array
    margin: Array


class Steady(NamedTuple):
    """A motion. `state` and `observed` (over `periods` half turns) have derivatives, the rest is about the
    search.

    residual: distance from where it was `periods` half turns before. contraction: the same over the one before.
    turns: half turns of the body per half turn of the field. slipped, spread: mean sliding per half turn over
    the window and its standard error, where nothing returns.
    """

    state: Array
    observed: Array
    periods: Array
    residual: Array
    contraction: Array
    returns: Array
    rolls: Array
    runs_away: Array
    complete: Array
    slipped: Array
    turns: Array
    spread: Array


PeriodMap = Callable[..., tuple[Array, Array]]
"""(q, z, half turns, tolerance) -> (z after, observed), forward derivatives."""


def find(
    mapped: PeriodMap, fields: PyTree, start: Array, window: int, tolerance: Array, close: float
) -> Steady:
    """The steady motion that the motion from `start` settles to, within `window` half turns. fields: a tree, of
    which the map takes the vector."""
    q, _ = ravel_pytree(fields)
    frozen = jax.lax.stop_gradient((q, start, tolerance))
    return differentiable(mapped, fields, _follow(mapped, *frozen, window, close), tolerance)


def differentiable(mapped: PeriodMap, fields: PyTree, found: Steady, tolerance: Array) -> Steady:
    """A motion that was found with these fields, with its derivatives by them.

    Where it rolls unbroken they are zero, and where it neither does nor returns they are NaN.
    """
    found = jax.lax.stop_gradient(found)
    kind = (found.returns, found.rolls)
    value, given = (found.state, found.observed), (fields, kind, found.periods, tolerance)
    state, observed = known(partial(_periodic_rule, mapped), value, given)
    return found._replace(state=state, observed=observed)


def _periodic_rule(mapped: PeriodMap, value: tuple[Array, Array], given: tuple, changes: Changes):
    """The matrix has columns for the state and for the fields that move: of thirty it is a few as a rule."""
    (state, observed), (fields, (returns, rolls), *others) = value, given
    leaves, n = jax.tree.leaves(fields), state.size
    ends = n + np.cumsum([0, *map(jnp.size, leaves)])
    moved = [i for i in range(len(leaves)) if changes[i] is not None]
    if not moved:
        return jnp.zeros_like(state), jnp.zeros_like(observed)
    places = np.concatenate([np.arange(n), *(np.arange(ends[i], ends[i + 1]) for i in moved)])

    def columns(at: Array, others: tuple[Array, Array]) -> Array:
        whole = together(mapped, n)
        return jax.jacfwd(lambda some: whole(at.at[places].set(some), others))(at[places])

    matrix = explicit(columns)(jnp.concatenate([state, ravel_pytree(fields)[0]]), tuple(others))
    matrix = jnp.where(returns, matrix, 0.0)
    allowed = jnp.where(returns | rolls, 1.0, jnp.nan)  # a factor: reverse mode drops what is added
    along = ravel_pytree([changes[i] for i in moved])[0]
    return jax.tree.map(lambda dot: dot * allowed, fixed_point_changes(matrix, along))


def _follow(
    mapped: PeriodMap, q: Array, start: Array, tolerance: Array, window: int, close: float
) -> Steady:
    one = jnp.ones((), jnp.int32)
    slots = jnp.arange(LONGEST)

    def go_on(carry):
        return (carry[0] < window) & carry[-1]

    def half_turn(carry):
        k, z, past, recent, seen, unbroken, steps, _, _ = carry
        after, vector = mapped(q, z, one, tolerance)
        observed = Observed(*vector)
        recent = jnp.concatenate([vector[None], recent[:-1]])
        past = jnp.concatenate([z[None], past[:-1]])
        distance = jnp.max(jnp.abs(past - after[None]), axis=1)
        returned = (distance < close) & (slots <= k)
        back = jnp.any(returned)
        n = jnp.where(back, jnp.argmax(returned) + 1, 1).astype(jnp.int32)
        turned = observed.lap + (after[ROLL] - z[ROLL]) / jnp.pi
        rolls = (observed.slip_time == 0) & (observed.face_time == 0)
        rolls = rolls & (jnp.abs(turned - 1) < 0.5) & (observed.contact_time >= 1 - 1e-6)
        unbroken = jnp.where(rolls, unbroken + 1, 0)
        fast = (observed.slipped < RUNAWAY) & (observed.slipped < 1.01 * seen[0, 0])
        seen = jnp.concatenate([jnp.stack([observed.slipped, turned])[None], seen[:-1]])
        judged = (distance[n - 1], steps[n - 1], n, back, fast, jnp.all(jnp.isfinite(after)))
        steps = jnp.concatenate([distance[n - 1][None], steps[:-1]])
        going = judged[-1] & ~back & (unbroken < UNBROKEN) & ~fast
        return k + 1, after, past, recent, seen, unbroken, steps, judged, going

    dtype = start.dtype
    no = jnp.zeros((), bool)
    far = jnp.full((), jnp.inf, dtype)
    carry = (
        jnp.zeros((), jnp.int32),
        start,
        jnp.full((LONGEST, start.size), jnp.inf, dtype),
        jnp.zeros((LONGEST, len(Observed._fields)), dtype),
        jnp.zeros((window, 2), dtype),
        jnp.zeros((), jnp.int32),
        jnp.full(LONGEST, jnp.inf, dtype),
        (far, far, one, no, no, ~no),
        ~no,
    )
    k, z, _, recent, seen, unbroken, _, judged, _ = loops.while_loop(go_on, half_turn, carry)
    distance, before, n, back, fast, whole = judged
    # The newest half of what was seen, the newest first.
    half = jnp.maximum(k // 2, 1)
    used = jnp.arange(window) < half
    mean = jnp.sum(jnp.where(used[:, None], seen, 0.0), axis=0) / half
    scatter = jnp.sum(jnp.where(used, (seen[:, 0] - mean[0]) ** 2, 0.0)) / half
    together, rolls = _together(recent, n), unbroken >= UNBROKEN
    turns = jnp.where(rolls, 1.0, mean[1])
    return Steady(
        state=z,
        observed=together,
        periods=n,
        residual=distance,
        contraction=jnp.where(distance > 0, distance / before, 0.0),
        returns=back,
        rolls=rolls,
        runs_away=fast,
        complete=whole,
        slipped=mean[0],
        turns=jnp.where(back, Observed(*together).lap / n, turns),
        spread=jnp.sqrt(scatter / half),
    )


def _together(recent: Array, n: Array) -> Array:
    """What the newest n half turns tell, as if in one."""
    used = (jnp.arange(LONGEST) < n)[:, None]
    sums = Observed(*jnp.sum(jnp.where(used, recent, 0.0), axis=0))
    highest = Observed(*jnp.max(jnp.where(used, recent, -jnp.inf), axis=0))
    lowest = Observed(*jnp.min(jnp.where(used, recent, jnp.inf), axis=0))
    return jnp.stack(sums._replace(pull=highest.pull, margin=lowest.margin))
