"""Event-located stepping of hybrid systems: smooth flow in modes, guards that end them, transitions.

One advance carries the state by its own Taylor series (`series`) to whatever comes first: the end of the
step, the end of a segment of the drive (a switch at a known time), or the first root of a guard
(`roots`), where the device's transition applies. The event time depends on state and parameters, and that
dependence is kept, so derivatives through any number of events contain the saltation terms by themselves,
forward and reverse.

Lanes never wait for each other: every advance of every lane does the same arithmetic. The number of
advances is bounded; a lane that exceeds the bound stops with `event_limit`.

A step is `1 / steps` of the period at most, and shorter where the last Taylor coefficient says that the
series converges slowly (Jorba and Zou 2005); the length carries no derivative. Time is counted in
periods of the drive.
"""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._results import RESULTS, code
from diffmicro.dynamics import roots
from diffmicro.dynamics.kernel import Kernel, kernel
from diffmicro.dynamics.roots import NEVER, first_crossing, pick, stationary_point
from diffmicro.dynamics.series import Series, derivative, line, series, value

State = Any  # a NamedTuple of scalars, the same for one system
Mode = Any  # a NamedTuple of flags and signs
Drive = Any  # a NamedTuple of numbers, or of series inside a step


ROUNDING = 1024
"""Slopes of guards below this many roundings are not told from zero."""


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


class Schedule(NamedTuple):
    """A drive that is linear in time on each of n segments of a period.

    ends: when each segment ends; starts and finishes: the drive's values there. Tuples of length n.
    """

    ends: tuple[Array, ...]
    starts: tuple[Drive, ...]
    finishes: tuple[Drive, ...]


class Step(NamedTuple):
    """One advance, for observers: polynomials of tau in [0, duration], in units of `length`."""

    states: State
    guards: tuple[list[Array], ...]
    duration: Array
    length: Array
    fired: tuple[Array, ...]
    switched: Array
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
    """What a device says of its motion. Parameters are fields; times are in periods.

    The same `flow` and `guards` are evaluated on numbers and on Taylor series.
    """

    @abc.abstractmethod
    def schedule(self) -> Schedule:
        """The drive over one period."""

    @abc.abstractmethod
    def flow(self, time: Any, state: State, mode: Mode, drive: Drive) -> State:
        """Rate of change of the state."""

    @abc.abstractmethod
    def guards(self, time: Any, state: State, mode: Mode, drive: Drive) -> tuple[Any, ...]:
        """Quantities that are positive as long as the mode lasts."""

    def laws(
        self, time: Any, state: State, mode: Mode, drive: Drive
    ) -> tuple[State, Callable[[], tuple[Any, ...]]]:
        """`flow`, and a function that gives `guards`. A system whose guards need what its flow has
        calculated already says both here."""
        return (
            self.flow(time, state, mode, drive),
            lambda: self.guards(time, state, mode, drive),
        )

    @abc.abstractmethod
    def enter(self, time: Any, state: State, drive: Drive) -> tuple[State, Mode]:
        """State and mode to start from when nothing is known of the past.

        What a mode holds fixed (the speed of a body that sticks) has to lose its derivative here.
        """

    @abc.abstractmethod
    def transition(
        self,
        time: Any,
        state: State,
        mode: Mode,
        drive: Drive,
        fired: tuple[Array, ...],
        switched: Array,
    ) -> tuple[State, Mode]:
        """State and mode after the guards that `fired`, or after a switch of the drive."""

    @abc.abstractmethod
    def blank_record(self, state: State) -> Any:
        """What `observe` starts from."""

    @abc.abstractmethod
    def observe(self, record: Any, step: Step, state: State) -> Any:
        """The record after one more advance that ended in `state` (before its transition)."""


class Motion(NamedTuple):
    """A hybrid motion under way."""

    time: Array
    segment: Array
    periods: Array
    state: State
    mode: Mode
    cap: Array
    advances: Array
    record: Any


def begin(system: HybridSystem, state: State, record: Any = None) -> Motion:
    """A motion that starts in `state` at the start of a period."""
    zero = jnp.zeros_like(jnp.asarray(state[0]))
    count = jnp.zeros((), jnp.int32)
    state, mode = system.enter(zero, state, system.schedule().starts[0])
    return Motion(zero, count, count, state, mode, zero + 1.0, count, record)


