"""The response: outputs with units, how they are calculated, and what speaks against their gradients."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro.autodiff.rules import substitute
from diffmicro.devices.legs.design import Design, Setting
from diffmicro.devices.legs.lumped import Units, free_amplitude, lump, scaled, shortest_orbit
from diffmicro.devices.legs.motion import MOST_IN_ALL, MOST_STEPS, LegsMotion
from diffmicro.devices.legs.rules import HARMLESS, RULES
from diffmicro.devices.legs.state import MotionState
from diffmicro.devices.legs.steady import (
    COARSE_WARMUP,
    Settled,
    follow,
    lengthened,
    observed,
    pack,
    period_map,
    settle,
    smallest_period,
)
from diffmicro.dynamics.fixed_point import Orbit
from diffmicro.dynamics.window import share
from diffmicro.parameters import Value, as_arrays, output, whole_number
from diffmicro.reasons import reason_code
from diffmicro.results import RESULTS, code, finite_if_ok, from_code, raise_failure
from diffmicro.rules import check_point, legal, spare, where_legal


class Response(eqx.Module):
    """The steady motion: of the periodic motion, or means over window and twins where it does not repeat."""

    mean_height: Array = output("mean height of the foot above the ground", "m", low=0)
    peak_height: Array = output("largest height", "m", low=0)
    bounce_height: Array = output(
        "mean peak of the flights that count as bounces; 0 without any", "m", low=0
    )
    amplitude: Array = output("half the distance between lowest and highest point", "m", low=0)
    free_amplitude: Array = output(
        "amplitude far from the ground; below the gap the foot may stay in the air", "m", low=0
    )
    bounce_rate: Array = output("bounces per second", "1/s", low=0)
    contact_fraction: Array = output(
        "share of time in which the foot is on the ground", "-", low=0, high=1
    )
    impact_loss: Array = output("power lost in impacts; negative where the law adds energy", "W")
    penetration: Array = output(
        "depth to which the foot presses the ground in; 0 where the ground is rigid", "m", low=0
    )
    lyapunov: Array = output("largest Lyapunov exponent; it has no gradient", "1/s")
    mean_height_spread: Array = output(
        "standard error of the mean height over window and twins, 0 for a periodic motion",
        "m",
        low=0,
    )
    impacts: Array = output("impacts per second, those of chatter included", "1/s", low=0)
    period_multiple: Array = output(
        "period of the motion in drive periods; 0 when it does not repeat", "-", low=0
    )
    result: RESULTS = output("how the calculation ended")
    residual: Array = output(
        "distance after one period of the motion from where it began, natural units", "-", low=0
    )
    margin: Array = output(
        "time by which the nearest bounce or dip misses grazing, over the drive period", "-", low=0
    )
    multiplier: Array = output(
        "largest modulus of the Floquet multipliers over 0.4 decay times of the slowest mode, in whole "
        "periods; of one drive period by `lyapunov` if erratic",
        "-",
        low=0,
    )
    state: MotionState = output(
        "state at the start of a period, to start a neighboring calculation from"
    )


def nearby(response: Response, tolerance: Array | float) -> dict:
    """Arguments of `respond` for a neighbor of a known periodic motion, quickly: what certificates ask for."""
    return dict(
        start=response.state,
        multiple=jnp.maximum(response.period_multiple, 1),
        settled=True,
        tolerance=tolerance,
        throw=False,
    )


def afresh(design: Design, setting: Setting) -> dict:
    """Arguments of `respond`, those of `nearby`, where nothing is known yet: from rest."""
    rest = jnp.zeros_like(jnp.stack(lump(design, setting)[0].rest().x))
    return dict(
        start=MotionState(rest, rest), multiple=jnp.ones((), jnp.int32), settled=jnp.asarray(False)
    )


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """A long average of a motion that does not repeat has no derivative that one run could give."""
    del design, setting, of, method
    erratic = code(response.result) == code(RESULTS.erratic)
    return jnp.where(erratic, reason_code("chaotic"), 0)


STEPS = 24
"""Fewest steps per drive period; twenty per cycle of the fastest mode are usually more."""


TOLERANCE = 1e-10
"""Of the periodic motion; see `respond`."""


def respond(
    design: Design,
    setting: Setting,
    *,
    steps: int | None = None,
    tolerance: Array | float = TOLERANCE,
    start: MotionState | None = None,
    multiple: Array | int = 1,
    settled: Array | bool = False,
    throw: bool = True,
) -> Response:
    """The motion of the foot that the drive leads to from rest, or from `start`.

    `steps`: fewest steps per drive period, 24. `tolerance`: of what steps do to the small-scale forces in the
    periodic motion, 1e-10 and never below the machine epsilon; the number of steps goes with its fourth root.
    Transients are followed at ten times it.
    `settled`: `start` is next to a periodic motion of `multiple` drive periods; only Newton's method runs. A flag
    that is traced, or an array, compiles both ways into one.
    `throw`: raise an error when there is no result, where values are known (not inside transformations).

    A periodic motion's numbers and derivatives are those of the periodic motion, without what the transient
    adds. A motion that does not repeat is `erratic`: means over the window, derivatives NaN.
    """
    check_point("legs.respond", RULES, design, setting)
    steps = whole_number("steps", steps, STEPS, 10, MOST_STEPS)
    if settled is not False and start is None:
        raise ValueError("legs.respond: settled=True needs `start`, a state to start from.")
    design, setting, start = as_arrays((design, setting, start))
    response = _respond(
        design,
        setting,
        start,
        jnp.asarray(multiple, jnp.int32),
        jnp.asarray(tolerance, float),
        steps=steps,
        settled=settled,
    )
    if throw:
        raise_failure("legs.respond", response.result)
    return response


@eqx.filter_jit
def _respond(
    design: Design,
    setting: Setting,
    start: MotionState | None,
    multiple: Array,
    tolerance: Array,
    *,
    steps: int,
    settled: Array | bool,
) -> Response:
    allowed = legal(RULES, design, setting)
    own: dict[str, Value] = dict(HARMLESS)
    if design.mode_shape is not None:
        points, modes = jnp.shape(design.mode_shape)
        own["mode_shape"] = jnp.eye(points, modes) + 0.5
    tame = spare(design, **own), spare(setting, **own)
    design, setting = where_legal(allowed, (design, setting), tame)
    # What is out of reach would take as long as anything can, for no number.
    system, units = lump(design, setting)
    # Below the rounding of the numbers, more steps add errors: in float32 a periodic motion would look erratic.
    precision = system.gap.dtype
    tolerance = jnp.maximum(tolerance.astype(precision), jnp.finfo(precision).eps)
    count = system.steps(steps, tolerance)
    in_all = (
        system.steps(steps, COARSE_WARMUP * tolerance)
        * (setting.settle + setting.window)
        / units.time
    )
    allowed, reached = allowed & jnp.isfinite(count), (count < MOST_STEPS) & (in_all < MOST_IN_ALL)
    design, setting = where_legal(allowed & reached, (design, setting), tame)
    system, units = lump(design, setting)
    parameters, unravel = ravel_pytree(system)
    mapped = period_map(unravel, steps)
    origin = pack(system.rest()) if start is None else scaled(system, units, start)
    turns = 1.0 / units.time
    shortest = shortest_orbit(design, units)
    if settled is True:
        orbit = follow(mapped, parameters, origin, tolerance, lengthened(multiple, shortest))
        window = None
    else:
        window = settle(
            mapped,
            unravel,
            parameters,
            origin,
            tolerance,
            steps,
            jnp.ceil(setting.settle * turns - 1e-9).astype(jnp.int32),
            jnp.maximum(jnp.floor(setting.window * turns + 1e-9), 1.0).astype(jnp.int32),
            shortest,
            settled,
            multiple,
        )
        orbit = window.orbit
    shortest_period = smallest_period(mapped, parameters, orbit, tolerance)
    free = free_amplitude(design, setting)
    response = _in_si(
        system, units, setting, free, orbit, shortest_period, window, allowed, reached
    )
    return finite_if_ok(response)


def _in_si(
    system: LegsMotion,
    units: Units,
    setting: Setting,
    free: Array,
    orbit: Orbit,
    own: Array,
    window: Settled | None,
    allowed: Array,
    reached: Array,
) -> Response:
    """What was found, in SI."""
    accepted = orbit.accepted
    periods = orbit.periods.astype(system.gap.dtype)
    seen, state, growth, multiplier, spread, outcome = observed(orbit, window)
    outcome = jnp.where(reached, outcome, code(RESULTS.step_limit))
    outcome = jnp.where(setting.voltage > 0, outcome, code(RESULTS.stalled))
    outcome = jnp.where(allowed, outcome, code(RESULTS.out_of_range))
    known = (outcome == code(RESULTS.successful)) | (outcome == code(RESULTS.erratic))
    known = known | (outcome == code(RESULTS.stalled))
    shown = jnp.where(known, 1.0, jnp.nan)
    length, time = units.length * shown, units.time
    some = seen.bounces > 0
    bounce = jnp.where(some, seen.heights, 0.0) / jnp.where(some, seen.bounces, 1.0)
    energy = units.mass * (units.length / units.time) ** 2
    unrest = pack(system.rest())
    n = system.modes()
    moved = state - unrest
    return Response(
        mean_height=seen.height / periods * length,
        peak_height=seen.peak * length,
        bounce_height=bounce * length,
        amplitude=0.5 * (seen.peak - seen.low) * length,
        free_amplitude=free * shown,
        bounce_rate=seen.bounces / periods / time * shown,
        contact_fraction=share(seen.contact, periods) * shown,
        impact_loss=seen.loss / periods / time * energy * shown,
        penetration=seen.depth * length,
        lyapunov=_without_gradient(growth / time * shown),
        mean_height_spread=_without_gradient(spread * length),
        impacts=seen.impacts / periods / time * shown,
        period_multiple=jnp.where(accepted & known, own, 0),
        result=from_code(outcome),
        residual=jnp.where(allowed & reached, orbit.residual, jnp.nan),
        margin=seen.margin * shown,
        multiplier=multiplier * shown,
        state=MotionState(moved[:n] * length, moved[n:] * (length / time)),
    )


def _without_gradient(value: Array) -> Array:
    """The value, with a derivative that is NaN: a statistic that has none here."""
    return substitute(jax.lax.stop_gradient(value), value * jnp.nan)
