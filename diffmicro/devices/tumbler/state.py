"""State, mode and record of the planar tumbler: the nouns of `motion`."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.series import Number

FLIGHT, PIECE, FACE, FRONT, REAR = range(5)


class State(NamedTuple):
    """Gap and its rate, roll from the face before, spin, sliding velocity and its integral, half turns."""

    gap: Number
    rate: Number
    roll: Number
    spin: Number
    slide: Number
    slipped: Number
    lap: Number


class Mode(NamedTuple):
    """One of FLIGHT to REAR; number of the lowest piece, or the face before it; direction of sliding, 0: stick."""

    kind: Array | int
    piece: Array
    slip: Array | float


class Drive(NamedTuple):
    """Nothing switches: the field turns evenly."""


class Record(NamedTuple):
    """Gathered over half turns: shares of time, counts, extremes, distance to the nearest change of mode."""

    contact_time: Array
    face_time: Array
    slip_time: Array
    hops: Array
    events: Array
    pull: Array
    margin: Array


def flags(mode: Mode) -> tuple[Array, Array, Array, Array]:
    """Whether a piece touches, whether it sticks, flies, or a face lies: 1 or 0."""
    touching = jnp.where(mode.kind == PIECE, 1.0, 0.0)
    sticks = jnp.where((mode.kind == PIECE) & (mode.slip == 0), 1.0, 0.0)
    flying = jnp.where(mode.kind == FLIGHT, 1.0, 0.0)
    return touching, sticks, flying, 1.0 - touching - flying


def mode_of(mode: Mode, like: State) -> Mode:
    """The mode with whole numbers, and the sliding in the precision of the state."""
    kind, piece = (jnp.asarray(x, jnp.int32) for x in mode[:2])
    return Mode(kind, piece, jnp.asarray(mode.slip, jnp.result_type(like.gap)))
