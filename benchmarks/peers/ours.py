"""The motions with `diffmicro.hybrid`: parts and accelerations; contacts find their events by themselves."""

from collections.abc import Callable
from typing import Any

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
from diffmicro import hybrid
from diffmicro.dynamics.hybrid import run
from diffmicro.dynamics.system import Numerics


class Ball(hybrid.Motion):
    """The point is (height, restitution)."""

    height = hybrid.Coordinate("height", scale=1.0)
    floor = hybrid.Impact("height", restitution=lambda p, _: p[1])

    def period(self, design, setting):
        return BALL_END * jnp.ones_like(design[0])

    def accelerations(self, now, design, setting):
        return {"height": now.floor - GRAVITY}


class Oscillator(hybrid.Motion):
    """The point is (gap, amplitude, rate)."""

    x = hybrid.Coordinate("place", scale=1.0)
    stop = hybrid.Impact("x", at=lambda p, _: p[0], side="above", restitution=RESTITUTION)
    push = hybrid.Harmonic()

    def period(self, design, setting):
        return 2 * jnp.pi / design[2]

    def accelerations(self, now, design, setting):
        return {"x": design[1] * now.push - DAMPING * now.x_rate - now.x - now.stop}


class OnBelt(hybrid.Motion):
    """The point is (bound, belt, amplitude, rate). Friction sees the way on the belt."""

    slip = hybrid.Coordinate("way on the belt", scale=1.0)
    belt = hybrid.Coordinate("way of the belt", order=1, scale=1.0)
    friction = hybrid.Coulomb("slip", bound=lambda now, p, _: p[0])
    push = hybrid.Harmonic()

    def period(self, design, setting):
        return 2 * jnp.pi / design[3]

    def accelerations(self, now, design, setting):
        place, speed = now.slip + now.belt, now.slip_rate + design[1]
        force = design[2] * now.push - place - BELT_DAMPING * speed
        return {"slip": force + now.friction, "belt": design[1]}


def end_of(
    motion: hybrid.Motion, point: Array, start: dict[str, Any], periods: int, tolerance: float
) -> dict[str, Array]:
    """The states after some periods from `start`, in the problem's units."""
    units = motion.units(point, None)
    numerics = Numerics(tolerance=tolerance)
    system = motion.system(point, None)
    ended = run(system, motion.state_of(start, units), periods, numerics).state
    return {name: getattr(ended, name) * unit for name, unit in units.items()}


def cases(tolerance: float) -> dict[str, Callable[[Array], Array]]:
    """Value of a point by the name of the problem."""
    low, speed = lowest_point()

    def ball(point: Array) -> Array:
        return end_of(Ball(), point, {"height": point[0]}, 1, tolerance)["height"]

    def impact(point: Array) -> Array:
        start = {"x": low, "x_rate": speed}
        return end_of(Oscillator(), point, start, 1, tolerance)["x_rate"]

    def stick_slip(point: Array) -> Array:
        ended = end_of(OnBelt(), point, {"slip_rate": -point[1]}, BELT_PERIODS, tolerance)
        return ended["slip"] + ended["belt"]

    return {
        "ball": ball,
        "impact": impact,
        "graze": impact,
        "stick-slip": stick_slip,
        "reversal": stick_slip,
    }
