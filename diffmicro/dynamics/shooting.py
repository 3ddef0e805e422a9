"""Newton's method on a map of states over periods: what `orbits` shoots with.

A pass (state z, periods n) -> (P^n z, its derivative by z, auxiliary output) is run until |P^n z - z| is
small. A Newton step that does not help is replaced by n periods of simulation. Whether the fixed point that
comes out is a motion that the system settles to is not decided here.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro.nonsmooth.elimination import solve

LONGEST_STEP = 1.0
"""Newton steps are cut to this length [natural units]."""

Pass = Callable[[Array, Array], tuple[Array, Array, PyTree]]
"""(state, periods) -> (state after, its derivative by the state, auxiliary output)."""


class Shot(NamedTuple):
    """Newton's method under way: `point` was tried last, `onward` comes next, `known` is its auxiliary output."""

    tries: Array
    residual: Array
    best: Array
    fallback: Array
    point: Array
    onward: Array
    known: PyTree


def aim(start: Array, known: PyTree = None) -> Shot:
    """A shot before the first pass. known: has the structure of what a pass returns beside the state."""
    infinite = jnp.full((), jnp.inf, start.dtype)
    return Shot(jnp.zeros((), jnp.int32), infinite, infinite, start, start, start, known)


def newton(mapped: Pass, n: Array, shot: Shot, limit: Array | int, until: float) -> Shot:
    """Newton steps up to a residual, at most `limit`."""
    return loops.while_loop(
        lambda shot: _goes_on(shot, limit, until),
        lambda shot: _improved(shot, mapped(shot.onward, n)),
        shot,
    )


class Plan(NamedTuple):
    """What is simulated: periods and tolerance of each phase."""

    counts: Array
    tolerances: Array


class Visits(NamedTuple):
    """Where simulations were after each phase (phases, starts, size), and their displacement in it."""

    states: Array
    displacements: Array


def visit_and_newton(
    mapped: Callable[[Array, Array, Array], tuple[Array, Array, PyTree]],
    starts: Array,
    plan: Plan,
    last: int,
    skip: Array,
    shot: Shot,
    limit: int,
    until: float,
) -> tuple[Visits, Shot]:
    """Simulate all starts, one after the other, then shoot from where the first was after phase `last`.

    All in one loop around one pass, (tolerance, state, periods) -> ..., so that it is compiled once. What else it
    tells begins with what was observed, and that with the displacement. The plan's last entry is for Newton's
    method, the others are phases. skip: shoot from the first start without simulating.
    """
    phases, lanes = plan.counts.size - 1, starts.shape[0]
    planned = phases * lanes
    states = jnp.broadcast_to(starts, (phases, *starts.shape))
    visits = Visits(states, jnp.zeros((phases, lanes), starts.dtype))

    def onward(carry: tuple[Array, Array, Visits, Shot]) -> tuple[Array, Array, Visits, Shot]:
        i, at, visits, shot = carry
        simulates, lane = i < planned, i % lanes
        phase = jnp.minimum(i // lanes, phases)
        point = jnp.where(simulates, at[lane], shot.onward)
        passed = mapped(plan.tolerances[phase], point, plan.counts[phase])
        after, _, (observed, *_) = passed
        here = jnp.arange(planned).reshape(phases, lanes) == i
        at = jnp.where(jnp.any(here, axis=0)[:, None], after, at)
        visits = Visits(
            jnp.where(here[:, :, None], after, visits.states),
            jnp.where(here, observed[0], visits.displacements),
        )
        aimed = shot._replace(onward=visits.states[last, 0])
        choose = partial(jnp.where, simulates)
        return i + 1, at, visits, jax.tree.map(choose, aimed, _improved(shot, passed))

    first = jnp.where(skip, planned, 0)
    _, _, visits, shot = loops.while_loop(
        lambda carry: (carry[0] < planned) | _goes_on(carry[3], limit, until),
        onward,
        (first, starts, visits, shot),
    )
    return visits, shot


def _goes_on(shot: Shot, limit: Array | int, until: float) -> Array:
    # A pass that was lost, from a point that the search goes back to, would be lost again.
    lost = jnp.isnan(shot.residual) & ~jnp.any(jnp.abs(shot.onward - shot.point) > 0)
    return (shot.tries < limit) & ~(shot.residual < until) & ~lost


def _improved(shot: Shot, passed: tuple[Array, Array, PyTree]) -> Shot:
    """After one more pass, which was at `shot.onward`."""
    point, (after, by_state, known) = shot.onward, passed
    defect = after - point
    residual = _size(defect)
    helped = residual < shot.best
    step = solve(jnp.eye(point.size, dtype=point.dtype) - by_state, defect)
    step = jnp.where(jnp.isfinite(step), step, defect)
    step = step * (LONGEST_STEP / jnp.maximum(_size(step), LONGEST_STEP))
    return Shot(
        tries=shot.tries + 1,
        residual=residual,
        # Where simulation stepped in, Newton's method starts afresh.
        best=jnp.where(helped, residual, jnp.inf),
        fallback=jnp.where(helped, after, shot.fallback),
        point=point,
        onward=jnp.where(helped, point + step, shot.fallback),
        known=known,
    )


def _size(vector: Array) -> Array:
    return jnp.max(jnp.abs(vector))
