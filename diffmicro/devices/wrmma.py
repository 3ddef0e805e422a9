"""The wireless resonant magnetic microactuator (Nagy 2012): two masses, a spring, a field, friction.

Hammer and body are soft-magnetic bars on one spring. A switched field pulls them together; body friction
turns the oscillation into drift. From the design to the mean velocity of the periodic motion, differentiable.

| paper | here | unit |
|---|---|---|
| alpha = m_H / m_B | `mass_ratio` | - |
| L_device, g_0 | `device_length`, `rest_gap` | m |
| k = m_H (2 pi f_n)^2 | `tethered_frequency` f_n | Hz |
| c, epsilon | `damping`, `restitution` | N s/m, - |
| c_g, kappa, n_x | `gap_fit`, `gain_fit`, `demagnetization` | - |
| B, script B | `field`, `field_offset` | T, - |
| f_a / f_1 | `frequency_ratio` | - |
| beta, mu | `load_factor`, `friction` | - |
| F_C0, phi | `clamp_force`, `clamp_phase` | N, rad |
| u_robot, eq. 49 | `velocity` | m/s |

Corrections to the paper: the magnetic force acts across the gap x2 - x1 itself; the spring's elongation is
x2 - x1 - g0; eq. 41 omits the spring force; the clamp's on-value is 4 F_C0. `force_scale` brings the printed
constants to the printed eta = 14.79 / beta. Left out: vertical motion of the body, rotation, coupling of
friction and impact (the floor transmits no impulse while the hammer hits the body).
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro._parameters import as_arrays, check, is_traced, parameter, valid, whole_number
from diffmicro._reasons import reason_code
from diffmicro._results import RESULTS, code, from_code, raise_failure
from diffmicro.devices import wrmma_moreau
from diffmicro.devices.wrmma_motion import State, WrmmaMotion
from diffmicro.dynamics import moreau
from diffmicro.dynamics.hybrid import Numerics, run, trace
from diffmicro.dynamics.orbits import SETTLE, Orbit, PeriodMap, Search, find_orbit
from diffmicro.dynamics.window import substitute, window_mean
from diffmicro.mechanics.magnetics import force_unit, normalized_force, prism_demagnetization


class Design(eqx.Module):
    """What a fabricator could change.

    mass_ratio: hammer mass over body mass [-].
    device_length: length of both parts and the gap [m].
    width: width of both parts [m].
    height: height of both parts [m].
    density: density of both parts [kg/m^3].
    rest_gap: gap at rest [m].
    tethered_frequency: natural frequency of the hammer with the body held [Hz].
    damping: viscous damping between the parts [N s/m].
    restitution: coefficient of restitution of their impact [-].
    gap_fit: fit of the magnetic force, scale of the gap [-].
    gain_fit: fit of the magnetic force, gain [-].
    demagnetization: demagnetizing factor along the length [-]; None: a rectangular prism's.
    force_scale: factor on the magnetic force [-].
    """

    mass_ratio: Array | float = parameter(1.5, "alpha", "Figs. 5-11", above=0)
    device_length: Array | float = parameter(300e-6, "L_device", "Table III", above=0)
    width: Array | float = parameter(130e-6, "", "section II-A", above=0)
    height: Array | float = parameter(50e-6, "", "section II-A", above=0)
    density: Array | float = parameter(8900.0, "rho_Ni", "Table III", above=0)
    rest_gap: Array | float = parameter(20e-6, "g_0", "Table III", above=0)
    tethered_frequency: Array | float = parameter(2300.0, "f_n", "section III-B", above=0)
    damping: Array | float = parameter(1e-6, "c", "Table III", low=0)
    restitution: Array | float = parameter(0.5, "epsilon", "Table III", low=0, high=1)
    gap_fit: Array | float = parameter(0.025, "c_g", "Table I", above=0)
    gain_fit: Array | float = parameter(3.028, "kappa", "Table I", low=0)
    demagnetization: Array | float | None = parameter(
        0.1161, "n_x", "section II-A2", above=0, high=1
    )
    force_scale: Array | float = parameter(
        0.2570963686482103, "", "eta = 14.79/beta of Fig. 7 over eq. 27", low=0
    )


class Setting(eqx.Module):
    """Surface, field and drive.

    field: amplitude B of the flux density [T].
    field_offset: offset of the field over half its amplitude [-].
    field_rise: share of the period that a switch of the field takes, from the nominal instant on [-].
    frequency_ratio: drive frequency over tethered frequency [-].
    load_factor: vertical load over weight [-].
    friction: friction coefficient of body and floor [-].
    clamp_force: a quarter of the clamping force while it is on, F_C0 [N].
    clamp_phase: lead of the clamp over the field [rad].
    gravity: gravitational acceleration [m/s^2].
    waveform: square, or sine: the first harmonic of the square wave, (4/pi) sin.
    """

    field: Array | float = parameter(5e-3, "B", "Figs. 5-11", low=0)
    field_offset: Array | float = parameter(1.0, "script B", "eq. 48")
    field_rise: Array | float = parameter(0.0, "", "section II-A2: idealized", low=0, high=0.5)
    frequency_ratio: Array | float = parameter(1.0, "f~", "section II-B3", above=0)
    load_factor: Array | float = parameter(8.0, "beta", "Fig. 5", low=0)
    friction: Array | float = parameter(0.5, "mu", "Table III", low=0)
    clamp_force: Array | float = parameter(0.0, "F_C0", "section II-A3; 1 N when on", low=0)
    clamp_phase: Array | float = parameter(0.0, "phi", "eq. 15")
    gravity: Array | float = parameter(9.81, "g", "eq. 1", low=0)
    waveform: str = parameter("square", "", "eqs. 10, 17", words=("square", "sine"))


class MotionState(eqx.Module):
    """State at the start of a drive period.

    gap: gap between hammer and body [m].
    gap_rate: its rate [m/s].
    body_speed: speed of the body [m/s].
    """

    gap: Array
    gap_rate: Array
    body_speed: Array


class Response(eqx.Module):
    """Steady motion.

    velocity: drift per period times frequency [m/s].
    velocity_spread: standard error of the velocity when it is a mean over a window, else 0 [m/s].
    min_gap: smallest gap [m].
    impacts: impacts of hammer and body per drive period [-].
    stick_fraction: share of time in which the body sticks [-].
    peak_body_speed: largest speed of the body [m/s].
    period_multiple: period of the motion in drive periods; 0 when it is not periodic [-].
    multiplier: largest modulus of the Floquet multipliers [-].
    eta: magnetic force at rest over friction force, eq. 27 [-].
    result: how the calculation ended.
    residual: distance after one period of the motion from where it began, over the rest gap [-].
    margin: time to the nearest change of the sequence of modes, over the drive period [-].
    state: state at the start of a period, to start a neighboring calculation from.
    """

    velocity: Array
    velocity_spread: Array
    min_gap: Array
    impacts: Array
    stick_fraction: Array
    peak_body_speed: Array
    period_multiple: Array
    multiplier: Array
    eta: Array
    result: RESULTS
    residual: Array
    margin: Array
    state: MotionState


CAUTIONS = {
    name: "gap_fit, gain_fit and demagnetization were fitted near the published geometry"
    for name in ("width", "height", "device_length")
}
"""Parameters that are better left alone in an optimization, and why."""


def nearby(response: Response, tolerance: Array | float) -> dict:
    """Arguments of `respond` for a neighbor of a known motion, quickly: what certificates ask for."""
    return dict(
        start=response.state,
        multiple=jnp.maximum(response.period_multiple, 1),
        near=True,
        tolerance=tolerance,
        throw=False,
    )


def afresh(design: Design, setting: Setting) -> dict:
    """Arguments of `respond`, those of `nearby`, where nothing is known yet: at rest."""
    still = jnp.zeros_like(design.rest_gap)
    start = MotionState(gap=jnp.asarray(design.rest_gap), gap_rate=still, body_speed=still)
    return dict(start=start, multiple=jnp.ones((), jnp.int32), near=jnp.asarray(False))


SCHEMES = ("moreau",)
"""Methods whose derivative is the scheme's at fixed active set, not the motion's."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """What speaks against a gradient here beside what every device is asked."""
    outcome = code(response.result)
    closed = jnp.where(outcome == code(RESULTS.gap_collapsed), reason_code("closed"), 0)
    return jnp.where(outcome == code(RESULTS.stalled), reason_code("dead"), closed)


def published_design(**overrides: Any) -> Design:
    """Table III and sections II-A and III-B of the paper, alpha = 1.5."""
    return Design(**overrides)


def published_setting(**overrides: Any) -> Setting:
    """Figure 5's 5 mT and beta = 8 at the tethered resonance."""
    return Setting(**overrides)


