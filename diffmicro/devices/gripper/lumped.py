"""The gripper as a linkage, and what is measured on it: rotations, bending stress, clearance, frequency.

Bodies 2, 3, 4 of the paper are rows 0, 1, 2; flexures a: 1 -> 2, b: 2 -> 3, c: 3 -> 4, d: 4 -> 1, body 1 is the
frame. Lengths are in radii of flexure a, forces in EI_a / r_a^2, so that E and a section common to all
flexures enter by the loads alone.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from diffmicro._types import Pair, PerFlexure, Planar, Real, Scalar, Vector
from diffmicro.devices.gripper.design import Design, Setting
from diffmicro.mechanics import arcs
from diffmicro.mechanics.equilibrium import Conditions, Found, State, attach, follow, unit_push
from diffmicro.mechanics.linkage import (
    GROUND,
    Flexure,
    Linkage,
    Poses,
    Push,
    ends,
    flexures,
    pose,
    sides,
    turn,
    wrench_at,
)
from diffmicro.resolution import Steps

PAIRS = ((GROUND, 0), (0, 1), (1, 2), (2, GROUND))
ACTUATED, HOLDING = 0, 1
"""Rows of the body that the actuator pulls and of the one that carries the tip."""

SAMPLES = 32
"""Points along an arc among which the largest moment and the smallest distance are looked for."""


class Model(NamedTuple):
    """The gripper in natural units, and the units."""

    linkage: Linkage
    pushes: tuple[Push, Push]
    tip: Pair
    length: Scalar
    force: Scalar


def lump(design: Design, setting: Setting) -> Model:
    """The linkage that a design is, with the model of the setting."""
    width, height = jnp.asarray(design.section_width), jnp.asarray(design.section_height)
    inertia = width * height**3 / 12
    radius = jnp.asarray(design.beam_radius)
    first = inertia if inertia.ndim == 0 else inertia[0]
    length = radius[0]
    # Of one section for all flexures the ratio is exactly one, and so its derivative exactly zero.
    bending = jnp.ones_like(radius) if inertia.ndim == 0 else inertia / first
    softness = None
    if setting.model == "exact" and setting.beam == "extensible":
        height = jnp.broadcast_to(height, radius.shape)
        softness = jax.vmap(lambda h, r: arcs.softness_of(h, r, jnp.asarray(design.poisson)))(
            height, radius
        )
    linkage = Linkage(
        PAIRS,
        jnp.asarray(design.body) / length,
        jnp.asarray(design.hinge) / length,
        radius / length,
        jnp.asarray(design.beam_angle),
        jnp.asarray(design.start_angle),
        bending,
        softness,
        model=setting.model,
    )
    zero, one = jnp.zeros_like(length), jnp.ones_like(length)
    tip = jnp.asarray(design.tip) / length
    pushes = (
        Push(ACTUATED, jnp.stack([zero, zero]), jnp.stack([zero, one])),
        Push(HOLDING, tip, jnp.stack([one, zero])),
    )
    return Model(linkage, pushes, tip, length, design.young * first / length**2)


def nondimensional_wrench(model: Model, wrench: Poses) -> Poses:
    """Wrenches (N, N, N m) in natural units."""
    moment = model.force * model.length
    return wrench / jnp.stack([model.force, model.force, moment])[None, :]


def rest_tip(model: Model) -> Pair:
    """Where the tip rests, natural units."""
    return model.linkage.centers[HOLDING] + model.tip


def tip_of(model: Model, q: Poses) -> Pair:
    """Where the tip is, natural units."""
    body = q[HOLDING]
    return model.linkage.centers[HOLDING] + body[:2] + turn(body[2], model.tip)


_ROWS = {
    "pushed": ((1, 0), (0, 1), (0, 0), (0, 0)),
    "moved": ((0, 0), (0, 1), (0, 1), (0, 0)),
    "held": ((1, 0), (0, 0), (0, 0), (0, 1)),
}


def conditions(kind: str, wrench: Poses, first: Real, second: Real) -> Conditions:
    """What closes the system: `pushed`: actuator force and tip force; `moved`: tip travel (the actuator's
    force follows) and tip force; `held`: actuator force and tip travel (the tip's force follows)."""
    rows = jnp.asarray(_ROWS[kind], wrench.dtype)
    return Conditions(wrench, rows[:2], rows[2:], jnp.stack([first, second]))


class Walk(NamedTuple):
    """What all paths from rest have in common."""

    model: Model
    rest: State
    wrench: Array
    segments: Steps
    tolerance: Array | float

    def conditions(self, kind: str, first: Real, second: Real) -> Conditions:
        """Conditions of one kind with the whole wrench."""
        values = (jnp.asarray(value, self.wrench.dtype) for value in (first, second))
        return conditions(kind, self.wrench, *values)

    def to(self, kind: str, first: Real, second: Real) -> Found:
        """From rest, differentiable."""
        goal = self.conditions(kind, first, second)
        begin = goal._replace(wrench=0 * goal.wrench, value=0 * goal.value)
        return self.on(self.rest, begin, goal)

    def on(self, start: State, begin: Conditions, goal: Conditions) -> Found:
        """From a known state, differentiable."""
        found = follow(
            self.model.linkage,
            self.model.pushes,
            start,
            begin,
            goal,
            segments=self.segments,
            tolerance=self.tolerance,
        )
        return found._replace(state=self.attach(found.state, goal))

    def attach(self, state: State, goal: Conditions) -> State:
        """The state with its derivative."""
        return attach(self.model.linkage, self.model.pushes, state, goal, self.segments)


def rotations(q: Poses) -> PerFlexure:
    """Rotation of the second against the first body of each flexure [rad]."""
    theta = q[:, 2]
    zero = jnp.zeros_like(theta[:1])
    return jnp.append(theta, zero) - jnp.append(zero, theta)


def bending_moments(model: Model, state: State, segments: Steps) -> PerFlexure:
    """Largest |bending moment| along each arc, in units of EI / r of that arc.

    Of models with a constant stiffness the moment is that of the small-load theory, on the undeformed arc.
    """

    def one(flexure: Flexure, load: Planar, first: Planar, second: Planar) -> Array:
        at = pose(flexure, first, second)
        if model.linkage.model != "exact":
            wrench = wrench_at(model.linkage.model, flexure, load, at, segments)
            return _largest_linear(wrench, flexure.angle)
        return _largest_exact(load, flexure, segments)

    q = sides(model.linkage, state.q)
    return jax.vmap(one)(flexures(model.linkage), state.loads, *q)


def _largest_linear(wrench: Planar, angle: Scalar) -> Array:
    """The moment is stationary where the arc runs along the force, else largest at an end."""
    end = arcs.rest_pose(angle)
    load = jnp.stack([wrench[0], wrench[1], wrench[2] + end[0] * wrench[1] - end[1] * wrench[0]])
    along = jax.lax.stop_gradient(jnp.arctan2(wrench[1], wrench[0]))
    turns = jnp.stack([jnp.zeros_like(angle), angle, *_within(along, angle)])
    moments = arcs.bending(load, jnp.sin(turns), 1 - jnp.cos(turns))
    return jnp.max(jnp.abs(moments))


def _within(along: Scalar, angle: Scalar) -> list[Array]:
    """Tangent angles parallel to a direction, inside the arc (the start stands for those outside)."""
    places = [jnp.mod(along + shift, 2 * jnp.pi) for shift in (0.0, jnp.pi)]
    return [jnp.where(place < angle, place, 0.0) for place in places]


def _largest_exact(load: Planar, flexure: Flexure, segments: Steps) -> Array:
    """Best of the samples, moved to where the moment is stationary (its share of the arc is held)."""
    frozen, angle = jax.lax.stop_gradient((load, flexure.angle))
    softness = jax.lax.stop_gradient(flexure.softness)
    path = arcs.trace(frozen, angle, softness, SAMPLES)
    best = jnp.argmax(jnp.abs(arcs.bending(frozen, path.x, path.y)))
    step = angle / SAMPLES
    low, high = jnp.maximum(best - 1, 0) * step, jnp.minimum(best + 1, SAMPLES) * step
    place = best * step
    for _ in range(2):
        # Inextensible: moment' = F x t, moment'' = - curvature F . t; good enough a slope for both beams.
        arc = arcs.march(frozen, place, softness, segments, False)
        slope = frozen[0] * arc.s - frozen[1] * arc.c
        bend = (frozen[0] * arc.c + frozen[1] * arc.s) * (1 + arcs.bending(frozen, arc.x, arc.y))
        place = jnp.clip(place - slope / jnp.where(bend == 0, 1.0, bend), low, high)
    share = jax.lax.stop_gradient(place / angle)
    end = arcs.end_pose(load, share * flexure.angle, flexure.softness, segments)
    return jnp.abs(arcs.bending(load, end[0], end[1]))


def stresses(model: Model, design: Design, state: State, segments: Steps) -> PerFlexure:
    """Largest |M| h / 2 I along each arc [Pa]."""
    moments = bending_moments(model, state, segments)
    return moments * design.young * design.section_height / (2 * jnp.asarray(design.beam_radius))


def shapes(model: Model, state: State, points: int = SAMPLES) -> Array:
    """Points along the deformed arcs in ground axes, natural units: (flexure, point, 2).

    With a constant stiffness it is the arc of the small-load theory, whose end meets the second body to first
    order.
    """
    start, _ = ends(model.linkage)

    def one(flexure: Flexure, load: Planar, first: Planar, second: Planar, at: Pair) -> Array:
        if model.linkage.model == "exact":
            path = arcs.trace(load, flexure.angle, flexure.softness, points)
            x, y = path.x, path.y
        else:
            here = pose(flexure, first, second)
            wrench = wrench_at(model.linkage.model, flexure, load, here, Steps(1))
            x, y = _bent(wrench, flexure.angle, points)
        line = flexure.radius * jnp.stack([x, y], axis=-1)
        moved = at + first[:2] + turn(first[2], flexure.start_arm) - flexure.start_arm
        return moved[None, :] + jax.vmap(lambda p: turn(flexure.direction + first[2], p))(line)

    both = sides(model.linkage, state.q)
    return jax.vmap(one)(flexures(model.linkage), state.loads, *both, start)


def _bent(wrench: Planar, angle: Scalar, points: int) -> tuple[Array, Array]:
    """Small-load deflection of an arc under its end's wrench: closed-form integrals of the moment."""
    end = arcs.rest_pose(angle)
    load = jnp.stack([wrench[0], wrench[1], wrench[2] + end[0] * wrench[1] - end[1] * wrench[0]])
    s = jnp.linspace(0.0, 1.0, points + 1) * angle
    # Displacements are linear in the load: the derivative of the exact arc at no load.
    still = jnp.zeros_like(load)

    def path(given: Planar) -> tuple[Array, Array]:
        arc = arcs.trace(given, angle, None, points)
        return arc.x, arc.y

    (x, y), (dx, dy) = jax.jvp(path, (still,), (load,))
    return jnp.sin(s) + 0 * x + dx, 1 - jnp.cos(s) + 0 * y + dy


def clearances(points: Array) -> Vector:
    """Smallest distances between drawn arcs: within each arc (its ends to its far half), then of each pair."""
    count = points.shape[0]
    half = points.shape[1] // 2
    gaps = []
    for f in range(count):
        first, second = points[f, : half + 1], points[f, half:]
        gaps.append(jnp.minimum(_distance(points[f, -1], first), _distance(points[f, 0], second)))
    for f in range(count):
        for g in range(f + 1, count):
            apart = points[f][:, None, :] - points[g][None, :, :]
            gaps.append(_smallest(jnp.sum(apart**2, axis=-1)))
    return jnp.stack(gaps)


def _distance(point: Pair, points: Float[Array, "points 2"]) -> Array:
    return _smallest(jnp.sum((points - point[None, :]) ** 2, axis=-1))


def _smallest(squares: Array) -> Array:
    smallest = jnp.min(squares)
    return jnp.where(smallest > 0, jnp.sqrt(jnp.where(smallest > 0, smallest, 1.0)), 0.0)


def lowest_frequency(
    model: Model, q: Poses, design: Design, stiffness: Array, touches: Array | bool
) -> Array:
    """Lowest natural frequency of the bodies on the flexures [Hz], from the symmetric part of a tangent in SI.

    A tip that touches the object moves along it only.
    """
    mass, inertia = jnp.asarray(design.body_mass), jnp.asarray(design.body_inertia)
    masses = jnp.stack([mass, mass, inertia], axis=1).reshape(-1)
    scale = 1 / jnp.sqrt(masses)
    symmetric = 0.5 * (stiffness + stiffness.T) * scale[:, None] * scale[None, :]
    if touches is not False:
        across = jnp.zeros_like(q).at[HOLDING].set(unit_push(model.pushes[1], q))
        across = across.at[HOLDING, 2].multiply(model.length).reshape(-1) * scale
        stopped = jnp.outer(across, across) / jnp.sum(across**2)
        along = jnp.eye(across.size) - stopped
        # What the object stops is given a frequency above all others.
        above = jax.lax.stop_gradient(jnp.linalg.norm(symmetric))
        symmetric = jnp.where(touches, along @ symmetric @ along + above * stopped, symmetric)
    lowest = jnp.linalg.eigvalsh(symmetric)[0]
    return jnp.sign(lowest) * jnp.sqrt(jnp.abs(lowest)) / (2 * jnp.pi)
