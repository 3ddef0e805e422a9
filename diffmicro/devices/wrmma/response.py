"""The response: outputs with units, how they are calculated, and what speaks against their gradients."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._device import Method, method_named
from diffmicro.autodiff.rules import substitute
from diffmicro.devices.wrmma import scheme
from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.devices.wrmma.lumped import eta, legal_numbers, motion_of, units
from diffmicro.devices.wrmma.rules import RULES
from diffmicro.devices.wrmma.start import begin
from diffmicro.devices.wrmma.steady import MotionState, Observed, period_map
from diffmicro.dynamics import moreau
from diffmicro.dynamics.fixed_point import Orbit
from diffmicro.dynamics.orbits import SETTLE, Search, find_orbit, unstable
from diffmicro.dynamics.window import WindowMean, share, window_mean
from diffmicro.parameters import as_arrays, is_traced, output, whole_number
from diffmicro.reasons import reason_code
from diffmicro.results import RESULTS, code, finite_if_ok, from_code, raise_failure
from diffmicro.rules import check_point, legal


class Response(eqx.Module):
    """Steady motion."""

    velocity: Array = output("drift per period times frequency", "m/s")
    velocity_spread: Array = output(
        "standard error of the velocity when it is a mean over a window, else 0", "m/s", low=0
    )
    min_gap: Array = output("smallest gap", "m", low=0)
    impacts: Array = output("impacts of hammer and body per drive period", "-", low=0)
    stick_fraction: Array = output("share of time in which the body sticks", "-", low=0, high=1)
    peak_body_speed: Array = output("largest speed of the body", "m/s", low=0)
    period_multiple: Array = output(
        "period of the motion in drive periods; 0 when it is not periodic", "-", low=0
    )
    multiplier: Array = output("largest modulus of the Floquet multipliers", "-", low=0)
    eta: Array = output("magnetic force at rest over friction force, eq. 27", "-", low=0)
    result: RESULTS = output("how the calculation ended")
    residual: Array = output(
        "distance after one period of the motion from where it began, over the rest gap", "-", low=0
    )
    margin: Array = output(
        "time to the nearest change of the sequence of modes, over the drive period", "-", low=0
    )
    state: MotionState = output(
        "state at the start of a period, to start a neighboring calculation from"
    )


def nearby(response: Response, tolerance: Array | float) -> dict:
    """Keyword arguments that warm-start `respond` near a known solution; used by certificates."""
    return dict(
        start=response.state,
        multiple=jnp.maximum(response.period_multiple, 1),
        near=True,
        tolerance=tolerance,
        throw=False,
    )


def afresh(design: Design, setting: Setting) -> dict:
    """Arguments of `respond`, those of `nearby`, where nothing is known yet."""
    return dict(
        start=begin(design, setting), multiple=jnp.ones((), jnp.int32), near=jnp.asarray(False)
    )


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """Device-specific reasons not to trust a gradient."""
    outcome = code(response.result)
    left = (outcome == code(RESULTS.no_orbit)) & unstable(response.residual, response.multiplier)
    found = [*(outcome == code(r) for r in (RESULTS.stalled, RESULTS.gap_collapsed)), left]
    return jnp.select(found, [reason_code(name) for name in ("dead", "closed", "unstable")], 0)


METHODS = (Method("event", steps=12), Method("moreau", steps=moreau.STEPS, scheme=True))


def respond(
    design: Design,
    setting: Setting,
    *,
    method: Literal["event", "moreau"] = "event",
    steps: int | None = None,
    start: MotionState | None = None,
    multiple: Array | int = 1,
    near: Array | bool = False,
    search: Search = SETTLE,
    window: int = 200,
    tolerance: Array | float = 1e-9,
    throw: bool = True,
) -> Response:
    """The steady motion that the robot settles to from `start`, or else as `setting.start` gets it going.

    `steps`: fewest steps per period, 12 for the event method; time steps per period, 1000, for Moreau's.
    `multiple`: period of the motion in drive periods that is tried first, by the event method.
    `near`: `start` is close to the motion; Newton's method alone goes on from there.
    `window`: periods over which a motion that is not periodic is averaged; 0: its velocity is NaN.
    `tolerance`: of the event method's steps, in units of the rest gap.
    `throw`: raise an error when there is no result, where values are known (not inside transformations).

    Derivatives are those of the motion with `event`. With `moreau` they are derivatives of the
    discretization at fixed active set, which differ from the motion's wherever it slides or bounces.
    """
    check_point("wrmma.respond", RULES, design, setting)
    usual = method_named("wrmma.respond", METHODS, method).steps or 0
    if method == "moreau" and (near is not False or is_traced(multiple) or multiple != 1):
        raise ValueError(
            "wrmma.respond: multiple and near belong to the event method; method='moreau' simulates until the "
            "motion repeats. Leave them out, or the method."
        )
    steps = whole_number("steps", steps, usual, 4, 10**5)
    window = whole_number("window", window, 200, 0, 10**5)
    design, setting, start = as_arrays((design, setting, start))
    response = _respond(
        design,
        setting,
        start,
        jnp.asarray(tolerance, float),
        jnp.asarray(multiple, jnp.int32),
        near,
        method=method,
        steps=steps,
        search=search,
        window=window,
    )
    if throw:
        raise_failure("wrmma.respond", response.result)
    return response


@eqx.filter_jit
def _respond(
    design: Design,
    setting: Setting,
    start: MotionState | None,
    tolerance: Array,
    multiple: Array,
    near: Array | bool,
    *,
    method: str,
    steps: int,
    search: Search,
    window: int,
) -> Response:
    allowed = legal(RULES, design, setting)
    parameters, unravel = legal_numbers(design, setting), motion_of(design, setting)
    tolerance = tolerance.astype(parameters.dtype)
    start = begin(design, setting) if start is None else start
    scaled = jnp.stack([start.gap, start.gap_rate, start.body_speed])
    origin = (scaled / units(design, setting)).astype(parameters.dtype)

    if method == "moreau":
        mapped = scheme.period_map(unravel, steps)
        orbit = moreau.find_orbit(mapped, parameters, origin)
    else:
        mapped = period_map(unravel, steps)
        orbit = find_orbit(mapped, parameters, origin, search, tolerance, multiple, near)
    average = None
    if window and near is not True:
        frozen = jax.lax.stop_gradient(parameters)

        def go_on(z: Array, n: Array) -> tuple[Array, Array]:
            z, seen = mapped(frozen, z, n, tolerance, look=False)
            return z, seen[0]

        average = window_mean(go_on, orbit.arrived[0], window, ~(orbit.accepted | near))
    return finite_if_ok(_in_units(design, setting, allowed, near, orbit, average))


def _in_units(
    design: Design,
    setting: Setting,
    allowed: Array,
    near: Array | bool,
    orbit: Orbit,
    average: WindowMean | None,
) -> Response:
    """What was found, in SI units; a mean over a window where the motion is not periodic, NaN where nothing is."""
    gap_unit, speed_unit, _ = own = units(design, setting)
    observed = Observed(*orbit.observed)
    periods = orbit.periods
    settled = orbit.accepted
    mean, state = observed.displacement / periods, orbit.state
    spread = jnp.zeros_like(mean)
    known = jnp.where(settled, mean, jnp.nan)
    if average is not None:
        erratic = ~(settled | near)
        known = jnp.where(erratic, average.mean, known)
        spread = jnp.where(erratic, average.spread, spread)
        state = jnp.where(erratic, jax.lax.stop_gradient(average.state), state)
    # Where the orbit is refused its derivative, NaN, goes with the number that stands in its place.
    displacement = substitute(jax.lax.stop_gradient(known), mean)

    numbers = jnp.where(settled & allowed, 1.0, jnp.nan)
    shown = jnp.where(allowed, 1.0, jnp.nan)
    return Response(
        velocity=displacement * speed_unit * shown,
        velocity_spread=spread * speed_unit * shown,
        # Parts that touch are apart by a rounding of either sign.
        min_gap=jnp.maximum(observed.min_gap, 0.0) * gap_unit * numbers,
        impacts=observed.impacts / periods * numbers,
        stick_fraction=share(observed.stick_time, periods) * numbers,
        peak_body_speed=observed.peak_speed * speed_unit * numbers,
        period_multiple=jnp.where(settled & allowed, periods, 0),
        multiplier=orbit.multiplier * shown,
        eta=eta(design, setting) * shown,
        result=from_code(
            jnp.where(allowed, _outcome(orbit, displacement), code(RESULTS.out_of_range))
        ),
        residual=orbit.residual,
        margin=observed.margin * numbers,
        state=MotionState(*(state * own)),
    )


HELD_CLOSED = 0.25
"""Share of the period in lasting contact from which the gap counts as collapsed: half of the time that
the square wave is on. Impacts and their chatter are shorter."""


def _outcome(orbit: Orbit, displacement: Array) -> Array:
    """Result code of a motion: periodic and of what kind, erratic, or not known."""
    observed = Observed(*orbit.observed)
    almost_all = orbit.periods * (1 - 1e-6)
    periodic = jnp.where(
        observed.stick_time >= almost_all, code(RESULTS.stalled), code(RESULTS.successful)
    )
    held = observed.closed_time > HELD_CLOSED * orbit.periods
    periodic = jnp.where(held, code(RESULTS.gap_collapsed), periodic)
    other = jnp.where(jnp.isfinite(displacement), code(RESULTS.erratic), code(RESULTS.no_orbit))
    return jnp.where(orbit.accepted, periodic, other)
