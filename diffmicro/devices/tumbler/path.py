"""The planar motion of a tumbler as a path to look at: positions in SI at all steps and events."""

from dataclasses import replace
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.tumbler.body import body_of, first_phase, lump, outline_of
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.devices.tumbler.drift import LIMIT, ORDER
from diffmicro.devices.tumbler.motion import TumblerMotion
from diffmicro.devices.tumbler.state import FACE, FLIGHT, PIECE, State
from diffmicro.dynamics.hybrid import run, trace
from diffmicro.dynamics.system import Numerics

TOLERANCE = 1e-10
"""Of the steps, in natural units."""


class Trajectory(NamedTuple):
    """A motion on its own steps and events, arrays over time.

    position: along the incline, height: of the center over it [m]. roll: forward since lying flat [rad].
    velocity, spin, slide: of the center along the incline, of the roll, of the contact [m/s, rad/s, m/s].
    adhesion: of the contact [N]. kind: FLIGHT, PIECE, or of a face that lies (`motion`).
    field_angle: direction of the field from forward to up [rad]. energy: kinetic and potential, no magnetic [J].
    """

    time: Annotated[Array, "s"]
    position: Annotated[Array, "m"]
    height: Annotated[Array, "m"]
    roll: Annotated[Array, "rad"]
    velocity: Annotated[Array, "m/s"]
    spin: Annotated[Array, "rad/s"]
    slide: Annotated[Array, "m/s"]
    adhesion: Annotated[Array, "N"]
    kind: Array
    field_angle: Annotated[Array, "rad"]
    energy: Annotated[Array, "J"]


def _begin(start: Array) -> State:
    zero = jnp.zeros_like(start[0])
    return State(start[0], start[1], start[2], start[3], start[4], zero, zero)


@eqx.filter_jit
def count_advances(
    design: Design, setting: Setting, start: Array, half_turns: int, steps: int
) -> Array:
    """How many steps and events a number of half turns of the field takes."""
    motion, _ = lump(design, setting)
    numerics = Numerics(steps, ORDER, LIMIT, TOLERANCE)
    return run(motion, _begin(start), half_turns, numerics).advances


@eqx.filter_jit
def follow(
    design: Design, setting: Setting, start: Array, half_turns: int, steps: int, advances: int
) -> Trajectory:
    """The path over a number of half turns of the field, differentiable in both modes."""
    motion, units = lump(design, setting)
    motion = replace(motion, phase=first_phase(motion))  # with its derivative: this is a transient
    numerics = Numerics(steps, ORDER, LIMIT, TOLERANCE)
    _, path = trace(motion, _begin(start), half_turns, numerics, advances=advances)
    state, mode = path.state, path.mode
    h, ahead = jax.vmap(motion.lever)(mode.piece, state.roll)
    rolled = jax.vmap(lambda piece, roll: _rolled(motion, piece, roll))(mode.piece, state.roll)
    rolled = rolled + jnp.pi * state.lap
    roll = motion.normal[mode.piece] + state.roll + jnp.pi * state.lap
    time = path.periods + path.time
    velocity = state.slide + h * state.spin
    acceleration = units.velocity * motion.rate / units.time
    body = body_of(design, outline_of(design))
    pull = jnp.where(mode.kind == FACE, motion.face_pull[mode.piece], 0.0)
    pull = jnp.where(mode.kind == PIECE, motion.line_pull, pull)
    rising = state.rate + ahead * state.spin
    kinetic = 0.5 * (velocity**2 + rising**2 + motion.inertia * state.spin**2)
    up = motion.press * (state.gap + h)
    potential = up + motion.slope * (rolled - rolled[0] + state.slipped)
    return Trajectory(
        time=time * units.time,
        position=(rolled - rolled[0] + state.slipped) * units.length,
        height=(h + state.gap) * units.length,
        roll=roll,
        velocity=velocity * units.velocity,
        spin=state.spin * motion.rate / units.time,
        slide=jnp.where(mode.kind == FLIGHT, 0.0, state.slide) * units.velocity,
        adhesion=pull * body.mass * acceleration,
        kind=mode.kind,
        field_angle=design.offset_angle - jnp.pi * time - motion.phase,
        energy=(kinetic + potential) * body.mass * units.velocity**2,
    )


def _rolled(motion: TumblerMotion, piece: Array, roll: Array) -> Array:
    """The integral of h from face 0 to a place on the hull."""

    def along(ahead: Array, below: Array, radius: Array, roll: Array) -> Array:
        return radius * roll + ahead * (1 - jnp.cos(roll)) + below * jnp.sin(roll)

    whole = along(motion.ahead, motion.below, motion.radius, motion.span)
    before = jnp.sum(jnp.where(jnp.arange(motion.normal.size) < piece, whole, 0.0))
    here = along(motion.ahead[piece], motion.below[piece], motion.radius[piece], roll)
    return before + here
