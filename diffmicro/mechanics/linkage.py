"""Planar mechanisms as data: rigid bodies joined by curved flexures, pushed by wrenches and forces.

A body has a center; its coordinates q are the displacement of the center and the rotation, zero at rest. A
flexure is an arc from its first body to its second (`GROUND` is the frame). Its strain is the pose of its end
in the axes of its start, carried along by the first body, its wrench w = (F_x, F_y, M) is work-conjugate to it.
What bodies have to be held with is the residual R(q) = internal - external, and R = 0 is equilibrium. Four
models:

- `linear` (Verotti 2022, eq. 24): w linear in the strain; balanced on the undeformed arc; the end's force turns
with
  the second body, the start's with the first.
- `partial` (eq. 23): as linear, balanced on the deformed arc.
- `consistent`: w linear in the strain, both ends turn with the first body, so that action equals reaction and the
  wrench has an energy.
- `exact`: as consistent, with the geometrically exact arc (`mechanics.arcs`).

The tangent has three parts (eqs. 26-27), by three copies of q: stretch (K^I), rotation of forces and arms
(K^II), deformed arm of the balance (K^III). A `Push` is a force of fixed direction on a point of a body; what it
moves is the point's displacement in its direction.

Numbers are in any consistent units; the solver (`mechanics.equilibrium`) wants radii and stiffnesses near one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from diffmicro._types import Matrix, Pair, PerFlexure, Planar, PlanarMatrix, Scalar, Square, Vector
from diffmicro.mechanics import arcs
from diffmicro.nonsmooth.elimination import solve
from diffmicro.resolution import Steps

GROUND = -1
"""The frame, as the body of a flexure."""

MODELS = ("linear", "partial", "consistent", "exact")

Poses = Float[Array, "bodies 3"]
Loads = Float[Array, "flexures 3"]


class Linkage(eqx.Module):
    """A mechanism at rest.

    pairs: the bodies that each flexure joins, from its start to its end. centers: centers of the bodies
    [length]. hinges: centers of the flexures' arcs [length]. radius: radii of the arcs [length]. angle: angles
    that they turn by, counter-clockwise from the start [rad]. start_angle: polar angles of their starts about
    the hinges [rad]. bending: bending stiffnesses [force length^2]. softness: stretch and shear flexibility (a,
    g) of the exact arc in units of its radius and stiffness, or None [-]. model: one of MODELS.
    """

    pairs: tuple[tuple[int, int], ...] = eqx.field(static=True)
    centers: Float[Array, "bodies 2"]
    hinges: Float[Array, "flexures 2"]
    radius: PerFlexure
    angle: PerFlexure
    start_angle: PerFlexure
    bending: PerFlexure
    softness: Float[Array, "flexures 2"] | None = None
    model: str = eqx.field(static=True, default="exact")

    @property
    def bodies(self) -> int:
        return self.centers.shape[0]


class Flexure(NamedTuple):
    """One flexure, or all along a leading axis: arms from the bodies' centers, orientation, size."""

    start_arm: Pair
    end_arm: Pair
    span: Pair
    direction: Scalar
    radius: Scalar
    angle: Scalar
    bending: Scalar
    softness: Pair | None


class Push(eqx.Module):
    """A force of fixed direction on a point of a body.

    body: the body.
    point: the point from the body's center at rest [length].
    direction: a unit vector [-].
    """

    body: int = eqx.field(static=True)
    point: Pair
    direction: Pair


def polar(angle: Array) -> Array:
    """Unit vector at an angle."""
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)


def turn(angle: Scalar, v: Pair) -> Pair:
    """A vector turned counter-clockwise."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([c * v[0] - s * v[1], s * v[0] + c * v[1]])


def moment(arm: Pair, force: Pair) -> Scalar:
    """Moment of a force about the arm's origin."""
    return arm[0] * force[1] - arm[1] * force[0]


def ends(linkage: Linkage) -> tuple[Matrix, Matrix]:
    """Where the arcs start and end at rest, one row each."""
    radius = linkage.radius[:, None]
    start = linkage.hinges + radius * polar(linkage.start_angle)
    return start, linkage.hinges + radius * polar(linkage.start_angle + linkage.angle)


