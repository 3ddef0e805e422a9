"""Where a leg's motion goes from rest: to a periodic motion, or to one that never repeats.

Several motions are simulated through the transient and a while longer: the one from the start, `TWINS` from
slightly different starts, and a shadow of the first, brought back to a small distance after every period,
whose growth is the Lyapunov exponent (Benettin et al. 1980). If the last states return after n periods, the
periodic motion is found by Newton's method and differentiated as a fixed point (`dynamics/orbits`). It counts
if it is stable and the motion and all twins have come close: where they part, the transient is chaotic, and
which motion a robot shows is a matter of chance. If there is none, the whole window is simulated, and looked
at again; its statistics are those of the motion and its twins together.

Orbits are followed over `lumped.shortest_orbit` at least: over a period of a fast drive slow modes hardly decay,
and a map that hardly contracts counts as one that does not. `smallest_period` finds the motion's own period.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.autodiff.rules import substitute
from diffmicro.devices.legs import stepping
from diffmicro.devices.legs.motion import LegsMotion, Record, State, blank, closed_up
from diffmicro.dynamics.fixed_point import Orbit, PeriodMap, differentiable
from diffmicro.dynamics.orbits import FOLLOW, MAX_MULTIPLE, RESIDUAL, RETURNS, STABLE, find_orbit
from diffmicro.results import RESULTS, code

TWINS = 6
"""Motions from slightly different starts: with the shadow eight lanes, one vector of the processor."""

TWIN_OFFSET = 1e-2
"""Distance between the starts of twins [natural units], some hundredths of a micrometer."""

CLOSE = 1e-3
"""Distance from the orbit [natural units] to which all motions have to have come."""

EARLY = 20
"""Periods after the transient before the first look."""

COARSE_WARMUP = 10.0
"""Tolerance of the transient and the window over that of the periodic motion: what the transient lacks in accuracy
decays, and a long mean is known to its scatter at best, but a gradient's error is a hundred times the value's."""

ROUNDING = 40
"""Residual of a periodic motion that is rounding [eps of the largest entry of the state], as in `orbits`."""


class Settled(NamedTuple):
    """The orbit, and the statistics of the window, by motion (the last one the shadow), where there is none.

    `periods`: since the end of the transient; `growth`: logarithm of the shadow's growth over them;
    `recent`: states after the last periods.
    """

    orbit: Orbit
    record: Record
    periods: Array
    growth: Array
    states: Array
    recent: Array
    outcome: Array


def pack(state: State) -> Array:
    """A state as one vector."""
    return jnp.stack([*state.x, *state.v])


def unpack(vector: Array) -> State:
    """The state of a vector."""
    n = vector.shape[0] // 2
    return State(tuple(vector[i] for i in range(n)), tuple(vector[i] for i in range(n, 2 * n)))


def period_map(unravel: Callable[[Array], LegsMotion], steps: int) -> PeriodMap:
    """The map of states over periods that `orbits` wants; it observes a `Record`. Cut short, it is NaN."""

    def mapped(parameters, state, periods, tolerance, look=True):
        del look
        system = unravel(parameters)
        record = blank(system.gap)
        state, record = _onward(system, system.steps(steps, tolerance), periods, state, record)
        return state, jnp.stack(closed_up(system, record))

    return mapped


def _onward(
    system: LegsMotion, count: Array, periods: Array | int, state: Array, record: Record
) -> tuple[Array, Record]:
    flight = stepping.run(system, unpack(state), periods, count, record)
    whole = jnp.where(flight.periods >= periods, 1.0, jnp.nan)
    return pack(flight.state) * whole, flight.record


def follow(
    mapped: PeriodMap, parameters: Array, start: Array, tolerance: Array, multiple: Array
) -> Orbit:
    """The periodic motion next to `start`, with derivatives."""
    q, start, fine = jax.lax.stop_gradient((parameters, start, tolerance))
    found = _judged(find_orbit(mapped, q, start, FOLLOW, fine, multiple))
    return differentiable(mapped, parameters, found, tolerance)


def lengthened(multiple: Array, shortest: Array) -> Array:
    """The least multiple of a period that lasts `shortest` drive periods or more."""
    return (multiple * jnp.ceil(shortest / multiple)).astype(jnp.int32)


def smallest_period(mapped: PeriodMap, q: Array, orbit: Orbit, tolerance: Array) -> Array:
    """The period of the motion itself, a divisor of the orbit's: after it the state is back for the first time."""
    q, state, fine = jax.lax.stop_gradient((q, orbit.state, tolerance))
    limit = jnp.maximum(RESIDUAL, _rounding(state))

    def onward(at: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, z, _ = at
        z, k = mapped(q, z, jnp.ones_like(k), fine, look=False)[0], k + 1
        return k, z, (orbit.periods % k == 0) & (jnp.max(jnp.abs(z - state)) < limit)

    def searching(at: tuple[Array, Array, Array]) -> Array:
        return (at[0] < orbit.periods - 1) & ~at[2]

    begin = (jnp.zeros_like(orbit.periods), state, ~orbit.accepted)
    k, _, back = loops.while_loop(searching, onward, begin)
    return jnp.where(back, k, orbit.periods)


def _rounding(state: Array) -> Array:
    """Residual that is rounding."""
    size = jnp.maximum(jnp.max(jnp.abs(state)), 1.0)
    return ROUNDING * float(jnp.finfo(state.dtype).eps) * size


def _judged(orbit: Orbit) -> Orbit:
    """The orbit, accepted as well if all that is left of the residual is rounding.

    `orbits` takes states for numbers of order one, but speeds of fast modes are some tens: in single precision
    their rounding is above its limit.
    """
    settled = (orbit.residual < _rounding(orbit.state)) & (orbit.multiplier < STABLE)
    return orbit._replace(accepted=orbit.accepted | settled)


class Observed(NamedTuple):
    """Record, state, growth of a disturbance per period, multiplier, error of the mean height, status."""

    record: Record
    state: Array
    growth: Array
    multiplier: Array
    spread: Array
    outcome: Array


def observed(orbit: Orbit, window: Settled | None) -> Observed:
    """What is known of a periodic motion; where there is none, of the window, with derivatives that are NaN.

    `window` None: only the orbit was looked for.
    """
    seen, accepted, state = Record(*orbit.observed), orbit.accepted, orbit.state
    periods = orbit.periods.astype(state.dtype)
    growth = jnp.log(jnp.maximum(orbit.multiplier, jnp.finfo(state.dtype).tiny)) / periods
    outcome = jnp.where(accepted, code(RESULTS.successful), code(RESULTS.no_orbit))
    if window is None:
        return Observed(seen, state, growth, orbit.multiplier, jnp.zeros_like(growth), outcome)
    count = window.periods.astype(periods.dtype)
    each = jax.tree.map(lambda x: x[:-1], window.record)
    stand_in = jax.tree.map(lambda x: jnp.mean(x) * (periods / count), each)
    extremes = {name: jnp.mean(getattr(each, name)) for name in ("peak", "low", "depth")}
    extremes["margin"] = jnp.min(each.margin)
    stand_in = stand_in._replace(**extremes)
    # Where there is no orbit its derivative, NaN, goes with the number that stands in its place.
    seen = jax.tree.map(
        lambda own, other: substitute(jnp.where(accepted, jax.lax.stop_gradient(own), other), own),
        seen,
        jax.lax.stop_gradient(stand_in),
    )
    last = jnp.where(accepted, state, window.states[0])
    growth = jnp.where(accepted, growth, window.growth / count)
    spread = jnp.std(each.height / count, ddof=1) / each.height.shape[0] ** 0.5
    return Observed(
        seen,
        substitute(jax.lax.stop_gradient(last), state),
        growth,
        jnp.where(accepted, orbit.multiplier, jnp.exp(growth)),
        jnp.where(accepted, 0.0, spread),
        jnp.where(accepted, outcome, window.outcome),
    )


def settle(
    mapped: PeriodMap,
    unravel: Callable[[Array], LegsMotion],
    parameters: Array,
    start: Array,
    tolerance: Array,
    steps: int,
    transient: Array,
    window: Array,
    shortest: Array,
    beside: Array | bool = False,
    multiple: Array | int = 1,
) -> Settled:
    """The motion from `start` after `transient` periods, over `window` periods if it does not repeat.

    beside: nothing is simulated; the motion is the one of `multiple` periods next to `start`, as in `follow`.
    """
    q, start, fine = jax.lax.stop_gradient((parameters, start, tolerance))
    system: LegsMotion = unravel(q)
    count = system.steps(steps, COARSE_WARMUP * fine)
    near = float(jnp.finfo(start.dtype).eps) ** 0.5
    starts, side = _twins(start, near)

    def one_period(carry: tuple) -> tuple:
        return _one_period(system, count, near, side, carry)

    early = jnp.minimum(EARLY, window)
    beside, no_orbit = jnp.asarray(beside), jnp.asarray(code(RESULTS.no_orbit))

    def attempt(known: Settled) -> Settled:
        first = known.periods < 0
        until = jnp.where(first, early, window)
        begin = (known.periods, known.states, known.record, known.growth, known.recent)

        def unfinished(carry):
            # A motion at the limit of events is lost, and the window with it.
            return (carry[0] < until) & jnp.all(jnp.isfinite(carry[1][:-1])) & ~beside

        _, states, records, growth, recent = loops.while_loop(unfinished, one_period, begin)
        apart = jnp.max(jnp.abs(recent[:-1, 0] - recent[-1:, 0]), axis=-1)
        returns = (apart < RETURNS)[::-1]
        period = jnp.where(jnp.any(returns), jnp.argmax(returns) + 1, 1)
        period = lengthened(jnp.where(beside, multiple, period), shortest)
        finite = jnp.all(jnp.isfinite(states[:-1]))
        lost = jnp.where(finite, code(RESULTS.erratic), code(RESULTS.event_limit))
        guess = jnp.where(finite, states[0], jnp.nan)  # no search where a motion was lost
        orbit = _judged(find_orbit(mapped, q, guess, FOLLOW, fine, period))
        # Twins may be in another phase of a longer period, so the closest of the last states counts.
        distance = jnp.max(jnp.abs(recent - orbit.state[None, None, :]), axis=-1)
        reached = jnp.all(jnp.min(distance, axis=0) < CLOSE) & jnp.any(returns)
        return Settled(
            orbit._replace(accepted=orbit.accepted & (reached | beside)),
            records,
            jnp.where(beside, window, until),
            growth,
            states,
            recent,
            jnp.where(beside, no_orbit, lost),
        )

    unknown = _no_orbit(start, q)
    recent = jnp.zeros((MAX_MULTIPLE + 1, *starts[:-1].shape), start.dtype)
    records = jax.vmap(blank)(starts[:, 0])
    found = loops.while_loop(
        lambda known: (known.periods < window) & ~known.orbit.accepted,
        attempt,
        Settled(unknown, records, -transient - 1, fine * 0.0, starts, recent, no_orbit),
    )
    return found._replace(orbit=differentiable(mapped, parameters, found.orbit, tolerance))


def _twins(start: Array, near: float) -> tuple[Array, Array]:
    """The start, those of its twins and of the shadow; and the way from the first to the last."""
    side = jnp.where(jnp.arange(start.shape[0]) % 2 == 0, near, -near).astype(start.dtype)
    offsets = jnp.array([0.0, *(TWIN_OFFSET * (i + 1) for i in range(TWINS)), 0.0], start.dtype)
    shadow = jnp.zeros((2 + TWINS, 1), start.dtype).at[-1].set(1.0)
    return start[None, :] + offsets[:, None] + shadow * side[None], side


def _one_period(system: LegsMotion, count: Array, near: float, side: Array, carry: tuple) -> tuple:
    """All twins one period on. The last one, `near` the first, shows how their distance grows."""
    k, states, records, growth, recent = carry
    # What the transient showed does not count.
    fresh = jax.vmap(blank)(states[:, 0])
    records = jax.tree.map(lambda a, b: jnp.where(k == 0, a, b), fresh, records)
    growth = jnp.where(k == 0, 0.0, growth)
    advance = jax.vmap(lambda z, r: _onward(system, count, 1, z, r))
    states, records = advance(states, records)
    apart = states[-1] - states[0]
    size = jnp.sqrt(jnp.sum(apart * apart))
    alive = (size > 0) & jnp.isfinite(size)
    unit = jnp.where(alive, apart / jnp.where(alive, size, 1.0), side / near)
    root = jnp.sqrt(1.0 * side.shape[0])
    ratio = jnp.where(alive, size / (near * root), 1.0)
    states = states.at[-1].set(states[0] + unit * near * root)
    recent = jnp.concatenate([recent[1:], states[None, :-1]])
    return k + 1, states, records, growth + jnp.log(ratio), recent


def _no_orbit(start: Array, q: Array) -> Orbit:
    """What is known before the first look, of the shapes of what is found."""
    seen = len(Record._fields)
    zero = jnp.zeros_like(start[0])
    matrix = jnp.zeros((start.size + seen, start.size + q.size), start.dtype)
    one, observed = jnp.ones((), jnp.int32), jnp.zeros(seen, start.dtype)
    never = jnp.zeros((), bool)
    return Orbit(start, observed, zero, zero, one, never, start[None, :], matrix)
