"""Piezo legs (Ryou 2014): vibration modes that a voltage drives and whose foot hits the ground.

From modes, gains and gap to the height at which the foot bounces, differentiable where the motion is periodic.

| paper | here | unit |
|---|---|---|
| omega_k / 2 pi | `frequency` | Hz |
| zeta_k | `damping` | - |
| G_k = Phi_ck B_k / omega_k^2 | `gain` (static, at the contact foot) | m/V |
| Phi_ck^2 / eta_0^2 | `mobility` | 1/kg |
| Phi | `mode_shape` (points, modes), contact foot first | - |
| k of eq. 15 | `dominant_mode` | - |
| -alpha of eq. 19 | `restitution` | - |
| F_SS | `film`, `electrostatic`, `adhesion` and their offsets | N m^2 s, N m^2/V^2, N m^3, m |
| N_B, A_max, A_avg of Table 3 | `bounce_rate`, `peak_height`, `bounce_height` | 1/s, m, m |

Corrections to the paper: the coefficient of restitution -0.51 is alpha of eqs. 6 and 19-28 (eq. 10 has one
minus too many); eta_0^2 is a mass, M = eta_0^2 Phi^-T Phi^-1, and modal forces are Phi^T F / eta_0^2. The
dominant law can add energy (`impact_loss` is then negative). Gains, damping, mobilities and small-scale forces
are not published: the published design is a set fitted to Table 3, nine numbers for about twenty unknowns, not
a measurement.

Left out: gravity (the robot hangs), lateral motion and friction, more than one foot on the ground (`legs_feet`),
hysteresis of the ceramics.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro._parameters import as_arrays, check, is_traced, parameter, valid, whole_number
from diffmicro._reasons import reason_code
from diffmicro._results import RESULTS, code, from_code, raise_failure
from diffmicro.devices import legs_stepping
from diffmicro.devices.legs_model import (
    Units,
    check_sizes,
    free_amplitude,
    harmless,
    lump,
    modes_of,
    scaled,
)
from diffmicro.devices.legs_motion import MOST_STEPS, LegsMotion
from diffmicro.devices.legs_settling import (
    SHORTEST,
    follow,
    observed,
    pack,
    period_map,
    settle,
    unpack,
)
from diffmicro.dynamics.window import substitute
from diffmicro.mechanics.restitution import LAWS

FITTED = "fitted to Table 3, not published"


class Design(eqx.Module):
    """What a fabricator could change: modes and small-scale forces, or the section of a leg.

    frequency: natural frequencies of the modes [Hz].
    damping: damping ratios of the modes [-].
    gain: static displacement of the contact foot per volt by each mode [m/V].
    mobility: mobility of each mode at the contact foot, one over its modal mass there [1/kg].
    mode_shape: displacement of points (rows, contact foot first) in the modes; None: only the foot's [-].
    dominant_mode: number of the dominant mode, from 1; None: the one of largest mobility [-].
    film: coefficient of the squeeze film [N m^2 s].
    film_offset: height at which the film acts at contact [m].
    electrostatic: coefficient of the electrostatic attraction [N m^2/V^2].
    electrostatic_offset: height at which the attraction acts at contact [m].
    adhesion: coefficient of the adhesion, Hamaker's constant times area over 6 pi [N m^3].
    adhesion_offset: height at which the adhesion acts at contact [m].
    leg_length: length of a clamped leg; given with its section, it makes frequency, gain and mobility [m].
    leg_thickness: thickness of the leg, both halves active [m].
    leg_width: width of the leg [m].
    leg_young: Young's modulus of the leg [Pa].
    leg_density: density of the leg [kg/m^3].
    leg_piezo: piezoelectric coefficient d31 of the leg [m/V].
    """

    frequency: Array | float = parameter(
        (89.5, 134.0, 314.6, 368.5, 660.0, 2910.0),
        "omega_k",
        "Table 1, hexapod",
        above=0,
        shapes=(("modes",),),
    )
    damping: Array | float = parameter(
        (0.0335, 0.0596, 0.0661, 0.0544, 0.0684, 0.0528),
        "zeta_k",
        FITTED,
        low=0,
        high=0.99,
        shapes=(("modes",),),
    )
    gain: Array | float = parameter(
        (-1.59e-07, 2.03e-07, 1.71e-08, -1.06e-07, 8.49e-08, 4.78e-08),
        "G_k",
        FITTED,
        shapes=(("modes",),),
    )
    mobility: Array | float = parameter(
        (50100.0, 10500.0, 5860.0, 63100.0, 5120.0, 808000.0),
        "mu_k",
        FITTED,
        low=0,
        shapes=(("modes",),),
    )
    mode_shape: Array | float | None = parameter(
        None, "Phi", "not published", shapes=(("feet", "modes"),)
    )
    dominant_mode: Array | float | None = parameter(None, "k", "section 3.4", low=1)
    film: Array | float = parameter(4.65e-20, "K", FITTED, low=0)
    film_offset: Array | float = parameter(2.74e-6, "", FITTED, above=0)
    electrostatic: Array | float = parameter(1.11e-18, "", FITTED, low=0)
    electrostatic_offset: Array | float = parameter(2.74e-6, "", FITTED, above=0)
    adhesion: Array | float = parameter(0.0, "", "not in the paper; 0 is off", low=0)
    adhesion_offset: Array | float = parameter(2.74e-6, "", "as the film's", above=0)
    leg_length: Array | float | None = parameter(None, "L", "model of a clamped leg", above=0)
    leg_thickness: Array | float | None = parameter(None, "t", "model of a clamped leg", above=0)
    leg_width: Array | float | None = parameter(None, "b", "model of a clamped leg", above=0)
    leg_young: Array | float | None = parameter(None, "Y", "model of a clamped leg", above=0)
    leg_density: Array | float | None = parameter(None, "rho", "model of a clamped leg", above=0)
    leg_piezo: Array | float = parameter(2.74e-10, "d31", "usual for Navy type VI ceramics")


class Setting(eqx.Module):
    """Drive, ground, and how long is looked.

    voltage: amplitude of the drive [V].
    waveform: sine, V sin(2 pi f t), or square, its sign times V.
    drive_frequency: frequency of the drive [Hz].
    gap: height of the foot above the ground at rest [m].
    restitution: coefficient of restitution of foot and ground [-].
    law: how impulse and contact force are shared by the modes: full, dominant, or point.
    settle: transient that is left out, rounded up to whole drive periods [s].
    window: time over which a motion that does not repeat is averaged, rounded down to whole periods [s].
    bounce_threshold: peak above which a flight counts as a bounce [m].
    """

    voltage: Array | float = parameter(10.0, "V_in", "Table 3", low=0)
    waveform: str = parameter("sine", "", "Table 3", words=("sine", "square"))
    drive_frequency: Array | float = parameter(92.3, "f", "fitted; not stated", above=0)
    gap: Array | float = parameter(10e-6, "d", "Table 3", low=0)
    restitution: Array | float = parameter(0.51, "-alpha", "section 3.3", low=0, high=1)
    law: str = parameter("full", "", "section 3.4", words=LAWS)
    settle: Array | float = parameter(0.3, "", "section 4: at least 0.15 s", low=0)
    window: Array | float = parameter(4.0, "", "Fig. 20: 1 s", above=0)
    bounce_threshold: Array | float = parameter(0.5e-6, "", "resolution of Fig. 19", low=0)


class MotionState(eqx.Module):
    """State at the start of a drive period.

    displacement: displacement of the foot by each mode [m].
    speed: its rate [m/s].
    """

    displacement: Array
    speed: Array


class Response(eqx.Module):
    """The steady motion: of the periodic motion, or means over window and twins where it does not repeat.

    mean_height: mean height of the foot above the ground [m].
    peak_height: largest height [m].
    bounce_height: mean peak of the flights that count as bounces; 0 without any [m].
    amplitude: half the distance between lowest and highest point [m].
    free_amplitude: amplitude far from the ground; below the gap the foot may stay in the air [m].
    bounce_rate: bounces per second [1/s].
    contact_fraction: share of time in which the foot rests on the ground [-].
    impact_loss: power lost in impacts [W]; negative where the law adds energy.
    lyapunov: largest Lyapunov exponent [1/s]; it has no gradient.
    mean_height_spread: standard error of the mean height over window and twins, 0 for a periodic motion [m].
    impacts: impacts per second, those of chatter included [1/s].
    period_multiple: period of the motion in drive periods; 0 when it does not repeat [-].
    result: how the calculation ended.
    residual: distance after one period of the motion from where it began, natural units [-].
    margin: time by which the nearest bounce or dip misses grazing, over the drive period [-].
    multiplier: largest modulus of the Floquet multipliers; of one drive period by `lyapunov` if erratic [-].
    state: state at the start of a period, to start a neighboring calculation from.
    """

    mean_height: Array
    peak_height: Array
    bounce_height: Array
    amplitude: Array
    free_amplitude: Array
    bounce_rate: Array
    contact_fraction: Array
    impact_loss: Array
    lyapunov: Array
    mean_height_spread: Array
    impacts: Array
    period_multiple: Array
    result: RESULTS
    residual: Array
    margin: Array
    multiplier: Array
    state: MotionState


METHOD = "event"


def nearby(response: Response, tolerance: Array | float) -> dict:
    """Arguments of `respond` for a neighbor of a known periodic motion, quickly: what certificates ask for."""
    return dict(
        start=response.state,
        multiple=jnp.maximum(response.period_multiple, 1),
        settled=True,
        tolerance=tolerance,
        throw=False,
    )


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """A long average of a motion that does not repeat has no derivative that one run could give."""
    del design, setting, of, method
    erratic = code(response.result) == code(RESULTS.erratic)
    return jnp.where(erratic, reason_code("chaotic"), 0)


def published_design(**overrides: Any) -> Design:
    """The hexapod: frequencies of Table 1, everything else fitted to Table 3 (not published)."""
    return Design(**overrides)


def published_setting(**overrides: Any) -> Setting:
    """Table 3's first case: 10 V sine over a gap of 10 um, at a fitted frequency."""
    return Setting(**overrides)


