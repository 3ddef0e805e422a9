"""The steady state as a map over a period, and what one pass over it observes."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.wrmma.motion import State, WrmmaMotion
from diffmicro.dynamics.fixed_point import PeriodMap
from diffmicro.dynamics.hybrid import run
from diffmicro.dynamics.system import Numerics


class MotionState(eqx.Module):
    """State at the start of a drive period.

    gap: gap between hammer and body [m].
    gap_rate: its rate [m/s].
    body_speed: speed of the body [m/s].
    """

    gap: Array
    gap_rate: Array
    body_speed: Array


class Observed(NamedTuple):
    """Auxiliary output of one pass over a periodic motion, in natural units and over all its periods."""

    displacement: Array
    min_gap: Array
    peak_speed: Array
    impacts: Array
    stick_time: Array
    closed_time: Array
    margin: Array


def period_map(unravel: Callable[[Array], WrmmaMotion], steps: int) -> PeriodMap:
    """The map of states over periods, as `orbits` wants it. A motion that is cut short is no motion."""

    def mapped(parameters, state, periods, tolerance, look=True):
        start = State(state[0], state[1], state[2], jnp.zeros_like(state[0]))
        numerics = Numerics(steps=steps, tolerance=tolerance)
        motion = run(unravel(parameters), start, periods, numerics, observe=look)
        whole = jnp.where(motion.periods >= periods, 1.0, jnp.nan)
        seen = [getattr(motion.record, name) for name in Observed._fields[1:]] if look else []
        return jnp.stack(motion.state[:3]) * whole, jnp.stack(
            [motion.state.position * whole, *seen]
        )

    return mapped
