"""The steady state that a drive reaches from rest, found by simulation that skips ahead, and its derivatives.

Each period takes the runner on by a small step s against a sensor that is much softer than the contacts:
hundreds of periods until it stops at the place X* where s(X*) = 0. Within a few periods everything but its
place X is settled. So the runner is moved ahead along the line through the last two settled (X, s), and
if its step turns out below a share of what it was, it goes back and moves half as far. X* is thus approached
from the side of rest, with all contacts in motion, and never jumped over: beyond it there can be a whole
band of states in which parts of the contacts stick for good. The last, tiny bit is extrapolated.

Derivatives follow from s(X*, theta) = 0 with everything else settled:

    dX* = -(s_theta d theta) / s_X,

where s_theta and s_X are derivatives through as many periods as the rest needs to settle, at fixed X: the last
place seen in motion, a share `tolerance` of X* before it. At X* a band may begin, in which both are zero.
Left out: a motion that does not settle (`found` is false then); second derivatives, which are NaN: springs
that begin to slip between one motion and the next have a part in them that no derivative at fixed springs has.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.custom_derivatives import SymbolicZero
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro._types import Count, Flag, Matrix, Scalar, Tree, Vector
from diffmicro.autodiff.rules import substitute

Advance = Callable[[PyTree, PyTree, Scalar], tuple[PyTree, PyTree]]
"""(parameters, state, place) -> (state after one period, what it showed: a NamedTuple with `step`)."""

CAUTION = 0.8
"""Share of the way to X* that is tried at once."""

LEAST = 0.1
"""Share of the last step below which a place counts as too far."""

SETTLED_FIRST, SETTLED, SETTLED_NEAR = 1e-1, 3e-2, 1e-3
"""Relative change of the step between periods below which all but X counts as settled: from rest, on, near X*."""

SETTLED_FREE = 1e-6
"""Change of the step, over presliding, below which a runner without sensor counts as settled."""

ALMOST = 1e-3
"""Relative distance to X* that counts as near."""

PERIODS = 400
"""Simulated periods at most."""

PATIENCE = 30
"""Periods at one place after which its step is taken as it is: some motions never settle."""

SETTLED_SLOPES = 1e-7
"""Relative change of derivatives between periods below which they count as settled."""

SETTLING = 100
"""Periods at most in which derivatives settle; if they do not, they are NaN."""


class Steady(NamedTuple):
    """place: X*. near: the last place on the way, in motion. state: at the start of a period there.
    seen: what the last period showed, stacked. stuck: the step vanished before any skip. found: whether it
    settled. periods: number that was simulated. change: of the step between the last periods."""

    place: Scalar
    near: Scalar
    state: PyTree
    seen: Vector
    stuck: Flag
    found: Flag
    periods: Count
    change: Scalar


class _Search(NamedTuple):
    state: PyTree
    place: Scalar
    near: Scalar  # the place before the last bit
    seen: Vector  # of the last period, the step first
    good: tuple[PyTree, Scalar, Scalar]  # state, place, step that were settled last
    stride: Scalar  # the skip from there; 0 before the first
    slope: Scalar  # ds/dX
    count: Count  # periods since the skip
    periods: Count
    done: Flag
    stuck: Flag
    change: Scalar


def approach(
    advance: Advance,
    parameters: PyTree,
    state: PyTree,
    slope: Scalar,
    tolerance: Scalar,
    free: Flag,
    *,
    carried: bool = True,
) -> Steady:
    """The steady place, from rest in `state` at place 0. `slope`: first estimate of ds/dX, negative.

    `tolerance`: relative, of the distance to X* from which it is extrapolated.
    `free`: nothing holds the runner back, so that only its step has to settle.
    `carried`: the runner's own steps change the place, until the first skip. Otherwise the place is another
    number against which the step falls, and only skips change it.
    """
    zero = jnp.zeros_like(slope)
    none, no = jnp.zeros((), jnp.int32), jnp.asarray(False)
    tiny = 100 * jnp.finfo(zero.dtype).eps
    _, seen = jax.eval_shape(advance, parameters, state, zero)
    nothing = jnp.zeros(len(seen), zero.dtype)
    start = _Search(
        state, zero, zero, nothing, (state, zero, zero), zero, slope, none, none, no, no, zero
    )

    def period(at: _Search) -> _Search:
        state, seen = advance(parameters, at.state, at.place)
        step, count, skipped = seen[0], at.count + 1, at.stride > 0
        change = jnp.abs(step - at.seen[0])
        too_far = skipped & (step < LEAST * at.good[2]) & (count >= 3)
        near = -step / at.slope <= ALMOST * at.place
        allowed = jnp.where(skipped, jnp.where(near, SETTLED_NEAR, SETTLED), SETTLED_FIRST)
        calm = ((count >= 2) & (change <= allowed * step)) | (skipped & (count >= PATIENCE))
        calm = calm & ~too_far & (step > 0) & ~free
        run = at.place - at.good[1]
        line = (step - at.good[2]) / jnp.where(skipped, run, 1)
        slope = jnp.where(calm & skipped & (line < 0), line, at.slope)
        rest = -step / slope
        arrived = calm & skipped & (rest <= tolerance * at.place)
        cornered = too_far & (at.stride <= tolerance * at.place)
        stuck = ~skipped & (jnp.abs(step) <= tiny) & (count >= 3)
        steady = free & (change <= tiny) & (count >= 3)
        skip = calm & ~arrived
        back = 0.5 * at.stride
        # from rest the runner goes its own way; after a skip it is held in place until all has settled
        there = at.place + jnp.where(free | skipped | (not carried), 0, step)
        landing = jnp.where(skip, there + CAUTION * rest, there)
        landing = jnp.where(arrived, at.place + rest, landing)
        landing = jnp.where(too_far, at.good[1] + jnp.where(cornered, 0, back), landing)
        return _Search(
            state=_select(too_far, at.good[0], state),
            place=landing,
            near=jnp.where(arrived, at.place, landing),
            seen=jnp.stack(seen),
            good=_select(skip, (state, at.place, step), at.good),
            stride=jnp.where(skip, CAUTION * rest, jnp.where(too_far, back, at.stride)),
            slope=slope,
            count=jnp.where(skip | too_far, 0, count),
            periods=at.periods + 1,
            done=arrived | cornered | stuck | steady,
            stuck=stuck,
            change=change,
        )

    end = loops.while_loop(lambda at: ~at.done & (at.periods < PERIODS), period, start)
    settled = end.done | (free & (end.change <= SETTLED_FREE))
    return Steady(
        end.place, end.near, end.state, end.seen, end.stuck, settled, end.periods, end.change
    )


def _select(condition: Flag, yes: Tree, no: Tree) -> Tree:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def differentiable(
    advance: Advance, build: Callable[[Tree], PyTree], given: Tree, steady: Steady, *, free: bool
) -> tuple[Scalar, Vector]:
    """Place and what a period shows at the steady state, as functions of what is given.

    `build` makes the parameters of it. Only the parts of it that are differentiated cost anything.
    `free`: the place is fixed, because nothing holds the runner back. Otherwise it is X*.
    """
    numbers, rest = eqx.partition(given, eqx.is_inexact_array)
    values, form = jax.tree.flatten(numbers)
    steady = jax.lax.stop_gradient(steady)
    leaves, structure = jax.tree.flatten(steady.state)

    def parameters(values: list[Array]) -> PyTree:
        return build(eqx.combine(jax.tree.unflatten(form, values), rest))

    task = _Task(advance, parameters, structure, free)
    return _attach(task, values, leaves, steady.near, steady.place, steady.seen)


class _Task(NamedTuple):
    advance: Advance
    parameters: Callable[[list[Array]], PyTree]
    structure: Any  # of a tree
    free: bool


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _attach(
    task: _Task, values: list[Array], leaves: list[Array], near: Scalar, place: Scalar, seen: Vector
) -> tuple[Scalar, Vector]:
    del task, values, leaves, near
    return place, seen


def _attach_jvp(task: _Task, primals: tuple, tangents: tuple) -> tuple:
    """Symbolic zeros tell what is differentiated; the slopes, not the tangents, go through the motion, so that
    reverse mode only has to transpose a product."""
    values, leaves, near, place, seen = primals
    out = _attach(task, *primals)
    moved = [i for i, dot in enumerate(tangents[0]) if not isinstance(dot, SymbolicZero)]
    if not moved:
        return out, (jnp.zeros_like(place), jnp.zeros_like(seen))
    change, _ = ravel_pytree([tangents[0][i] for i in moved])
    by_place, by_numbers = _settled_slopes(task, values, moved, leaves, near, seen.size)
    # A factor of one whose own derivative by anything is NaN: slopes have no derivatives.
    every, _ = ravel_pytree(values)
    once = substitute(jnp.ones_like(place), jnp.nan * jnp.sum(every))
    by_place, by_numbers = jax.lax.stop_gradient((by_place, by_numbers))
    by_place, by_numbers = by_place * once, by_numbers * once
    if task.free:
        return out, (jnp.zeros_like(place), change @ by_numbers)
    step_by_place, step_by_numbers = by_place[0], by_numbers[:, 0]
    place_slopes = -step_by_numbers / step_by_place
    seen_slopes = by_numbers + place_slopes[:, None] * by_place[None, :]
    return out, (place_slopes @ change, change @ seen_slopes)


_attach.defjvp(_attach_jvp, symbolic_zeros=True)


def _settled_slopes(
    task: _Task,
    values: list[Array],
    moved: list[int],
    leaves: list[Array],
    place: Scalar,
    width: int,
) -> tuple[Vector, Matrix]:
    """Derivatives of a pass by place and by the moved values, after those of the state have settled."""
    state = jax.tree.unflatten(task.structure, leaves)
    moving, fixed = eqx.partition(state, eqx.is_inexact_array)
    flat, unravel = ravel_pytree(moving)
    numbers, unravel_values = ravel_pytree([values[i] for i in moved])

    def build(numbers: Vector) -> Vector:
        now = list(values)
        for i, value in zip(moved, unravel_values(numbers), strict=True):
            now[i] = value
        return ravel_pytree(task.parameters(now))[0]

    built, rebuild = ravel_pytree(task.parameters(values))

    def once(z: Vector, built: Vector, place: Scalar) -> tuple[Vector, Vector]:
        state = eqx.combine(unravel(z), fixed)
        after, seen = task.advance(rebuild(built), state, place)
        return ravel_pytree(eqx.filter(after, eqx.is_inexact_array))[0], jnp.stack(seen)

    rows = jax.vmap(lambda row: jax.jvp(build, (numbers,), (row,))[1])(
        loops.varying(jnp.eye(numbers.size, dtype=numbers.dtype))
    )
    # the place goes first
    directions = jnp.zeros((numbers.size + 1, built.size + 1), numbers.dtype)
    directions = directions.at[0, 0].set(1).at[1:, 1:].set(rows)

    def along(z_dot: Vector, direction: Vector) -> tuple[Vector, Vector]:
        change = (z_dot, direction[1:], direction[0])
        return jax.jvp(once, (flat, built, place), change)[1]

    def go_on(at: tuple) -> Flag:
        return (at[2] > SETTLED_SLOPES) & (at[3] < SETTLING)

    def period(at: tuple) -> tuple:
        slopes, before, _, count = at
        slopes, seen = jax.vmap(along)(slopes, directions)
        size = jnp.maximum(jnp.max(jnp.abs(seen), axis=1), jnp.finfo(seen.dtype).tiny)
        change = jnp.max(jnp.abs(seen - before) / size[:, None])
        return slopes, seen, change, count + 1

    start = (
        jnp.zeros((directions.shape[0], flat.size), flat.dtype),
        jnp.zeros((directions.shape[0], width), flat.dtype),
        jnp.full((), jnp.inf, flat.dtype),
        jnp.zeros((), jnp.int32),
    )
    _, seen, change, _ = loops.while_loop(go_on, period, start)
    seen = jnp.where(change <= SETTLED_SLOPES, seen, jnp.nan)
    return seen[0], seen[1:]
