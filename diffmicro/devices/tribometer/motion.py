"""A probe under a vibrating normal force, dragged by a constant one: the elastic contact by springs.

MDR thesis, section 4.3.3. Time is the vibration's phase, normal displacements are in units of the mean
indentation d_0, positions on the line in units of the mean contact radius, tangential displacements in units of
mu_0 E*/G* d_0, forces in units of mu_0 F_n0. With the drag f, the force ratio r and

    kappa = F_n0 G* / (E* d_0 m omega^2),    Y'' = kappa (f - 3/2 int_0^a w dx),    |w| <= d(t) - x^2,

for a sphere (other shapes: `tip`), each spring w follows the body while it is in contact and is cut off at its
bound on both sides, and d = a^2 = (1 + r cos t)^(2/3). A spring that loses contact loses its displacement. Neither
the friction coefficient nor its bound appear: velocity is proportional to mu_0 at a given f.

Springs sit where the edge of the contact is at the time steps, so that the edge is always at a spring. Between
springs w is straight over the depth x^2, which is exact where everything slides. The region that never
loses contact has `INNER` springs, closer at its edge. Velocity Verlet in time.

The state after a period of the vibration, at the smallest normal force, is the body's velocity and the inner
springs' displacements. The periodic one is found by Newton's method on that map after some periods from rest, and
differentiated by the implicit function theorem. Force is continuous where a spring begins to slip, so the
derivative of a step is that of the motion, to the order of the step.

Corrections to the thesis: its algorithm cuts springs off on one side only; here it is both.
Left out: loss of contact (r above 1), inertia of the vibration itself.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import DTypeLike
from jaxtyping import Float

from diffmicro import _loops as loops
from diffmicro._types import Scalar, Vector
from diffmicro.dynamics.multipliers import spectral_radius
from diffmicro.nonsmooth.elimination import solve
from diffmicro.nonsmooth.implicit import with_implicit_derivative

INNER = 8
"""Springs in the region that is always in contact, beside the one at its edge."""

WARM_UP = 6
"""Periods from rest before Newton's method starts."""

ITERATIONS = 60
"""Periods that may be calculated in the search; about five are needed."""

PHASES, NARROWINGS, GOLDEN = 257, 36, (5**0.5 - 1) / 2
"""Grid on which the critical velocity is looked for, and the golden section between its points."""

DAMPED = 2
"""Plain periods after a Newton step that made things worse."""


def tolerance_of(dtype: DTypeLike) -> float:
    """Usual relative tolerance of the periodic state."""
    return 1e-9 if dtype == jnp.float64 else 1e-5


class Line(NamedTuple):
    """The springs: depth at which each touches, its share of the line, the indentation over a period, its rate.

    stiffness: 2 E* a_0 d_0 / F_n0 of the mean contact, which makes forces of the springs; 3/2 for a sphere.
    """

    depth: Float[Array, "springs"]
    weight: Float[Array, "springs"]
    indentation: Float[Array, "times"]
    rate: Float[Array, "times"]
    stiffness: Scalar | float


class Dragged(NamedTuple):
    """The dimensionless numbers: drag f, force ratio r, and kappa. line: of a probe that is no smooth sphere."""

    drag: Scalar
    force_ratio: Scalar
    kappa: Scalar
    line: Line | None = None


class Motion(NamedTuple):
    """Body and springs over a period, one entry a step: displacement, velocity, friction force, stick share."""

    displacement: Array
    velocity: Array
    friction: Array
    sticking: Array


