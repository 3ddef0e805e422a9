"""Steps of a foot on modes: tried, taken or changed in length, until an impact, a release or the next grid point.

See `legs_motion` for the equations and for how events are located.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.legs_motion import (
    CIRCLE,
    TURN,
    Drive,
    Foot,
    LegsMotion,
    Phase,
    Record,
    State,
    blank,
    foot_of,
    force_on_foot,
    linear_acceleration,
    once_differentiable,
    phase_at,
    rounding_of,
    steady_foot,
)
from diffmicro.dynamics.kernel import Kernel, kernel
from diffmicro.mechanics.films import electrostatic
from diffmicro.mechanics.modes import Propagator, short_propagator

CHATTER = 1e-6
"""Rebounds slower than this [length/period], or that would fly for a shorter time [periods], end in contact."""


def chatter_of(system: LegsMotion) -> float:
    """`CHATTER`; in single precision the root of eps: lower flights are lost in the rounding of the height."""
    return max(CHATTER, float(jnp.finfo(system.gap.dtype).eps) ** 0.5)


class Flight(NamedTuple):
    """A motion under way. `since`: time since the last grid point; the rest is about the step being tried."""

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
    foot = foot_of(system, drive, phase, state)
    rests = (jnp.abs(foot.height) < rounding_of(system)) & (
        jnp.abs(foot.speed) < chatter_of(system)
    )
    never = jnp.zeros((), bool)
    return Flight(
        number + step,
        zero,
        number,
        number,
        phase,
        state,
        foot,
        rests & (foot.acceleration < 0),
        zero + 1.0 / count,
        zero,
        zero + 2.0,
        ~never,
        never,
        never,
        blank(zero),
    )


class Trial(NamedTuple):
    """The end of a tried step, and the rates of all modes there; `lift`: rate of the foot's acceleration in
    contact."""

    state: State
    foot: Foot
    rates: tuple[Array, ...]
    lift: Array
    weighted: Array
    phase: Phase


def _try(system: LegsMotion, drive: Drive, flight: Flight, kern: Kernel) -> Trial:
    """One step of Lawson's method."""
    n, w, zeta, m, s = (
        system.modes(),
        system.frequency,
        system.damping,
        system.mobility,
        system.share,
    )
    length, half = flight.length, 0.5 * flight.length
    x, v = flight.state
    halfway = [short_propagator(w[j], zeta[j], drive.series[j], half) for j in range(n)]
    kept = kern.keep([entry for p in halfway for entry in (p.gain, p.hold)])
    halfway = [
        Propagator(b + 2 * zeta[j] * w[j] * a, a, -w[j] * w[j] * a, b)
        for j, (a, b) in enumerate(zip(kept[::2], kept[1::2], strict=True))
    ]
    turn = short_propagator(TURN, 0.0, CIRCLE, half)
    turn = kern.keep([TURN * turn.gain, turn.hold])
    middle_phase = flight.phase.later(*turn)
    end_phase = middle_phase.later(*turn)
    whole = [p.twice() for p in halfway]
    middle = [p(a, b) for p, a, b in zip(halfway, x, v, strict=True)]
    end = [p(a, b) for p, a, b in zip(whole, x, v, strict=True)]

    def response(weights: Any) -> tuple[Any, Any, Any, Any]:
        """Displacement, speed, acceleration half a step after an impulse that is shared so; acceleration at
        once."""
        a = [weights[j] * halfway[j].gain for j in range(n)]
        b = [weights[j] * halfway[j].hold for j in range(n)]
        still = [jnp.zeros_like(length)] * n
        return (
            sum(a),
            sum(b),
            linear_acceleration(system, a, b),
            linear_acceleration(system, still, weights),
        )

    by_force = response(m)
    by_contact = by_force if system.impulsive else response(s)
    held = jnp.where(flight.closed, 1.0, 0.0)
    p2, dp2, ddp2, _, square2 = steady_foot(system, drive, middle_phase)
    p4, dp4, ddp4, weighted, square4 = steady_foot(system, drive, end_phase)
    xm, vm = zip(*middle, strict=True)
    xe, ve = zip(*end, strict=True)
    values = [
        sum(xm) + p2 + system.gap,
        sum(vm) + dp2,
        linear_acceleration(system, xm, vm) + ddp2,
        sum(xe) + p4 + system.gap,
        sum(ve) + dp4,
        linear_acceleration(system, xe, ve) + ddp4,
        *by_force,
    ]
    h2, v2, a2, h4, v4, a4, *by_force = kern.keep(values)

    def stage(
        height: Array, speed: Array, acceleration: Array, square: Array
    ) -> tuple[Array, Array]:
        force = force_on_foot(system, height, speed, square)
        return force, -held * (acceleration + force)

    # At the start the acceleration contains the force already.
    _, _, _, _, square1 = steady_foot(system, drive, flight.phase)
    k1 = force_on_foot(system, flight.foot.height, flight.foot.speed, square1)
    c1 = -held * flight.foot.acceleration

    def after(k: Array, c: Array, share: Array, i: int) -> Array:
        return share * (k * by_force[i] + c * by_contact[i])

    k2, c2 = stage(
        h2 + after(k1, c1, half, 0),
        v2 + after(k1, c1, half, 1),
        a2 + after(k1, c1, half, 2),
        square2,
    )
    k3, c3 = stage(h2, v2 + half * (k2 + c2), a2 + after(k2, c2, half, 3), square2)
    k4, c4 = stage(
        h4 + after(k3, c3, length, 0),
        v4 + after(k3, c3, length, 1),
        a4 + after(k3, c3, length, 2),
        square4,
    )
    sixth = length / 6.0
    pushes = [(m, k1 * sixth, (k2 + k3) * (2 * sixth), k4 * sixth)]
    pulls = (c1 * sixth, (c2 + c3) * (2 * sixth), c4 * sixth)
    if system.impulsive:
        pushes = [(m, *kern.keep([a + b for a, b in zip(pushes[0][1:], pulls, strict=True)]))]
    else:
        pushes = [(m, *kern.keep(pushes[0][1:])), (s, *kern.keep(pulls))]
    new_x, new_v = list(xe), list(ve)
    for j in range(n):
        for weights, first, both, last in pushes:
            new_x[j] = new_x[j] + weights[j] * (first * whole[j].gain + both * halfway[j].gain)
            new_v[j] = new_v[j] + weights[j] * (
                first * whole[j].hold + both * halfway[j].hold + last
            )
    kept = kern.keep([*new_x, *new_v])
    state = State(tuple(kept[:n]), tuple(kept[n:]))
    height, speed = system.gap + sum(state.x) + p4, sum(state.v) + dp4
    force = force_on_foot(system, height, speed, square4)
    acceleration = linear_acceleration(system, state.x, state.v) + ddp4 + force
    height, speed, force, acceleration = kern.keep([height, speed, force, acceleration])
    contact = -held * acceleration
    rates = tuple(
        -w[j] * (w[j] * state.x[j] + 2 * zeta[j] * state.v[j]) + m[j] * force + s[j] * contact
        for j in range(n)
    )
    # At rest on the ground the film does not act, and the attraction follows the voltage alone.
    lift = linear_acceleration(system, state.v, rates) - TURN**2 * dp4
    if not system.square:
        swing = 2 * TURN * end_phase.sine * end_phase.cosine
        lift = lift + swing * electrostatic(0.0, 1.0, system.pull, system.pull_offset)
    return Trial(state, Foot(height, speed, acceleration), rates, lift, weighted, end_phase)


