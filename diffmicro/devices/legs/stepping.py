"""Steps of a foot on modes: tried, taken or changed in length, until an impact, a release or the next grid point.

See `motion` for the equations and for how events are located.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.devices.legs import ground
from diffmicro.devices.legs.curves import cubic, lowest, parabola, stationary
from diffmicro.devices.legs.lawson import Trial, try_step
from diffmicro.devices.legs.motion import (
    TURN,
    Drive,
    Foot,
    LegsMotion,
    Phase,
    Record,
    State,
    blank,
    foot_of,
    once_differentiable,
    phase_at,
    rounding_of,
)
from diffmicro.dynamics.kernel import Kernel, kernel
from diffmicro.dynamics.path import path

CHATTER = 1e-6
"""Rebounds slower than this [length/period], or that would fly for a shorter time [periods], end in contact."""


NO_GROUND = 1e6
"""How far below the foot the ground lies where there is none, in units of length."""


def chatter_of(system: LegsMotion) -> float:
    """`CHATTER`; in single precision the root of eps: lower flights are lost in the rounding of the height."""
    return max(CHATTER, float(jnp.finfo(system.gap.dtype).eps) ** 0.5)


class Flight(NamedTuple):
    """A motion under way, time in drive periods.

    step: grid points passed in this period. since: time since the last one. periods, advances: passed in all.
    phase, state, foot: where it is. closed: the foot is held on the ground.
    length: of the step to try next. low, high: the event that is searched for lies between them.
    whole: the step ends at a grid point. aimed: an event is being searched for. dipped: the step has been cut at a
    dip already. record: what was observed.
    """

    step: Array
    since: Array
    periods: Array
    advances: Array
    phase: Phase
    state: State
    foot: Foot
    closed: Array
    length: Array
    low: Array
    high: Array
    whole: Array
    aimed: Array
    dipped: Array
    record: Record


def begin(system: LegsMotion, state: State, count: Array, step: Array | int = 0) -> Flight:
    """A motion that starts in `state` at a grid point; a foot exactly at rest on the ground is held."""
    zero = jnp.zeros_like(system.gap)
    number = jnp.zeros((), jnp.int32)
    drive = system.drive()
    phase = phase_at(zero + step / count)
    never = jnp.zeros((), bool)
    foot = foot_of(system, drive, phase, state, never)
    rests = (jnp.abs(foot.height) < rounding_of(system)) & (
        jnp.abs(foot.speed) < chatter_of(system)
    )
    closed = rests & (foot.acceleration < 0)
    if system.compliant:
        closed = closed | (ground.guard(system, never, foot)[0] < 0)
        foot = foot_of(system, drive, phase, state, closed)
    return Flight(
        step=number + step,
        since=zero,
        periods=number,
        advances=number,
        phase=phase,
        state=state,
        foot=foot,
        closed=closed,
        length=zero + 1.0 / count,
        low=zero,
        high=zero + 2.0,
        whole=~never,
        aimed=never,
        dipped=never,
        record=blank(zero),
    )


class _Verdict(NamedTuple):
    """What becomes of a tried step.

    landed: it ends at an event. near: so close that one Newton correction reaches the event.
    retry: it is tried again with the length `tried`; the event lies between `low` and `high`.
    beyond: it passed an event. dip: it may have passed two, and is cut at the dip between them.
    """

    landed: Array
    near: Array
    retry: Array
    beyond: Array
    dip: Array
    tried: Array
    low: Array
    high: Array


class _Arrival(NamedTuple):
    """A step that is taken, after its event: positions and speeds of the modes, the foot just before the event.

    moved: how much later than the tried step's end it ends. lost: energy that an impact takes.
    impact, release, settles: which event; `settles` is an impact that ends in contact.
    """

    x: list[Array]
    v: list[Array]
    foot: Foot
    moved: Array
    lost: Array
    impact: Array
    release: Array
    settles: Array


def advance(system: LegsMotion, drive: Drive, count: Array, flight: Flight, kern: Kernel) -> Flight:
    """Try one step, and take it or change its length."""
    start = (flight.phase, flight.state, flight.foot, flight.closed)
    trial = try_step(system, drive, start, flight.length, kern)
    verdict = _judged(system, flight, trial)
    arrival = _arrived(system, drive, flight, trial, verdict, kern)
    onward = _taken(system, drive, count, flight, trial, verdict, arrival, kern)
    again = flight._replace(
        length=verdict.tried,
        low=verdict.low,
        high=verdict.high,
        whole=jnp.zeros_like(verdict.landed),
        aimed=flight.aimed | verdict.beyond,
        dipped=flight.dipped | verdict.dip,
    )
    chosen = jax.tree.map(lambda a, b: jnp.where(verdict.retry, a, b), again, onward)
    return chosen._replace(advances=flight.advances + 1)


def _judged(system: LegsMotion, flight: Flight, trial: Trial) -> _Verdict:
    """Whether the step ends at an event, passed one, or can be taken as it is. Carries no derivative.

    The guard is positive while the phase lasts: the height in the air, the pressing acceleration in contact, and
    on ground that yields what `ground` says.
    """
    still = jax.lax.stop_gradient
    length = still(flight.length)
    closed, foot, last = flight.closed, still(trial.foot), still(flight.foot)
    rounding = rounding_of(system)
    g0, start = still(_guard(system, closed, last, trial.lift))
    g1, slope = still(_guard(system, closed, foot, trial.lift))
    if not system.ground:
        g0, g1 = g0 + NO_GROUND, g1 + NO_GROUND
    secant = (g1 - g0) / length
    bend = jnp.where(closed, 2 * (slope - secant) / length, foot.acceleration)
    small = rounding
    if (
        not system.compliant
    ):  # in contact the guard is an acceleration, its rate at the start not known
        start = jnp.where(closed, secant, start)
        small = jnp.where(closed, 64 * jnp.finfo(g1.dtype).eps * (1 + jnp.abs(g0)), rounding)
    shift = -g1 / jnp.where(slope == 0, 1.0, slope)
    exact = float(jnp.finfo(g1.dtype).eps) ** 0.95
    linear = jnp.abs(bend * shift) < 1e-3 * jnp.abs(slope)
    near = (
        (slope < 0) & linear & (jnp.abs(bend) * shift * shift < exact) & (jnp.abs(shift) < length)
    )
    exhausted = flight.aimed & (flight.high - flight.low < 1e-3 * exact)
    landed = flight.aimed & (near | exhausted)
    beyond = (g1 < -small) & ~landed
    short = flight.aimed & ~landed & ~beyond

    # A dip between the ends, by the cubic through both: the step is cut there once.
    low_at, low_value, dips = lowest(last.height, last.speed, foot.height, foot.speed, length)
    suspicious = dips & ~closed & ~flight.dipped & ~flight.aimed & ~beyond
    suspicious = suspicious & (low_value < 1e-2 * (jnp.abs(g0) + jnp.abs(g1)))

    low = jnp.where(short, length, flight.low)
    high = jnp.where(beyond, length, flight.high)
    newton = length + shift
    guess = jnp.where(flight.aimed, newton, parabola(g0, start, g1, length))
    inside = (guess > low) & (guess < high)
    guess = jnp.where(inside, guess, 0.5 * (low + high))
    tried = jnp.where(suspicious, low_at, guess)
    retry = beyond | short | suspicious
    return _Verdict(landed, near, retry, beyond, suspicious, tried, low, high)


def _guard(system: LegsMotion, closed: Array, foot: Foot, lift: Array) -> tuple[Any, Any]:
    """Value and rate of what is positive while the phase lasts; `lift`: rate of the acceleration in contact."""
    if system.compliant:
        return ground.guard(system, closed, foot)
    value = jnp.where(closed, -foot.acceleration, foot.height)
    return value, jnp.where(closed, -lift, foot.speed)


def _arrived(
    system: LegsMotion,
    drive: Drive,
    flight: Flight,
    trial: Trial,
    verdict: _Verdict,
    kern: Kernel,
) -> _Arrival:
    """The landing's correction, then impact, contact or release."""
    closed, landed = flight.closed, verdict.landed
    guard, slope = _guard(system, closed, trial.foot, trial.lift)
    # An exhausted search has no slope worth following.
    follow = landed & verdict.near
    moved = jnp.where(follow, -guard / jnp.where(follow, slope, 1.0), 0.0)
    moved = once_differentiable(moved, follow)
    x = [a + moved * b for a, b in zip(trial.state.x, trial.state.v, strict=True)]
    v = [a + moved * b for a, b in zip(trial.state.v, trial.rates, strict=True)]
    impact, release = landed & ~closed, landed & closed
    acceleration = jax.lax.stop_gradient(trial.foot).acceleration
    foot = Foot(
        trial.foot.height + moved * trial.foot.speed,
        trial.foot.speed + moved * trial.foot.acceleration,
        trial.foot.acceleration,
    )
    rebound = -system.restitution * foot.speed
    settles = impact & (rebound < chatter_of(system) * (1.0 - acceleration)) & (acceleration < 0)
    kick = jnp.where(impact, jnp.where(settles, 0.0, rebound) - foot.speed, 0.0)
    if system.compliant:
        settles, kick = impact, jnp.zeros_like(kick)
    weighted = sum(drive.inverse[j] * v[j] for j in range(len(v))) + trial.weighted
    kick, moved = kern.keep([kick, moved])
    lost = -kick * weighted - 0.5 * kick * kick * sum(
        system.share[j] * drive.inverse[j] for j in range(len(v))
    )
    # In contact what rounding and the method's error leave of height and speed is taken out again.
    sink = jnp.where(impact | closed, foot.height, 0.0)
    slide = jnp.where(closed, trial.foot.speed, 0.0)
    if system.compliant:
        left = ground.guard(system, closed, foot)[0]
        sink, slide = jnp.where(landed, jnp.where(closed, -left, left), 0.0), jnp.zeros_like(slide)
        lost = ground.taken(system, flight.foot, foot, flight.length + moved)
        lost = jnp.where(closed, lost, 0.0)
    x = [a - system.share[j] * sink for j, a in enumerate(x)]
    v = [a + system.share[j] * (kick - slide) for j, a in enumerate(v)]
    return _Arrival(x, v, foot, moved, lost, impact, release, settles)


