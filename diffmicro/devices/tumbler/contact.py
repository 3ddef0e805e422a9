"""One step of a convex body over a plane in 3-D, implicit in contact and friction, nondimensional.

Xie 2019, eqs. 12-14. The equivalent contact point (ECP) is where the normal forces along the touching
part of the hull have their resultant. So the conditions of eq. 14 on a_1, a_2 and l are those of normal
impulses p_i at the ends of the touching lines, each complementary to its own gap at the end of the step,

    0 <= p_i  _|_  gap_i(q') >= 0,    p_n = sum p_i,   a = sum p_i r_i / p_n,

which has no penetrating root. Eqs. 13-14 as printed admit one: the gradient of f_k counts in the normal
cone whether or not a_1 lies on face k, so with l_k = 0 the point a_1 = a_2 where a side face cuts the plane
fulfills them with a corner below it. Friction is one force (two components) and one moment about the normal,
all at the ECP, in the ellipsoid (eqs. 8-9).

Levers are the mean ones of the step: with them the velocity after it times dt is how far a point of the body
really moves. So no impulse does work while its gap closes or stays, and contact never adds energy. With the
printed levers, those at the end (W at u+1), a body that turns over an edge gains dt w^2 h / 2 times the impulse:
up to 5.6e-7 of its energy in a step of 2e-5 s. The inertia is that at the beginning of the step.

Each iteration linearizes gaps and friction at the current end of the step, so that the normal impulses
solve one linear complementarity problem with four unknowns (`nonsmooth.active_sets`). Friction enters
it as a function of the normal loads (`nonsmooth.ellipsoid`), so the iteration is Newton's method.

A prism that tilts far about y stands on four corners of its end. Left out: restitution.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.mechanics import rotations
from diffmicro.mechanics.outlines import Outline
from diffmicro.nonsmooth.active_sets import solve_every_active_set
from diffmicro.nonsmooth.elimination import solve
from diffmicro.nonsmooth.ellipsoid import friction_in_ball


class Prism(NamedTuple):
    """A body of unit mass: a hull in its y-z plane (y forward), extended along its x axis.

    Piece i of the hull is an arc, or a corner of radius zero, between the normals i and i + 1; face i
    lies between the pieces i - 1 and i (`mechanics.outlines`).
    """

    centers: Array  # (n, 2)
    radius: Array  # (n,)
    normals: Array  # (n, 2) unit vectors
    count: Array  # pieces that exist; the others repeat the last one
    half_width: Array
    inertia: Array  # (3, 3) in body axes
    mobility: Array  # (3, 3) its inverse
    arms: Array  # (3,) half axes e_t, e_o, e_r of the friction ellipsoid


class Motion(NamedTuple):
    """Configuration and velocity in ground axes; z is the normal of the plane."""

    position: Array  # (3,)
    attitude: Array  # (4,)
    velocity: Array  # (3,)
    spin: Array  # (3,)


class Contact(NamedTuple):
    """What a step transmitted, and how well its conditions hold."""

    normal: Array  # sum of normal impulses
    friction: Array  # (3,) impulses along x and y, moment about z
    point: Array  # (3,) ECP from the center of mass, mean of the step
    slip: Array  # (3,) velocity of the body at the ECP along x and y, spin about z
    gap: Array  # smallest of the whole hull at the end of the step
    face: Array  # number of the lowest face, of an end if negative
    face_gap: Array  # largest over that face
    residual: Array  # how far the step's conditions are from holding, as a length


class _Iterate(NamedTuple):
    velocity: Array
    spin: Array
    face: Array
    normal: Array  # (4,) impulses at the ends of the two lines that bound the face
    friction: Array  # (3,) moment over its arm
    point: Array


class _Step(NamedTuple):
    """What stays the same during the iterations of one step."""

    body: Prism
    motion: Motion
    mobility: Array  # (3, 3) inverse inertia in ground axes
    velocity: Array  # after the step, without contact
    spin: Array
    friction: Array
    extra_load: Array
    dt: Array


MOST_ITERATIONS = 30
"""Two or three are the rule, ten were the most in 240000 steps of a body that falls down a slope."""

ON_END = 0.7
"""Sine of the tilt of the axis of rolling from which on the body meets the ground with an end."""

REAR_END, FRONT_END = -2, -3
"""Numbers of the end faces, at -x and at +x."""

REDUNDANCY = 0.6
"""Share eps^0.6 added to the diagonal: four corners of a face carry what three could."""


def prism(outline: Outline, width: Array, inertia: Array, arms: Array, unit: Array) -> Prism:
    """The body of an outline and a depth, lengths in `unit`; inertia and arms are so already."""
    normals = jnp.stack([jnp.sin(outline.normal), -jnp.cos(outline.normal)], axis=1)
    centers = jnp.stack([outline.x, outline.z], axis=1) / unit
    half = width / 2 / unit
    mobility = solve(inertia, jnp.eye(3, dtype=inertia.dtype))
    radius = outline.radius / unit
    return Prism(centers, radius, normals, outline.count, half, inertia, mobility, arms)


class Loads(NamedTuple):
    """What the last step's contact was: from there the next one is searched."""

    face: Array
    normal: Array
    friction: Array


