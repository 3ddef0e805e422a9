"""Equilibrium of a linkage under wrenches and pushes, followed from a known one.

Unknowns are the bodies' coordinates q, the loads on the exact arcs, and the magnitudes f of the pushes. With u the
points' displacements along the pushes, one condition per push closes the system,

    by_force f + by_travel u = value:

a given force, a given displacement, or either of them for another push (closing: one push is what it must be
for the other one's point to arrive). Wrenches and values move along straight lines from those of the start to
those wanted. Each point of the path is found by full Newton from the path's tangent; a step whose corrections
do not contract, or that changes the sign of the determinant, is halved. What is left after `SMALLEST_STEP` is a
fold: the branch turns back and the calculation ends with a status, never on another branch.

On the way the arcs have few segments and corrections are loose; the last point is sharpened with all of them.

The arcs need no iterations of their own: one Newton step on all unknowns eliminates each arc's load (3 x 3), then
the bodies in order, without pivoting.

The result's derivative is that of the equilibrium (implicit function theorem). Left out: dynamics, continuation
around folds, contact beyond one condition per push.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from diffmicro import _loops as loops
from diffmicro._types import Count, PerPush, Scalar, Square, Vector
from diffmicro.mechanics import arcs
from diffmicro.mechanics.linkage import (
    Linkage,
    Loads,
    Poses,
    Push,
    assembled,
    flexures,
    linearize,
    moment,
    pose,
    residual,
    sides,
    turn,
)
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.resolution import Steps
from diffmicro.results import RESULTS, code

CONTRACTION = 0.5
"""Largest ratio of a Newton correction to the one before, and of the first to the predicted step."""

SMALLEST_STEP = 2.0**-20
"""Share of the way below which a step is not halved any more. A path that nearly stops is followed through, one
that folds to 1e-7 of its end.
"""

LOOSE = 1e-3
"""Last correction of a point on the way: near enough to go on from, and to sharpen the last one."""

COARSER = 4
"""How many times fewer segments an arc has on the way than at its end."""

MOST_SHARPENING = 8
"""Newton iterations with all segments at the end of the way."""

System = Float[Array, "rows columns"]
"""Rows with their right sides behind: more columns than rows."""

MOST_ITERATIONS = 1000
"""Newton iterations along the way."""


class Conditions(NamedTuple):
    """Wrenches on the bodies and one row per push: by_force f + by_travel u = value."""

    wrench: Poses
    by_force: Float[Array, "pushes pushes"]
    by_travel: Float[Array, "pushes pushes"]
    value: PerPush


class State(NamedTuple):
    """A point of the path: coordinates, loads of the arcs, magnitudes of the pushes."""

    q: Poses
    loads: Loads
    forces: PerPush


class Found(NamedTuple):
    """Where the path ended: the state, the outcome's code, iterations taken, share of the way."""

    state: State
    outcome: Array
    iterations: Count
    reached: Scalar


def at_rest(linkage: Linkage, pushes: Sequence[Push]) -> State:
    """The undeformed linkage."""
    zero = jnp.zeros_like(linkage.centers[:, :1])
    loads = jnp.zeros((len(linkage.pairs), 3), linkage.centers.dtype)
    forces = jnp.zeros(len(pushes), linkage.centers.dtype)
    return State(jnp.concatenate([0 * linkage.centers, zero], axis=1), loads, forces)


def travel(pushes: Sequence[Push], q: Poses) -> PerPush:
    """Displacements of the pushed points along their pushes."""
    moved = []
    for push in pushes:
        point = q[push.body, :2] + turn(q[push.body, 2], push.point) - push.point
        moved.append(jnp.sum(push.direction * point))
    return jnp.stack(moved)


def unit_push(push: Push, q: Poses) -> Vector:
    """Force along x and y, and moment, on the body of a push of force one.

    They are also how far its point moves along the push as the body moves.
    """
    return jnp.append(push.direction, moment(turn(q[push.body, 2], push.point), push.direction))