def _taken(
    system: LegsMotion,
    drive: Drive,
    count: Array,
    flight: Flight,
    trial: Trial,
    verdict: _Verdict,
    arrival: _Arrival,
    kern: Kernel,
) -> Flight:
    """The flight after a step that is taken: its clock, a switch of the drive, the foot, the record."""
    closed, landed, x = flight.closed, verdict.landed, arrival.x
    duration = flight.length + arrival.moved
    arrives = ~verdict.retry & ~landed & flight.whole
    step = flight.step + jnp.where(arrives, 1, 0).astype(jnp.int32)
    since = jnp.where(arrives, 0.0, flight.since + duration)
    wrapped = step >= count
    if system.square:
        switch = arrives & ((2 * step == count) | wrapped)
        sign = jnp.where(wrapped, -2.0, 2.0)
        x = [a + jnp.where(switch, sign, 0.0) * g for a, g in zip(x, drive.gain, strict=True)]
    step = jnp.where(wrapped, 0, step)
    phase = _later(trial.phase, arrival.moved, wrapped, 2 * step < count, kern)
    state = State(tuple(kern.keep(x)), tuple(kern.keep(arrival.v)))
    closed_now = (closed & ~arrival.release) | arrival.settles
    foot = foot_of(system, drive, phase, state, closed_now)
    rest = 1.0 / count - since
    if system.compliant:
        foot = ground.placed(system, foot, arrival.impact, arrival.release)
        most = ground.longest_step(system, count, foot)
        length = jnp.where(closed_now, jnp.minimum(rest, most), rest)
    else:
        length = rest
        # A switch of the drive can lift a resting foot at once.
        closed_now = closed_now & ~(arrives & (jax.lax.stop_gradient(foot.acceleration) >= 0))
        on_ground = closed_now | arrival.release
        foot = Foot(
            jnp.where(on_ground | arrival.impact, 0.0, foot.height),
            jnp.where(on_ground, 0.0, foot.speed),
            foot.acceleration,
        )
    return Flight(
        step=step,
        since=since,
        periods=flight.periods + jnp.where(wrapped, 1, 0).astype(jnp.int32),
        advances=flight.advances,
        phase=phase,
        state=state,
        foot=foot,
        closed=closed_now,
        length=length,
        low=jnp.zeros_like(verdict.low),
        high=jnp.zeros_like(verdict.high) + 2.0,
        whole=length >= rest,
        aimed=jnp.zeros_like(landed),
        dipped=flight.dipped & ~arrives & ~landed,
        record=_observe(system, flight, arrival.foot, duration, arrival.impact, arrival.lost),
    )


