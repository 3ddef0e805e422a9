"""The response: outputs with units, how they are calculated, and what speaks against their gradients."""

import dataclasses
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro._device import Method, method_named
from diffmicro.devices.tumbler import implicit
from diffmicro.devices.tumbler.body import body_of, outline_of
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.devices.tumbler.drift import STATE_SIZE, critical_incline, drift_of, stall_field
from diffmicro.devices.tumbler.rules import HARMLESS, RULES
from diffmicro.devices.tumbler.steady import Observed
from diffmicro.dynamics.window import share
from diffmicro.parameters import as_arrays, output, whole_number
from diffmicro.reasons import reason_code
from diffmicro.results import RESULTS, code, finite_if_ok, found_if_ok, from_code, raise_failure
from diffmicro.rules import check_point, check_requests, legal, spare, where_legal


class Response(eqx.Module):
    """Steady motion."""

    speed: Array = output("mean velocity along the incline, upward positive", "m/s")
    speed_spread: Array = output(
        "standard error of the speed when it is a mean over a window, else 0", "m/s", low=0
    )
    slip: Array = output(
        "mean sliding of the contact, so that speed = turns kept with the field times no_slip_speed + slip",
        "m/s",
    )
    no_slip_speed: Array = output("hull perimeter times frequency", "m/s", low=0)
    climbs: Array = output("1 if the robot gets up the incline, else 0", "-", low=0, high=1)
    mass: Array = output("mass, given or from density and shape", "kg", low=0)
    max_adhesion: Array = output("largest adhesive force", "N", low=0)
    contact_fraction: Array = output("share of time in contact", "-", low=0, high=1)
    face_fraction: Array = output("share of time with a face on the ground", "-", low=0, high=1)
    hops: Array = output("touch-downs from flight per turn of the field", "-", low=0)
    yaw: Array = output(
        "angle of the robot about the surface's normal at the end; 0 in the planar event method",
        "rad",
    )
    lateral_drift: Array = output("mean velocity across; 0 in the planar event method", "m/s")
    max_penetration: Array = output(
        "deepest overlap of robot and ground; 0 in the event method", "m", low=0
    )
    max_residual: Array = output(
        "largest residual of a time step; of the event method the distance from returning",
        "-",
        low=0,
    )
    period_multiple: Array = output(
        "period of the motion in half turns of the field; 0 when it is not periodic", "-", low=0
    )
    result: RESULTS = output("how the calculation ended")
    residual: Array = output(
        "distance of the state from where it was one period before, in natural units", "-", low=0
    )
    margin: Array = output(
        "time to the nearest change of the sequence of modes, over the field's period; implicit: 0",
        "-",
        low=0,
    )
    multiplier: Array = output(
        "last contraction of that distance; 0 at once, 1 for a swing that lasts; implicit: 0",
        "-",
        low=0,
    )
    state: Array = output(
        "gap, its rate, roll, spin and sliding velocity as the field passes the lying robot, natural units",
        "-",
    )
    climb_margin: Array | None = output(
        "incline at which the mean speed falls to zero, less the incline, on request",
        "rad",
        default=None,
    )
    stall_field: Array | None = output(
        "smallest field that turns the robot over, statically, on request", "T", default=None, low=0
    )


ON_REQUEST = ("climb_margin", "stall_field")
"""Responses on request, as they need many solves."""


STEPS = 8
"""Fewest steps of the event method per turn of the field; `tolerance` makes them shorter."""


METHODS = (Method("event", steps=STEPS), Method("implicit", steps=0, scheme=True, carries=False))


TURNS_OVER = 0.02
"""Mean turning over the field's, below which a robot has stalled: no half turn in fifty."""


def nearby(response: Response, tolerance: Array | float) -> dict:
    """Arguments of `respond` for a neighbor of a known motion, quickly: what certificates ask for."""
    return dict(start=response.state, window=96, tolerance=tolerance, throw=False)