@jax.jit  # each loop around it finds it traced, and so do its derivatives
def advance(
    system: HybridSystem, schedule: Schedule, motion: Motion, numerics: Numerics, kern: Kernel
) -> Motion:
    """One advance: to the end of a step, of a segment, or to the first event."""
    n = len(schedule.ends)
    here = _at(motion.segment, list(zip(_lengths(schedule), schedule.ends, strict=True)))
    length, end = here
    starts, finishes = _at(
        motion.segment, list(zip(schedule.starts, schedule.finishes, strict=True))
    )

    remaining = end - motion.time
    longest = motion.cap / numerics.steps
    last = remaining <= longest
    whole = jnp.where(last, remaining, longest)
    # The series has a fixed length; the share of it that is followed has a derivative (`_followed`).
    instant = whole <= 0
    h = jnp.where(instant, whole, jax.lax.stop_gradient(whole))

    # Within a segment the drive is a line in the share of the segment that has passed. A segment of no
    # length (a switch that takes no time) is passed in one step, and still has its derivative to length.
    empty = length <= 0
    safe = jnp.where(empty, 1.0, length)
    share = jnp.where(empty, 0.0, 1.0 - remaining / safe)
    rise = jnp.where(empty, 1.0, h / safe)
    drive = jax.tree.map(lambda a, b: a + (b - a) * share, starts, finishes)
    drive_rise = jax.tree.map(lambda a, b: (b - a) * rise, starts, finishes)
    along = jax.tree.map(line, drive, drive_rise)
    time = line(motion.time, h)

    states, watch = _solution(
        system, time, motion.state, motion.mode, along, h, numerics.order, kern
    )
    quality = numerics.tolerance / (_largest(states, numerics.order) + jnp.finfo(h.dtype).tiny)
    # The eighth root is three square roots, which vectorize; near enough for orders 6 to 9.
    accurate = jax.lax.stop_gradient(jnp.minimum(1.0, jnp.sqrt(jnp.sqrt(jnp.sqrt(quality)))))
    guards = [_filled(series(g), h, numerics.order) for g in watch()]
    crossing = first_crossing(guards, accurate, kern)
    fires = (crossing.time < NEVER) & ~crossing.misordered
    duration = jnp.where(fires, crossing.time, accurate)
    duration = jnp.where(crossing.misordered, 0.0, duration)
    # Where events crowd, steps shrink to their scale at once and grow back one advance at a time.
    shorter = motion.cap * 0.25 * crossing.time
    cap = jnp.where(crossing.misordered, shorter, jnp.minimum(4.0 * motion.cap, 1.0))
    finished = last & ~fires & ~crossing.misordered & (accurate >= 1.0)
    polynomials = type(motion.state)(*(_filled(s, h, numerics.order) for s in states))
    moment = _Moment(
        system,
        motion.time,
        jax.lax.stop_gradient(h),
        polynomials,
        motion.mode,
        drive,
        drive_rise,
        crossing.fired,
    )
    duration = jnp.where(fires, roots.root(_guard_at, moment, duration), duration)
    all_of_it = jnp.where(instant, 1.0, whole / jnp.where(instant, 1.0, h))
    duration = jnp.where(finished, all_of_it, duration)
    (duration,) = kern.keep([duration])
    state = type(motion.state)(*kern.keep(_followed(moment, duration)))
    clock = jnp.where(finished, end, motion.time + duration * h)
    fired = tuple(f & fires for f in crossing.fired)
    record = motion.record
    if record is not None:
        step = Step(
            polynomials,
            tuple(guards),
            duration,
            h,
            fired,
            finished,
            motion.mode,
        )
        record = system.observe(record, step, state)

    segment = motion.segment + finished.astype(jnp.int32)
    wrapped = segment == n
    segment = jnp.where(wrapped, 0, segment)
    clock = jnp.where(wrapped, 0.0, clock)
    next_starts, next_finishes, next_length, next_end = _at(
        segment,
        list(
            zip(schedule.starts, schedule.finishes, _lengths(schedule), schedule.ends, strict=True)
        ),
    )
    passed = jnp.where(
        next_length <= 0,
        0.0,
        1.0 - (next_end - clock) / jnp.where(next_length <= 0, 1.0, next_length),
    )
    after = jax.tree.map(lambda a, b: a + (b - a) * passed, next_starts, next_finishes)
    state, mode = system.transition(clock, state, motion.mode, after, fired, finished)
    return Motion(
        clock,
        segment,
        motion.periods + wrapped.astype(jnp.int32),
        state,
        mode,
        cap,
        motion.advances + 1,
        record,
    )


class _Moment(NamedTuple):
    """A step: what the state and a guard inside it depend on. `fired` tells which guard."""

    system: HybridSystem
    time: Array
    length: Array
    states: State
    mode: Mode
    drive: Drive
    drive_rise: Drive
    fired: tuple[Array, ...]

    def at(self, share: Array) -> tuple[Array, Drive]:
        """Time and drive after a share of the step."""
        drive = jax.tree.map(lambda a, b: a + b * share, self.drive, self.drive_rise)
        return self.time + share * self.length, drive


@jax.custom_jvp
def _followed(moment: _Moment, share: Array) -> State:
    """The state after a share of the step.

    Its derivative by time is the flow there. That of the polynomial is an order less accurate, and the difference
    looks like a sensitivity to the instants of switches at which nothing changes.
    """
    return type(moment.states)(*(value(p, share) for p in moment.states))