def pushed(pushes: Sequence[Push], forces: PerPush, q: Poses) -> Poses:
    """Wrenches of the pushes on the bodies."""
    rows = [jnp.zeros_like(row) for row in q]
    for push, force in zip(pushes, forces, strict=True):
        rows[push.body] = rows[push.body] + force * unit_push(push, q)
    return jnp.stack(rows)


def under_load(stiffness: Square, pushes: Sequence[Push], forces: PerPush, q: Poses) -> Square:
    """The stiffness with what the pushes add, as their points turn with the bodies: -d pushed / d q."""
    for push, force in zip(pushes, forces, strict=True):
        arm = turn(q[push.body, 2], push.point)
        turned = 3 * push.body + 2
        stiffness = stiffness.at[turned, turned].add(force * jnp.sum(push.direction * arm))
    return stiffness


def follow(
    linkage: Linkage,
    pushes: Sequence[Push],
    start: State,
    begin: Conditions,
    goal: Conditions,
    *,
    segments: Steps = arcs.USUAL,
    tolerance: Array | float = 1e-6,
    first_step: float = 1.0,
) -> Found:
    """Follow the equilibrium from `start`, which fulfills `begin`, to `goal` (same rows; the goal's are used).

    A point is accepted when its last correction is below `tolerance` in natural units; being one of
    Newton's, it leaves an error of its square. Nothing here is differentiated: see `attach`.
    """
    linkage, start, begin, goal = jax.lax.stop_gradient((linkage, start, begin, goal))
    pushes = jax.lax.stop_gradient(tuple(pushes))
    few, loose = segments.fewer(COARSER), jnp.maximum(tolerance, LOOSE)
    route = _Route(linkage, pushes, begin, goal, few, loose, first_step)
    zero = jnp.zeros((), start.q.dtype)
    infinite, counted, started = zero + jnp.inf, jnp.asarray(0), jnp.asarray(False)
    walk = _Walk(start, start, start, zero, zero + 1, infinite, zero, counted, started)
    walk = loops.while_loop(_unfinished, lambda walk: _walked(route, walk), walk)

    def unsharp(sharp: tuple[State, Array, Count]) -> Array:
        _, size, count = sharp
        return (size >= tolerance) & (count < MOST_SHARPENING)

    def sharpen(sharp: tuple[State, Array, Count]) -> tuple[State, Array, Count]:
        state, _, count = sharp
        (moved, _), _, loads, by_sides = _newton(
            linkage, pushes, state, goal, *route.rates(), segments
        )
        state, size = _moved(linkage, state, moved, loads, by_sides)
        return state, jnp.where(jnp.isfinite(size), size, jnp.inf), count + 1

    # A walk that did not arrive is left as it is.
    size = jnp.where(walk.at >= 1, jnp.inf, zero)
    state, size, more = loops.while_loop(unsharp, sharpen, (walk.base, size, jnp.asarray(0)))
    outcome = jnp.where(walk.at >= 1, code(RESULTS.successful), code(RESULTS.past_fold))
    # Without arcs of fewer segments on the way, what cannot be sharpened lies a hair beyond a fold.
    unsharpened = code(RESULTS.not_converged if linkage.model == "exact" else RESULTS.past_fold)
    outcome = jnp.where(size >= tolerance, unsharpened, outcome)
    outcome = jnp.where((walk.at < 1) & (walk.step > 0), code(RESULTS.not_converged), outcome)
    return Found(state, outcome, walk.count + more, walk.at)


class _Route(NamedTuple):
    """A straight way of the conditions from `begin` to `goal`.

    few: segments of an arc on the way. loose: size of a correction that is good enough there.
    first_step: the share of the way that is tried first.
    """

    linkage: Linkage
    pushes: Sequence[Push]
    begin: Conditions
    goal: Conditions
    few: Steps
    loose: Array
    first_step: float

    def rates(self) -> tuple[Array, Array]:
        """Change of wrench and value over the whole way."""
        return self.goal.wrench - self.begin.wrench, self.goal.value - self.begin.value

    def at(self, t: Array) -> Conditions:
        """The conditions after a share t of the way."""
        wrench, value = self.rates()
        goal, begin = self.goal, self.begin
        return Conditions(
            begin.wrench + t * wrench, goal.by_force, goal.by_travel, begin.value + t * value
        )


