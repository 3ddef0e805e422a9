"""The motions in diffrax: a solve ends at its event, and `lax.scan` chains solves by hand.

The author writes guards, resets and modes, and has to know how many events there are. No step is longer than
`longest`: between its steps diffrax does not look for events.
"""

from collections.abc import Callable

import diffrax  # pyright: ignore[reportMissingImports]
import jax
import jax.numpy as jnp
import optimistix
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

EVENTS = {"ball": 12, "impact": 3, "stick-slip": 20}


def chained(
    field: Callable,
    guard: Callable,
    after: Callable,
    start: tuple,
    end: Array,
    events: int,
    longest: float,
) -> Array:
    """The state at `end`. field: (t, y, mode); guard: falls to zero at an event; after: (t, y, mode) -> both."""
    event = diffrax.Event(
        lambda t, y, args, **_: guard(t, y, args), optimistix.Newton(1e-10, 1e-10), direction=False
    )
    control = diffrax.PIDController(rtol=1e-10, atol=1e-12, dtmax=longest)

    def leg(carry: tuple, _: None) -> tuple:
        clock, y, mode = carry
        first = jnp.minimum(1e-3, longest)
        solved = diffrax.diffeqsolve(
            diffrax.ODETerm(field), diffrax.Tsit5(), clock, end, first, y, args=mode, event=event,
            stepsize_controller=control, adjoint=diffrax.ForwardMode(), max_steps=100_000,
        )  # fmt: skip
        assert solved.ts is not None and solved.ys is not None
        clock, y = solved.ts[-1], solved.ys[-1]
        reached = clock >= end
        kicked = after(clock, y, mode)
        y, mode = jax.tree.map(lambda a, b: jnp.where(reached, a, b), (y, mode), kicked)
        return (clock, y, mode), None

    clock = jnp.zeros_like(end)
    return jax.lax.scan(leg, (clock, *start), None, length=events)[0][1]


def cases(longest: float) -> dict[str, Callable[[Array], Array]]:
    """Value of a point by the name of the problem."""
    nothing = jnp.zeros(())

    def ball(point: Array) -> Array:
        height, restitution = point
        ended = chained(
            lambda t, y, _: jnp.stack([y[1], -GRAVITY + 0 * y[0]]),
            lambda t, y, _: y[0],
            lambda t, y, mode: (jnp.stack([0 * y[0], -restitution * y[1]]), mode),
            (jnp.stack([height, 0 * height]), nothing),
            BALL_END * jnp.ones_like(height),
            EVENTS["ball"],
            longest,
        )
        return ended[0]

    def impact(point: Array) -> Array:
        gap, amplitude, rate = point

        def field(t: Array, y: Array, _: Array) -> Array:
            return jnp.stack([y[1], amplitude * jnp.cos(rate * t) - DAMPING * y[1] - y[0]])

        ended = chained(
            field,
            lambda t, y, _: gap - y[0],
            lambda t, y, mode: (jnp.stack([gap, -RESTITUTION * y[1]]), mode),
            (jnp.stack([x + 0 * gap for x in lowest_point()]), nothing),
            2 * jnp.pi / rate,
            EVENTS["impact"],
            longest,
        )
        return ended[1]

    def stick_slip(point: Array) -> Array:
        bound, belt, amplitude, rate = point

        def demand(t: Array, x: Array) -> Array:
            return amplitude * jnp.cos(rate * t) - x - BELT_DAMPING * belt

        def field(t: Array, y: Array, slip: Array) -> Array:
            force = amplitude * jnp.cos(rate * t) - y[0] - BELT_DAMPING * y[1] - slip * bound
            return jnp.where(slip == 0, jnp.stack([belt, 0 * belt]), jnp.stack([y[1], force]))

        def guard(t: Array, y: Array, slip: Array) -> Array:
            return jnp.where(slip == 0, bound**2 - demand(t, y[0]) ** 2, slip * (y[1] - belt))

        def after(t: Array, y: Array, slip: Array) -> tuple[Array, Array]:
            force = demand(t, y[0])
            stays = (slip != 0) & (jnp.abs(force) <= bound)
            return jnp.stack([y[0], belt]), jnp.where(stays, 0.0, jnp.sign(force))

        start = (jnp.zeros(2), -jnp.ones(()))
        end = BELT_PERIODS * 2 * jnp.pi / rate
        return chained(field, guard, after, start, end, EVENTS["stick-slip"], longest)[0]

    return {
        "ball": ball,
        "impact": impact,
        "graze": impact,
        "stick-slip": stick_slip,
        "reversal": stick_slip,
    }
