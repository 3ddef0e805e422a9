"""The response: outputs with units, how they are calculated, and what speaks against their gradients."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro.autodiff.rules import substitute
from diffmicro.devices.stickslip.design import Design, Setting
from diffmicro.devices.stickslip.lumped import Lumped, lump, motion, statics
from diffmicro.devices.stickslip.motion import Motion, Pass, State
from diffmicro.devices.stickslip.rules import HARMLESS, RULES
from diffmicro.devices.stickslip.steady import Steady, approach, differentiable
from diffmicro.dynamics.orbits import STABLE
from diffmicro.mechanics.presliding import SINGLE_STATE_LAWS
from diffmicro.parameters import Value, as_arrays, output, whole_number
from diffmicro.reasons import reason_code
from diffmicro.resolution import Steps, taken
from diffmicro.results import RESULTS, code, finite_if_ok, found_if_ok, from_code, raise_failure
from diffmicro.rules import check_point, check_requests, legal, spare, where_legal


class Response(eqx.Module):
    """Steady state reached from rest. Pairs: the two contacts above, the four below."""

    force: Array = output("mean force on the sensor when the runner gains no more", "N")
    net_step: Array = output("way of the runner without sensor in one period, settled", "m")
    back_motion: Array = output("what it loses of its highest position in each period", "m", low=0)
    residual_vibration: Array = output(
        "amplitude of its vibration, root mean square over the period times sqrt 2", "m", low=0
    )
    vibration_left: Array = output(
        "amplitude of its vibration just before the next back step", "m", low=0
    )
    presliding: Array = output(
        "tangential displacement at which each contact slides, u_x,max", "m", low=0
    )
    contact_radius: Array = output("radius of each contact", "m", low=0)
    normal_force: Array = output("normal force of each contact", "N", low=0)
    peak_pressure: Array = output(
        "pressure at the center of an upper contact, roughness left out", "Pa", low=0
    )
    result: RESULTS = output("how the calculation ended")
    residual: Array = output(
        "change of the runner's step from one period to the next, over presliding", "-", low=0
    )
    periods: Array = output("drive periods that were simulated", "-", low=0)
    zero_amplitude: Array | None = output(
        "stroke below which the runner does not move", "m", default=None, low=0
    )


ON_REQUEST = ("zero_amplitude",)


STEPS = 2000
"""Steps in the slow phase of a period: 18 of each vibration of the contacts at 10 ms."""

FINER: dict[str, int] = dict.fromkeys(SINGLE_STATE_LAWS, 2)
"""How many times as many the laws with one state take: they cost little, and slip as long as anything vibrates."""


def coarser(numerics: dict[str, Value]) -> dict[str, Value]:
    """Numerics of half the resolution, for certificates."""
    steps = numerics.get("steps") or STEPS
    return {**numerics, "steps": max(steps // 2, FEWEST_STEPS)}


FEWEST_STEPS = 4


QUIET = 1e-3
"""Vibration before the back step, over presliding, whose phase the force follows where nothing damps it."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """Device-specific reason not to trust a gradient: a dead zone, or vibration that never dies down.

    Damped vibration is the same in each period once it has settled, and its phase follows from the design.
    """
    del method
    if of in ("presliding", "contact_radius", "normal_force", "peak_pressure"):
        return jnp.zeros_like(code(response.result))
    dead = code(response.result) == code(RESULTS.stalled)
    if of == "zero_amplitude":
        dead = jnp.zeros_like(dead)
    turns = jnp.asarray(loaded_numbers((design, setting, None)).turns)
    lasts = jnp.exp(-turns * design.damping_ratio) > STABLE
    rings = lasts & (response.vibration_left > QUIET * response.presliding[0])
    against = jnp.where(rings, reason_code("vibration"), 0)
    return jnp.where(dead, reason_code("dead_zone"), against)


def respond(
    design: Design,
    setting: Setting,
    *,
    steps: int | None = None,
    share: Array | float | None = None,
    tolerance: Array | float = 1e-6,
    extra: tuple[str, ...] = (),
    throw: bool = True,
) -> Response:
    """The steady state that the drive reaches from rest.

    `steps`: time steps in the slow phase of a period, 2000; the laws with one state take twice as many.
    `share`: of them that are taken, a number that one compiled program is given; None: all.
    `tolerance`: distance from the steady state, relative, from which it is extrapolated along a straight line.
    `extra`: responses that are calculated on request: zero_amplitude.
    A motion that does not settle is erratic: its force is that of the place it came to, within its scatter.
    `throw`: raise an error when there is no result, where values are known (not inside transformations).
    """
    check_point("stickslip.respond", RULES, design, setting)
    check_requests("stickslip.respond", extra, ON_REQUEST)
    count = whole_number("steps", steps, STEPS, FEWEST_STEPS, 10**6) * FINER.get(setting.law, 1)
    design, setting = as_arrays((design, setting))
    tolerance = jnp.asarray(tolerance, jnp.result_type(design.radius))
    response = _respond(
        design, setting, tolerance, taken(count, share, FEWEST_STEPS), extra=tuple(extra)
    )
    if throw:
        raise_failure("stickslip.respond", response.result)
    return response


@eqx.filter_jit
def _respond(
    design: Design, setting: Setting, tolerance: Array, steps: Steps, *, extra: tuple[str, ...]
) -> Response:
    allowed = legal(RULES, design, setting) & steps.legal
    tame = spare(design), spare(setting, **HARMLESS)
    design, setting = where_legal(allowed, (design, setting), tame)
    contacts = statics(design, setting)
    given = (design, setting, steps.used)
    lumped, loose = loaded_numbers(given), unloaded_numbers(given)
    length = contacts.presliding[0]

    def advance(numbers: PyTree, state: State, place: Array) -> tuple[State, Pass]:
        return motion(numbers, setting, steps.most).period(state, place)

    begin = motion(lumped, setting, steps.most).rest()
    cases = jax.lax.stop_gradient(jax.tree.map(lambda *x: jnp.stack(x), loose, lumped))
    first = -STEEPNESS * jax.lax.stop_gradient(lumped.sensor)

    def find(case: tuple[Lumped, Array]) -> Steady:
        return approach(advance, case[0], begin, first, tolerance, case[1])

    # one after the other, so that the motion is compiled once
    unheld = jax.lax.stop_gradient(lumped.sensor) == 0
    both = jax.lax.map(find, (cases, jnp.stack([jnp.asarray(True), unheld])))
    free, held = (jax.tree.map(lambda x, i=i: x[i], both) for i in (0, 1))
    alone = Pass(*differentiable(advance, unloaded_numbers, given, free, free=True)[1])
    place, loaded = differentiable(advance, loaded_numbers, given, held, free=False)
    loaded = Pass(*loaded)
    position = place + loaded.mean
    # a runner that has not gained a stroke in all is only carried to and fro
    still = held.stuck & (position < lumped.stroke)
    overflow = _overflowed(motion(lumped, setting, steps.most), held.state)
    outcome = jnp.where(still, code(RESULTS.stalled), code(RESULTS.successful))
    found = held.found & free.found
    outcome = jnp.where(found, outcome, code(RESULTS.erratic))
    outcome = jnp.where(overflow, code(RESULTS.memory_limit), outcome)
    outcome = jnp.where(allowed, outcome, code(RESULTS.out_of_range))
    shown = jnp.where(allowed, 1.0, jnp.nan).astype(length.dtype)
    numbers = shown * jnp.where(overflow, jnp.nan, 1.0)
    force = design.sensor_stiffness * length * position * numbers
    vanishing = _zero_amplitude(design, setting, steps, tolerance) * shown if extra else None
    # no derivative of a motion that does not settle; in the dead zone zero would say nothing of the way out
    response = Response(
        force=substitute(
            jax.lax.stop_gradient(force), jnp.where(still | ~found, jnp.nan, 1) * force
        ),
        net_step=alone.step * length * numbers,
        back_motion=(alone.crest - alone.step - alone.dip) * length * numbers,
        residual_vibration=jnp.sqrt(2 * alone.unrest) * length * numbers,
        vibration_left=alone.left * length * numbers,
        presliding=contacts.presliding * shown,
        contact_radius=contacts.contact_radius * shown,
        normal_force=contacts.normal_force * shown,
        peak_pressure=contacts.peak_pressure * shown,
        result=found_if_ok(from_code(outcome), *([] if vanishing is None else [vanishing])),
        residual=held.change * numbers,
        periods=held.periods,
        zero_amplitude=vanishing,
    )
    return finite_if_ok(response)


Given = tuple[Design, Setting, Array | None]
"""Design and setting, and how many of its steps the motion takes; None: all."""


def loaded_numbers(given: Given) -> Lumped:
    """The numbers of the motion against the sensor."""
    design, setting, used = given
    return lump(design, setting, statics(design, setting), used)


def unloaded_numbers(given: Given) -> Lumped:
    """The same of a runner without sensor."""
    numbers = loaded_numbers(given)
    return numbers._replace(sensor=jnp.zeros_like(numbers.sensor))


def _zero_amplitude(design: Design, setting: Setting, steps: Steps, tolerance: Array) -> Array:
    """Stroke at which the runner without sensor begins to gain, from above."""
    length = statics(design, setting).presliding[0]

    def build(given: Given) -> tuple[Lumped, Array]:
        # what shaping adds is a share of presliding, not of the stroke, which is not the given one here
        numbers = unloaded_numbers(given)
        return numbers, numbers.lift * numbers.stroke

    def advance(numbers: PyTree, state: State, place: Array) -> tuple[State, Pass]:
        numbers, lift = numbers
        stroke = HIGHEST - place
        numbers = numbers._replace(stroke=stroke, lift=lift / stroke)
        return motion(numbers, setting, steps.most).period(state, place)

    given = (design, setting, steps.used)
    held = jax.lax.stop_gradient(build(given))
    begin = motion(held[0], setting, steps.most).rest()
    found = approach(
        advance, held, begin, -jnp.ones_like(length), tolerance, jnp.asarray(False), carried=False
    )
    place, _ = differentiable(advance, build, given, found, free=False)
    return jnp.where(found.found, (HIGHEST - place) * length, jnp.nan)


HIGHEST = 4.0
"""Stroke over presliding from which the stroke of no motion is approached."""


STEEPNESS = 4.0
"""First estimate of the loss of step per displacement of the contacts; the three-phase model has 3 to 5."""


def _overflowed(system: Motion, state: State) -> Array:
    full = [law.overflowed(c) for law, c in zip(system.laws, state.contacts, strict=True)]
    return full[0] | full[1]
