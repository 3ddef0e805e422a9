"""Steps of a foot on modes: tried, taken or changed in length, until an impact, a release or the next grid point.

See `motion` for the equations and for how events are located, `flight` for what a motion under way is, `events`
for what ends a step.
"""

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.devices.legs import ground
from diffmicro.devices.legs.events import Arrival, Verdict, arrived, judged
from diffmicro.devices.legs.flight import Flight, begin
from diffmicro.devices.legs.lawson import Trial, try_step
from diffmicro.devices.legs.motion import (
    TURN,
    Drive,
    Foot,
    LegsMotion,
    Phase,
    Record,
    State,
    foot_of,
)
from diffmicro.devices.legs.observing import observed
from diffmicro.dynamics.kernel import Kernel, kernel
from diffmicro.dynamics.path import path

LIMIT = 4.0
"""Advances allowed per grid step, and `ROOM` more per period: for events and what it takes to find them."""

ROOM = 4000


def advance(system: LegsMotion, drive: Drive, count: Array, flight: Flight, kern: Kernel) -> Flight:
    """Try one step, and take it or change its length."""
    start = (flight.phase, flight.state, flight.foot, flight.closed)
    trial = try_step(system, drive, start, flight.length, kern)
    verdict = judged(system, flight, trial)
    arrival = arrived(system, drive, flight, trial, verdict, kern)
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


def _taken(
    system: LegsMotion,
    drive: Drive,
    count: Array,
    flight: Flight,
    trial: Trial,
    verdict: Verdict,
    arrival: Arrival,
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
        record=observed(system, flight, arrival.foot, duration, arrival.impact, arrival.lost),
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


def _most(system: LegsMotion, count: Array, steps: Array | int, periods: Array) -> Array:
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
