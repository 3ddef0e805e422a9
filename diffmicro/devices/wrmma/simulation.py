"""The motion over time, for looking at."""

from typing import Annotated, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.devices.wrmma.lumped import drive_period, lump, units
from diffmicro.devices.wrmma.motion import State
from diffmicro.devices.wrmma.rules import RULES
from diffmicro.devices.wrmma.steady import MotionState
from diffmicro.dynamics.hybrid import trace
from diffmicro.dynamics.system import Numerics
from diffmicro.parameters import as_arrays, whole_number
from diffmicro.rules import check_point


class Trajectory(NamedTuple):
    """A motion on its own steps and events, SI units: arrays over time."""

    time: Annotated[Array, "s"]
    gap: Annotated[Array, "m"]
    gap_rate: Annotated[Array, "m/s"]
    body_speed: Annotated[Array, "m/s"]
    body_position: Annotated[Array, "m"]
    sticks: Array
    together: Array


def simulate(
    design: Design,
    setting: Setting,
    *,
    periods: int = 1,
    start: MotionState | None = None,
    steps: int = 200,
) -> Trajectory:
    """The motion over `periods` drive periods from rest, or from `start`, by the event method.

    `steps`: fewest points per period. Each event appears as one more point, the state after it. Points after the
    last period repeat it.
    """
    check_point("wrmma.simulate", RULES, design, setting)
    periods = whole_number("periods", periods, 1, 1, 10**4)
    steps = whole_number("steps", steps, 200, 4, 10**5)
    design, setting, start = as_arrays((design, setting, start))
    return _simulate(design, setting, start, periods=periods, steps=steps)


@eqx.filter_jit
def _simulate(design, setting, start, *, periods: int, steps: int) -> Trajectory:
    system = lump(design, setting)
    period = drive_period(design, setting)
    length, speed, _ = own = units(design, setting)
    origin = jnp.zeros(3, system.stiffness.dtype).at[0].set(1.0)
    if start is not None:
        origin = jnp.stack([start.gap, start.gap_rate, start.body_speed])
        origin = origin / own
    at = State(origin[0], origin[1], origin[2], jnp.zeros_like(origin[0]))
    numerics = Numerics(steps=steps)
    _, path = trace(system, at, periods, numerics, advances=periods * (steps + ROOM_FOR_EVENTS))
    state = path.state
    return Trajectory(
        time=(path.periods + path.time) * period,
        gap=state.gap * length,
        gap_rate=state.rate * speed,
        body_speed=state.speed * speed,
        body_position=state.position * length,
        sticks=path.mode.slip == 0,
        together=path.mode.closed,
    )


ROOM_FOR_EVENTS = 120
"""Advances per period beside the steps: ends of segments, and events down to the end of a chatter."""
