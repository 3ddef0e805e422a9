"""Friction reduced by ultrasound (MDR thesis, chapter 4): a probe that vibrates while it is dragged over a disc.

From the design to the drag force at a sliding velocity, or the other way round, differentiable. The probe vibrates
out of plane (`oop`), in plane in line with the motion (`ipi`) or in plane across it (`ipp`).

| thesis | here | unit |
|---|---|---|
| R, m_e | `radius`, `probe_mass` | m, kg |
| E, nu | `young`, `poisson` (both bodies) | Pa, - |
| F_n,0, dF_n / F_n,0 | `normal_force`, `force_ratio` | N, - |
| mu_0, omega / 2 pi | `friction`, `frequency` | -, Hz |
| v^ = dl omega / 2 | `vibration_velocity` | m/s |
| theta | `track_angle` | rad |
| F / (mu_0 F_n,0) = <mu> / mu_0 | `drag_ratio` given, `friction_ratio` found | - |
| <v> | `sliding_velocity` | m/s |

Laws: `coulomb` (oop, eqs. 4.8 to 4.14), `mdr` (oop, section 4.3.3: see `tribometer_mdr`), `dynamic` (ipi, model 1:
see `tribometer_inplane`), `quasistatic` (ipi, model 2, eq. 4.36; ipp, eq. 4.41). Corrections to the thesis are
listed there and in `reference.friction_control`. Left out: friction that depends on velocity, loss of contact,
the drive of the vibration.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._parameters import as_arrays, check, parameter, valid, whole_number
from diffmicro._reasons import reason_code
from diffmicro._results import RESULTS, code, from_code, raise_failure
from diffmicro.devices import tribometer_models
from diffmicro.devices.tribometer_mdr import tolerance_of
from diffmicro.devices.tribometer_models import LAWS, Steady
from diffmicro.devices.tribometer_paths import path
from diffmicro.dynamics.window import substitute


class Design(eqx.Module):
    """What a fabricator could change.

    radius: radius of the sphere that touches the disc, out of plane [m].
    probe_mass: equivalent mass of the probe [kg].
    young: Young's modulus of both bodies [Pa].
    poisson: Poisson's ratio of both bodies [-].
    """

    radius: Array | float = parameter(3.5e-3, "R", "Table 4.1", above=0)
    probe_mass: Array | float = parameter(2.1e-3, "m_e", "Table 4.1", above=0)
    young: Array | float = parameter(210e9, "E_steel", "Table 4.1", above=0)
    poisson: Array | float = parameter(0.3, "nu_steel", "Table 4.1", low=0, high=0.5)


class Setting(eqx.Module):
    """Load, vibration and drag. Exactly one of drag_ratio and sliding_velocity is given.

    normal_force: mean normal force [N].
    force_ratio: amplitude of the normal force over its mean, out of plane [-].
    friction: friction coefficient without vibration [-].
    frequency: frequency of the vibration [Hz].
    vibration_velocity: amplitude of the velocity of one contact point, in plane [m/s].
    track_angle: angle between the motion and the line of the contact points, in line, quasi-static [rad].
    drag_ratio: drag force over the mean friction force without vibration [-].
    sliding_velocity: mean velocity of sliding [m/s].
    direction: of the vibration: oop out of plane, ipi in plane in line, ipp in plane across.
    law: of friction; the direction's usual one if None.
    """

    normal_force: Array | float = parameter(9.5, "F_n,0", "Table 4.1", above=0)
    force_ratio: Array | float = parameter(0.5, "dF_n/F_n,0", "Fig. 4.8", above=0, high=1)
    friction: Array | float = parameter(0.4, "mu_0", "Table 4.1", above=0)
    frequency: Array | float = parameter(30e3, "omega/2 pi", "Table 4.1", above=0)
    vibration_velocity: Array | float = parameter(
        0.0567, "v^", "section 4.4.2: dl = 0.42 um at 43 kHz", above=0
    )
    track_angle: Array | float = parameter(
        0.0, "theta", "15.25 deg in Table 4.2", low=-1.5, high=1.5
    )
    drag_ratio: Array | float | None = parameter(None, "F/mu_0 F_n,0", "eq. 4.15", low=0)
    sliding_velocity: Array | float | None = parameter(None, "<v>", "eq. 4.9", low=0)
    direction: str = parameter("oop", "", "Fig. 4.1", words=("oop", "ipi", "ipp"))
    law: str | None = parameter(
        None, "", "sections 4.3 to 4.5", words=("coulomb", "mdr", "dynamic", "quasistatic")
    )


class Response(eqx.Module):
    """Steady sliding under vibration.

    friction_ratio: mean friction force over the one without vibration [-].
    sliding_velocity: mean velocity of sliding [m/s].
    critical_velocity: from where on nothing is reduced (oop), no contact point turns back (ipi); ipp: v^ [m/s].
    result: how the calculation ended.
    residual: distance after one period of the motion from where it began, relative [-].
    margin: distance to the nearest change of regime, relative [-].
    multiplier: largest modulus of the Floquet multipliers, where the motion is followed in time [-].
    """

    friction_ratio: Array
    sliding_velocity: Array
    critical_velocity: Array
    result: RESULTS
    residual: Array
    margin: Array
    multiplier: Array


METHOD = "steady"
"""What certificates call the calculation: the law says how."""

STEPS = 512
"""Time steps a period of law mdr; points of the average of ipi, quasi-static."""

KINK = 1e-3
"""Margin below which a change of regime counts as near."""


def coarser(numerics: dict) -> dict:
    """Half the resolution: what certificates compare with."""
    steps = numerics.get("steps") or STEPS
    return {**numerics, "steps": 2 * max(MOST_COARSE // 2, steps // 4)}


MOST_COARSE = 16
"""Fewest steps that mean anything."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """What speaks against a gradient: a probe that does not slide, or slides without reduction; a kink."""
    del design, method
    none = jnp.zeros(jnp.shape(response.margin), jnp.int32)
    if of == "critical_velocity" or (of == "friction_ratio") == (setting.drag_ratio is not None):
        return none
    near = response.margin < KINK
    against = jnp.where(near, reason_code("kink"), none)
    flat = (response.friction_ratio == 1) & (of == "friction_ratio")
    against = jnp.where(flat & ~near, reason_code("dead"), against)
    stalled = code(response.result) == code(RESULTS.stalled)
    return jnp.where(stalled, reason_code("dead_zone"), against)


def published_design(**overrides: Any) -> Design:
    """The probe of Table 4.1."""
    return Design(**overrides)


def published_setting(**overrides: Any) -> Setting:
    """Table 4.1 with half of the normal force vibrating, dragged with 3/4 of the friction force."""
    if overrides.get("drag_ratio") is None and overrides.get("sliding_velocity") is None:
        overrides["drag_ratio"] = 0.75
    return Setting(**overrides)


def law_of(setting: Setting) -> str:
    """The law of friction: the one given, or the usual one of the direction."""
    return setting.law or LAWS[setting.direction][0]


def respond(
    design: Design,
    setting: Setting,
    *,
    steps: int | None = None,
    tolerance: Array | float | None = None,
    throw: bool = True,
) -> Response:
    """Steady sliding: the velocity at a given drag, or the drag at a given velocity.

    `steps`: resolution of the laws that need one, even: time steps a period, or points of an average.
    `tolerance`: relative, of the periodic motion with law mdr; 1e-9, or 1e-5 in single precision.
    `throw`: raise an error when there is no result, where values are known (not inside transformations).

    Above the drag that friction can hold (`drag_ratio` above 1, or the track angle's cosine) the probe runs
    away; below the least friction force out of plane it is stalled.
    """
    check_point("tribometer.respond", design, setting)
    steps = whole_number("steps", steps, STEPS, MOST_COARSE, 2**16)
    design, setting = as_arrays((design, setting))
    if tolerance is None:
        tolerance = tolerance_of(jnp.result_type(design.radius))
    response = _respond(design, setting, jnp.asarray(tolerance, float), steps=steps + steps % 2)
    if throw:
        raise_failure("tribometer.respond", response.result)
    return response


@eqx.filter_jit
def _respond(design: Design, setting: Setting, tolerance: Array, *, steps: int) -> Response:
    legal = valid(design, setting)
    touched = jnp.sum(jnp.stack(jax.tree.leaves((design, setting))))
    design, setting = _harmless(legal, design, setting)
    found = tribometer_models.steady(law_of(setting), design, setting, steps, tolerance)
    return _response(found, legal, touched)


def _harmless(legal: Array, design: Design, setting: Setting) -> tuple[Design, Setting]:
    """Bad lanes run on the published numbers, so that they end; they are blanked afterwards."""
    given = (design, setting)
    safe = Setting(
        drag_ratio=None if setting.drag_ratio is None else 0.75,
        sliding_velocity=None if setting.sliding_velocity is None else 1e-3,
        direction=setting.direction,
        law=setting.law,
    )
    return jax.tree.map(
        lambda x, y: jnp.where(legal, x, jnp.asarray(y, x.dtype)), given, (Design(), safe)
    )


def _response(found: Steady, legal: Array, touched: Array) -> Response:
    """The answer; what is refused has NaN derivatives by all that it was `touched` by, in reverse mode too."""
    outcome = jnp.where(found.converged, code(RESULTS.successful), code(RESULTS.not_converged))
    outcome = jnp.where(found.stalled, code(RESULTS.stalled), outcome)
    outcome = jnp.where(found.runaway, code(RESULTS.runaway), outcome)
    outcome = jnp.where(legal, outcome, code(RESULTS.out_of_range))

    def blank(good: Array) -> Array:
        return touched * jnp.where(good, 0.0, jnp.nan).astype(touched.dtype)

    usable = legal & (found.converged | found.stalled) & ~found.runaway
    still = legal & found.stalled
    moving = found.velocity + blank(usable & ~still)
    at_rest = substitute(jnp.zeros_like(moving), blank(~still))
    return Response(
        friction_ratio=found.drag + blank(usable),
        sliding_velocity=jnp.where(still, at_rest, moving),
        critical_velocity=found.critical + blank(legal),
        result=from_code(outcome),
        residual=found.residual,
        margin=jax.lax.stop_gradient(found.margin + blank(usable)),
        multiplier=found.multiplier,
    )


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    if (setting.drag_ratio is None) == (setting.sliding_velocity is None):
        told = "neither is" if setting.drag_ratio is None else "both are"
        raise ValueError(
            f"{where}: exactly one of Setting.drag_ratio and Setting.sliding_velocity has to be given, "
            f"and {told}. Give the one that is imposed; the other is a response."
        )
    law = law_of(setting)
    if law not in LAWS[setting.direction]:
        raise ValueError(
            f"{where}: Setting.law = {law} does not exist for direction {setting.direction}; it has to be one of "
            f"{', '.join(LAWS[setting.direction])}."
        )


class Trajectory(NamedTuple):
    """One period of steady sliding, SI units: arrays over time.

    Of the two contact points in plane, velocity and friction are those of the body.
    """

    time: Array
    position: Array
    velocity: Array
    normal_force: Array
    friction_force: Array
    stick_share: Array


def simulate(
    design: Design, setting: Setting, *, steps: int | None = None, points: int = 512
) -> Trajectory:
    """One period of steady sliding, from the smallest normal force on out of plane, from where the
    contact points stand still in plane.

    `steps`: as in `respond`, and with law mdr the number of points; `points`: of the other laws.
    """
    check_point("tribometer.simulate", design, setting)
    steps = whole_number("steps", steps, STEPS, MOST_COARSE, 2**16)
    points = whole_number("points", points, 512, 4, 10**6)
    design, setting = as_arrays((design, setting))
    response = respond(design, setting, steps=steps)
    law = law_of(setting)
    count = steps + steps % 2 if law == "mdr" else points
    shares = np.arange(count + 1) / count
    unit = tribometer_models.velocity_unit(law, design, setting)
    found = path(
        law, design, setting, response.friction_ratio, response.sliding_velocity / unit, shares
    )
    omega = 2 * np.pi * setting.frequency
    return Trajectory(
        time=jnp.asarray(shares) / setting.frequency,
        position=found.displacement * unit / omega,
        velocity=found.velocity * unit,
        normal_force=found.load * setting.normal_force,
        friction_force=found.friction * setting.friction * setting.normal_force,
        stick_share=found.sticking,
    )