def line(force_ratio: Scalar, steps: int) -> Line:
    """Springs of a sphere for `steps` (even) steps a period that begins at the smallest normal force."""
    phase = 2 * np.pi * np.arange(steps // 2 + 1) / steps
    load = 1 - force_ratio * jnp.asarray(np.cos(phase), force_ratio.dtype)
    touching = load > 0  # at r = 1 the first one is zero, whose root has no derivative
    edge = jnp.where(touching, jnp.cbrt(jnp.where(touching, load, 1.0)), 0.0)
    share = np.sqrt(1 - (1 - np.arange(INNER) / INNER) ** 2)
    x = jnp.concatenate([edge[0] * jnp.asarray(share, edge.dtype), edge])
    # Integrals of the hat functions that are straight over x^2, without differences of near numbers.
    left, right = x[:-1], x[1:]
    both = jnp.where(left + right > 0, left + right, 1.0)
    width = (right - left) / (3 * both)
    nothing = jnp.zeros_like(x[:1])
    weight = jnp.concatenate([width * (2 * right + left), nothing])
    weight = weight + jnp.concatenate([nothing, width * (right + 2 * left)])
    depth = x**2
    ring = depth[INNER:]
    safe = jnp.where(touching, edge, 1.0)
    rate = 2 / 3 * force_ratio * jnp.asarray(np.sin(phase), edge.dtype) / safe
    rate = jnp.where(touching, rate, 0.0)
    indentation = jnp.concatenate([ring, ring[-2::-1]])
    return Line(depth, weight, indentation, jnp.concatenate([rate, -rate[-2::-1]]), 1.5)


def period(state: Vector, numbers: Dragged, steps: int) -> tuple[Vector, Motion]:
    """State a period later, and the motion in between."""
    springs = line(numbers.force_ratio, steps) if numbers.line is None else numbers.line
    step = 2 * np.pi / steps
    outer = springs.depth.size - INNER
    w = jnp.concatenate([state[1:], jnp.zeros(outer, state.dtype)])

    def force(w: Vector) -> Scalar:
        return springs.stiffness * jnp.sum(springs.weight * w)

    def advance(carry, course):
        position, velocity, friction, w = carry
        (before, rate), after = course
        moved = step * (velocity + step / 2 * numbers.kappa * (numbers.drag - friction))
        grown = after - before
        low, high = jnp.maximum(before - springs.depth, 0), jnp.maximum(after - springs.depth, 0)
        room, hold = low - w, low + w
        over = jnp.maximum(_largest(step * (velocity - rate), moved - grown) - room, 0)
        under = jnp.maximum(_largest(-step * (velocity + rate), -moved - grown) - hold, 0)
        w = jnp.clip(w + moved - over + under, -high, high)
        new = force(w)
        # The mean of the ends, and what a spring that reaches its bound in between has more.
        mean = (friction + new) / 2 + force(_early(room, over) - _early(hold, under)) / 2
        velocity = velocity + step * numbers.kappa * (numbers.drag - mean)
        sticks = jnp.sum(jnp.where((over == 0) & (under == 0) & (high > 0), springs.weight, 0))
        contact = jnp.sum(jnp.where(high > 0, springs.weight, 0))
        share = jax.lax.stop_gradient(sticks / jnp.where(contact > 0, contact, 1))
        out = Motion(position + moved, velocity, new, share)
        return (position + moved, velocity, new, w), out

    start = (jnp.zeros_like(state[0]), state[0], force(w), w)
    depth, rate = springs.indentation, springs.rate
    (_, velocity, _, w), motion = loops.scan(advance, start, ((depth[:-1], rate[:-1]), depth[1:]))
    return jnp.concatenate([velocity[None], w[:INNER]]), motion


def _largest(slope: Scalar, end: Scalar) -> Scalar:
    """Largest value within a step, from zero on, of a parabola given by its first slope and its end."""
    bend = slope - end
    peaks = (slope > 0) & (2 * bend > slope)
    return jnp.where(peaks, slope**2 / (4 * jnp.where(peaks, bend, 1.0)), jnp.maximum(end, 0.0))


def _early(room: Vector, over: Vector) -> Vector:
    """Twice what the mean of a straight motion that stops after room / (room + over) has more than its ends'."""
    both = room + over
    return room * over / jnp.where(both > 0, both, 1.0)


def _mapped(state: Vector, numbers: Dragged, steps: int) -> tuple[Vector, Scalar]:
    """State a period later, and the mean velocity."""
    state, motion = period(state, numbers, steps)
    return state, motion.displacement[-1] / (2 * np.pi)


class Found(NamedTuple):
    """The periodic motion: its drag, state and mean velocity, the residual, and the largest multiplier."""

    drag: Scalar
    state: Vector
    velocity: Scalar
    residual: Scalar
    multiplier: Scalar
    converged: Array


def dragged_velocity(numbers: Dragged, steps: int, tolerance: Scalar) -> Found:
    """The periodic motion at a given drag."""
    state, _, residual, multiplier, good = _search(numbers, None, steps, tolerance)
    state = with_implicit_derivative(_Periodic(steps), state, numbers)
    return Found(numbers.drag, state, _mapped(state, numbers, steps)[1], residual, multiplier, good)


def drag_at(velocity: Scalar, numbers: Dragged, steps: int, tolerance: Scalar) -> Found:
    """The periodic motion of a given mean velocity; the drag in `numbers` is where the search starts."""
    state, drag, residual, multiplier, good = _search(numbers, velocity, steps, tolerance)
    both = jnp.concatenate([state, drag[None]])
    both = with_implicit_derivative(_Moving(steps), both, (numbers, velocity))
    return Found(both[-1], both[:-1], velocity, residual, multiplier, good)


class _Periodic(NamedTuple):
    steps: int

    def __call__(self, state: Vector, numbers: Dragged) -> Vector:
        return _mapped(state, numbers, self.steps)[0] - state


class _Moving(NamedTuple):
    steps: int

    def __call__(self, both: Vector, inputs: tuple[Dragged, Scalar]) -> Vector:
        numbers, velocity = inputs
        state, mean = _mapped(both[:-1], numbers._replace(drag=both[-1]), self.steps)
        return jnp.concatenate([state - both[:-1], (mean - velocity)[None]])


def _search(numbers: Dragged, velocity: Scalar | None, steps: int, tolerance: Scalar):
    """Newton's method for the periodic state, and around it for the drag when the velocity is given."""
    numbers, velocity = jax.lax.stop_gradient((numbers, velocity))
    dtype = numbers.drag.dtype
    identity = jnp.eye(INNER + 1, dtype=dtype)

    def mapped(both: Vector) -> tuple[Vector, Vector]:
        state, mean = _mapped(both[:-1], numbers._replace(drag=both[-1]), steps)
        out = jnp.concatenate([state, mean[None]])
        return out, out

    def again(carry):
        return ~carry[-2] & (carry[-1] < ITERATIONS)

    def improve(carry):
        state, drag, low, high, before, wait, _, _, _, count = carry
        jacobian, out = jax.jacfwd(mapped, has_aux=True)(jnp.concatenate([state, drag[None]]))
        after, mean = out[:-1], out[-1]
        inner, by_drag = jacobian[:-1, :-1], jacobian[:-1, -1]
        residual = jnp.max(jnp.abs(after - state)) / jnp.max(jnp.abs(after))
        steps_of = solve(identity - inner, jnp.stack([after - state, by_drag], axis=-1))
        settled = residual < tolerance
        worse = ~(residual < before) & ~settled
        wait = jnp.where(worse, DAMPED, jnp.maximum(wait - 1, 0))
        newton = jnp.where(jnp.isfinite(steps_of[:, 0]), steps_of[:, 0], after - state)
        nearer = jnp.where(wait > 0, after, state + newton)
        multiplier = spectral_radius(inner)
        if velocity is None:
            return (
                jnp.where(settled, state, nearer), drag, low, high, residual, wait, residual,
                multiplier, settled, count + 1,
            )  # fmt: skip
        low = jnp.where(settled & (mean < velocity), drag, low)
        high = jnp.where(settled & (mean >= velocity), drag, high)
        slope = jacobian[-1, :-1] @ steps_of[:, 1] + jacobian[-1, -1]
        onward = drag - (mean - velocity) / slope
        inside = (onward > low) & (onward < high)
        onward = jnp.where(inside, onward, (low + high) / 2)
        there = settled & (jnp.abs(mean - velocity) <= tolerance * velocity)
        predicted = state + jnp.where(inside, steps_of[:, 1] * (onward - drag), 0)
        moves = settled & ~there
        state = jnp.where(there, state, jnp.where(moves, predicted, nearer))
        # after a move the residual may grow without being worse
        before = jnp.where(moves, jnp.inf, residual)
        return (
            state, jnp.where(moves, onward, drag), low, high, before, wait, residual, multiplier,
            there, count + 1,
        )  # fmt: skip

    rest = jnp.zeros(INNER + 1, dtype)
    warm = loops.fori_loop(0, WARM_UP, lambda _, state: _mapped(state, numbers, steps)[0], rest)
    infinite = jnp.asarray(jnp.inf, dtype)
    first = (
        warm, numbers.drag, 1 - numbers.force_ratio, jnp.ones((), dtype), infinite,
        jnp.zeros((), jnp.int32), infinite, infinite, jnp.zeros((), bool), jnp.zeros((), jnp.int32),
    )  # fmt: skip
    state, drag, _, _, _, _, residual, multiplier, good, _ = loops.while_loop(again, improve, first)
    return state, drag, residual, multiplier, good & (multiplier < 1)


def critical_velocity(
    force_ratio: Scalar,
    kappa: Scalar,
    edge: Callable[[Array], Array] = jnp.cbrt,
    yielding: Scalar | float = 2 / 3,
) -> Scalar:
    """Smallest mean velocity at which the whole contact slides all the time.

    Then Y' = v - kappa r sin t, and a spring at its bound stays there while Y' > d'. So it is the largest of
    kappa r sin t + d', a smooth function of one phase. `edge`: radius of the contact under a load, both over their
    means; `yielding`: 1 / stiffness of the line, so that d' = yielding * load' / edge. Both are of a sphere if
    nothing else is said.
    """

    def needed(phase: Array) -> Array:
        load = 1 + force_ratio * jnp.cos(phase)
        load = jnp.maximum(load, jnp.finfo(load.dtype).tiny)
        loading = -yielding * force_ratio * jnp.sin(phase) / edge(load)
        return kappa * force_ratio * jnp.sin(phase) + loading

    fixed = jax.lax.stop_gradient((force_ratio, kappa))
    grid = jnp.asarray(np.linspace(0, 2 * np.pi, PHASES), jnp.result_type(*fixed))
    middle = grid[jnp.argmax(jax.lax.stop_gradient(needed(grid)))]

    def narrow(_, bounds: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        low, high = bounds
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        rises = jax.lax.stop_gradient(needed(left) < needed(right))
        return jnp.where(rises, left, low), jnp.where(rises, high, right)

    spacing = 2 * np.pi / (PHASES - 1)
    low, high = loops.fori_loop(0, NARROWINGS, narrow, (middle - spacing, middle + spacing))
    # Second derivatives need how the phase moves: as one step of Newton's method does, whose value is left out.
    phase = jax.lax.stop_gradient((low + high) / 2)
    slope, bend = jax.jvp(jax.grad(needed), (phase,), (jnp.ones_like(phase),))
    onward = -slope / jnp.where(bend == 0, 1.0, bend)
    return needed(phase + (onward - jax.lax.stop_gradient(onward)))