def flexures(linkage: Linkage) -> Flexure:
    """All flexures, along the leading axis."""
    start, end = ends(linkage)
    origin = jnp.concatenate([linkage.centers, jnp.zeros_like(linkage.centers[:1])])
    first, second = (_rows(origin, [pair[k] for pair in linkage.pairs]) for k in (0, 1))
    return Flexure(
        start - first,
        end - second,
        end - start,
        linkage.start_angle + jnp.pi / 2,
        linkage.radius,
        linkage.angle,
        linkage.bending,
        linkage.softness,
    )


def _rows(table: Matrix, rows: Sequence[int]) -> Matrix:
    return jnp.stack([table[row] for row in rows])


def sides(linkage: Linkage, q: Poses) -> tuple[Loads, Loads]:
    """Coordinates of the first and the second body of each flexure; the frame's are zero."""
    everything = jnp.concatenate([q, jnp.zeros_like(q[:1])])
    first, second = (_rows(everything, [pair[k] for pair in linkage.pairs]) for k in (0, 1))
    return first, second


def pose(flexure: Flexure, first: Planar, second: Planar) -> Planar:
    """Pose of the arc's end in the axes of its start, in radii."""
    moved = second[:2] + turn(second[2], flexure.end_arm) - flexure.end_arm
    moved = moved - first[:2] - turn(first[2], flexure.start_arm) + flexure.start_arm
    span = turn(-first[2] - flexure.direction, flexure.span + moved) / flexure.radius
    return jnp.stack([span[0], span[1], flexure.angle + second[2] - first[2]])


def reactions(
    model: str, flexure: Flexure, wrench: Planar, at: Planar, arms: tuple, turned: tuple
) -> tuple[Planar, Planar]:
    """What holds the first and the second body against the arc's wrench.

    `wrench` is in units of EI / r^2 and EI / r; `at` the end's pose that the moment is balanced with,
    `turned` the coordinates by which forces and arms turn (`arms` are those at rest).
    """
    first, second = turned
    unit = flexure.bending / flexure.radius**2
    local = turn(flexure.direction, wrench[:2] * unit)
    end_moment = wrench[2] * unit * flexure.radius
    start_force = turn(first[2], local)
    published = model in ("linear", "partial")
    end_force = turn(second[2], local) if published else start_force
    span = flexure.radius * at[:2]
    start_moment = end_moment + moment(span, wrench[:2] * unit)
    start_moment = start_moment + moment(turn(first[2], arms[0]), start_force)
    end_moment = end_moment + moment(turn(second[2], arms[1]), end_force)
    return (
        -jnp.append(start_force, start_moment),
        jnp.append(end_force, end_moment),
    )


def wrench_law(model: str, flexure: Flexure, load: Planar, at: Planar, segments: Steps):
    """Wrench at a pose, its stiffness, and the load that goes with it, linearized at `load`.

    Returns (wrench, stiffness, load, loads by pose). With a constant stiffness nothing is approximated;
    the exact arc's load is one Newton step from `load` toward the one that holds the pose.
    """
    if model != "exact":
        stiffness = arcs.stiffness_at_start(flexure.angle)
        wrench = _times(stiffness, at - arcs.rest_pose(flexure.angle))
        return wrench, stiffness, wrench, stiffness
    reached, jacobian = arcs.pose_and_compliance(load, flexure.angle, flexure.softness, segments)
    by_pose = solve(jacobian, jnp.eye(3, dtype=jacobian.dtype))
    load = load + _times(by_pose, at - reached)
    return arcs.end_wrench(load, at), arcs.end_stiffness(load, at, by_pose), load, by_pose


def wrench_at(model: str, flexure: Flexure, load: Planar, at: Planar, segments: Steps) -> Planar:
    """Wrench at a pose, differentiable, given the load that holds it."""
    if model != "exact":
        stiffness = arcs.stiffness_at_start(flexure.angle)
        return _times(stiffness, at - arcs.rest_pose(flexure.angle))
    load = arcs.load_for(at, load, flexure.angle, flexure.softness, segments)
    return arcs.end_wrench(load, at)


def _times(matrix: PlanarMatrix, vector: Planar) -> Planar:
    return jnp.sum(matrix * vector[None, :], axis=1)


def _internal(model: str, flexure: Flexure, wrench: Planar, at: Planar, turned: tuple):
    balanced = arcs.rest_pose(flexure.angle) if model == "linear" else at
    arms = (flexure.start_arm, flexure.end_arm)
    return jnp.concatenate(reactions(model, flexure, wrench, balanced, arms, turned))