def masses(design: Design) -> tuple[Array | float, Array | float]:
    """Mass of body and hammer [kg]: equal sections, lengths as the masses."""
    area = design.width * design.height
    total = design.density * area * (design.device_length - design.rest_gap)
    body = total / (1.0 + design.mass_ratio)
    return body, design.mass_ratio * body


def drive_period(design: Design, setting: Setting) -> Array | float:
    """Period of the drive [s]."""
    return 1.0 / (setting.frequency_ratio * design.tethered_frequency)


def rest_force(design: Design, setting: Setting) -> Any:
    """F_0 of eq. 19: a quarter of the magnetic force at the rest gap while the field is on [N]."""
    magnetic_length = design.device_length - design.rest_gap
    shape = normalized_force(
        design.rest_gap / magnetic_length, design.gap_fit, design.gain_fit, _demagnetization(design)
    )
    unit = force_unit(design.width * design.height, setting.field)
    return design.force_scale * unit * shape


def eta(design: Design, setting: Setting) -> Any:
    """Magnetic force at rest over friction force, eq. 27 [-]."""
    body, hammer = masses(design)
    weight = setting.load_factor * (body + hammer) * setting.gravity
    return rest_force(design, setting) / (setting.friction * weight)


def lump(design: Design, setting: Setting) -> WrmmaMotion:
    """The numbers that the motion depends on, in units of rest gap, drive period and hammer mass."""
    body, hammer = masses(design)
    period = drive_period(design, setting)
    gap, magnetic_length = design.rest_gap, design.device_length - design.rest_gap
    turns = design.tethered_frequency * period
    force = hammer * gap / period**2
    acceleration = gap / period**2
    reach = design.gap_fit * magnetic_length / gap
    pull = design.force_scale * force_unit(design.width * design.height, setting.field)
    pull = pull * design.gain_fit**2 * (magnetic_length / gap)
    load = setting.load_factor * (body + hammer) * setting.gravity
    numbers = dict(
        stiffness=(2 * jnp.pi * turns) ** 2,
        damping=design.damping * period / hammer,
        pull=pull / force,
        numerator=reach / _demagnetization(design),
        denominator=reach,
        mass_ratio=design.mass_ratio,
        bound=setting.friction * load / body / acceleration,
        clamp=setting.friction * 4 * setting.clamp_force / body / acceleration,
        restitution=design.restitution,
        clamp_phase=setting.clamp_phase,
        offset=setting.field_offset,
        rise=setting.field_rise,
    )
    dtype = jnp.result_type(float, *numbers.values())
    numbers = {name: jnp.asarray(number, dtype) for name, number in numbers.items()}
    return WrmmaMotion(**numbers, sinusoidal=setting.waveform == "sine")


