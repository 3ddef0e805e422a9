"""State, mode and record of the planar tumbler: the nouns of `motion`."""

from typing import Any, NamedTuple

import jax.numpy as jnp

FLIGHT, PIECE, FACE, FRONT, REAR = range(5)


class State(NamedTuple):
    """Gap and its rate, roll from the face before, spin, sliding velocity and its integral, half turns."""

    gap: Any
    rate: Any
    roll: Any
    spin: Any
    slide: Any
    slipped: Any
    lap: Any


class Mode(NamedTuple):
    """One of FLIGHT to REAR; number of the lowest piece, or the face before it; direction of sliding, 0: stick."""

    kind: Any
    piece: Any
    slip: Any


class Drive(NamedTuple):
    """Nothing switches: the field turns evenly."""


class Record(NamedTuple):
    """Gathered over half turns: shares of time, counts, extremes, distance to the nearest change of mode."""

    contact_time: Any
    face_time: Any
    slip_time: Any
    hops: Any
    events: Any
    pull: Any
    margin: Any


def flags(mode: Mode) -> tuple[Any, Any, Any, Any]:
    """Whether a piece touches, whether it sticks, flies, or a face lies: 1 or 0."""
    touching = jnp.where(mode.kind == PIECE, 1.0, 0.0)
    sticks = jnp.where((mode.kind == PIECE) & (mode.slip == 0), 1.0, 0.0)
    flying = jnp.where(mode.kind == FLIGHT, 1.0, 0.0)
    return touching, sticks, flying, 1.0 - touching - flying


def mode_of(mode: Mode, like: State) -> Mode:
    """The mode with whole numbers, and the sliding in the precision of the state."""
    kind, piece = (jnp.asarray(x, jnp.int32) for x in mode[:2])
    return Mode(kind, piece, jnp.asarray(mode.slip, jnp.result_type(like.gap)))
