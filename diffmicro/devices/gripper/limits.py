"""How far the gripper can be driven: the tip's path between the limits of rotation, stress and actuation force.

In each direction the actuation force grows until the first of the given limits is reached: the root of

    max(largest rotation / its limit, largest stress / its limit, |force| / its limit) = 1,

bracketed and found by the Illinois rule, with every state followed from rest. The force at the limit is
differentiated through the limit that binds there (implicit function theorem); where two bind at once the slope
differs on the two sides, and the margin is zero. With a rotation limit alone, no wrench and one section, E and the
section cancel: only their product with the force is felt, and the derivatives by them are exactly zero.

Left out: limits that differ between opening and closing; what the jaws touch.
"""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Scalar, Vector
from diffmicro.devices.gripper import lumped
from diffmicro.devices.gripper.design import Design, Setting
from diffmicro.devices.gripper.lumped import Model, Walk, conditions
from diffmicro.mechanics.equilibrium import State, attach
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.resolution import Steps
from diffmicro.results import RESULTS, code

LIMITS = ("rotation_limit", "stress_limit", "force_limit")
"""In the order of the codes 1, 2, 3."""

FIRST_FORCE = 0.02
"""First trial, in natural units: a closed gripper takes about 0.1."""

WIDEST = 4.0
"""Largest ratio of a trial to the largest force below the limit."""

TRIALS = 60

NODES = 17
"""Points of the tip's path, at which it is differentiated and integrated."""


class _Search(NamedTuple):
    """A bracket of the force at the limit. `high_use` is NaN where the branch does not reach."""

    trial: Scalar
    low: Scalar
    low_use: Scalar
    high: Scalar
    high_use: Scalar
    at: Scalar
    state: State
    last: Array
    done: Array
    count: Array


def workspace(
    walk: Walk, design: Design, setting: Setting
) -> tuple[dict[str, Array], Array, Array]:
    """Responses by name, the outcome's code, and how far the next limit is behind the one that binds."""
    given = [i + 1 for i, name in enumerate(LIMITS) if getattr(setting, name) is not None]
    signs = jnp.array([1.0, -1.0], walk.wrench.dtype)
    found = jax.vmap(lambda sign: _search(walk, design, setting, sign))(signs)
    reached = jnp.all(found.done)
    states = jax.lax.stop_gradient(found.state)

    def at_limit(force: Scalar, state: State) -> tuple[Array, Array, Array]:
        uses = jax.lax.stop_gradient(
            _uses(walk.model, design, setting, state, force, walk.segments)
        )
        binding = jnp.argmax(uses)
        chosen = (jnp.arange(uses.size) == binding).astype(uses.dtype)
        inputs = (walk.model, walk.wrench, design, setting, state, chosen, walk.segments)
        force = with_implicit_derivative(_beyond, force[None], inputs)[0]
        others = jnp.where(chosen == 1, 0.0, uses)
        return force, jnp.asarray(given)[binding], 1 - jnp.max(others)

    forces, limits, margins = jax.vmap(at_limit)(found.at, states)
    safe = jnp.where(reached, forces, jnp.zeros_like(forces))
    tips = _tips(walk, safe)
    closing = tips[-1, 0] < tips[0, 0]  # the path runs from the pulling to the pushing limit
    close, opened = jnp.where(closing, 0, 1), jnp.where(closing, 1, 0)
    length = walk.model.length
    responses = {
        "tip_travel": jnp.abs(tips[-1, 0] - tips[0, 0]) * length,
        "tip_path": _length(tips) * length,
        "close_limit": limits[close],
        "open_limit": limits[opened],
        "close_force": forces[close] * walk.model.force,
        "open_force": forces[opened] * walk.model.force,
    }
    outcome = jnp.where(reached, code(RESULTS.successful), code(RESULTS.past_fold))
    return responses, outcome, jnp.min(margins)


def _uses(
    model: Model, design: Design, setting: Setting, state: State, force: Scalar, segments: Steps
) -> Vector:
    """Shares of the given limits that a state takes."""
    uses = []
    if setting.rotation_limit is not None:
        largest = jnp.max(jnp.abs(lumped.rotations(state.q)))
        uses.append(largest / setting.rotation_limit)
    if setting.stress_limit is not None:
        stresses = lumped.stresses(model, design, state, segments)
        uses.append(jnp.max(stresses) / setting.stress_limit)
    if setting.force_limit is not None:
        uses.append(jnp.abs(force) * model.force / setting.force_limit)
    return jnp.stack(uses)


