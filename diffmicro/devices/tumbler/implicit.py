"""The tumbler in space by the paper's implicit time stepping (Xie 2019, eqs. 10-14).

Ground axes: x across, y up the slope (the direction of travel), z normal to the surface. The field turns about -x
in the y-z plane, starts along the magnetization of a robot that lies flat, and may be steered: its plane turns
about z. Each step of h = 1 / (steps f) solves

    M (V' - V) = W(q') p + h (weight, electrostatic force, adhesion of the last step's face; V_m E x B),
    q' = q + h V',

for one contact patch with friction in an ellipsoid (`contact`). Torque and inertia are taken at the
beginning of the step. Face and adhesion follow from the gaps at the end of the step (`spatial`).

The scheme is first-order: an impact takes one step, and Coulomb's impulses depend on how the grid cuts it.
Derivatives are those of the discretization at its active sets, not of the motion (`docs/gradients.md`).

With the field off a step can gain energy of order h^2, since the levers are those at its end.

The drag of a fluid is that at the beginning of the step. Left out: Magnus forces, gradients of the field.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro import _loops as loops
from diffmicro.devices.tumbler.body import body_of, outline_of
from diffmicro.devices.tumbler.contact import Contact, Motion
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.devices.tumbler.spatial import (
    Now,
    SpatialMotion,
    begin,
    field_direction,
    lump,
    one_step,
)
from diffmicro.mechanics import rotations
from diffmicro.parameters import is_traced, whole_number
from diffmicro.results import RESULTS, code

COARSEST = 0.1
"""Largest phase of the alignment with the field per step [rad]; about 2 % of the speed at that."""

USUAL = 0.02
"""The same for `usual_steps`: the speed is within some 0.3 %."""


class ImplicitResponse(NamedTuple):
    """Means over `window` turns of the field, in SI; NaN where there are none, see `result_code`."""

    speed: Array
    speed_spread: Array  # standard error of the mean of the turns
    slip: Array  # mean sliding of the lowest point forward: speed less rolling
    climbs: Array
    max_adhesion: Array
    contact_fraction: Array
    face_fraction: Array
    hops: Array  # touch-downs from flight per turn of the field
    yaw: Array
    lateral_drift: Array
    max_penetration: Array
    max_residual: Array  # of any step from the start, over the length of the robot
    result_code: Array


class Path(NamedTuple):
    """The motion over time, SI, one row every so many steps."""

    time: Array
    position: Array | np.ndarray  # (t, 3)
    attitude: Array | np.ndarray  # (t, 4) quaternion from body to ground
    velocity: Array | np.ndarray  # (t, 3)
    spin: Array | np.ndarray  # (t, 3)
    normal_force: Array
    friction_force: Array  # (t, 2) along x and y
    friction_moment: Array
    contact_point: Array  # (t, 3) equivalent contact point from the center of mass
    slip: Array  # (t, 3) velocity at that point along x and y, spin about z
    adhesion: Array
    field: Array  # (t, 3)
    gap: Array
    residual: Array


class Start(NamedTuple):
    """Another start than lying flat at rest, SI."""

    position: Array | np.ndarray
    attitude: Array | np.ndarray
    velocity: Array | np.ndarray
    spin: Array | np.ndarray


def usual_steps(design: Design, setting: Setting, phase: float = USUAL) -> int:
    """Steps per turn of the field in which the swing about the field takes `phase` [rad], at least 1000.

    Of a batch, those of the lane that needs most; FEWEST_KNOWN where the values are traced.
    """
    alignment = lump(design, setting).alignment
    if is_traced(alignment):
        return FEWEST_KNOWN
    return max(1000, math.ceil(float(jnp.max(alignment)) / phase))


FEWEST_KNOWN = 20000
"""Steps where the number of steps has to be chosen before the values are known."""


def check_steps(where: str, design: Design, setting: Setting, steps: int) -> None:
    """Raise ValueError where the steps are known to be too long to follow the swing about the field."""
    needed = usual_steps(design, setting, COARSEST)
    if steps < needed and not is_traced(*jax.tree.leaves((design, setting))):
        swing = float(jnp.max(lump(design, setting).alignment))
        raise ValueError(
            f"{where}: steps = {steps} per turn of the field is too few: the robot swings about the field by "
            f"{swing:.4g} rad per turn of it, a fluid's drag included; a step may take {COARSEST}. "
            f"At least {needed} steps are needed, {usual_steps(design, setting)} are good. A weaker field or "
            "a higher field_frequency needs fewer."
        )


class _Seen(NamedTuple):
    """Gathered over one turn."""

    slid: Array
    contact: Array
    face: Array
    hops: Array
    adhesion: Array
    gap: Array
    residual: Array


def _turn(spatial: SpatialMotion, now: Now, steps: int) -> tuple[Now, _Seen]:
    zero = jnp.zeros_like(spatial.height)
    dt = 1 / (zero + steps)

    def step(carry: tuple[Now, _Seen], k: Array) -> tuple[tuple[Now, _Seen], None]:
        now, seen = carry
        field = field_direction(spatial, (k + 0.5) * dt, zero)
        before = now.touches
        now, contact, adhesion = one_step(spatial, now, field, dt)
        seen = _Seen(
            slid=seen.slid + dt * contact.slip[1],
            contact=seen.contact + dt * now.touches,
            face=seen.face + dt * now.lies,
            hops=seen.hops + now.touches * (1 - before),
            adhesion=jnp.maximum(seen.adhesion, adhesion),
            gap=jnp.minimum(seen.gap, contact.gap),
            residual=jnp.maximum(seen.residual, contact.residual),
        )
        return (now, seen), None

    seen = _Seen(*[zero] * 7)
    return loops.scan(step, (now, seen), jnp.arange(steps, dtype=jnp.int32))[0]


def respond_implicit(
    design: Design, setting: Setting, steps: int, *, settle: int = 3, window: int = 3
) -> ImplicitResponse:
    """The mean motion over `window` turns of the field after `settle` turns from lying flat at rest."""
    settle = whole_number("settle", settle, 3, 0, 10**4)
    window = whole_number("window", window, 3, 1, 10**4)
    steps = whole_number("steps", steps, None, 4, 10**7)
    check_steps("tumbler.respond", design, setting, steps)
    return _respond(design, setting, steps=steps, settle=settle, window=window)


@eqx.filter_jit
def _respond(
    design: Design, setting: Setting, *, steps: int, settle: int, window: int
) -> ImplicitResponse:
    spatial = lump(design, setting)
    perimeter = spatial.perimeter

    def turn(now: Now, _: None) -> tuple[Now, tuple[Array, _Seen]]:
        after, seen = _turn(spatial, now, steps)
        moved = after.motion.position - now.motion.position
        return after, (moved, seen)

    end, (moved, seen) = loops.scan(turn, begin(spatial, None), None, length=settle + window)
    frame = rotations.matrix(end.motion.attitude)
    yaw = jnp.arctan2(frame[1, 0], frame[0, 0])
    forward, across = moved[settle:, 1], moved[settle:, 0]
    mean = jnp.mean(forward)
    spread = jnp.sqrt(jnp.mean((forward - mean) ** 2))
    residual = jnp.max(seen.residual)
    smallest = jnp.min(seen.gap)

    unreached = ~jnp.isfinite(residual) | (residual > _acceptable(residual))
    underresolved = spatial.alignment > COARSEST * steps * (1 + 1e-6)
    ahead = jnp.where(spatial.force[1] > 0, mean - perimeter, -mean)  # downhill, beyond rolling
    runs = ahead > jnp.where(spatial.force[1] == 0, RUNS, STALLS) * perimeter
    stalls = jnp.max(jnp.abs(forward)) < STALLS * perimeter
    result = jnp.where(
        spread > ERRATIC * perimeter, code(RESULTS.erratic), code(RESULTS.successful)
    )
    result = jnp.where(stalls, code(RESULTS.stalled), result)
    result = jnp.where(runs, code(RESULTS.runaway), result)
    result = jnp.where(unreached, code(RESULTS.not_converged), result)
    result = jnp.where(underresolved, code(RESULTS.out_of_range), result)

    known = jnp.where(unreached | underresolved, jnp.nan, 1)
    steady = jnp.where(runs, jnp.nan, known)
    climbs = (mean > STALLS * perimeter) & ~runs
    speed_unit = design.length * setting.field_frequency
    mass = body_of(design, outline_of(design)).mass
    return ImplicitResponse(
        speed=mean * speed_unit * steady,
        speed_spread=spread / window**0.5 * speed_unit * steady,
        slip=jnp.mean(seen.slid[settle:]) * speed_unit * steady,
        climbs=jnp.where(climbs, 1, 0) * known,
        max_adhesion=jnp.max(seen.adhesion) * mass * speed_unit * setting.field_frequency * known,
        contact_fraction=jnp.minimum(jnp.mean(seen.contact[settle:]), 1) * known,
        face_fraction=jnp.mean(seen.face[settle:]) * known,
        hops=jnp.mean(seen.hops[settle:]) * known,
        yaw=yaw * known,
        lateral_drift=jnp.mean(across) * speed_unit * steady,
        max_penetration=jnp.maximum(-smallest, 0) * design.length * known,
        max_residual=residual * known,
        result_code=result,
    )


RUNS = 0.5
"""On flat ground, motion backward of more perimeters per turn is sliding away."""

STALLS = 1e-3
"""Less motion per turn, in perimeters, is none; more, downhill beyond rolling, is sliding away."""

ERRATIC = 0.02
"""Turns that differ by more, in perimeters, have no common speed."""


def _acceptable(like: Array) -> float:
    """Largest residual of an accepted step, in lengths: a hundredth of the flush gap."""
    return 0.01 * float(jnp.finfo(like.dtype).eps) ** 0.5


def simulate_implicit(
    design: Design,
    setting: Setting,
    steps: int,
    *,
    turns: int = 1,
    every: int = 1,
    heading: Array | float = 0.0,
    steering: Array | float = 0.0,
    start: Start | None = None,
) -> Path:
    """The motion over `turns` of the field, every so many steps.

    The field's plane starts at `heading` [rad] about z and turns with `steering` [rad/s]. Forces, field and
    residual of a row are those of the step that ends there.
    """
    steps = whole_number("steps", steps, None, 4, 10**7)
    turns = whole_number("turns", turns, 1, 1, 10**4)
    every = whole_number("every", every, 1, 1, steps * turns)
    if (steps * turns) % every:
        raise ValueError(
            f"tumbler.simulate: every = {every} has to divide the {steps * turns} steps, so that rows are even."
        )
    check_steps("tumbler.simulate", design, setting, steps)
    spatial = lump(design, setting)
    body = body_of(design, outline_of(design))
    length = jnp.asarray(design.length, spatial.height.dtype)
    turn = 1 / jnp.asarray(setting.field_frequency, spatial.height.dtype)
    other = None
    if start is not None:
        other = Motion(
            jnp.asarray(start.position) / length,
            rotations.normalized(jnp.asarray(start.attitude, spatial.height.dtype)),
            jnp.asarray(start.velocity) * turn / length,
            jnp.asarray(start.spin) * turn,
        )
    course = jnp.stack([jnp.asarray(heading, length.dtype), jnp.asarray(steering * turn)])
    record = _simulate(
        spatial, begin(spatial, other), course, steps=steps, turns=turns, every=every
    )
    motion, contact, adhesion, field, count = record
    force = body.mass * length / turn**2
    push = force * steps  # from an impulse of one step
    return Path(
        time=count * turn / steps,
        position=motion.position * length,
        attitude=motion.attitude,
        velocity=motion.velocity * length / turn,
        spin=motion.spin / turn,
        normal_force=contact.normal * push,
        friction_force=contact.friction[:, :2] * push,
        friction_moment=contact.friction[:, 2] * push * length,
        contact_point=contact.point * length,
        slip=contact.slip * jnp.stack([length, length, jnp.ones_like(length)])[None] / turn,
        adhesion=adhesion * force,
        field=field * setting.field,
        gap=contact.gap * length,
        residual=contact.residual * length,
    )


@eqx.filter_jit
def _simulate(
    spatial: SpatialMotion, now: Now, course: Array, *, steps: int, turns: int, every: int
) -> tuple[Motion, Contact, Array, Array, Array]:
    zero = jnp.zeros_like(spatial.height)
    dt = 1 / (zero + steps)

    def one(now: Now, number: Array) -> tuple[Now, tuple[Contact, Array, Array]]:
        share = (number % steps + 0.5) * dt
        heading = course[0] + course[1] * (number // steps + share)
        field = field_direction(spatial, share, heading)
        now, contact, adhesion = one_step(spatial, now, field, dt)
        return now, (contact, adhesion, field)

    def row(now: Now, first: Array) -> tuple[Now, tuple]:
        def inner(k: Array, now: Now) -> Now:
            return one(now, first + k)[0]

        now = loops.fori_loop(0, every - 1, inner, now)
        now, seen = one(now, first + every - 1)
        return now, (now.motion, *seen, first + every)

    firsts = jnp.arange(0, steps * turns, every, dtype=jnp.int32)
    return loops.scan(row, now, firsts)[1]