STEPS = 24
"""Fewest steps per drive period; twenty per cycle of the fastest mode are usually more."""


def respond(
    design: Design,
    setting: Setting,
    *,
    steps: int | None = None,
    tolerance: Array | float = 1e-9,
    start: MotionState | None = None,
    multiple: Array | int = 1,
    settled: bool = False,
    throw: bool = True,
) -> Response:
    """The motion of the foot that the drive leads to from rest, or from `start`.

    `steps`: fewest steps per drive period, 24. `tolerance`: of what steps do to the small-scale forces; the
    number of steps goes with its fourth root.
    `settled`: `start` is next to a periodic motion of `multiple` drive periods; only Newton's method runs.
    `throw`: raise an error when there is no result, where values are known (not inside transformations).

    A periodic motion's numbers and derivatives are those of the periodic motion, without what the transient
    adds. A motion that does not repeat is `erratic`: means over the window, derivatives NaN.
    """
    check_point("legs.respond", design, setting)
    steps = whole_number("steps", steps, STEPS, 10, MOST_STEPS)
    if settled and start is None:
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
    settled: bool,
) -> Response:
    legal = valid(design, setting) & (jnp.sum(modes_of(design).mobility) > 0)
    other = harmless(design), Setting(waveform=setting.waveform, law=setting.law, window=0.1)
    design, setting = jax.tree.map(
        lambda own, tame: jnp.where(legal, own, jnp.asarray(tame, own.dtype)),
        (design, setting),
        as_arrays(other),
    )
    system, units = lump(design, setting)
    parameters, unravel = ravel_pytree(system)
    tolerance = tolerance.astype(parameters.dtype)
    mapped = period_map(unravel, steps)
    origin = pack(system.rest()) if start is None else scaled(system, units, start)
    turns = 1.0 / units.time
    if settled:
        orbit = follow(mapped, parameters, origin, tolerance, multiple)
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
            jnp.ceil(SHORTEST * turns - 1e-9),
        )
        orbit = window.orbit
    free = free_amplitude(design, setting)
    return _told(system, units, setting, free, orbit, window, legal, steps, tolerance)


