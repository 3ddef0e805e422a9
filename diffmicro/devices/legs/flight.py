"""A foot on modes under way: where it is, what its next step will try, and how it begins.

See `motion` for the equations.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro.devices.legs import ground
from diffmicro.devices.legs.motion import (
    Foot,
    LegsMotion,
    Phase,
    Record,
    State,
    blank,
    foot_of,
    phase_at,
    rounding_of,
)

CHATTER = 1e-6
"""Rebounds slower than this [length/period], or that would fly for a shorter time [periods], end in contact."""


def chatter_of(system: LegsMotion) -> float:
    """`CHATTER`; in single precision the root of eps: lower flights are lost in the rounding of the height."""
    return max(CHATTER, float(jnp.finfo(system.gap.dtype).eps) ** 0.5)


class Flight(NamedTuple):
    """A motion under way, time in drive periods.

    step: grid points passed in this period. since: time since the last one. periods, advances: passed in all.
    phase, state, foot: where it is. closed: the foot is held on the ground.
    length: of the step to try next. low, high: the event that is searched for lies between them.
    whole: the step ends at a grid point. aimed: an event is being searched for. dipped: the step has been cut at a
    dip already. record: what was observed.
    """

    step: Array
    since: Array
    periods: Array
    advances: Array
    phase: Phase
    state: State
    foot: Foot
    closed: Array
    length: Array
    low: Array
    high: Array
    whole: Array
    aimed: Array
    dipped: Array
    record: Record


def begin(system: LegsMotion, state: State, count: Array, step: Array | int = 0) -> Flight:
    """A motion that starts in `state` at a grid point; a foot exactly at rest on the ground is held."""
    zero = jnp.zeros_like(system.gap)
    number = jnp.zeros((), jnp.int32)
    drive = system.drive()
    phase = phase_at(zero + step / count)
    never = jnp.zeros((), bool)
    foot = foot_of(system, drive, phase, state, never)
    rests = (jnp.abs(foot.height) < rounding_of(system)) & (
        jnp.abs(foot.speed) < chatter_of(system)
    )
    closed = rests & (foot.acceleration < 0)
    if system.compliant:
        closed = closed | (ground.guard(system, never, foot)[0] < 0)
        foot = foot_of(system, drive, phase, state, closed)
    return Flight(
        step=number + step,
        since=zero,
        periods=number,
        advances=number,
        phase=phase,
        state=state,
        foot=foot,
        closed=closed,
        length=zero + 1.0 / count,
        low=zero,
        high=zero + 2.0,
        whole=~never,
        aimed=never,
        dipped=never,
        record=blank(zero),
    )
