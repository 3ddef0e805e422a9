"""The WRMMA's motion between switches, impacts, reversals and sticking, in natural units.

Length in rest gaps g0, time in drive periods T, mass in hammer masses m_H. With the gap g, its rate w, the
body's speed v and a = m_H / m_B, the parts pull at each other with

    F = K (g - 1) + D w + M s(t)^2 (g + P) / (g + Q)^2          (Nagy 2012, eqs. 2, 3, 9, 12)

and move by  v' = a F - sign(v) b(t),  w' = - F - v'.  The friction bound b steps up while the clamp is on.

| mode | while | ends by |
|---|---|---|
| slide, `slip` = +1 or -1 | slip v > 0 | reversal: stick if a |F| <= b, else slide with F |
| stick, `slip` = 0 | a |F| < b | release: slide with F |
| apart | g > 0 | touch-down: w -> - e w, v -> v + a/(1+a) (1+e) w (momentum; no frictional impulse) |
| together, `closed` | F + v' > 0 | the hammer is pulled off the body |

Impacts that come to rest (w below `CHATTER`) while the parts are pressed together end in `closed`: both move
with one velocity. Friction is rigid: no presliding. The clamp is a finite force, so a sliding body is
stopped by it within microseconds, not at once.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.margin import Margin
from diffmicro.dynamics.roots import extreme
from diffmicro.dynamics.series import Number, sin_cos
from diffmicro.dynamics.system import HybridSystem, Schedule, Step

CHATTER = 1e-6
"""Rebounds slower than this [g0/T] end in lasting contact; the next would rise by 1e-12 g0 or so."""


class State(NamedTuple):
    """Gap and its rate, speed and displacement of the body."""

    gap: Number
    rate: Number
    speed: Number
    position: Number


class Mode(NamedTuple):
    """Direction of sliding (0: stick), and whether hammer and body stay together."""

    slip: Array
    closed: Array


class Drive(NamedTuple):
    """Field over its half amplitude (s + offset), and friction bound."""

    field: Number
    bound: Number


class Record(NamedTuple):
    """Gathered over periods: extremes, counts, shares of time, distance to the nearest mode change."""

    min_gap: Array
    peak_speed: Array
    impacts: Array
    stick_time: Array
    closed_time: Array
    course: Margin

    @property
    def margin(self) -> Array:
        """Distance to the nearest change of the sequence of modes [periods]."""
        return self.course.whole


class WrmmaMotion(HybridSystem):
    """The lumped numbers of the module docstring; times are shares of a period."""

    stiffness: Array
    damping: Array
    pull: Array
    numerator: Array
    denominator: Array
    mass_ratio: Array
    bound: Array
    clamp: Array
    restitution: Array
    clamp_phase: Array
    offset: Array
    rise: Array
    sinusoidal: bool = eqx.field(static=True, default=False)
    constant: bool = eqx.field(static=True, default=False)

    def schedule(self) -> Schedule:
        """Half a period has a ramp of the field [0, rise], a plateau, and one clamp switch inside."""
        turns = -self.clamp_phase / (2 * jnp.pi)
        switch = turns - 0.5 * jnp.floor(turns / 0.5)
        # Without a phase the clamp comes on at the start of the period.
        turns_on_first = turns - jnp.floor(turns) < 0.5
        early = switch < self.rise
        first = jnp.where(early, switch, self.rise)
        second = jnp.where(early, self.rise, switch)
        part = jnp.where(early, switch / jnp.where(self.rise > 0, self.rise, 1.0), 1.0)
        ends, starts, finishes = [], [], []
        for half, sign in enumerate((1.0, -1.0)):
            on_before = turns_on_first == (half == 1)
            field = [-sign, sign * (2 * part - 1), sign, sign]
            before = self.bound + jnp.where(on_before, self.clamp, 0.0)
            after = self.bound + jnp.where(on_before, 0.0, self.clamp)
            bounds = [before, jnp.where(early, after, before), after]
            base = 0.5 * half
            ends += [base + first, base + second, jnp.zeros_like(first) + (base + 0.5)]
            starts += [Drive(f + self.offset, b) for f, b in zip(field[:3], bounds, strict=True)]
            finishes += [Drive(f + self.offset, b) for f, b in zip(field[1:], bounds, strict=True)]
        return Schedule(tuple(ends), tuple(starts), tuple(finishes))

    def force(self, time: Number, state: State, drive: Drive) -> Number:
        """F of the module docstring."""
        field = drive.field
        if self.sinusoidal:
            sine, _ = sin_cos(time * (2 * jnp.pi))
            field = sine * (4 / jnp.pi) + self.offset
        near = 1.0 / ((1.0 if self.constant else state.gap) + self.denominator)
        shape = near + near * near * (self.numerator - self.denominator)
        spring = (state.gap - 1.0) * self.stiffness + state.rate * self.damping
        return spring + field * field * shape * self.pull

    def flow(self, time: Number, state: State, mode: Mode, drive: Drive) -> State:
        """Rates of gap, gap rate, speed and position."""
        speed_rate, rate_rate, _ = self._accelerations(time, state, mode, drive)
        return State(state.rate, rate_rate, speed_rate, state.speed)

    def _accelerations(self, time: Number, state: State, mode: Mode, drive: Drive) -> tuple:
        force = self.force(time, state, drive)
        apart = jnp.where(mode.closed, 0.0, 1.0)
        sliding = jnp.abs(mode.slip)
        friction = drive.bound * (
            -mode.slip * jnp.where(mode.closed, 1.0 / (1.0 + self.mass_ratio), 1.0)
        )
        speed_rate = force * (self.mass_ratio * sliding * apart) + friction
        return speed_rate, (force + speed_rate) * (-apart), force

    def guards(self, time: Number, state: State, mode: Mode, drive: Drive) -> tuple[Number, ...]:
        """Friction upward, friction downward, contact."""
        speed_rate, _, force = self._accelerations(time, state, mode, drive)
        stuck = jnp.where((mode.slip == 0) & ~mode.closed, 1.0, 0.0)
        closed = jnp.where(mode.closed, 1.0, 0.0)
        free = 1.0 - stuck
        resting = jnp.where((mode.slip == 0) & mode.closed, 1.0, 0.0)
        demand = force * (self.mass_ratio * stuck)
        upward = drive.bound * stuck - demand + state.speed * mode.slip + resting
        downward = drive.bound * stuck + demand + free
        contact = state.gap * (1.0 - closed) + (force + speed_rate) * closed
        return upward, downward, contact

    def enter(self, time: Number, state: State, drive: Drive) -> tuple[State, Mode]:
        """Contact from an exact zero of gap and rate, sliding from the speed, else from the force."""
        force = self.force(time, state, drive)
        closed = (state.gap <= 0) & (state.rate == 0) & (force > 0)
        slip = jnp.where(state.speed == 0, self._pick(force, closed, drive), jnp.sign(state.speed))
        # However a body that sticks is nudged, friction takes the speed away at once; the same goes for
        # parts that are pressed together.
        gap, rate = jnp.where(closed, 0.0, state.gap), jnp.where(closed, 0.0, state.rate)
        speed = jnp.where(slip == 0, 0.0, state.speed)
        return State(gap, rate, speed, state.position), Mode(slip, closed)

    def _pick(self, force: Array, closed: Array, drive: Drive) -> Array:
        """Direction in which a body at rest starts to move, 0 if it sticks."""
        push = self.mass_ratio * force
        return jnp.where(closed | (jnp.abs(push) <= drive.bound), 0.0, jnp.sign(push))

    def transition(
        self,
        time: Number,
        state: State,
        mode: Mode,
        drive: Drive,
        fired: tuple[Array, ...],
        switched: Array,
    ) -> tuple[State, Mode]:
        """The right column of the table above."""
        upward, downward, contact = fired
        gap, rate, speed, position = state
        moving = mode.slip != 0
        impact = contact & ~mode.closed
        gap = jnp.where(impact | mode.closed, 0.0, gap)
        share = self.mass_ratio / (1.0 + self.mass_ratio)
        kick = share * (1.0 + self.restitution) * rate
        speed = jnp.where(impact, speed + kick, speed)
        rate = jnp.where(impact, -self.restitution * rate, rate)
        reversal = upward & moving
        speed = jnp.where(reversal, 0.0, speed)

        force = self.force(time, State(gap, rate, speed, position), drive)
        pressed = force - jnp.sign(speed) * drive.bound / (1.0 + self.mass_ratio)
        settles = impact & (rate < CHATTER) & (pressed > 0)
        # Settling costs the little velocity difference that is left; momentum decides who keeps it.
        speed = jnp.where(settles, speed + share * rate, speed)
        rate = jnp.where(settles, 0.0, rate)
        pulled_off = mode.closed & (contact | (switched & (pressed < 0)))
        closed = (mode.closed & ~pulled_off) | settles

        slip = mode.slip
        picked = self._pick(force, closed, drive)
        slip = jnp.where(reversal, picked, slip)
        slip = jnp.where(upward & ~moving, 1.0, slip)
        slip = jnp.where(downward, -1.0, slip)
        slip = jnp.where(impact, jnp.where(speed == 0, picked, jnp.sign(speed)), slip)
        slip = jnp.where((switched | pulled_off) & (slip == 0), picked, slip)
        return State(gap, rate, speed, position), Mode(slip, closed)

    def blank_record(self, state: State) -> Record:
        """Nothing seen yet."""
        zero = jnp.zeros_like(state.gap)
        return Record(state.gap + zero, zero, zero, zero, zero, Margin.unknown(zero))

    def observe(self, record: Record, step: Step, state: State) -> Record:
        """Extremes inside the step count, not only its ends."""
        low, exists = extreme(step.states.gap, step.duration)
        dip = jnp.where(exists, low, state.gap)
        high, exists = extreme(step.states.speed, step.duration)
        # The step begins behind an impact, which changed the speed at once.
        ends = jnp.maximum(jnp.abs(step.states.speed[0]), jnp.abs(state.speed))
        peak = jnp.maximum(jnp.where(exists, jnp.abs(high), 0.0), ends)
        closed = step.mode.closed
        touches = step.fired[2] & ~closed
        lowest = jnp.minimum(jnp.minimum(dip, state.gap), record.min_gap)
        spent = step.duration * step.length
        return Record(
            min_gap=jnp.where(touches | closed, 0.0, lowest),
            peak_speed=jnp.maximum(record.peak_speed, peak),
            impacts=record.impacts + touches,
            stick_time=record.stick_time + jnp.where(step.mode.slip == 0, spent, 0.0),
            closed_time=record.closed_time + jnp.where(closed, spent, 0.0),
            course=record.course.after(step),
        )
