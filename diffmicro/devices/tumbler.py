"""The tumbling magnetic microrobot (Xie 2019): a magnetic body that a turning field rolls end over end.

Contact is with the convex hull of the body's outline; a flat face that lies on the ground adheres by its area.
From the outline and the field to the mean speed of the steady motion, differentiable.

| paper | here | unit |
|---|---|---|
| L, W, H | `length`, `width` (depth), `thickness` | m |
| m, phi, V_m, E | `mass`, `offset_angle`, `magnetic_volume`, `magnetization` | kg, rad, m^3, A/m |
| B, f_rot | `field`, `field_frequency` | T, Hz |
| mu, C, F_elect | `friction`, `adhesion`, `electrostatic_force` | -, N/m^2, N |
| 2 (L + H) f_rot, eq. 15 | `no_slip_speed`: hull perimeter times frequency | m/s |
| v | `speed` | m/s |

`event` is the planar hybrid motion (`tumbler_motion`), the limit of the paper's equations for small time steps;
`implicit` is the paper's time stepping in space (`tumbler_implicit`). Left out: rebound, the field's gradients,
bodies that are not symmetric under half a turn.
"""

import dataclasses
from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._parameters import as_arrays, check, is_traced, parameter, valid, whole_number
from diffmicro._reasons import reason_code
from diffmicro._results import RESULTS, code, from_code, raise_failure
from diffmicro.devices import tumbler_implicit
from diffmicro.devices.tumbler_body import body_of, core_of, outline_of
from diffmicro.devices.tumbler_drift import critical_incline, drift_of, stall_field
from diffmicro.devices.tumbler_path import Trajectory, follow
from diffmicro.devices.tumbler_steady import Observed


class Design(eqx.Module):
    """What a fabricator could change.

    length: length of the body [m].
    width: depth of the body, along the axis of rolling [m].
    thickness: thickness of the body [m].
    exponent: exponent of a superellipse, 2: an ellipse [-].
    spike_base: base of each spike [m].
    spike_height: height of each spike above its core [m].
    core_length: length of the core that carries the spikes [m]; None: the length.
    core_thickness: thickness of that core [m]; None: the thickness without the spikes.
    outline_radii: radii of curvature, up to a factor, over half a turn of the normal from the bottom on [m].
    mass: mass [kg].
    offset_angle: angle from the length to the magnetization [rad].
    magnetic_volume: volume of the magnetized material [m^3].
    magnetization: magnetization of that material [A/m].
    density: density [kg/m^3]; None: the mass is `mass`, else it follows the shape.
    magnetic_share: share of the volume that is magnetized [-]; None: `magnetic_volume`.
    inertia: moment of inertia about the axis of rolling [kg m^2]; None: of the outline, with even density.
    outline: shape of the section, always inside length and thickness.
    """

    length: Array | float = parameter(0.8e-3, "L", "experimental setup", above=0)
    width: Array | float = parameter(0.4e-3, "W", "experimental setup", above=0)
    thickness: Array | float = parameter(0.1e-3, "H", "experimental setup", above=0)
    exponent: Array | float = parameter(2.0, "", "an ellipse", above=1, high=64)
    spike_base: Array | float = parameter(0.1e-3, "", "Fig. 7b", above=0)
    spike_height: Array | float = parameter(0.125e-3, "", "Fig. 7b", above=0)
    core_length: Array | float | None = parameter(None, "", "Fig. 7", above=0)
    core_thickness: Array | float | None = parameter(None, "", "Fig. 7", above=0)
    outline_radii: Any = parameter((1.0,) * 6, "", "an ellipse", above=0, shapes=(("n",),))
    mass: Array | float = parameter(1.6071e-7, "m", "Table 1", above=0)
    offset_angle: Array | float = parameter(0.47123889803846897, "phi", "Table 1: 27 degrees")
    magnetic_volume: Array | float = parameter(2.9e-11, "V_m", "Table 1", above=0)
    magnetization: Array | float = parameter(15e3, "|E|", "Table 1", low=0)
    density: Array | float | None = parameter(None, "", "free outlines", above=0)
    magnetic_share: Array | float | None = parameter(None, "", "free outlines", above=0, high=1)
    inertia: Array | float | None = parameter(None, "I_xx", "Fig. 7: kept for all shapes", above=0)
    outline: str = parameter(
        "box", "", "Figs. 1, 7", words=("box", "superellipse", "spiked", "spiked_ends", "support")
    )


