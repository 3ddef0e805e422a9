"""One advance of a hybrid motion: a Taylor step to its end, to the end of a segment, or to the first event.

The state is carried by its own Taylor series (`series`) to whatever comes first: the end of the step, the end of a
segment of the drive (a switch at a known time), or the first root of a guard (`roots`), where the system's
transition applies. The event time depends on state and parameters, and that dependence is kept, so derivatives
through any number of events contain the saltation terms by themselves, forward and reverse.

Lanes never wait for each other: every advance of every lane does the same arithmetic.

A step is `1 / steps` of the period at most, and shorter where the last Taylor coefficient says that the series
converges slowly (Jorba and Zou 2005); the length carries no derivative.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.autodiff.rules import Changes, change_along, known
from diffmicro.dynamics import roots
from diffmicro.dynamics.kernel import Kernel
from diffmicro.dynamics.roots import NEVER, first_crossing, pick
from diffmicro.dynamics.series import Series, line, series, value
from diffmicro.dynamics.system import (
    Drive,
    HybridSystem,
    Mode,
    Numerics,
    Schedule,
    Segment,
    State,
    Step,
)


class Motion(NamedTuple):
    """A hybrid motion under way.

    time: since the start of the period. segment: of the drive. periods: passed since the beginning.
    state, mode: where it is. cap: longest step allowed, of `1 / steps`; small where events crowd.
    advances: made since the beginning. record: what the system observes, or None.
    """

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
    segment = schedule.segment(motion.segment)
    reach = _reach(segment, motion, numerics)
    taylor = _taylor(system, segment, motion, reach, numerics, kern)
    ending = _ending(system, motion, reach, taylor, kern)
    clock = jnp.where(ending.finished, segment.end, motion.time + ending.duration * reach.length)
    fired = ending.fired
    record = motion.record
    if record is not None:
        step = Step(
            taylor.states,
            taylor.guards,
            ending.duration,
            reach.length,
            fired,
            ending.finished,
            motion.mode,
        )
        record = system.observe(record, step, ending.state)
    number = motion.segment + ending.finished.astype(jnp.int32)
    wrapped = number == len(schedule.ends)
    number = jnp.where(wrapped, 0, number)
    clock = jnp.where(wrapped, 0.0, clock)
    drive = schedule.segment(number).drive(clock)
    state, mode = system.transition(clock, ending.state, motion.mode, drive, fired, ending.finished)
    return Motion(
        time=clock,
        segment=number,
        periods=motion.periods + wrapped.astype(jnp.int32),
        state=state,
        mode=mode,
        cap=ending.cap,
        advances=motion.advances + 1,
        record=record,
    )


class _Reach(NamedTuple):
    """How far a step may go.

    whole: to the end of the segment, or as far as a step may be long. length: its value, for the series, which
    has a fixed length; the share of it that is followed has the derivative. last: the segment can end with it.
    instant: it takes no time.
    """

    whole: Array
    length: Array
    last: Array
    instant: Array


def _reach(segment: Segment, motion: Motion, numerics: Numerics) -> _Reach:
    remaining = segment.end - motion.time
    longest = motion.cap / numerics.steps
    last = remaining <= longest
    whole = jnp.where(last, remaining, longest)
    instant = whole <= 0
    return _Reach(whole, jnp.where(instant, whole, jax.lax.stop_gradient(whole)), last, instant)


class _Taylor(NamedTuple):
    """The motion over a step as polynomials of its share.

    states, guards: their coefficients. drive, rise: the drive at its start, and its change over the step.
    accurate: share of the step up to which the series is accurate.
    """

    states: State
    guards: tuple[list[Array], ...]
    drive: Drive
    rise: Drive
    accurate: Array


def _taylor(
    system: HybridSystem,
    segment: Segment,
    motion: Motion,
    reach: _Reach,
    numerics: Numerics,
    kern: Kernel,
) -> _Taylor:
    h, order = reach.length, numerics.order
    drive, rise = segment.drive(motion.time), segment.rise(h)
    along = jax.tree.map(line, drive, rise)
    time = line(motion.time, h)
    states, watch = _solution(system, time, motion.state, motion.mode, along, h, order, kern)
    guards = tuple(_filled(series(g), h, order) for g in watch())
    worst = jnp.maximum(_largest(states, order), _largest_of_guards(guards, h))
    quality = numerics.tolerance / (worst + jnp.finfo(h.dtype).tiny)
    # The eighth root is three square roots, which vectorize; near enough for orders 6 to 9.
    accurate = jax.lax.stop_gradient(jnp.minimum(1.0, jnp.sqrt(jnp.sqrt(jnp.sqrt(quality)))))
    polynomials = type(motion.state)(*(_filled(s, h, order) for s in states))
    return _Taylor(polynomials, guards, drive, rise, accurate)


class _Ending(NamedTuple):
    """How a step ends.

    duration: the share of it that is followed. state: there, before any transition. fired: guards that end it.
    finished: it ends the segment. cap: of the next step.
    """

    duration: Array
    state: State
    fired: tuple[Array, ...]
    finished: Array
    cap: Array


def _ending(
    system: HybridSystem, motion: Motion, reach: _Reach, taylor: _Taylor, kern: Kernel
) -> _Ending:
    accurate = taylor.accurate
    crossing = first_crossing(list(taylor.guards), accurate, kern)
    fires = (crossing.time < NEVER) & ~crossing.misordered
    duration = jnp.where(fires, crossing.time, accurate)
    duration = jnp.where(crossing.misordered, 0.0, duration)
    # Where events crowd, steps shrink to their scale at once and grow back one advance at a time.
    shorter = motion.cap * 0.25 * crossing.time
    cap = jnp.where(crossing.misordered, shorter, jnp.minimum(4.0 * motion.cap, 1.0))
    finished = reach.last & ~fires & ~crossing.misordered & (accurate >= 1.0)
    moment = _Moment(
        system,
        motion.time,
        jax.lax.stop_gradient(reach.length),
        taylor.states,
        motion.mode,
        taylor.drive,
        taylor.rise,
        crossing.fired,
    )
    duration = jnp.where(fires, roots.root(_guard_at, moment, duration), duration)
    instant = reach.instant
    all_of_it = jnp.where(instant, 1.0, reach.whole / jnp.where(instant, 1.0, reach.length))
    (duration,) = kern.keep([jnp.where(finished, all_of_it, duration)])
    state = type(motion.state)(*kern.keep(_followed(moment, duration)))
    return _Ending(duration, state, tuple(f & fires for f in crossing.fired), finished, cap)


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


def _followed(moment: _Moment, share: Array) -> State:
    """The state after a share of the step.

    Its derivative by time is the flow there. That of the polynomial is an order less accurate, and the difference
    looks like a sensitivity to the instants of switches at which nothing changes.
    """
    states, at = jax.lax.stop_gradient((moment.states, share))
    return known(_followed_rule, type(states)(*(value(p, at) for p in states)), (moment, share))


def _followed_rule(state: State, given: tuple[_Moment, Array], changes: Changes) -> State:
    moment, at = given
    time, drive = moment.at(at)
    rates = moment.system.flow(time, state, moment.mode, drive)

    def near(given: tuple[_Moment, Array]) -> State:
        passed = (given[1] - at) * moment.length
        pairs = zip(given[0].states, rates, strict=True)
        return type(state)(*(value(p, at) + r * passed for p, r in pairs))

    return change_along(near, given, changes)


def _guard_at(moment: _Moment, share: Array) -> Array:
    """The guard's value after a share of the step, from numbers: its series, with all their derivatives, would
    cost more than the rest of the step."""
    time, drive = moment.at(share)
    state = _followed(moment, share)
    return pick(moment.fired, moment.system.guards(time, state, moment.mode, drive))


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


def _largest_of_guards(guards: tuple[list[Array], ...], h: Array) -> Array:
    """Largest of the last two coefficients of the guards' integrals over time.

    What is at rest has no coefficients of its own, but the force that will set it free has. As integrals, guards
    that are accelerations ask for no shorter steps than the rates that they change. Two, as one may vanish.
    """
    worst = jnp.zeros_like(h)
    for guard in guards:
        for k in (len(guard) - 2, len(guard) - 1):
            worst = jnp.maximum(worst, jnp.abs(jax.lax.stop_gradient(guard[k] * h)) / (k + 1))
    return worst


def _filled(s: Series, like: Array, order: int) -> list[Array]:
    zero = jnp.zeros_like(like)
    return [zero if c is None else jnp.asarray(c, like.dtype) for c in s.coefficients(order)]