def _told(
    system: LegsMotion,
    units: Units,
    setting: Setting,
    free: Array,
    orbit: Any,
    window: Any,
    legal: Array,
    steps: int,
    tolerance: Array,
) -> Response:
    """What was found, in SI."""
    accepted = orbit.accepted
    periods = orbit.periods.astype(system.gap.dtype)
    seen, state, growth, multiplier, spread, outcome = observed(orbit, window)
    outcome = jnp.where(
        system.steps(steps, tolerance) >= MOST_STEPS, code(RESULTS.step_limit), outcome
    )
    outcome = jnp.where(setting.voltage > 0, outcome, code(RESULTS.stalled))
    outcome = jnp.where(legal, outcome, code(RESULTS.out_of_range))
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
        contact_fraction=seen.contact / periods * shown,
        impact_loss=seen.loss / periods / time * energy * shown,
        lyapunov=_without_gradient(growth / time * shown),
        mean_height_spread=_without_gradient(spread * length),
        impacts=seen.impacts / periods / time * shown,
        period_multiple=jnp.where(accepted & known, orbit.periods, 0),
        result=from_code(outcome),
        residual=orbit.residual,
        margin=seen.margin * shown,
        multiplier=multiplier * shown,
        state=MotionState(moved[:n] * length, moved[n:] * (length / time)),
    )