def afresh(design: Design, setting: Setting) -> dict:
    """Arguments of `respond`, those of `nearby`, where nothing is known yet: at rest on the ground."""
    del setting
    return dict(start=jnp.zeros(STATE_SIZE, jnp.asarray(design.length).dtype))


def respond(
    design: Design,
    setting: Setting,
    *,
    method: Literal["event", "implicit"] = "event",
    steps: int | None = None,
    start: Array | None = None,
    window: int = 96,
    tolerance: Array | float = 1e-10,
    extra: tuple[str, ...] = (),
    throw: bool = True,
) -> Response:
    """The steady motion that the robot settles to from rest, or from `start`.

    `steps`: per turn of the field; of the event method the fewest, 8; of the implicit one all of them, by
    default as many as its swing about the field needs.
    `start`: a `Response.state`, for the event method. `window`: half turns after which a motion that is not
    periodic is averaged. `tolerance`: of the event method's steps, in natural units.
    `extra`: of `ON_REQUEST`. `throw`: raise an error when there is no result, where values are known.

    Derivatives are those of the motion with `event`. With `implicit` they are derivatives of the discretization at
    fixed active set, which miss the impacts' times.
    """
    check_point("tumbler.respond", RULES, design, setting)
    method_named("tumbler.respond", METHODS, method)
    check_requests("tumbler.respond", extra, ON_REQUEST)
    design, setting, start = as_arrays((design, setting, start))
    if method == "implicit":
        if start is not None:
            raise ValueError(
                "tumbler.respond: start belongs to the event method; method='implicit' begins at rest. Leave out "
                "one of the two."
            )
        if steps is None:
            steps = implicit.usual_steps(design, setting)
        steps = whole_number("steps", steps, steps, 4, 10**7)
        response = _respond_implicit(design, setting, steps, tuple(extra))
    else:
        response = _respond_event(
            design,
            setting,
            start,
            jnp.asarray(tolerance, float),
            steps=whole_number("steps", steps, STEPS, 4, 10**5),
            window=whole_number("window", window, 96, 4, 10**5),
            extra=tuple(extra),
        )
    if throw:
        raise_failure("tumbler.respond", response.result)
    return response


@eqx.filter_jit
def _respond_event(
    design: Design,
    setting: Setting,
    start: Array | None,
    tolerance: Array,
    *,
    steps: int,
    window: int,
    extra: tuple[str, ...],
) -> Response:
    allowed = legal(RULES, design, setting)
    tame = spare(design, **HARMLESS), spare(setting, **HARMLESS)
    design, setting = where_legal(allowed, (design, setting), tame)
    drift = drift_of(design, setting, start, tolerance, steps, window)
    steady, observed = drift.steady, Observed(*drift.steady.observed)
    motion, units = drift.motion, drift.units
    n = steady.periods
    settled = steady.returns | steady.rolls
    turns_over = jnp.abs(steady.turns) >= TURNS_OVER
    down = (drift.speed < 0) & (setting.incline > 0) | steady.runs_away
    outcome = jnp.where(settled, code(RESULTS.successful), code(RESULTS.erratic))
    outcome = jnp.where(turns_over, outcome, code(RESULTS.stalled))
    outcome = jnp.where(down, code(RESULTS.runaway), outcome)
    outcome = jnp.where(steady.complete, outcome, code(RESULTS.event_limit))
    outcome = jnp.where(allowed, outcome, code(RESULTS.out_of_range))

    shown = jnp.where(allowed & steady.complete, 1.0, jnp.nan)
    steadily = jnp.where(allowed & settled, 1.0, jnp.nan)
    known = jnp.where(down, jnp.nan, shown)
    none = 0.0 * shown
    mass = jnp.asarray(body_of(design, outline_of(design)).mass)
    force = mass * units.velocity * motion.rate / units.time
    climbs = (drift.speed > 0) & ~down & turns_over
    response = Response(
        speed=drift.speed * known,
        speed_spread=jnp.where(settled, 0.0, steady.spread) * units.length / units.time * known,
        slip=drift.slip * known,
        no_slip_speed=2 * jnp.pi * units.length * setting.field_frequency * shown,
        climbs=jnp.where(climbs, 1.0, 0.0) * shown,
        mass=mass * shown,
        max_adhesion=observed.pull * force * shown,
        contact_fraction=share(observed.contact_time, n) * steadily,
        face_fraction=share(observed.face_time, n) * steadily,
        hops=2 * observed.hops / n * steadily,
        yaw=none,
        lateral_drift=none,
        max_penetration=none,
        max_residual=jnp.where(settled, steady.residual, jnp.nan) * shown,
        period_multiple=jnp.where(steady.returns & allowed, n, 0),
        result=from_code(outcome),
        residual=steady.residual * shown,
        margin=observed.margin / 2 * steadily,
        multiplier=steady.contraction * shown,
        state=steady.state,
    )
    added = _extra(design, setting, extra, tolerance, steps, shown)
    outcome = found_if_ok(response.result, *added.values())
    return finite_if_ok(dataclasses.replace(response, **added, result=outcome))