def _gather(linkage: Linkage, held: Float[Array, "flexures 6"]) -> Poses:
    """Sum of the flexures' shares (flexure, 6) over the bodies, as a table of bodies."""
    rows = []
    for body in range(linkage.bodies):
        shares = [
            held[f, 3 * end : 3 * end + 3]
            for f, pair in enumerate(linkage.pairs)
            for end in (0, 1)
            if pair[end] == body
        ]
        rows.append(sum(shares[1:], shares[0]))
    return jnp.stack(rows)


def internal(
    linkage: Linkage, loads: Loads, stretch: Poses, rotation: Poses, arm: Poses, segments: Steps
) -> Poses:
    """What the bodies have to be held with, with a copy of q for each part of the tangent."""

    def one(flexure, load, stretched, rotated, armed):
        wrench = wrench_at(linkage.model, flexure, load, pose(flexure, *stretched), segments)
        return _internal(linkage.model, flexure, wrench, pose(flexure, *armed), rotated)

    copies = [sides(linkage, q) for q in (stretch, rotation, arm)]
    return _gather(linkage, jax.vmap(one)(flexures(linkage), loads, *copies))


def residual(linkage: Linkage, loads: Loads, q: Poses, segments: Steps = arcs.USUAL) -> Poses:
    """Internal wrenches of the bodies, differentiable. `loads` hold the exact arcs at q (any for other models)."""
    return internal(linkage, loads, q, q, q, segments)


def tangent_parts(
    linkage: Linkage, loads: Loads, q: Poses, segments: Steps = arcs.USUAL
) -> tuple[Square, Square, Square]:
    """K^I, K^II and K^III of eq. 27; their sum is the tangent."""
    n = q.size

    def flat(stretch: Poses, rotation: Poses, arm: Poses) -> Vector:
        return internal(linkage, loads, stretch, rotation, arm, segments).reshape(-1)

    parts = jax.jacfwd(flat, argnums=(0, 1, 2))(q, q, q)
    first, second, third = (part.reshape(n, n) for part in parts)
    return first, second, third


def tangent(linkage: Linkage, loads: Loads, q: Poses, segments: Steps = arcs.USUAL) -> Square:
    """The whole tangent d internal / d q."""
    first, second, third = tangent_parts(linkage, loads, q, segments)
    return first + second + third


class Linearized(NamedTuple):
    """Internal wrenches at q, and per flexure the 6 x 6 tangent and how the load follows the bodies."""

    internal: Poses
    tangents: Array
    loads: Loads
    loads_by_sides: Array


def linearize(linkage: Linkage, loads: Loads, q: Poses, segments: Steps = arcs.USUAL) -> Linearized:
    """Everything that a Newton step needs, with one look at each arc."""
    model = linkage.model

    def one(flexure, load, first, second):
        at = pose(flexure, first, second)
        wrench, stiffness, load, by_pose = wrench_law(model, flexure, load, at, segments)

        def reached(x: Vector) -> Vector:
            return pose(flexure, x[:3], x[3:])

        def held(x: Vector) -> Vector:
            here = reached(x)
            followed = wrench + _times(stiffness, here - at)
            return _internal(model, flexure, followed, here, (x[:3], x[3:]))

        x = jnp.append(first, second)
        moved = jax.jacfwd(reached)(x)
        by_sides = jnp.sum(by_pose[:, :, None] * moved[None, :, :], axis=1)
        return held(x), jax.jacfwd(held)(x), load, by_sides

    found = jax.vmap(one)(flexures(linkage), loads, *sides(linkage, q))
    return Linearized(_gather(linkage, found[0]), *found[1:])


def assembled(linkage: Linkage, known: Linearized) -> Square:
    """The whole tangent as a matrix, from the flexures' shares."""
    blocks = [[jnp.zeros_like(known.tangents[0, :3, :3])] * linkage.bodies] * linkage.bodies
    blocks = [list(row) for row in blocks]
    for f, pair in enumerate(linkage.pairs):
        for a, row in enumerate(pair):
            for b, column in enumerate(pair):
                if row != GROUND and column != GROUND:
                    share = known.tangents[f, 3 * a : 3 * a + 3, 3 * b : 3 * b + 3]
                    blocks[row][column] = blocks[row][column] + share
    return jnp.concatenate([jnp.concatenate(row, axis=1) for row in blocks])
