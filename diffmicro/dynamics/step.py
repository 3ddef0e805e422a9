"""One advance of a hybrid motion: a Taylor step to its end, to the end of a segment, or to the first event.

The state is carried by its own Taylor series (`taylor`) to whatever comes first: the end of the step, the end of a
segment of the drive (a switch at a known time), or the first root of a guard (`roots`), where the system's
transition applies. The event time depends on state and parameters, and that dependence is kept, so derivatives
through any number of events contain the saltation terms by themselves, forward and reverse.

Lanes never wait for each other: every advance of every lane does the same arithmetic.

A step is `1 / steps` of the period at most, and shorter where the series converges slowly; the length carries no
derivative.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro.autodiff.rules import Changes, change_along, known
from diffmicro.dynamics import roots
from diffmicro.dynamics.kernel import Kernel
from diffmicro.dynamics.roots import NEVER, first_crossing, pick
from diffmicro.dynamics.series import value
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
from diffmicro.dynamics.taylor import Taylor, taylor


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
    record: PyTree


def begin(system: HybridSystem, state: State, record: PyTree = None) -> Motion:
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
    start = (motion.time, motion.state, motion.mode)
    along = taylor(system, segment, start, reach.length, numerics, kern)
    ending = _ending(system, motion, reach, along, kern)
    clock = jnp.where(ending.finished, segment.end, motion.time + ending.duration * reach.length)
    fired = ending.fired
    record = motion.record
    if record is not None:
        driven = bool(jax.tree.leaves(schedule.starts))
        step = Step(
            along.states,
            along.guards,
            ending.duration,
            reach.length,
            fired,
            ending.finished,
            ending.finished & driven,
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
    system: HybridSystem, motion: Motion, reach: _Reach, along: Taylor, kern: Kernel
) -> _Ending:
    accurate = along.accurate
    crossing = first_crossing(list(along.guards), accurate, kern)
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
        along.states,
        motion.mode,
        along.drive,
        along.rise,
        crossing.fired,
    )
    duration = jnp.where(fires, roots.root(_guard_at, moment, duration), duration)
    instant = reach.instant
    all_of_it = jnp.where(instant, 1.0, reach.whole / jnp.where(instant, 1.0, reach.length))
    (duration,) = kern.keep([jnp.where(finished, all_of_it, duration)])
    state = type(motion.state)(*kern.keep(_followed(moment, duration)))
    return _Ending(duration, state, tuple(f & fires for f in crossing.fired), finished, cap)


class _Moment(NamedTuple):
    """A step: what the state and a guard inside it depend on. `fired` marks which guard."""

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