def _unfinished(walk: "_Walk") -> Array:
    return (walk.at < 1) & (walk.step > 0) & (walk.count < MOST_ITERATIONS)


def _walked(route: _Route, walk: "_Walk") -> "_Walk":
    """One Newton step more. Where it arrives the walk goes on along the slope, where it fails its step halves."""
    linkage, shape = route.linkage, walk.trial.q.shape
    t = jnp.where(walk.started, jnp.minimum(walk.at + walk.step, 1.0), 0.0)
    (moved, along), sign, loads, by_sides = _newton(
        linkage, route.pushes, walk.trial, route.at(t), *route.rates(), route.few
    )
    trial, size = _moved(linkage, walk.trial, moved, loads, by_sides)
    kept = jnp.isfinite(size) & ((size <= CONTRACTION * walk.size) | (size < route.loose))
    same = (sign == walk.sign) | ~walk.started
    arrived = (kept & (size < route.loose) & same) | (~walk.started & jnp.isfinite(size))
    failed = ~arrived & ~(kept & (size >= route.loose))

    q_rate, f_rate = _split(along, shape)
    rate = State(q_rate, _follow(linkage, by_sides, q_rate), f_rate)
    doubled = jnp.where(walk.started, 2 * walk.step, route.first_step)
    halved = jnp.where(walk.step > SMALLEST_STEP, 0.5 * walk.step, 0.0)
    base = _choose(arrived, trial, walk.base)
    rate = _choose(arrived, rate, walk.rate)
    done = jnp.where(arrived, t, walk.at)
    step = jnp.where(arrived, jnp.minimum(doubled, 1 - done), walk.step)
    step = jnp.where(failed, halved, step)
    anew = arrived | failed
    predicted = jax.tree.map(lambda x, slope: x + step * slope, base, rate)
    reach = jnp.maximum(jnp.max(jnp.abs(rate.q)), jnp.max(jnp.abs(rate.loads)))
    # At its end the walk stays on the point that was found.
    onward = _choose(arrived & (done >= 1), trial, predicted)
    return _Walk(
        base=base,
        rate=rate,
        trial=_choose(anew, onward, trial),
        at=done,
        step=jnp.where(walk.started, step, jnp.where(arrived, route.first_step, 0.0)),
        size=jnp.where(anew, step * reach, size),
        sign=jnp.where(walk.started, walk.sign, sign),
        count=walk.count + 1,
        started=jnp.asarray(True),
    )


def _moved(linkage, state, change, loads, by_sides) -> tuple[State, Scalar]:
    """The state after Newton's step, and the step's size."""
    dq, df = _split(change, state.q.shape)
    moved = State(state.q + dq, loads + _follow(linkage, by_sides, dq), state.forces + df)
    size = jnp.maximum(jnp.max(jnp.abs(dq)), jnp.max(jnp.abs(moved.loads - state.loads)))
    return moved, size


class _Walk(NamedTuple):
    """A walk under way: the last point found and the slope there, the point being tried.

    at: share of the way that is found. step: the next one. size: of the correction before, to be undercut.
    sign: of the determinant at the start, which a fold changes. count: Newton steps.
    started: the start was corrected.
    """

    base: State
    rate: State
    trial: State
    at: Scalar
    step: Scalar
    size: Scalar
    sign: Scalar
    count: Count
    started: Array


def _choose(condition: Array, yes: State, no: State) -> State:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def _split(unknowns: Vector, shape: tuple[int, ...]) -> tuple[Poses, PerPush]:
    n = shape[0] * shape[1]
    return unknowns[:n].reshape(shape), unknowns[n:]


def _follow(linkage: Linkage, by_sides: Array, dq: Poses) -> Loads:
    """Changes of the arcs' loads with those of the bodies."""
    both = jnp.concatenate(sides(linkage, dq), axis=1)
    return jnp.sum(by_sides * both[:, None, :], axis=2)