def _later(phase: Phase, moved: Array, wrapped: Array, rising: Array, kern: Kernel) -> Phase:
    """The drive's phase a little later; exact at the start of a period."""
    sine = phase.sine + TURN * phase.cosine * moved
    cosine = phase.cosine - TURN * phase.sine * moved
    sine, cosine = kern.keep([sine, cosine])
    return Phase(
        jnp.where(wrapped, 0.0, sine),
        jnp.where(wrapped, 1.0, cosine),
        jnp.where(rising, 1.0, -1.0),
    )


def _observe(
    system: LegsMotion,
    flight: Flight,
    end: Foot,
    duration: Array,
    impact: Array,
    lost: Array,
) -> Record:
    """The record after one taken step."""
    still = jax.lax.stop_gradient
    seen, begin, closed = flight.record, flight.foot, flight.closed
    turns = begin.speed * end.speed < 0
    if not system.compliant:
        turns = turns & ~closed
    # Where the foot does not turn, a curve that does, whose derivatives are finite.
    curve = (
        jnp.where(turns, begin.height, 1.0),
        jnp.where(turns, begin.speed, 1.0),
        jnp.where(turns, end.height, 1.0),
        jnp.where(turns, end.speed, -1.0),
    )
    extreme = cubic(*curve, duration, stationary(*curve, duration))
    top = jnp.where(turns & (begin.speed > 0), extreme, jnp.maximum(begin.height, end.height))
    bottom = jnp.where(turns & (begin.speed < 0), extreme, jnp.minimum(begin.height, end.height))
    touches, deepest = closed | impact, jnp.zeros_like(bottom)
    lowest_point = bottom
    top, bottom = jnp.where(closed, 0.0, top), jnp.where(touches, 0.0, bottom)
    area = 0.5 * duration * (begin.height + end.height)
    area = area + duration * duration * (begin.speed - end.speed) / 12.0
    if system.compliant:
        deepest = jnp.where(closed, jnp.maximum(-lowest_point, 0.0), 0.0)
        top, bottom = jnp.maximum(top, 0.0), jnp.maximum(bottom, 0.0)
        area = ground.above(begin, end, area)
    highest = jnp.maximum(seen.flight, top)
    opening = touches & (seen.first < 0)
    counts = impact & (highest > system.threshold) & ~opening
    bend = jnp.abs(end.acceleration)
    rate = jnp.where(counts, jnp.abs(end.speed), jnp.sqrt(2 * bend * jnp.maximum(bottom, 0.0)))
    dips = turns & (begin.speed < 0) & ~closed
    miss = jnp.where(counts | dips, still(rate / jnp.where(bend > 0, bend, 1.0)), 1.0)
    return Record(
        height=seen.height + jnp.where(closed, 0.0, area),
        peak=jnp.maximum(seen.peak, top),
        low=jnp.minimum(seen.low, bottom),
        flight=jnp.where(touches, 0.0, highest),
        bounces=seen.bounces + jnp.where(counts, 1.0, 0.0),
        heights=seen.heights + jnp.where(counts, highest, 0.0),
        contact=seen.contact + jnp.where(closed, duration, 0.0),
        loss=seen.loss + lost,
        margin=jnp.minimum(seen.margin, miss),
        impacts=seen.impacts + jnp.where(impact, 1.0, 0.0),
        first=jnp.where(opening, highest, seen.first),
        depth=jnp.maximum(seen.depth, deepest),
    )