class Setting(eqx.Module):
    """Surface, field and drive.

    field: flux density of the turning field [T].
    field_frequency: turns of the field per time [Hz].
    incline: slope of the surface, climbed by the rolling robot [rad].
    friction: friction coefficient [-].
    adhesion: adhesive force per contact area [N/m^2].
    electrostatic_force: constant force toward the surface [N].
    edge_band: width of the band whose adhesion a line contact gets [m].
    start_yaw: angle of the robot about the surface's normal at the start, for the implicit method [rad].
    gravity: gravitational acceleration [m/s^2].
    adhesion_law: force: adhesion presses the body down; friction: it adds to the load in the friction bound alone.
    """

    field: Array | float = parameter(20e-3, "B", "Figs. 5, 6, 8", low=0)
    field_frequency: Array | float = parameter(1.0, "f_rot", "Fig. 6", above=0)
    incline: Array | float = parameter(0.0, "", "Fig. 6", low=-np.pi / 2, high=np.pi / 2)
    friction: Array | float = parameter(0.3, "mu", "Table 1", low=0)
    adhesion: Array | float = parameter(3.7148, "C", "Table 1", low=0)
    electrostatic_force: Array | float = parameter(3.2022e-6, "F_elect", "Table 1", low=0)
    edge_band: Array | float = parameter(0.0, "", "none in the paper", low=0)
    start_yaw: Array | float = parameter(0.0, "", "none in the paper")
    gravity: Array | float = parameter(9.81, "g", "eq. 12", above=0)
    adhesion_law: str = parameter("force", "", "eq. 12", words=("force", "friction"))


def published_design(**overrides: Any) -> Design:
    """Table 1 of the paper: the cuboid used on paper."""
    return Design(**overrides)


def published_setting(**overrides: Any) -> Setting:
    """Table 1 of the paper, flat ground: 20 mT at 1 Hz on paper."""
    return Setting(**overrides)


class Response(eqx.Module):
    """Steady motion.

    speed: mean velocity along the incline, upward positive [m/s].
    speed_spread: standard error of the speed when it is a mean over a window, else 0 [m/s].
    slip: mean sliding of the contact, so that speed = turns kept with the field times no_slip_speed + slip [m/s].
    no_slip_speed: hull perimeter times frequency [m/s].
    climbs: 1 if the robot gets up the incline, else 0 [-].
    mass: mass, given or from density and shape [kg].
    max_adhesion: largest adhesive force [N].
    contact_fraction: share of time in contact [-].
    face_fraction: share of time with a face on the ground [-].
    hops: touch-downs from flight per turn of the field [-].
    yaw: angle of the robot about the surface's normal at the end; 0 in the planar event method [rad].
    lateral_drift: mean velocity across; 0 in the planar event method [m/s].
    max_penetration: deepest overlap of robot and ground; 0 in the event method [m].
    max_residual: largest residual of a time step; of the event method the distance from returning [-].
    climb_margin: incline at which the mean speed falls to zero, less the incline, on request [rad].
    stall_field: smallest field that turns the robot over, statically, on request [T].
    period_multiple: period of the motion in half turns of the field; 0 when it is not periodic [-].
    result: how the calculation ended.
    residual: distance of the state from where it was one period before, in natural units [-].
    margin: time to the nearest change of the sequence of modes, over the field's period; implicit: 0 [-].
    multiplier: last contraction of that distance; 0 at once, 1 for a swing that lasts; implicit: 0 [-].
    state: gap, its rate, roll, spin and sliding velocity as the field passes the lying robot, natural units [-].
    """

    speed: Array
    speed_spread: Array
    slip: Array
    no_slip_speed: Array
    climbs: Array
    mass: Array
    max_adhesion: Array
    contact_fraction: Array
    face_fraction: Array
    hops: Array
    yaw: Array
    lateral_drift: Array
    max_penetration: Array
    max_residual: Array
    period_multiple: Array
    result: RESULTS
    residual: Array
    margin: Array
    multiplier: Array
    state: Array
    climb_margin: Array | None = None
    stall_field: Array | None = None