def _newton(linkage, pushes, at, conditions, rate_wrench, rate_value, segments):
    """Newton's step, the path's slope, the sign of the determinant, and the arcs' linearization."""
    known = linearize(linkage, at.loads, at.q, segments)
    stiffness = under_load(assembled(linkage, known), pushes, at.forces, at.q)
    columns, moved = [], travel(pushes, at.q)
    for push in pushes:
        arm = turn(at.q[push.body, 2], push.point)
        unit = jnp.append(push.direction, moment(arm, push.direction))
        before, behind = 3 * push.body, stiffness.shape[0] - 3 * push.body - 3
        columns.append(jnp.pad(unit, (before, behind)))
    units = jnp.stack(columns)
    missing = conditions.wrench + pushed(pushes, at.forces, at.q) - known.internal
    held = conditions.by_force @ at.forces + conditions.by_travel @ moved
    step = jnp.append(missing.reshape(-1), conditions.value - held)
    slope = jnp.append(rate_wrench.reshape(-1), rate_value)
    above = jnp.concatenate([stiffness, -units.T], axis=1)
    below = jnp.concatenate([conditions.by_travel @ units, conditions.by_force], axis=1)
    right = jnp.stack([step, slope], axis=1)
    system = jnp.concatenate([jnp.concatenate([above, below]), right], axis=1)
    solutions, sign = _eliminate(system)
    return (solutions[:, 0], solutions[:, 1]), sign, known.loads, known.loads_by_sides


def _eliminate(system: System) -> tuple[Float[Array, "rows sides"], Scalar]:
    """Solutions of the square system in the first columns for the right sides behind, and its determinant's sign.

    Bodies come before the pushes that act on them, so every pivot is the stiffness of a coordinate with those
    behind it free, and no row has to be exchanged.
    """
    n = system.shape[0]
    row = jnp.arange(n)

    def clear(k: Array, carry: tuple[System, Scalar]) -> tuple[System, Scalar]:
        system, sign = carry
        pivot = system[k, k]
        own = system[k] / pivot
        others = jnp.where(row == k, 0.0, system[:, k])
        system = jnp.where((row == k)[:, None], own[None, :], system - others[:, None] * own[None])
        return system, sign * jnp.sign(pivot)

    system, sign = loops.fori_loop(0, n, clear, (system, jnp.ones_like(system[0, 0])))
    return system[:, n:], sign


def attach(
    linkage: Linkage,
    pushes: Sequence[Push],
    state: State,
    conditions: Conditions,
    segments: Steps = arcs.USUAL,
) -> State:
    """The state as a differentiable function of linkage, pushes and conditions."""
    state = jax.lax.stop_gradient(state)
    unknowns = jnp.append(state.q.reshape(-1), state.forces)
    inputs = (linkage, tuple(pushes), conditions, state.loads, segments)
    unknowns = with_implicit_derivative(_missing, unknowns, inputs)
    n = state.q.size
    q, forces = unknowns[:n].reshape(state.q.shape), unknowns[n:]
    if linkage.model != "exact":
        return State(q, state.loads, forces)

    def load(flexure, near, first, second):
        at = pose(flexure, first, second)
        return arcs.load_for(at, near, flexure.angle, flexure.softness, segments)

    return State(q, jax.vmap(load)(flexures(linkage), state.loads, *sides(linkage, q)), forces)


def _missing(unknowns: Vector, inputs: tuple) -> Vector:
    """What vanishes in equilibrium."""
    linkage, pushes, conditions, loads, segments = inputs
    n = linkage.bodies
    q, forces = unknowns[: 3 * n].reshape(n, 3), unknowns[3 * n :]
    missing = residual(linkage, loads, q, segments) - pushed(pushes, forces, q)
    held = conditions.by_force @ forces + conditions.by_travel @ travel(pushes, q)
    return jnp.append((missing - conditions.wrench).reshape(-1), held - conditions.value)