LIMIT = 4.0
"""Advances allowed per grid step, and `ROOM` more per period: for events and what it takes to find them."""

ROOM = 4000


def _most(system: LegsMotion, count: Array, steps: Any, periods: Any) -> Any:
    """Advances allowed over `steps` grid steps within so many periods."""
    room = ROOM + (ground.room(system, count) if system.compliant else 0.0)
    return LIMIT * steps + room * periods


def run(
    system: LegsMotion, state: State, periods: Array | int, count: Array, record: Record
) -> Flight:
    """The motion after whole periods from `state`; forward derivatives. Falls short of them at the limit."""
    kern = kernel()
    drive = system.drive()
    periods = jnp.asarray(periods, jnp.int32)
    most = _most(system, count, count * periods, periods)
    start = begin(system, state, count)._replace(record=record)
    return loops.while_loop(
        lambda f: (f.periods < periods) & (f.advances < most),
        lambda f: advance(system, drive, count, f, kern),
        start,
    )


def trace(
    system: LegsMotion, state: State, count: Array, advances: int, periods: Array | int
) -> tuple[Flight, Flight]:
    """The motion and all its advances (stacked), differentiable in reverse too; see `dynamics.path`."""
    kern = kernel()
    drive = system.drive()

    def onward(flight: Flight) -> Flight:
        return advance(system, drive, count, flight, kern)

    return path(onward, begin(system, state, count), periods, advances)


def carry(system: LegsMotion, state: State, count: Array, first: Array, steps: int) -> Flight:
    """The motion over some grid steps from grid point `first`; forward derivatives. NaN if cut short."""
    kern = kernel()
    drive = system.drive()
    start = begin(system, state, count, first)
    most = _most(system, count, steps, jnp.ceil(steps / count))

    def short(flight: Flight) -> Array:
        return flight.periods * count + flight.step - first < steps

    flight = loops.while_loop(
        lambda f: short(f) & (f.advances < most),
        lambda f: advance(system, drive, count, f, kern),
        start,
    )
    whole = jnp.where(short(flight), jnp.nan, 1.0)
    return flight._replace(state=jax.tree.map(lambda x: x * whole, flight.state))