DEFAULT_STEPS = {"event": 12, "moreau": moreau.STEPS}
"""Steps per period of each method."""


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
    """The steady motion that the robot settles to from rest, or from `start`.

    `steps`: fewest steps per period, 12 for the event method; time steps per period, 1000, for Moreau's.
    `multiple`: period of the motion in drive periods that is tried first.
    `near`: `start` is close to the motion; Newton's method alone goes on from there.
    `window`: periods over which a motion that is not periodic is averaged; 0: its velocity is NaN.
    `tolerance`: of the event method's steps, in units of the rest gap.
    `throw`: raise an error when there is no result, where values are known (not inside transformations).

    Derivatives are those of the motion with `event`. With `moreau` they are derivatives of the
    discretization at fixed active set, which differ from the motion's wherever it slides or bounces.
    """
    check_point("wrmma.respond", design, setting)
    if method not in DEFAULT_STEPS:
        raise ValueError(
            f"wrmma.respond: method {method!r} is not one of {', '.join(DEFAULT_STEPS)}."
        )
    design, setting, start = as_arrays((design, setting, start))
    response = _respond(
        design,
        setting,
        start,
        jnp.asarray(tolerance, float),
        jnp.asarray(multiple, jnp.int32),
        near,
        method=method,
        steps=whole_number("steps", steps, DEFAULT_STEPS[method], 4, 10**5),
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
    legal = valid(design, setting) & jnp.all(design.rest_gap < design.device_length)
    parameters, unravel = ravel_pytree(lump(design, setting))
    # Bad lanes run on harmless numbers, so that they end, and are blanked afterwards.
    harmless, _ = ravel_pytree(lump(*as_arrays((Design(), Setting()))))
    parameters = jnp.where(legal, parameters, harmless.astype(parameters.dtype))
    tolerance = tolerance.astype(parameters.dtype)
    speed_unit = design.rest_gap / drive_period(design, setting)
    origin = jnp.zeros(3, parameters.dtype).at[0].set(1.0)
    if start is not None:
        scaled = jnp.stack([start.gap, start.gap_rate, start.body_speed])
        origin = scaled / jnp.stack([design.rest_gap, speed_unit, speed_unit])

    if method == "moreau":
        mapped = wrmma_moreau.period_map(unravel, steps)
        orbit = moreau.find_orbit(mapped, parameters, origin)
    else:
        mapped = period_map(unravel, steps)
        orbit = find_orbit(mapped, parameters, origin, search, tolerance, multiple, near)
    observed = Observed(*orbit.observed)
    periods = orbit.periods
    settled = orbit.accepted
    mean, state = observed.displacement / periods, orbit.state
    spread = jnp.zeros_like(mean)
    known = jnp.where(settled, mean, jnp.nan)
    if window and near is not True:
        frozen = jax.lax.stop_gradient(parameters)

        def go_on(z: Array, n: Array) -> tuple[Array, Array]:
            z, seen = mapped(frozen, z, n, tolerance, look=False)
            return z, seen[0]

        erratic = ~(settled | near)
        average = window_mean(go_on, orbit.arrived[0], window, erratic)
        known = jnp.where(erratic, average.mean, known)
        spread = jnp.where(erratic, average.spread, spread)
        state = jnp.where(erratic, jax.lax.stop_gradient(average.state), state)
    # Where the orbit is refused its derivative, NaN, goes with the number that stands in its place.
    displacement = substitute(jax.lax.stop_gradient(known), mean)

    numbers = jnp.where(settled & legal, 1.0, jnp.nan)
    shown = jnp.where(legal, 1.0, jnp.nan)
    gap_state = state * jnp.stack([design.rest_gap, speed_unit, speed_unit])
    return Response(
        velocity=displacement * speed_unit * shown,
        velocity_spread=spread * speed_unit * shown,
        min_gap=observed.min_gap * design.rest_gap * numbers,
        impacts=observed.impacts / periods * numbers,
        stick_fraction=observed.stick_time / periods * numbers,
        peak_body_speed=observed.peak_speed * speed_unit * numbers,
        period_multiple=jnp.where(settled & legal, periods, 0),
        multiplier=orbit.multiplier * shown,
        eta=eta(design, setting) * shown,
        result=from_code(
            jnp.where(legal, _outcome(orbit, displacement), code(RESULTS.out_of_range))
        ),
        residual=orbit.residual,
        margin=observed.margin * numbers,
        state=MotionState(*gap_state),
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


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    gap, length = design.rest_gap, design.device_length
    if not is_traced(gap, length) and not np.all(np.asarray(gap) < np.asarray(length)):
        raise ValueError(
            f"{where}: Design.rest_gap = {gap} m is not allowed; it has to be below device_length = "
            f"{length} m, which contains it. Make the gap smaller or the device longer."
        )


class Observed(NamedTuple):
    """What one pass over a periodic motion tells, in natural units and over all its periods."""

    displacement: Array
    min_gap: Array
    peak_speed: Array
    impacts: Array
    stick_time: Array
    closed_time: Array
    margin: Array


def period_map(unravel: Callable[[Array], WrmmaMotion], steps: int) -> PeriodMap:
    """The map of states over periods, as `orbits` wants it. A motion that is cut short is no motion."""

    def mapped(parameters, state, periods, tolerance, look=True):
        start = State(state[0], state[1], state[2], jnp.zeros_like(state[0]))
        numerics = Numerics(steps=steps, tolerance=tolerance)
        motion = run(unravel(parameters), start, periods, numerics, observe=look)
        whole = jnp.where(motion.periods >= periods, 1.0, jnp.nan)
        seen = [getattr(motion.record, name) for name in Observed._fields[1:]] if look else []
        return jnp.stack(motion.state[:3]) * whole, jnp.stack([motion.state.position, *seen])

    return mapped


def _demagnetization(design: Design) -> Array:
    if design.demagnetization is not None:
        return jnp.asarray(design.demagnetization)
    magnetic_length = design.device_length - design.rest_gap
    return prism_demagnetization(
        magnetic_length, jnp.asarray(design.width), jnp.asarray(design.height)
    )


class Trajectory(NamedTuple):
    """A motion on its own steps and events, SI units: arrays over time."""

    time: Array
    gap: Array
    gap_rate: Array
    body_speed: Array
    body_position: Array
    sticks: Array
    together: Array


def simulate(
    design: Design,
    setting: Setting,
    *,
    periods: int = 1,
    start: MotionState | None = None,
    steps: int = 200,
) -> Trajectory:
    """The motion over `periods` drive periods from rest, or from `start`, by the event method.

    `steps`: fewest points per period. Each event appears as one more point, the state after it. Points after the
    last period repeat it.
    """
    check_point("wrmma.simulate", design, setting)
    whole_number("periods", periods, 1, 1, 10**4)
    steps = whole_number("steps", steps, 200, 4, 10**5)
    design, setting, start = as_arrays((design, setting, start))
    return _simulate(design, setting, start, periods=periods, steps=steps)


@eqx.filter_jit
def _simulate(design, setting, start, *, periods: int, steps: int) -> Trajectory:
    system = lump(design, setting)
    period = drive_period(design, setting)
    length, speed = design.rest_gap, design.rest_gap / period
    origin = jnp.zeros(3, system.stiffness.dtype).at[0].set(1.0)
    if start is not None:
        origin = jnp.stack([start.gap, start.gap_rate, start.body_speed])
        origin = origin / jnp.stack([length, speed, speed])
    at = State(origin[0], origin[1], origin[2], jnp.zeros_like(origin[0]))
    numerics = Numerics(steps=steps)
    _, path = trace(system, at, periods, numerics, advances=periods * (steps + ROOM_FOR_EVENTS))
    state = path.state
    return Trajectory(
        time=(path.periods + path.time) * period,
        gap=state.gap * length,
        gap_rate=state.rate * speed,
        body_speed=state.speed * speed,
        body_position=state.position * length,
        sticks=path.mode.slip == 0,
        together=path.mode.closed,
    )


ROOM_FOR_EVENTS = 120
"""Advances per period beside the steps: ends of segments, and events down to the end of a chatter."""
