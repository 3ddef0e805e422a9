"""Small hybrid systems whose motion is known in closed form or from another integrator."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.series import sin_cos
from diffmicro.dynamics.system import HybridSystem, Schedule, Step


class Push(NamedTuple):
    """The drive of all systems here: one force."""

    force: Any


class Moving(NamedTuple):
    """Position and speed."""

    place: Any
    speed: Any


class Slip(NamedTuple):
    """Direction of sliding, 0: stick."""

    slip: Any


class Resting(NamedTuple):
    rest: Any


class Seen(NamedTuple):
    events: Any
    margin: Any


def constant(force: Array) -> Schedule:
    return Schedule((jnp.ones_like(force),), (Push(force),), (Push(force),))


class Watched(HybridSystem):
    """Counts events and keeps the smallest margin."""

    def blank_record(self, state: Any) -> Seen:
        zero = jnp.zeros_like(state[0])
        return Seen(zero, zero + 1.0)

    def observe(self, record: Seen, step: Step, state: Any) -> Seen:
        events = sum(jnp.where(f, 1.0, 0.0) for f in step.fired)
        return Seen(record.events + events, jnp.minimum(record.margin, step.margin()))


class Ball(Watched):
    """A ball on a floor; it rests once it rebounds slower than `settles`."""

    gravity: Array
    restitution: Array
    settles: Array

    def schedule(self):
        return constant(0.0 * self.gravity)

    def enter(self, time, state, drive):
        return state, Resting(state.place < 0)

    def flow(self, time, state, mode, drive):
        flies = jnp.where(mode.rest, 0.0, 1.0)
        return Moving(state.speed * flies, drive.force * 0.0 - self.gravity * flies)

    def guards(self, time, state, mode, drive):
        return (state.place + jnp.where(mode.rest, 1.0, 0.0),)

    def transition(self, time, state, mode, drive, fired, switched):
        (hit,) = fired
        rebound = -self.restitution * state.speed
        rest = mode.rest | (hit & (rebound < self.settles))
        place = jnp.where(hit, 0.0, state.place)
        speed = jnp.where(hit, jnp.where(rest, 0.0, rebound), state.speed)
        return Moving(place, speed), Resting(rest)


class Pair(NamedTuple):
    first: Any
    first_speed: Any
    second: Any
    second_speed: Any


class TwoBalls(Watched):
    """Two balls that know nothing of each other, so that their events can coincide."""

    gravity: Array
    restitution: Array

    def schedule(self):
        return constant(0.0 * self.gravity)

    def enter(self, time, state, drive):
        return state, Resting(state.first < 0)

    def flow(self, time, state, mode, drive):
        falls = drive.force * 0.0 - self.gravity
        return Pair(state.first_speed, falls, state.second_speed, falls)

    def guards(self, time, state, mode, drive):
        return state.first, state.second

    def transition(self, time, state, mode, drive, fired, switched):
        first, second = fired
        return Pair(
            jnp.where(first, 0.0, state.first),
            jnp.where(first, -self.restitution * state.first_speed, state.first_speed),
            jnp.where(second, 0.0, state.second),
            jnp.where(second, -self.restitution * state.second_speed, state.second_speed),
        ), mode


class Block(Watched):
    """Unit mass with dry friction `bound`, a spring, a damper, a harmonic force and a switched one.

    The switched force runs from -`push` to +`push` during `rise`, keeps that up to half the period,
    and is -`push` from there on.
    """

    push: Array
    rise: Array
    bound: Array
    stiffness: Array
    damping: Array
    amplitude: Array

    def schedule(self):
        half = 0.5 + 0.0 * self.rise
        levels = (Push(-self.push), Push(self.push), Push(self.push), Push(-self.push))
        starts, finishes = (levels[0], levels[1], levels[3]), (levels[1], levels[2], levels[3])
        return Schedule((self.rise, half, 2 * half), starts, finishes)

    def force(self, time, state, drive):
        _, cosine = sin_cos(time * (2 * jnp.pi))
        elastic = state.place * self.stiffness + state.speed * self.damping
        return drive.force + cosine * self.amplitude - elastic

    def enter(self, time, state, drive):
        picked = self.picked(self.force(time, state, drive))
        slip = jnp.where(state.speed == 0, picked, jnp.sign(state.speed))
        return state._replace(speed=jnp.where(slip == 0, 0.0, state.speed)), Slip(slip)

    def picked(self, force):
        return jnp.where(jnp.abs(force) <= self.bound, 0.0, jnp.sign(force))

    def flow(self, time, state, mode, drive):
        rate = self.force(time, state, drive) * jnp.abs(mode.slip) - mode.slip * self.bound
        return Moving(state.speed, rate)

    def guards(self, time, state, mode, drive):
        stuck = 1.0 - jnp.abs(mode.slip)
        demand = self.force(time, state, drive) * stuck
        onward = state.speed * mode.slip
        return onward + self.bound * stuck - demand, demand + self.bound * stuck + (1.0 - stuck)

    def transition(self, time, state, mode, drive, fired, switched):
        upward, downward = fired
        moving = mode.slip != 0
        speed = jnp.where(upward & moving, 0.0, state.speed)
        picked = self.picked(self.force(time, Moving(state.place, speed), drive))
        slip = jnp.where(upward & moving, picked, mode.slip)
        slip = jnp.where(upward & ~moving, 1.0, slip)
        slip = jnp.where(downward, -1.0, slip)
        slip = jnp.where(switched & (slip == 0), picked, slip)
        return Moving(state.place, speed), Slip(slip)


class Pendulum(Watched):
    """A damped pendulum with a harmonic torque: smooth, without events."""

    stiffness: Array
    damping: Array
    amplitude: Array

    def schedule(self):
        return constant(0.0 * self.stiffness)

    def enter(self, time, state, drive):
        return state, Resting(state.place < -1e9)

    def flow(self, time, state, mode, drive):
        sine, _ = sin_cos(state.place)
        _, torque = sin_cos(time * (2 * jnp.pi))
        rate = torque * self.amplitude - sine * self.stiffness - state.speed * self.damping
        return Moving(state.speed, rate)

    def guards(self, time, state, mode, drive):
        return (drive.force + 1.0,)

    def transition(self, time, state, mode, drive, fired, switched):
        return state, mode