def advance(system: LegsMotion, drive: Drive, count: Array, flight: Flight, kern: Kernel) -> Flight:
    """Try one step, and take it or change its length."""
    grid = 1.0 / count
    trial = _try(system, drive, flight, kern)
    still = jax.lax.stop_gradient
    length = still(flight.length)
    closed, foot, last = flight.closed, still(trial.foot), still(flight.foot)
    rounding = rounding_of(system)

    # What ends the phase when it falls below zero, at both ends of the step, and its slope at the end.
    g0 = jnp.where(closed, -last.acceleration, last.height)
    g1 = jnp.where(closed, -foot.acceleration, foot.height)
    secant = (g1 - g0) / length
    slope = jnp.where(closed, -still(trial.lift), foot.speed)
    start = jnp.where(closed, secant, last.speed)
    bend = jnp.where(closed, 2 * (slope - secant) / length, foot.acceleration)
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
    low_at, low_value, dips = _lowest(g0, start, g1, slope, length)
    suspicious = dips & ~closed & ~flight.dipped & ~flight.aimed & ~beyond
    suspicious = suspicious & (low_value < 1e-2 * (jnp.abs(g0) + jnp.abs(g1)))
    retry = beyond | short | suspicious

    low = jnp.where(short, length, flight.low)
    high = jnp.where(beyond, length, flight.high)
    newton = length + shift
    guess = jnp.where(flight.aimed, newton, _parabola(g0, start, g1, length))
    inside = (guess > low) & (guess < high)
    guess = jnp.where(inside, guess, 0.5 * (low + high))
    tried = jnp.where(suspicious, low_at, guess)

    # A taken step: the landing's correction, then impact, contact or release.
    real_slope = jnp.where(closed, -trial.lift, trial.foot.speed)
    guard = jnp.where(closed, -trial.foot.acceleration, trial.foot.height)
    # An exhausted search has no slope worth following.
    follow = landed & near
    moved = jnp.where(follow, -guard / jnp.where(follow, real_slope, 1.0), 0.0)
    moved = once_differentiable(moved, follow)
    duration = flight.length + moved
    x = [a + moved * b for a, b in zip(trial.state.x, trial.state.v, strict=True)]
    v = [a + moved * b for a, b in zip(trial.state.v, trial.rates, strict=True)]
    impact, release = landed & ~closed, landed & closed
    acceleration = foot.acceleration
    arrived = Foot(
        trial.foot.height + moved * trial.foot.speed,
        trial.foot.speed + moved * trial.foot.acceleration,
        trial.foot.acceleration,
    )
    speed = arrived.speed
    rebound = -system.restitution * speed
    settles = impact & (rebound < chatter_of(system) * (1.0 - acceleration)) & (acceleration < 0)
    kick = jnp.where(impact, jnp.where(settles, 0.0, rebound) - speed, 0.0)
    weighted = sum(drive.inverse[j] * v[j] for j in range(len(v))) + trial.weighted
    kick, moved = kern.keep([kick, moved])
    lost = -kick * weighted - 0.5 * kick * kick * sum(
        system.share[j] * drive.inverse[j] for j in range(len(v))
    )
    # In contact what rounding and the method's error leave of height and speed is taken out again.
    sink = jnp.where(impact | closed, arrived.height, 0.0)
    slide = jnp.where(closed, trial.foot.speed, 0.0)
    x = [a - system.share[j] * sink for j, a in enumerate(x)]
    v = [a + system.share[j] * (kick - slide) for j, a in enumerate(v)]

    arrives = ~retry & ~landed & flight.whole
    step = flight.step + jnp.where(arrives, 1, 0).astype(jnp.int32)
    since = jnp.where(arrives, 0.0, flight.since + duration)
    wrapped = step >= count
    if system.square:
        switch = arrives & ((2 * step == count) | wrapped)
        sign = jnp.where(wrapped, -2.0, 2.0)
        x = [a + jnp.where(switch, sign, 0.0) * g for a, g in zip(x, drive.gain, strict=True)]
    step = jnp.where(wrapped, 0, step)
    late = trial.phase
    sine, cosine = late.sine + TURN * late.cosine * moved, late.cosine - TURN * late.sine * moved
    sine, cosine = kern.keep([sine, cosine])
    phase = Phase(
        jnp.where(wrapped, 0.0, sine),
        jnp.where(wrapped, 1.0, cosine),
        jnp.where(2 * step < count, 1.0, -1.0),
    )
    taken = State(tuple(kern.keep(x)), tuple(kern.keep(v)))
    closed_now = (closed & ~release) | settles
    fresh = foot_of(system, drive, phase, taken)
    # A switch of the drive can lift a resting foot at once.
    closed_now = closed_now & ~(arrives & (still(fresh.acceleration) >= 0))
    fresh = Foot(
        jnp.where(closed_now | release | impact, 0.0, fresh.height),
        jnp.where(closed_now | release, 0.0, fresh.speed),
        fresh.acceleration,
    )
    record = _observe(system, flight, arrived, duration, impact, lost)
    onward = Flight(
        step,
        since,
        flight.periods + jnp.where(wrapped, 1, 0).astype(jnp.int32),
        flight.advances,
        phase,
        taken,
        fresh,
        closed_now,
        grid - since,
        jnp.zeros_like(low),
        jnp.zeros_like(high) + 2.0,
        jnp.ones_like(landed),
        jnp.zeros_like(landed),
        flight.dipped & ~arrives & ~landed,
        record,
    )
    again = flight._replace(
        length=tried,
        low=low,
        high=high,
        whole=jnp.zeros_like(landed),
        aimed=flight.aimed | beyond,
        dipped=flight.dipped | suspicious,
    )
    chosen = jax.tree.map(lambda a, b: jnp.where(retry, a, b), again, onward)
    return chosen._replace(advances=flight.advances + 1)


