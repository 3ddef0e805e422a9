"""The tumbler's numbers in space, and one time step of it under the turning field, nondimensional.

Units are the robot's length and mass and the field's turn. Ground axes: x across, y up the slope, z normal to
the surface; body axes the same for a robot that lies flat, head to y. e_t = e_o = 1; e_r is not given in the
paper: a quarter of the width, the arm of a line contact with even pressure. It does not matter while the robot
rolls straight. The step itself is `contact`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from diffmicro._types import Real
from diffmicro.devices.tumbler import contact
from diffmicro.devices.tumbler.body import body_of, drag_of, outline_of, weight_of
from diffmicro.devices.tumbler.contact import Contact, Loads, Motion, Prism
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.mechanics import rotations

LINE_ARM = 0.25
"""e_r over the width: mean distance from the middle along a line of even pressure."""

FLUSH = 0.75
"""A gap below eps^0.75 lengths counts as closed. Lifting starts slowly: a tilt of 2e-4 takes 3 ms, with adhesion
that would be 2 % of the speed."""


class SpatialMotion(NamedTuple):
    """The numbers of the motion, in units of the robot's length and mass and of the field's turn."""

    body: Prism
    force: Array  # (3,) weight and electrostatic force
    face_adhesion: Array  # (n,) force while face i lies on the ground
    end_adhesion: Array  # while an end lies there
    line_adhesion: Real
    friction: Array
    torque: Real  # largest magnetic torque
    magnet: Array  # (3,) direction of the magnetization in body axes
    start_yaw: Array
    height: Array  # of the center when the robot lies flat
    alignment: (
        Array  # frequency of the robot about the field, rad per turn, and rates of a fluid's drag
    )
    perimeter: Array
    pulls: Array  # 1: adhesion presses down, 0: it adds to the load in friction's bound
    drag: Array | None  # (2, 3) of a fluid, force and moment over velocity and spin in body axes


def lump(design: Design, setting: Setting) -> SpatialMotion:
    """The numbers that the motion depends on, nondimensional."""
    outline = outline_of(design)
    body = body_of(design, outline)
    unit, turn = design.length, 1 / setting.field_frequency
    force = body.mass * unit / turn**2
    along, depth_wise, upward = outline.inertia(design.width)
    rolling = body.inertia / (body.mass * unit**2)
    scale = rolling / depth_wise  # a given inertia changes all moments alike
    zero = jnp.zeros_like(scale)
    inertia = scale * jnp.stack(
        [
            jnp.stack([depth_wise, zero, zero]),
            jnp.stack([zero, along, -outline.product]),
            jnp.stack([zero, -outline.product, upward]),
        ]
    )
    line = setting.adhesion * setting.edge_band * design.width
    joint = jnp.where(outline.edge > 0, 2 * line, line)  # between tips there is air
    face = jnp.where(outline.flat > 0, setting.adhesion * outline.flat * design.width, joint)
    sine, cosine = jnp.sin(setting.incline), jnp.cos(setting.incline)
    weight = weight_of(design, setting, outline, body)
    press = jnp.stack([zero, -weight * sine, -weight * cosine - setting.electrostatic_force])
    torque = body.moment * setting.field / (force * unit)
    phi = jnp.asarray(design.offset_angle)
    one = jnp.ones_like(zero)
    drag, pace = drag_of(design, setting, outline), jnp.sqrt(torque / rolling)
    if drag is not None:
        drag = jnp.stack([drag[0] / unit, drag[1] / unit**3]) * (unit**2 / turn / force)
        pace = pace + jnp.max(drag[0]) + jnp.max(drag[1] / jnp.diagonal(inertia))
    motion = SpatialMotion(
        body=contact.prism(
            outline,
            jnp.asarray(design.width),
            inertia,
            jnp.stack([one, one, LINE_ARM * design.width / unit]),
            jnp.asarray(unit),
        ),
        force=press / force,
        face_adhesion=face / force,
        end_adhesion=setting.adhesion * outline.area / force,
        line_adhesion=line / force,
        friction=jnp.asarray(setting.friction),
        torque=torque,
        magnet=jnp.stack([zero, jnp.cos(phi), jnp.sin(phi)]),
        start_yaw=jnp.asarray(setting.start_yaw),
        height=outline.support(zero) / unit,
        alignment=pace,
        perimeter=outline.perimeter() / unit,
        pulls=one if setting.adhesion_law == "force" else zero,
        drag=drag,
    )
    dtype = jnp.result_type(float, rolling)

    def convert(x: ArrayLike) -> Array:
        x = jnp.asarray(x)
        return x if jnp.issubdtype(x.dtype, jnp.integer) else x.astype(dtype)

    return jax.tree.map(convert, motion)


class Now(NamedTuple):
    motion: Motion
    loads: Loads
    adhesion: Array
    lies: Array  # 1 while a face lies on the ground
    touches: Array  # 1 while anything does


def begin(spatial: SpatialMotion, start: Motion | None) -> Now:
    zero = jnp.zeros_like(spatial.height)
    still = jnp.stack([zero, zero, zero])
    half = spatial.start_yaw / 2
    if start is None:
        start = Motion(
            position=jnp.stack([zero, zero, spatial.height]),
            attitude=jnp.stack([jnp.cos(half), zero, zero, jnp.sin(half)]),
            velocity=still,
            spin=still,
        )
    return Now(start, contact.unloaded(zero), zero, zero, zero)


def one_step(
    spatial: SpatialMotion, now: Now, field: Array, dt: Array
) -> tuple[Now, Contact, Array]:
    """The next state, what the contact transmitted, and the adhesion that acted."""
    up = jnp.zeros_like(field).at[2].set(1)
    frame = rotations.matrix(now.motion.attitude)
    torque = spatial.torque * jnp.cross(frame @ spatial.magnet, field)
    force = spatial.force - spatial.pulls * now.adhesion * up
    if spatial.drag is not None:
        force = force - frame @ (spatial.drag[0] * (frame.T @ now.motion.velocity))
        torque = torque - frame @ (spatial.drag[1] * (frame.T @ now.motion.spin))
    load = (1 - spatial.pulls) * now.adhesion * dt
    motion, loads, touching = contact.advance(
        spatial.body, now.motion, now.loads, force, torque, spatial.friction, load, dt
    )
    flush = jnp.finfo(dt.dtype).eps ** FLUSH
    lying = jnp.where(
        touching.face < 0,
        spatial.end_adhesion,
        spatial.face_adhesion[jnp.maximum(touching.face, 0)],
    )
    touches = jnp.where(touching.normal > 0, jnp.ones_like(dt), 0)
    lies = jnp.where(touching.face_gap < flush, touches, 0)
    adhesion = touches * jnp.where(lies > 0, lying, spatial.line_adhesion)
    return Now(motion, loads, adhesion, lies, touches), touching, now.adhesion


def field_direction(spatial: SpatialMotion, turns: Array, heading: Array) -> Array:
    """Direction of the field after a share of a turn, its plane turned by `heading` about z."""
    offset = jnp.arctan2(spatial.magnet[2], spatial.magnet[1])
    phase = offset - 2 * jnp.pi * turns
    ahead = jnp.cos(phase)
    return jnp.stack([-ahead * jnp.sin(heading), ahead * jnp.cos(heading), jnp.sin(phase)])