@_followed.defjvp
def _followed_jvp(primals, tangents):
    (moment, share), (change, later) = primals, tangents
    state = _followed(moment, share)
    time, drive = moment.at(share)
    rates = moment.system.flow(time, state, moment.mode, drive)
    passed = later * moment.length
    changes = [value(p, share) + r * passed for p, r in zip(change.states, rates, strict=True)]
    return state, type(state)(*changes)


def _guard_at(moment: _Moment, share: Array) -> Array:
    """The guard's value after a share of the step, from numbers: its series, with all their derivatives, would
    cost more than the rest of the step."""
    time, drive = moment.at(share)
    state = _followed(moment, share)
    return pick(moment.fired, moment.system.guards(time, state, moment.mode, drive))


def run(
    system: HybridSystem,
    state: State,
    periods: Array | int,
    numerics: Numerics,
    *,
    observe: bool = False,
) -> Motion:
    """The motion after a number of periods (which may be traced). Forward derivatives only.

    `motion.periods` falls short of `periods` where the limit on advances was reached: see `outcome`.
    """
    kern = kernel()
    schedule = system.schedule()
    periods = jnp.asarray(periods, jnp.int32)
    record = system.blank_record(state) if observe else None
    return jax.lax.while_loop(
        lambda m: (m.periods < periods) & (m.advances < numerics.limit * periods),
        lambda m: advance(system, schedule, m, numerics, kern),
        begin(system, state, record),
    )


def trace(
    system: HybridSystem, state: State, periods: int, numerics: Numerics, *, advances: int
) -> tuple[Motion, Motion]:
    """The motion and all its advances (stacked, at most `advances`), differentiable in reverse too.

    After the last period the motion stands still.
    """
    kern = kernel()
    schedule = system.schedule()

    def body(motion, _):
        moved = advance(system, schedule, motion, numerics, kern)
        done = motion.periods >= periods
        motion = jax.tree.map(lambda old, new: jnp.where(done, old, new), motion, moved)
        return motion, motion

    return jax.lax.scan(body, begin(system, state), None, length=advances)


def outcome(motion: Motion, periods: Array | int) -> Array:
    """Result code: successful, `event_limit` or, where the state is not finite, `not_converged`."""
    finite = jnp.isfinite(sum(jnp.asarray(s) for s in motion.state))
    limit = jnp.where(motion.periods < periods, code(RESULTS.event_limit), code(RESULTS.successful))
    return jnp.where(finite, limit, code(RESULTS.not_converged))


def _solution(
    system: HybridSystem,
    time: Series,
    state: State,
    mode: Mode,
    drive: Drive,
    h: Array,
    order: int,
    kern: Kernel,
) -> tuple[State, Callable[[], tuple[Any, ...]]]:
    """The state as series, each order of all its entries kept together, and what gives the guards."""
    rates: list[Series] = []
    products: list[Series] = []

    def entry(i: int, start: Array) -> Series:
        def rule(k: int) -> Any:
            if k == 0:
                return start
            rate = rates[i][k - 1]
            return None if rate is None else rate * h * (1.0 / k)

        return Series(rule, products)

    states = type(state)(*(entry(i, s) for i, s in enumerate(state)))
    flow, watch = system.laws(time, states, mode, drive)
    rates.extend(series(r) for r in flow)
    # Order by order, what the next order is built from is stored once.
    for k in range(1, order + 1):
        computed = [(s, k) for s in states] + [(p, k - 1) for p in products]
        computed = [(s, j) for s, j in computed if s[j] is not None]
        for (s, j), kept in zip(computed, kern.keep([s[j] for s, j in computed]), strict=True):
            s.replace(j, kept)
    return states, watch


def _largest(states: State, order: int) -> Array:
    """Largest of the last coefficients; of the last two for the first entry, should one vanish."""
    ends = [s[order] for s in states if s[order] is not None] + [states[0][order - 1]]
    worst = jnp.zeros_like(states[0][0])
    for c in ends:
        if c is not None:
            worst = jnp.maximum(worst, jnp.abs(jax.lax.stop_gradient(c)))
    return worst


def _filled(s: Series, like: Array, order: int) -> list[Array]:
    zero = jnp.zeros_like(like)
    return [zero if c is None else jnp.asarray(c, like.dtype) for c in s.coefficients(order)]


def _lengths(schedule: Schedule) -> list[Array]:
    ends = schedule.ends
    return [ends[0], *(b - a for a, b in zip(ends[:-1], ends[1:], strict=True))]


def _at(index: Array, choices: list[Any]) -> Any:
    """choices[index], by selection: quicker than a gather on few choices and many lanes."""
    picked = choices[-1]
    for i in range(len(choices) - 2, -1, -1):
        picked = jax.tree.map(lambda a, b, i=i: jnp.where(index == i, a, b), choices[i], picked)
    return picked
