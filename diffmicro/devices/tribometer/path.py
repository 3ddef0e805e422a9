"""One period of the tribometer's steady sliding, law by law, from what `respond` found.

At shares of the period from 0 to 1: displacement and velocity in the law's natural units, normal force over its
mean, friction force over mu_0 F_n,0, and the share of the contact that sticks. Out of plane the period begins at
the smallest normal force, in plane where cos wt is zero.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._types import Scalar
from diffmicro.devices.tribometer import inplane as inplane
from diffmicro.devices.tribometer import motion as springs
from diffmicro.devices.tribometer import steady as models
from diffmicro.devices.tribometer.design import Design, Setting
from diffmicro.mechanics import friction_control, lift_off
from diffmicro.nonsmooth.bracketed import rising_root


class Path(NamedTuple):
    """A period in natural units, arrays over the shares of the period."""

    displacement: Array
    velocity: Array
    load: Array
    friction: Array
    sticking: Array


def path(
    law: str, design: Design, setting: Setting, drag: Scalar, velocity: Scalar, shares: np.ndarray
) -> Path:
    """The period under a law, for a drag ratio and a velocity in natural units that belong together."""
    phase = jnp.asarray(2 * np.pi * shares, velocity.dtype)
    if law == "coulomb":
        return _coulomb(setting, drag, velocity, phase)
    if law == "mdr":
        numbers = models.dragged(design, setting, drag, shares.size - 1)
        critical = models.critical_velocity(design, setting, numbers)
        return _mdr(numbers, velocity, critical, shares.size - 1, phase)
    if law == "dynamic":
        return _walk(models.inertia(design, setting), drag, velocity, phase)
    across = setting.direction == "ipp"
    angle = jnp.zeros_like(velocity) if across else setting.track_angle
    forward, aside = velocity * jnp.cos(angle), velocity * jnp.sin(angle)
    turn = jnp.sin(
        phase
    )  # cos wt from a zero on, up to its sign, which the two contact points share
    along = jnp.full_like(phase, forward) if across else forward - turn
    square = along**2 + (turn**2 if across else aside**2)
    friction = along / jnp.sqrt(jnp.where(square > 0, square, 1.0))
    one = jnp.ones_like(phase)
    return Path(velocity * phase, velocity * one, one, friction, 0 * one)


def _flight(ratio: Scalar, drag: Scalar, velocity: Scalar, phase: Array) -> Path:
    """Above a force ratio of 1, where the probe is off for a part of the period around its start."""
    critical = lift_off.critical_velocity(ratio) / ratio
    slip = lift_off.slip(jnp.minimum(drag, 1.0), ratio)
    slip = slip._replace(end=jnp.where(velocity >= critical, slip.start, slip.end))  # or never ends
    from_start = jnp.mod(phase + jnp.pi - slip.start, 2 * jnp.pi)
    slips = from_start < 2 * jnp.pi + slip.end - slip.start
    speed = slip.speed(slip.start + from_start) / ratio + jnp.maximum(velocity - critical, 0.0)
    load = jnp.maximum(slip.offset - ratio * jnp.cos(phase), 0.0)
    step = jnp.diff(phase)
    moved = jnp.concatenate([0 * phase[:1], jnp.cumsum(step * (speed[1:] + speed[:-1]) / 2)])
    return Path(moved, speed, load, jnp.where(slips, load, drag), 1.0 * ~slips)


def _coulomb(setting: Setting, drag: Scalar, velocity: Scalar, phase: Array) -> Path:
    ratio = jnp.asarray(setting.force_ratio, phase.dtype)
    lifts = ratio > 1
    above, below = (
        jnp.where(lifts, ratio, 2.0),
        jnp.where(lifts, 1.0, ratio),
    )  # harmless for the other
    return jax.tree.map(
        lambda flying, pressed: jnp.where(lifts, flying, pressed),
        _flight(above, drag, velocity, phase),
        _pressed(below, drag, velocity, phase),
    )


def _pressed(ratio: Scalar, drag: Scalar, velocity: Scalar, phase: Array) -> Path:
    """Up to a force ratio of 1, where the probe is always in contact."""
    held = jnp.minimum(velocity, 1.0)  # from the critical velocity on the slip never ends
    duration = rising_root(models.root_of_mean, held, 0 * held, 2 * jnp.pi * jnp.ones_like(held))
    start = friction_control.slip_start(duration)
    slope, first = jnp.cos(start), jnp.sin(start)
    into = phase + jnp.pi - start
    turns = jnp.floor(into / (2 * jnp.pi))
    into = into - 2 * jnp.pi * turns

    def traveled(time: Array) -> Array:
        time = jnp.minimum(time, duration)
        return slope * time**2 / 2 + time * first + jnp.cos(start + time) - slope

    slips = into < duration
    speed = jnp.where(slips, slope * into + first - jnp.sin(start + into), 0.0)
    whole = traveled(duration)
    extra = velocity - held
    displacement = traveled(into) + turns * whole - traveled(jnp.pi - start) + extra * phase
    load = 1 - ratio * jnp.cos(phase)
    friction = jnp.where(slips, load, drag)
    return Path(displacement, speed + extra, load, friction, 1.0 * ~slips)


def _mdr(
    numbers: springs.Dragged, velocity: Scalar, critical: Scalar, steps: int, phase: Array
) -> Path:
    load = 1 - numbers.force_ratio * jnp.cos(phase)

    def slides() -> Path:
        lead = numbers.kappa * numbers.force_ratio
        speed = velocity + lead * jnp.sin(phase)
        moved = velocity * phase + lead * (1 - jnp.cos(phase))
        return Path(moved, speed, load, load, jnp.zeros_like(phase))

    def sticks() -> Path:
        tolerance = jnp.asarray(springs.tolerance_of(velocity.dtype), velocity.dtype)
        state = springs.dragged_velocity(numbers, steps, tolerance).state
        _, motion = springs.period(state, numbers, steps)
        moved, speed, friction, sticking = (
            jnp.concatenate([jnp.asarray(first)[None], values])
            for first, values in zip(
                (0 * state[0], state[0], motion.friction[-1], motion.sticking[-1]),
                motion,
                strict=True,
            )
        )
        return Path(moved, speed, load, friction, sticking)

    return jax.lax.cond(velocity >= critical, slides, sticks)


def _walk(kappa: Scalar, drag: Scalar, velocity: Scalar, phase: Array) -> Path:
    found = inplane.walk(drag, kappa)
    speed = inplane.walking_path(found, phase) + jnp.maximum(velocity - 1, 0)
    half = jnp.mod(phase, jnp.pi)
    rides = (half >= found.rides) & (half <= found.leaves)
    both = (half < found.meets) | (half > found.leaves)
    friction = jnp.where(rides, drag - jnp.cos(half) / kappa, 1.0 * both)
    step = jnp.diff(phase)
    moved = jnp.concatenate([0 * phase[:1], jnp.cumsum(step * (speed[1:] + speed[:-1]) / 2)])
    return Path(moved, speed, jnp.ones_like(phase), friction, 0.5 * rides)
