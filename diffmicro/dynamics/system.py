"""What a hybrid system is: a smooth flow in each mode, guards that end the mode, transitions, a drive.

Time is counted in periods of the drive. A mode lasts as long as its guards are positive; where one reaches zero
the transition gives the state and mode that follow. The drive is linear in time on segments of the period; a
switch that takes no time is a segment of no length.

How such a system is stepped is in `step`, how a motion is followed in `hybrid`.
"""

import abc
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro.dynamics.roots import stationary_point
from diffmicro.dynamics.series import Number, derivative, value

State = PyTree  # a NamedTuple of scalars, the same for one system
Mode = PyTree  # a NamedTuple of flags and signs
Drive = PyTree  # a NamedTuple of numbers, or of series inside a step


ROUNDING = 1024
"""Guard slopes below this multiple of machine epsilon count as zero."""


class Numerics(eqx.Module):
    """How finely motions are resolved.

    steps: fewest steps per period [-].
    tolerance: last Taylor coefficient allowed, in natural units of the state [-].
    order: order of the series [-].
    limit: advances (steps and events together) allowed per period [-].
    """

    steps: int = eqx.field(static=True, default=12)
    order: int = eqx.field(static=True, default=7)
    limit: int = eqx.field(static=True, default=600)
    tolerance: Array | float = 1e-9


class Segment(NamedTuple):
    """One segment of the drive: its length and end in time, the drive's values at its start and finish."""

    length: Array
    end: Array
    start: Drive
    finish: Drive

    def share_passed(self, time: Array) -> Array:
        """The share of the segment that has passed at a time; 0 of a segment of no length."""
        empty = self.length <= 0
        left = (self.end - time) / jnp.where(empty, 1.0, self.length)
        return jnp.where(empty, 0.0, 1.0 - left)

    def drive(self, time: Array) -> Drive:
        """The drive at a time: a line in the share that has passed."""
        share = self.share_passed(time)
        return jax.tree.map(lambda a, b: a + (b - a) * share, self.start, self.finish)

    def rise(self, duration: Array) -> Drive:
        """The change of the drive over a duration; over a segment of no length all of it."""
        empty = self.length <= 0
        share = jnp.where(empty, 1.0, duration / jnp.where(empty, 1.0, self.length))
        return jax.tree.map(lambda a, b: (b - a) * share, self.start, self.finish)


class Schedule(NamedTuple):
    """A drive that is linear in time on each of n segments of a period.

    ends: when each segment ends; starts and finishes: the drive's values there. Tuples of length n.
    """

    ends: tuple[Array, ...]
    starts: tuple[Drive, ...]
    finishes: tuple[Drive, ...]

    def segment(self, index: Array) -> Segment:
        """The segment of this number, by selection: quicker than a gather on few segments and many lanes."""
        before = (jnp.zeros_like(self.ends[0]), *self.ends[:-1])
        lengths = [self.ends[0], *(b - a for a, b in zip(before[1:], self.ends[1:], strict=True))]
        choices = list(map(Segment, lengths, self.ends, self.starts, self.finishes))
        picked = choices[-1]
        for i in range(len(choices) - 2, -1, -1):
            picked = jax.tree.map(lambda a, b, i=i: jnp.where(index == i, a, b), choices[i], picked)
        return picked