ON_REQUEST = ("climb_margin", "stall_field")
"""Responses that need many solves: only when asked for."""

SCHEMES = ("implicit",)
"""Methods whose derivative is that of a time-stepping scheme at fixed active set."""

METHODS = ("event", "implicit")

STEPS = 8
"""Fewest steps of the event method per turn of the field; `tolerance` makes them shorter."""


TURNS_OVER = 0.02
"""Mean turning over the field's, below which a robot has stalled: no half turn in fifty."""


def nearby(response: Response, tolerance: Array | float) -> dict:
    """Arguments of `respond` for a neighbor of a known motion, quickly: what certificates ask for."""
    return dict(start=response.state, window=96, tolerance=tolerance, throw=False)


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
    `start`: a `Response.state`. `window`: half turns after which a motion that is not periodic is averaged.
    `tolerance`: of the event method's steps, in natural units.
    `extra`: of `ON_REQUEST`. `throw`: raise an error when there is no result, where values are known.

    Derivatives are those of the motion with `event`. With `implicit` they are derivatives of the discretization at
    fixed active set, which miss the impacts' times.
    """
    check_point("tumbler.respond", design, setting)
    if method not in METHODS:
        raise ValueError(f"tumbler.respond: method {method!r} is not one of {', '.join(METHODS)}.")
    for name in extra:
        if name not in ON_REQUEST:
            raise ValueError(
                f"tumbler.respond: extra {name!r} is not one of {', '.join(ON_REQUEST)}."
            )
    design, setting, start = as_arrays((design, setting, start))
    if method == "implicit":
        if steps is None:
            steps = tumbler_implicit.usual_steps(design, setting)
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
    design, setting, legal = _legal(design, setting)
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
    outcome = jnp.where(legal, outcome, code(RESULTS.out_of_range))

    shown = jnp.where(legal & steady.complete, 1.0, jnp.nan)
    steadily = jnp.where(legal & settled, 1.0, jnp.nan)
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
        contact_fraction=observed.contact_time / n * steadily,
        face_fraction=observed.face_time / n * steadily,
        hops=2 * observed.hops / n * steadily,
        yaw=none,
        lateral_drift=none,
        max_penetration=none,
        max_residual=jnp.where(settled, steady.residual, jnp.nan) * shown,
        period_multiple=jnp.where(steady.returns & legal, n, 0),
        result=from_code(outcome),
        residual=steady.residual * shown,
        margin=observed.margin / 2 * steadily,
        multiplier=steady.contraction * shown,
        state=steady.state,
    )
    return dataclasses.replace(response, **_extra(design, setting, extra, tolerance, steps, shown))


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
    found = tumbler_implicit.respond_implicit(design, setting, steps)
    shown = jnp.where(jnp.isfinite(found.max_residual), 1.0, jnp.nan)
    none = 0.0 * shown  # not asked for by this method
    outline = outline_of(design)
    perimeter = outline.perimeter()
    return Response(
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


def simulate(
    design: Design,
    setting: Setting,
    *,
    turns: float = 1.0,
    start: Array | None = None,
    steps: int = 400,
) -> Trajectory:
    """The planar motion over a number of half turns of the field from rest, or from a `Response.state`.

    `turns`: of the field, rounded to halves. `steps`: fewest points per turn; each event is one more. For
    motion in space see `tumbler_implicit.simulate_implicit`. Not for use inside transformations.
    """
    check_point("tumbler.simulate", design, setting)
    half_turns = whole_number("turns * 2", round(2 * turns), 2, 1, 10**4)
    steps = whole_number("steps", steps, 400, 4, 10**5)
    design, setting, start = as_arrays((design, setting, start))
    if start is None:
        start = jnp.zeros(5, jnp.result_type(design.length))
    return follow(design, setting, half_turns, start, max(steps // 2, 2), 1e-10)


HOPS = 8.0
"""Touch-downs per turn of the field from which the mean speed is rugged: jumps follow each other closely."""

NEAR_STALL, NEAR_CLIMB, NEAR_CHANGE = 1.02, 0.02, 2e-5
"""Field over the stall field, speed over the no-slip speed, margin: below, a boundary or a kink is near."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """What the device knows against a gradient: a code of `diffmicro._reasons`, 0 for nothing."""
    if method != "event" or of in (*ON_REQUEST, "mass", "no_slip_speed"):
        return jnp.asarray(0)
    outcome = code(response.result)
    reason = jnp.where(response.margin < NEAR_CHANGE, reason_code("kink"), 0)
    reason = jnp.where(response.hops >= HOPS, reason_code("rugged"), reason)
    stalls = setting.field < NEAR_STALL * stall_field(design, setting)
    slow = response.speed < NEAR_CLIMB * response.no_slip_speed
    reason = jnp.where(stalls | slow, reason_code("boundary"), reason)
    reason = jnp.where(outcome == code(RESULTS.successful), reason, 0)
    return jnp.where(outcome == code(RESULTS.erratic), reason_code("chaotic"), reason)


def _legal(design: Design, setting: Setting) -> tuple[Design, Setting, Array]:
    """Bad lanes run on harmless numbers, so that they end, and are blanked afterwards."""
    legal = valid(design, setting)
    if design.outline.startswith("spiked"):
        core_length, core_thickness, top = core_of(design)
        legal = legal & (core_thickness > 0) & (top <= design.thickness * (1 + 1e-9))
        legal = (
            legal
            & (core_length > 2 * design.spike_base)
            & (core_length <= design.length * (1 + 1e-9))
        )
    harmless = as_arrays((Design(), Setting()))

    def choose(name: str, given: Any, own: Any) -> Any:
        if given is None or isinstance(given, str):
            return given
        own = HARMLESS.get(name, own)
        return jnp.where(
            legal, given, jnp.broadcast_to(jnp.asarray(own, given.dtype).ravel()[0], given.shape)
        )

    def replaced(tree: Any, own: Any) -> Any:
        names = [f.name for f in dataclasses.fields(tree)]
        chosen = {n: choose(n, getattr(tree, n), getattr(own, n)) for n in names}
        return dataclasses.replace(tree, **chosen)

    return replaced(design, harmless[0]), replaced(setting, harmless[1]), legal


HARMLESS = dict(
    core_length=0.8e-3,
    core_thickness=0.05e-3,
    spike_height=0.025e-3,
    density=5e3,
    magnetic_share=1.0,
    inertia=1e-14,
)
"""Values that a lane with bad input runs on where the defaults do not fit together or are none."""


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    if not design.outline.startswith("spiked"):
        return
    core_length, core_thickness, top = core_of(design)
    if is_traced(core_length, core_thickness, top, design.spike_base, design.length):
        return
    if np.any(np.asarray(core_thickness) <= 0) or np.any(
        np.asarray(top) > np.asarray(design.thickness) * (1 + 1e-9)
    ):
        raise ValueError(
            f"{where}: spikes of height {design.spike_height} m above and below a core of "
            f"{core_thickness} m do not fit into Design.thickness = {design.thickness} m. Make the spikes "
            "or the core smaller, or the body thicker."
        )
    if np.any(np.asarray(core_length) < 2 * np.asarray(design.spike_base)) or np.any(
        np.asarray(core_length) > np.asarray(design.length) * (1 + 1e-9)
    ):
        raise ValueError(
            f"{where}: the core of {core_length} m has to be longer than two spike bases of "
            f"{design.spike_base} m and at most Design.length = {design.length} m. Change one of them."
        )