def _beyond(force: Vector, inputs: tuple) -> Vector:
    """By how much the binding limit is passed."""
    model, wrench, design, setting, state, chosen, segments = inputs
    goal = conditions("pushed", wrench, force[0], jnp.zeros_like(force[0]))
    state = attach(model.linkage, model.pushes, state, goal, segments)
    uses = _uses(model, design, setting, state, force[0], segments)
    return jnp.sum(chosen * uses)[None] - 1


def _search(walk: Walk, design: Design, setting: Setting, sign: Scalar) -> _Search:
    model, wrench, design, setting = jax.lax.stop_gradient(
        (walk.model, walk.wrench, design, setting)
    )
    walk = walk._replace(model=model, wrench=wrench)
    close = 1e4 * float(jnp.finfo(sign.dtype).eps)

    def unfinished(search: _Search) -> Array:
        return ~search.done & (search.count < TRIALS)

    def look(search: _Search) -> _Search:
        force = sign * search.trial
        found = walk.to("pushed", force, 0.0)
        use = jnp.max(_uses(walk.model, design, setting, found.state, force, walk.segments))
        use = jnp.where(found.outcome == code(RESULTS.successful), use, jnp.nan)
        below = use <= 1
        # Illinois: an end that stays twice counts half.
        stayed = search.last == jnp.where(below, 1, -1)
        half = jnp.where(stayed, 0.5, 1.0)
        low_use = jnp.where(below, use, 1 - (1 - search.low_use) * half)
        high_use = jnp.where(below, 1 + (search.high_use - 1) * half, use)
        low = jnp.where(below, search.trial, search.low)
        high = jnp.where(below, search.high, search.trial)
        # Outward along the line from rest; across a known bracket along its line; else halfway.
        outward = jnp.minimum(low / jnp.where(low_use > 0, low_use, 1.0) * 1.01, WIDEST * low)
        outward = jnp.where(low > 0, outward, 0.25 * search.trial)
        width = jnp.where(jnp.isfinite(high), high - low, 0.0)
        share = (1 - low_use) / (high_use - low_use)
        inward = low + width * jnp.where(jnp.isfinite(share), share, 0.5)
        return _Search(
            jnp.where(jnp.isfinite(high), inward, outward),
            low,
            low_use,
            high,
            high_use,
            force,
            found.state,
            jnp.where(below, 1, -1),
            jnp.abs(use - 1) < close,
            search.count + 1,
        )

    zero = jnp.zeros_like(sign)
    start = _Search(
        zero + FIRST_FORCE,
        zero,
        zero,
        zero + jnp.inf,
        zero + jnp.inf,
        zero,
        walk.rest,
        jnp.asarray(0),
        jnp.asarray(False),
        jnp.asarray(0),
    )
    return loops.while_loop(unfinished, look, start)


def _tips(walk: Walk, forces: Vector) -> Array:
    """The tip at Chebyshev points of the force, from the second to the first of the two."""
    places = jnp.asarray(_chebyshev()[0], forces.dtype)
    between = forces[1] + (forces[0] - forces[1]) * places

    def one(force: Scalar) -> Array:
        return lumped.tip_of(walk.model, walk.to("pushed", force, 0.0).state.q)

    return jax.vmap(one)(between)


def _length(tips: Array) -> Array:
    """Length of the polynomial curve through the points."""
    _, derivative, weights = (jnp.asarray(x, tips.dtype) for x in _chebyshev())
    return jnp.sum(weights * jnp.linalg.norm(derivative @ tips, axis=1))


@cache
def _chebyshev() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points in [0, 1], matrix of the derivative, weights of the integral (Clenshaw-Curtis)."""
    n = NODES - 1
    x = -np.cos(np.pi * np.arange(NODES) / n)
    basis = np.polynomial.chebyshev.chebvander(x, n)
    inverse = np.linalg.inv(basis)
    slopes = np.stack(
        [
            np.polynomial.chebyshev.chebval(x, np.polynomial.chebyshev.chebder(row))
            for row in np.eye(NODES)
        ],
        axis=1,
    )
    moments = np.array([0.0 if k % 2 else 2 / (1 - k * k) for k in range(NODES)])
    return (1 + x) / 2, 2 * slopes @ inverse, 0.5 * moments @ inverse