def unloaded(like: Array) -> Loads:
    """No contact yet, in the precision of `like`."""
    zero = jnp.zeros((), like.dtype)
    return Loads(jnp.zeros((), jnp.int32), jnp.stack([zero] * 4), jnp.stack([zero] * 3))


def advance(
    body: Prism,
    motion: Motion,
    loads: Loads,
    force: Array,
    torque: Array,
    friction: Array,
    extra_load: Array,
    dt: Array,
) -> tuple[Motion, Loads, Contact]:
    """The motion one step later, under a force and a torque in ground axes.

    Friction is bounded by `friction` times the normal impulse and `extra_load`, an impulse too.
    """
    frame = rotations.matrix(motion.attitude)
    spin = rotations.turned_freely(
        frame.T @ motion.spin, body.inertia, body.mobility, frame.T @ torque, dt
    )
    mobility = frame @ body.mobility @ frame.T
    free = motion.velocity + dt * force
    step = _Step(body, motion, mobility, free, frame @ spin, friction, extra_load, dt)
    start = _Iterate(motion.velocity, motion.spin, *loads, jnp.zeros_like(free))
    end = _iterate(step, jax.lax.stop_gradient(_search(*jax.lax.stop_gradient((step, start)))))
    moved, contact = _judged(step, end)
    return moved, Loads(end.face, end.normal, end.friction), contact


def _search(step: _Step, start: _Iterate) -> _Iterate:
    """Iterate until a step changes by less than half the digits; one more iteration doubles them.

    That last one is differentiated: the correction at a solution has the solution's derivative.
    """
    close = jnp.finfo(step.dt.dtype).eps ** 0.5

    def unfinished(state: tuple[_Iterate, Array, Array]) -> Array:
        _, change, count = state
        return (change > close) & (count < MOST_ITERATIONS)

    def iterate(state: tuple[_Iterate, Array, Array]) -> tuple[_Iterate, Array, Array]:
        before, _, count = state
        after = _iterate(step, before)
        moved = jnp.maximum(
            jnp.max(jnp.abs(after.velocity - before.velocity)),
            jnp.max(jnp.abs(after.spin - before.spin)),
        )
        return after, moved * step.dt, count + 1

    far = jnp.full((), jnp.inf, step.dt.dtype)
    return loops.while_loop(unfinished, iterate, (start, far, jnp.zeros((), jnp.int32)))[0]


class _Placed(NamedTuple):
    """The body at the end of a step."""

    position: Array
    attitude: Array
    section: Array  # (n, 3) lowest point of each piece from the center of mass, ground axes
    reach: Array  # (3,) from the middle plane to one end
    face: Array
    levers: Array  # (4, 3) the ends of the two lines that bound the lowest face
    arms: Array  # (4, 3) their means of the step: dt spin x arm is how far the rotation moved them