def _extra(
    design: Design,
    setting: Setting,
    extra: tuple[str, ...],
    tolerance: Array,
    steps: int,
    shown: Array,
) -> dict[str, Array]:
    """The responses on request. The critical incline is always the event method's."""
    added = {}
    if "stall_field" in extra:
        added["stall_field"] = stall_field(design, setting) * shown
    if "climb_margin" in extra:
        incline = critical_incline(design, setting, tolerance, steps)
        added["climb_margin"] = (incline - setting.incline) * shown
    return added


def _respond_implicit(
    design: Design, setting: Setting, steps: int, extra: tuple[str, ...]
) -> Response:
    if extra:
        raise ValueError(
            f"tumbler.respond: {', '.join(extra)} need the periodic motion of the event method; "
            "leave method='implicit' out."
        )
    found = implicit.respond_implicit(design, setting, steps)
    shown = jnp.where(jnp.isfinite(found.max_residual), 1.0, jnp.nan)
    none = 0.0 * shown  # this method has none
    outline = outline_of(design)
    perimeter = outline.perimeter()
    response = Response(
        speed=found.speed,
        speed_spread=found.speed_spread,
        slip=found.slip,
        no_slip_speed=perimeter * setting.field_frequency * shown,
        climbs=found.climbs,
        mass=body_of(design, outline).mass * shown,
        max_adhesion=found.max_adhesion,
        contact_fraction=found.contact_fraction,
        face_fraction=found.face_fraction,
        hops=found.hops,
        yaw=found.yaw,
        lateral_drift=found.lateral_drift,
        max_penetration=found.max_penetration,
        max_residual=found.max_residual,
        period_multiple=jnp.zeros_like(found.speed, int),
        result=from_code(found.result_code),
        residual=found.max_residual,
        margin=none,
        multiplier=none,
        state=jnp.zeros(5, found.speed.dtype),
    )
    return finite_if_ok(response)


NEAR_STALL, NEAR_CLIMB = 1.02, 0.02
"""Field over the stall field, speed over the no-slip speed: below, a boundary is near."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """Device-specific reason not to trust a gradient: a code of `reasons`, 0 for none.

    Hops and near misses of events are none: how far the derivative holds between the jumps is its `reach`.
    """
    if method != "event" or of in (*ON_REQUEST, "mass", "no_slip_speed"):
        return jnp.asarray(0)
    outcome = code(response.result)
    stalls = setting.field < NEAR_STALL * stall_field(design, setting)
    slow = response.speed < NEAR_CLIMB * response.no_slip_speed
    reason = jnp.where(stalls | slow, reason_code("boundary"), 0)
    reason = jnp.where(outcome == code(RESULTS.successful), reason, 0)
    return jnp.where(outcome == code(RESULTS.erratic), reason_code("chaotic"), reason)