def _parabola(g0: Array, slope: Array, g1: Array, length: Array) -> Array:
    """First root of the parabola with value and slope at 0 and the value g1 < 0 at the end, not the root at 0."""
    bend = (g1 - g0 - slope * length) / (length * length)
    root = jnp.sqrt(jnp.maximum(slope * slope - 4 * bend * g0, 0.0))
    rising = slope > 0
    top = jnp.where(rising, slope + root, 2 * g0)
    bottom = jnp.where(rising, -2 * bend, root - slope)
    return top / jnp.where(bottom == 0, 1.0, bottom)


def _cubic(g0: Array, s0: Array, g1: Array, s1: Array, length: Array, share: Array) -> Array:
    """The cubic with these values and slopes at both ends, at a share of the step."""
    rise = g1 - g0
    a, b = s0 * length - rise, rise - s1 * length
    other = 1.0 - share
    return g0 * other + g1 * share + share * other * (a * other + b * share)


def _stationary(g0: Array, s0: Array, g1: Array, s1: Array, length: Array) -> Array:
    """Share of the step at which that cubic, its slopes of unlike signs, turns around."""
    rise = (g1 - g0) / length
    # Slope of the cubic: s0 (1 - 4 t + 3 t^2) + s1 (3 t^2 - 2 t) + 6 rise (t - t^2).
    a = 3 * (s0 + s1) - 6 * rise
    b = 6 * rise - 4 * s0 - 2 * s1
    root = jnp.sqrt(jnp.maximum(b * b - 4 * a * s0, 0.0))
    bottom = jnp.where(s0 < 0, -root, root) - b
    share = 2 * s0 / jnp.where(bottom == 0, 1.0, bottom)
    return jnp.clip(share, 0.0, 1.0)


