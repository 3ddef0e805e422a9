"""The motions by a fixed time step (semi-implicit Euler; Moreau's impact and friction laws at velocities).

What most simulators with contact do, and what automatic differentiation passes through as it is.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from benchmarks.peers.problems import (
    BALL_END,
    BELT_DAMPING,
    BELT_PERIODS,
    DAMPING,
    GRAVITY,
    RESTITUTION,
    lowest_point,
)


def stepped(onward: Callable, state: tuple[Array, Array], end: Array, steps: int) -> tuple:
    """Place and speed after `steps` steps of (time, place, speed, step) -> (place, speed)."""
    step = end / steps

    def body(state: tuple[Array, Array], i: Array) -> tuple:
        return onward(i * step, *state, step), None

    return jax.lax.scan(body, state, jnp.arange(steps, dtype=step.dtype))[0]


def cases(steps: int) -> dict[str, Callable[[Array], Array]]:
    """Value of a point by the name of the problem."""

    def ball(point: Array) -> Array:
        height, restitution = point

        def onward(time: Array, x: Array, v: Array, h: Array) -> tuple[Array, Array]:
            free = v - GRAVITY * h
            hits = (x + h * v / 2 <= 0) & (free < 0)
            v = jnp.where(hits, jnp.maximum(free, -restitution * v), free)
            return x + h * v, v

        start = (height, jnp.zeros_like(height))
        return stepped(onward, start, BALL_END * jnp.ones_like(height), steps)[0]

    def impact(point: Array) -> Array:
        gap, amplitude, rate = point

        def onward(time: Array, x: Array, v: Array, h: Array) -> tuple[Array, Array]:
            free = v + h * (amplitude * jnp.cos(rate * time) - DAMPING * v - x)
            hits = (x + h * v / 2 >= gap) & (free > 0)
            v = jnp.where(hits, jnp.minimum(free, -RESTITUTION * v), free)
            return x + h * v, v

        low, speed = (jnp.full_like(gap, x) for x in lowest_point())
        return stepped(onward, (low, speed), 2 * jnp.pi / rate, steps)[1]

    def stick_slip(point: Array) -> Array:
        bound, belt, amplitude, rate = point

        def onward(time: Array, x: Array, v: Array, h: Array) -> tuple[Array, Array]:
            free = v + h * (amplitude * jnp.cos(rate * (time + h)) - BELT_DAMPING * v - x)
            push = jnp.clip(belt - free, -h * bound, h * bound)
            return x + h * (free + push), free + push

        start = (jnp.zeros_like(bound), jnp.zeros_like(bound))
        return stepped(onward, start, BELT_PERIODS * 2 * jnp.pi / rate, steps)[0]

    return {
        "ball": ball,
        "impact": impact,
        "graze": impact,
        "stick-slip": stick_slip,
        "reversal": stick_slip,
    }