def _placed(step: _Step, velocity: Array, spin: Array) -> _Placed:
    body, motion, dt = step.body, step.motion, step.dt
    position = motion.position + dt * velocity
    attitude = rotations.product(rotations.exponential(dt * spin), motion.attitude)
    frame = rotations.matrix(attitude)
    lean = frame[2, 0]
    on_end = jnp.abs(lean) > ON_END
    slope = jnp.sqrt(jnp.where(on_end, 1, jnp.sum(frame[2, 1:] ** 2)))
    down = -frame[2, 1:] / slope
    first, last = body.normals, jnp.roll(body.normals, -1, axis=0)
    inside = (first[:, 0] * down[1] >= first[:, 1] * down[0]) & (
        down[0] * last[:, 1] >= down[1] * last[:, 0]
    )
    nearer = jnp.sum((first - last) * down[None], axis=1) > 0
    end = jnp.where(nearer[:, None], first, last)
    toward = jnp.where((inside & ~on_end)[:, None], down[None], end)
    local = body.centers + body.radius[:, None] * toward
    section = local[:, 0, None] * frame[None, :, 1] + local[:, 1, None] * frame[None, :, 2]
    reach = body.half_width * frame[:, 0]
    face, before = _lowest_face(section[:, 2], body.count)
    one, two = section[before], section[face]
    levers = jnp.stack([one - reach, one + reach, two - reach, two + reach])
    # On its end the prism stands on corners all around it, among them the lowest.
    around = (face + body.count * jnp.arange(4) // 4) % body.count
    standing = section[around] - jnp.sign(lean) * reach[None]
    levers = jnp.where(on_end, standing, levers)
    face = jnp.where(on_end, jnp.where(lean > 0, REAR_END, FRONT_END), face)
    before = levers @ frame @ rotations.matrix(motion.attitude).T
    # The chord of a turn by an angle is its tangent at the middle, times tan(angle/2) / (angle/2).
    square = dt**2 * jnp.sum(spin**2) / 4
    arms = (levers + before) / 2 * (1 + square / 3 + 2 * square**2 / 15)
    return _Placed(position, attitude, section, reach, face.astype(jnp.int32), levers, arms)


def _lowest_face(heights: Array, count: Array) -> tuple[Array, Array]:
    """The face between the lowest piece and the lower one of its neighbors, and the piece before it."""
    low = jnp.argmin(heights).astype(jnp.int32)
    after = _next(low, count)
    before = jnp.where(low == 0, count - 1, low - 1)
    ahead = heights[after] < heights[before]
    return jnp.where(ahead, after, low), jnp.where(ahead, low, before)


def _iterate(step: _Step, now: _Iterate) -> _Iterate:
    body, dt = step.body, step.dt
    placed = _placed(step, now.velocity, now.spin)
    levers, arms = placed.levers, placed.arms
    loads = _carried(now, placed.face, body.count)
    total = jnp.sum(loads)
    share = jnp.where(total > 0, 1 / jnp.where(total > 0, total, 1), 0)
    lowest = arms[jnp.argmin(levers[:, 2])]
    point = jnp.where(total > 0, share * (loads @ arms), lowest)
    shifts = share * (arms - point[None])  # how the point follows each load

    up = jnp.zeros_like(point).at[2].set(1)
    moments, rows = _about(arms), _about(levers)
    rows = rows + jnp.cross(rows, dt * now.spin[None]) / 2  # how gaps follow the spin
    rate = (placed.position[2] + levers[:, 2]) / dt + step.velocity[2] - now.velocity[2]
    rate = rate + rows @ (step.spin - now.spin)
    pushes, turns = _friction_axes(point, body.arms)

    yaw = shifts[:, 0] * now.friction[1] - shifts[:, 1] * now.friction[0]
    by_normal = (moments + yaw[:, None] * up[None]) @ step.mobility  # (4, 3) spin per impulse
    by_friction = turns @ step.mobility  # (3, 3)
    nf, fn = rows @ by_friction.T, turns @ by_normal.T
    drift = jnp.stack([-shifts[:, 1], shifts[:, 0], jnp.zeros_like(yaw)])
    fn = fn + now.spin[2] * drift
    ff = pushes @ pushes.T + turns @ by_friction.T
    slide = pushes @ step.velocity + turns @ (step.spin + loads @ by_normal)
    bound = step.friction * jnp.maximum(total + step.extra_load, 0)
    rubbed = friction_in_ball(ff, slide, bound)
    follows = rubbed.by_slip @ fn + (rubbed.by_bound * step.friction)[:, None]

    matrix = 1 + rows @ by_normal.T + nf @ follows
    vector = rate + nf @ (rubbed.force - follows @ loads)
    weak = jnp.finfo(matrix.dtype).eps ** REDUNDANCY
    matrix = matrix + jnp.diag(weak * jnp.abs(jnp.diagonal(matrix)))
    normal = solve_every_active_set(matrix, vector)
    force = rubbed.force + follows @ (normal - loads)
    # With the loads that are known now the point is too: momentum then balances to rounding.
    total = jnp.sum(normal)
    centered = (normal @ arms) / jnp.where(total > 0, total, 1)
    point = jnp.where(total > 0, centered, point)
    pushes, turns = _friction_axes(point, body.arms)
    velocity = step.velocity + force @ pushes + total * up
    spin = step.spin + (normal @ moments + force @ turns) @ step.mobility
    return _Iterate(velocity, spin, placed.face, normal, force, point)


def _about(levers: Array) -> Array:
    """Moments of vertical unit forces."""
    return jnp.stack([levers[:, 1], -levers[:, 0], jnp.zeros_like(levers[:, 0])], axis=1)


def _carried(now: _Iterate, face: Array, count: Array) -> Array:
    """The loads on the lowest face, where it is the last one or shares a line with it."""
    before, after = now.normal[:2], now.normal[2:]
    none = jnp.zeros_like(before)
    on_next = jnp.where(face == _next(now.face, count), jnp.concatenate([after, none]), 0)
    loads = jnp.where(now.face == _next(face, count), jnp.concatenate([none, before]), on_next)
    return jnp.where(face == now.face, now.normal, loads)


def _next(number: Array, count: Array) -> Array:
    return jnp.where(number + 1 >= count, 0, number + 1)


def _friction_axes(point: Array, arms: Array) -> tuple[Array, Array]:
    """Force and moment on the body of unit friction along x, along y, and about z, times the arms."""
    x, y, z = point
    zero, one = jnp.zeros_like(x), jnp.ones_like(x)
    pushes = jnp.stack([jnp.stack([one, zero, zero]), jnp.stack([zero, one, zero])])
    pushes = jnp.concatenate([pushes, jnp.zeros_like(pushes[:1])])
    turns = jnp.stack([zero, z, -y]), jnp.stack([-z, zero, x]), jnp.stack([zero, zero, one])
    return pushes * arms[:, None], jnp.stack(turns) * arms[:, None]


def _judged(step: _Step, end: _Iterate) -> tuple[Motion, Contact]:
    """The end of the step, and its conditions looked at without the solver's linearization.

    The defect of normal contact is |min(gap, p dt)|, that of friction the distance of f to the point
    of the ball nearest to f - v, times dt; both for unit mass.
    """
    dt = step.dt
    placed = _placed(step, end.velocity, end.spin)
    pushes, turns = _friction_axes(end.point, step.body.arms)
    slip = pushes @ end.velocity + turns @ end.spin
    total = jnp.sum(end.normal)
    radius = step.friction * jnp.maximum(total + step.extra_load, 0)
    target = end.friction - slip
    length = jnp.sqrt(jnp.sum(target**2) + jnp.finfo(total.dtype).tiny)
    off = end.friction - target * jnp.minimum(1, radius / length)
    gaps = placed.position[2] + placed.levers[:, 2]
    defect = jnp.max(jnp.abs(jnp.minimum(gaps, end.normal * dt)))
    defect = jnp.where(placed.face == end.face, defect, jnp.max(end.normal * dt))
    moved = Motion(placed.position, rotations.normalized(placed.attitude), end.velocity, end.spin)
    return moved, Contact(
        normal=total,
        friction=end.friction * step.body.arms,
        point=end.point,
        slip=slip / step.body.arms,
        gap=placed.position[2] + jnp.min(placed.section[:, 2]) - jnp.abs(placed.reach[2]),
        face=placed.face,
        face_gap=jnp.max(gaps),
        residual=jnp.maximum(defect, jnp.max(jnp.abs(off)) * dt),
    )