def _lowest(
    g0: Array, s0: Array, g1: Array, s1: Array, length: Array
) -> tuple[Array, Array, Array]:
    """Time and value of a dip between the ends, and whether there is one."""
    share = _stationary(g0, s0, g1, s1, length)
    dips = (s0 < 0) & (s1 > 0) & (share > 0) & (share < 1)
    return share * length, _cubic(g0, s0, g1, s1, length, share), dips


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
    turns = (begin.speed * end.speed < 0) & ~closed
    # Where the foot does not turn, a curve that does, whose derivatives are finite.
    curve = (
        jnp.where(turns, begin.height, 1.0),
        jnp.where(turns, begin.speed, 1.0),
        jnp.where(turns, end.height, 1.0),
        jnp.where(turns, end.speed, -1.0),
    )
    extreme = _cubic(*curve, duration, _stationary(*curve, duration))
    top = jnp.where(turns & (begin.speed > 0), extreme, jnp.maximum(begin.height, end.height))
    bottom = jnp.where(turns & (begin.speed < 0), extreme, jnp.minimum(begin.height, end.height))
    touches = closed | impact
    top, bottom = jnp.where(closed, 0.0, top), jnp.where(touches, 0.0, bottom)
    area = 0.5 * duration * (begin.height + end.height)
    area = area + duration * duration * (begin.speed - end.speed) / 12.0
    highest = jnp.maximum(seen.flight, top)
    opening = touches & (seen.first < 0)
    counts = impact & (highest > system.threshold) & ~opening
    bend = jnp.abs(end.acceleration)
    rate = jnp.where(counts, jnp.abs(end.speed), jnp.sqrt(2 * bend * jnp.maximum(bottom, 0.0)))
    dips = turns & (begin.speed < 0)
    miss = jnp.where(counts | dips, still(rate / jnp.where(bend > 0, bend, 1.0)), 1.0)
    return Record(
        height=seen.height + jnp.where(closed, 0.0, area),
        peak=jnp.maximum(seen.peak, top),
        low=jnp.minimum(seen.low, bottom),
        flight=jnp.where(touches, 0.0, highest),
        bounces=seen.bounces + jnp.where(counts, 1.0, 0.0),
        heights=seen.heights + jnp.where(counts, highest, 0.0),
        contact=seen.contact + jnp.where(closed, duration, 0.0),
        loss=seen.loss + jnp.where(impact, lost, 0.0),
        margin=jnp.minimum(seen.margin, miss),
        impacts=seen.impacts + jnp.where(impact, 1.0, 0.0),
        first=jnp.where(opening, highest, seen.first),
    )