class Step(NamedTuple):
    """One advance, for observers: polynomials of tau in [0, duration], in units of `length`.

    switched: whether a segment of the drive ends with it. turned: whether there is a drive that could change then.
    """

    states: State
    guards: tuple[list[Array], ...]
    duration: Array
    length: Array
    fired: tuple[Array, ...]
    switched: Array
    turned: Array
    mode: Mode

    def margin(self) -> Array:
        """Time [periods] by which this step misses a change of its sequence of modes.

        At an event: until the guard would turn around, |g'/g''| (zero when it grazes). Where a guard dips
        without reaching zero: how far the parabola through the dip is from doing so, sqrt(2 g/g'').
        """
        nearest = jnp.ones_like(self.duration)
        for guard, fired in zip(self.guards, self.fired, strict=True):
            guard = [jax.lax.stop_gradient(c) for c in guard]
            end = jax.lax.stop_gradient(self.duration)
            low, dips = stationary_point(guard, end)
            # A guard that starts from its own root (a release) turns upward there; that is no miss.
            dips = dips & (guard[1] < -ROUNDING * float(jnp.finfo(end.dtype).eps))
            at = jnp.where(fired, end, low)
            rate = derivative(guard)
            bend = jnp.abs(value(derivative(rate), at))
            bend = jnp.where(bend > 0, bend, 1.0)
            crossing = jnp.abs(value(rate, at)) / bend
            miss = jnp.sqrt(2 * jnp.maximum(value(guard, at), 0.0) / bend)
            length = jax.lax.stop_gradient(self.length)
            time = jnp.where(fired, crossing * length, jnp.where(dips, miss * length, 1.0))
            # Within a switch of no length the drive alone makes the event: nothing to miss.
            nearest = jnp.minimum(nearest, jnp.where(length > 0, time, 1.0))
        return nearest


class HybridSystem(eqx.Module):
    """The equations of a motion. Parameters are fields; times are in periods.

    The same `flow` and `guards` are evaluated on numbers and on Taylor series.
    """

    @abc.abstractmethod
    def schedule(self) -> Schedule:
        """The drive over one period."""

    @abc.abstractmethod
    def flow(self, time: Number, state: State, mode: Mode, drive: Drive) -> State:
        """Rate of change of the state."""

    @abc.abstractmethod
    def guards(self, time: Number, state: State, mode: Mode, drive: Drive) -> tuple[Number, ...]:
        """Quantities that are positive as long as the mode lasts."""

    def laws(
        self, time: Number, state: State, mode: Mode, drive: Drive
    ) -> tuple[State, Callable[[], tuple[Number, ...]]]:
        """`flow`, and a function that gives `guards`. Override it to share work between the two."""
        return (
            self.flow(time, state, mode, drive),
            lambda: self.guards(time, state, mode, drive),
        )

    @abc.abstractmethod
    def enter(self, time: Number, state: State, drive: Drive) -> tuple[State, Mode]:
        """State and mode to start from when nothing is known of the past.

        What a mode holds fixed (the speed of a body that sticks) has to lose its derivative here.
        """

    @abc.abstractmethod
    def transition(
        self,
        time: Number,
        state: State,
        mode: Mode,
        drive: Drive,
        fired: tuple[Array, ...],
        switched: Array,
    ) -> tuple[State, Mode]:
        """State and mode after the guards that `fired`, or after a switch of the drive."""

    @abc.abstractmethod
    def blank_record(self, state: State) -> PyTree:
        """What `observe` starts from."""

    @abc.abstractmethod
    def observe(self, record: PyTree, step: Step, state: State) -> PyTree:
        """The record after one more advance that ended in `state` (before its transition)."""


class Observing(HybridSystem):
    """A system whose motion is that of another one, `inner`; only what is recorded of it differs."""

    inner: eqx.AbstractVar[HybridSystem]

    def schedule(self) -> Schedule:
        """As it is."""
        return self.inner.schedule()

    def laws(
        self, time: Number, state: State, mode: Mode, drive: Drive
    ) -> tuple[State, Callable[[], tuple[Number, ...]]]:
        """As they are."""
        return self.inner.laws(time, state, mode, drive)

    def flow(self, time: Number, state: State, mode: Mode, drive: Drive) -> State:
        """As it is."""
        return self.inner.flow(time, state, mode, drive)

    def guards(self, time: Number, state: State, mode: Mode, drive: Drive) -> tuple[Number, ...]:
        """As they are."""
        return self.inner.guards(time, state, mode, drive)

    def enter(self, time: Number, state: State, drive: Drive) -> tuple[State, Mode]:
        """As it is."""
        return self.inner.enter(time, state, drive)

    def transition(
        self,
        time: Number,
        state: State,
        mode: Mode,
        drive: Drive,
        fired: tuple[Array, ...],
        switched: Array,
    ) -> tuple[State, Mode]:
        """As it is."""
        return self.inner.transition(time, state, mode, drive, fired, switched)
