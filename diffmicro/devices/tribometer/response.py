"""The response: outputs with units, how they are calculated, and what speaks against their gradients."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.autodiff.rules import substitute
from diffmicro.devices.tribometer import steady as laws
from diffmicro.devices.tribometer.design import Design, Setting, law_of
from diffmicro.devices.tribometer.lumped import pressed
from diffmicro.devices.tribometer.motion import tolerance_of
from diffmicro.devices.tribometer.rules import HARMLESS, RULES, check_law
from diffmicro.devices.tribometer.steady import Steady
from diffmicro.parameters import as_arrays, output, whole_number
from diffmicro.reasons import reason_code
from diffmicro.results import RESULTS, code, finite_if_ok, from_code, raise_failure
from diffmicro.rules import check_point, legal, spare, where_legal


class Response(eqx.Module):
    """Steady sliding under vibration."""

    friction_ratio: Array = output(
        "mean friction force over `friction` times the mean normal force", "-", low=0
    )
    sliding_velocity: Array = output("mean velocity of sliding", "m/s", low=0)
    critical_velocity: Array = output(
        "from where on nothing is reduced (oop), no contact point turns back (ipi); the amplitude (ipp)",
        "m/s",
        low=0,
    )
    flight_share: Array = output(
        "share of the period without contact, above a force ratio of 1", "-", low=0, high=1
    )
    result: RESULTS = output("how the calculation ended")
    residual: Array = output(
        "distance after one period from where it began, or of the law from what is imposed, relative",
        "-",
        low=0,
    )
    margin: Array = output("distance to the nearest change of regime, relative", "-", low=0)
    multiplier: Array = output(
        "largest modulus of the Floquet multipliers, where the motion is followed in time",
        "-",
        low=0,
    )


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
    if of == "flight_share":
        never = response.flight_share == 0
        near = response.flight_share < KINK
        return jnp.where(never, reason_code("dead"), jnp.where(near, reason_code("kink"), none))
    if of == "critical_velocity" or (of == "friction_ratio") == (setting.drag_ratio is not None):
        return none
    near = response.margin < KINK
    against = jnp.where(near, reason_code("kink"), none)
    flat = (response.friction_ratio == 1) & (of == "friction_ratio")
    against = jnp.where(flat & ~near, reason_code("dead"), against)
    stalled = code(response.result) == code(RESULTS.stalled)
    return jnp.where(stalled, reason_code("dead_zone"), against)


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
    check_point("tribometer.respond", RULES, design, setting)
    check_law("tribometer.respond", design, setting)
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
    allowed = legal(RULES, design, setting)
    touched = jnp.sum(jnp.stack(jax.tree.leaves((design, setting))))
    tame = spare(design, **HARMLESS), spare(setting, **HARMLESS)
    design, setting = where_legal(allowed, (design, setting), tame)
    effective = pressed(design, setting)
    found = laws.steady(law_of(setting), design, effective, steps, tolerance)
    # laws count friction by the coefficient at this velocity
    found = found._replace(drag=found.drag * (effective.friction / setting.friction))
    return finite_if_ok(_response(found, laws.flight_share(effective), allowed, touched))


def _response(found: Steady, flight: Array, allowed: Array, touched: Array) -> Response:
    """The answer; what is refused has NaN derivatives by all that it was `touched` by, in reverse mode too."""
    outcome = jnp.where(found.converged, code(RESULTS.successful), code(RESULTS.not_converged))
    outcome = jnp.where(found.stalled, code(RESULTS.stalled), outcome)
    outcome = jnp.where(found.runaway, code(RESULTS.runaway), outcome)
    outcome = jnp.where(allowed, outcome, code(RESULTS.out_of_range))

    def blank(good: Array) -> Array:
        return touched * jnp.where(good, 0.0, jnp.nan).astype(touched.dtype)

    usable = allowed & (found.converged | found.stalled) & ~found.runaway
    still = allowed & found.stalled
    moving = found.velocity + blank(usable & ~still)
    at_rest = substitute(jnp.zeros_like(moving), blank(~still))
    return Response(
        friction_ratio=found.drag + blank(usable),
        sliding_velocity=jnp.where(still, at_rest, moving),
        critical_velocity=found.critical + blank(allowed),
        flight_share=flight + blank(allowed),
        result=from_code(outcome),
        residual=found.residual,
        margin=jax.lax.stop_gradient(found.margin + blank(usable)),
        multiplier=found.multiplier,
    )