LIMIT = 4.0
"""Advances allowed per grid step, and `ROOM` more per period: for events and what it takes to find them."""

ROOM = 4000


def run(system: LegsMotion, state: State, periods: Array, count: Array, record: Record) -> Flight:
    """The motion after whole periods from `state`; forward derivatives. Falls short of them at the limit."""
    kern = kernel()
    drive = system.drive()
    periods = jnp.asarray(periods, jnp.int32)
    most = (LIMIT * count + ROOM) * periods
    start = begin(system, state, count)._replace(record=record)
    return jax.lax.while_loop(
        lambda f: (f.periods < periods) & (f.advances < most),
        lambda f: advance(system, drive, count, f, kern),
        start,
    )


def trace(
    system: LegsMotion, state: State, count: Array, advances: int, periods: Array | int
) -> tuple[Flight, Flight]:
    """The motion and all its advances (stacked), differentiable in reverse too; it stops after `periods`."""
    kern = kernel()
    drive = system.drive()

    def body(flight: Flight, _: None) -> tuple[Flight, Flight]:
        onward = advance(system, drive, count, flight, kern)
        done = flight.periods >= periods
        flight = jax.tree.map(lambda a, b: jnp.where(done, a, b), flight, onward)
        return flight, flight

    return jax.lax.scan(body, begin(system, state, count), None, length=advances)


def carry(system: LegsMotion, state: State, count: Array, first: Array, steps: int) -> Flight:
    """The motion over some grid steps from grid point `first`; forward derivatives."""
    kern = kernel()
    drive = system.drive()
    start = begin(system, state, count, first)
    most = LIMIT * steps + ROOM

    def unfinished(flight: Flight) -> Array:
        done = flight.periods * count + flight.step - first
        return (done < steps) & (flight.advances < most)

    return jax.lax.while_loop(unfinished, lambda f: advance(system, drive, count, f, kern), start)