def _without_gradient(value: Array) -> Array:
    """The value, with a derivative that is NaN: a statistic that has none here."""
    return substitute(jax.lax.stop_gradient(value), value * jnp.nan)


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    check_sizes(where, design, setting)


class Trajectory(NamedTuple):
    """A motion on its own steps and events, SI units: arrays over time."""

    time: Array
    height: Array
    speed: Array
    displacement: Array
    modal_speed: Array
    voltage: Array
    in_contact: Array
    impacts: Array


def simulate(
    design: Design,
    setting: Setting,
    *,
    periods: int = 1,
    start: MotionState | None = None,
    steps: int = 200,
    advances: int | None = None,
) -> Trajectory:
    """The motion over `periods` drive periods from rest, or from `start`, differentiable in both modes.

    `steps`: fewest points per period. `advances`: tried steps in all, 1.5 times the steps and 400 a period if
    not given. Points after the last period repeat it. `displacement` and `modal_speed` are (times, modes) of
    the contact foot; other points move by `displacement @ (mode_shape / mode_shape[0]).T`. First
    derivatives are right; second derivatives are NaN from the first impact on.
    """
    check_point("legs.simulate", design, setting)
    whole_number("periods", periods, 1, 1, 10**5)
    steps = whole_number("steps", steps, 200, 10, MOST_STEPS)
    design, setting, start = as_arrays((design, setting, start))
    if advances is None:
        fastest = modes_of(design).frequency.max() / setting.drive_frequency
        advances = (
            10**4 if is_traced(fastest) else round(max(steps, 21 * float(fastest)) * 1.5) + 400
        )
        advances *= periods
    return _simulate(design, setting, start, periods=periods, steps=steps, advances=advances)


@eqx.filter_jit
def _simulate(design, setting, start, *, periods: int, steps: int, advances: int) -> Trajectory:
    system, units = lump(design, setting)
    count = system.steps(steps, 1e-9)
    origin = system.rest() if start is None else unpack(scaled(system, units, start))
    _, path = legs_stepping.trace(system, origin, count, advances, periods)
    share = path.step / count + path.since
    steady, rate = system.steady(path.phase)
    speed = units.length / units.time
    return Trajectory(
        time=(path.periods + share) * units.time,
        height=path.foot.height * units.length,
        speed=path.foot.speed * speed,
        displacement=(jnp.stack(path.state.x, axis=1) + steady) * units.length,
        modal_speed=(jnp.stack(path.state.v, axis=1) + rate) * speed,
        voltage=setting.voltage * (path.phase.sign if system.square else path.phase.sine),
        in_contact=path.closed,
        impacts=path.record.impacts,
    )
