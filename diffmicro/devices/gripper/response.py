"""The response: outputs with units, how they are calculated, and what speaks against their gradients."""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.gripper import lumped
from diffmicro.devices.gripper.design import Design, Setting
from diffmicro.devices.gripper.limits import workspace
from diffmicro.devices.gripper.lumped import HOLDING, Walk, lump
from diffmicro.devices.gripper.rules import (
    CLOSED,
    LIMITED,
    ON_REQUEST,
    RULES,
    check_point,
)
from diffmicro.devices.gripper.steady import (
    clearance_of,
    closed_responses,
    configuration_of,
    default_tolerance,
    first_outcome,
    loaded,
    shown_where,
    stiffness_units,
)
from diffmicro.mechanics.arcs import SEGMENTS
from diffmicro.mechanics.equilibrium import at_rest, pushed, under_load
from diffmicro.mechanics.linkage import assembled, linearize
from diffmicro.parameters import Value, as_arrays, output, whole_number
from diffmicro.reasons import reason_code
from diffmicro.resolution import Steps, taken
from diffmicro.results import RESULTS, code, finite_if_ok, from_code, raise_failure
from diffmicro.rules import legal, spare, where_legal


class Response(eqx.Module):
    """Equilibrium under the loads, with the object in the way if there is one."""

    configuration: Array = output(
        "positions of the bodies' centers and their rotations, x, y, theta of 2, 3, 4", "m, m, rad"
    )
    tip_x: Array = output("position of the tip, zero when the gripper is closed", "m")
    tip_y: Array = output("position of the tip along y", "m")
    tip_angle: Array = output("rotation of the tip", "rad")
    rotation: Array = output(
        "rotation of each flexure's end against its start, body j minus body i", "rad"
    )
    max_rotation: Array = output("largest rotation of a flexure, without sign", "rad", low=0)
    stress: Array = output("largest bending stress along each flexure", "Pa", low=0)
    max_stress: Array = output("largest bending stress in any flexure", "Pa", low=0)
    clearance: Array = output(
        "smallest distance between ends of an arc, and between arcs, at rest or here", "m", low=0
    )
    stiffness: Array = output("tangent stiffness of the bodies' coordinates", "N/m, N, N m")
    smallest_singular: Array = output(
        "smallest singular value of the tangent stiffness under the loads, in units of EI and radius of flexure a",
        "-",
        low=0,
    )
    iterations: Array = output("Newton iterations", "-", low=0)
    closing_force: Value = output(
        "actuation force that brings the tip to x = 0, without an object", "N"
    )
    closing_rotation: Value = output("largest rotation then", "rad", low=0)
    closing_stress: Value = output("largest bending stress then", "Pa", low=0)
    closing_clearance: Value = output("clearance then", "m", low=0)
    tip_travel: Value = output("distance along x of the tip's places at the two limits", "m", low=0)
    tip_path: Value = output("length of the tip's path between the limits", "m", low=0)
    open_limit: Value = output("which limit ends the opening: 1 rotation, 2 stress, 3 force", "-")
    close_limit: Value = output("which limit ends the closing", "-")
    open_force: Value = output("actuation force at the limit of opening", "N")
    close_force: Value = output("actuation force at the limit of closing", "N")
    grip_force: Value = output(
        "force of the tip on the object, zero when they do not touch", "N", low=0
    )
    natural_frequency: Value = output(
        "lowest natural frequency, under the loads and with the tip on the object", "Hz", low=0
    )
    result: RESULTS = output("how the calculation ended")
    residual: Array = output(
        "largest unbalanced force or moment over what moving all bodies by the radius of flexure a and turning "
        "them by 1 rad would take; ok comes with less than the tolerance",
        "-",
        low=0,
    )
    margin: Array = output(
        "relative distance to the nearest change of what binds: contact, limit", "-", low=0
    )


def coarser(numerics: dict) -> dict:
    """Half the segments of an arc: an error of 1e-6 of the radius instead of 1e-10."""
    return numerics | {"steps": max((numerics.get("steps") or SEGMENTS) // 2, FEWEST_SEGMENTS)}


FEWEST_SEGMENTS = 8


AT_A_KINK = 1e-3
"""Relative distance from a change of what binds below which a derivative counts as taken at a kink."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """Device-specific reason not to trust a gradient (or for a zero one): a code of `reasons`, 0 for none."""
    del design, method
    kink, nothing = reason_code("kink"), jnp.asarray(0)
    if of == "grip_force":
        near = jnp.where(response.margin < AT_A_KINK, kink, nothing)
        return jnp.where(response.grip_force == 0, reason_code("dead_zone"), near)
    if of in LIMITED:
        nothing = jnp.where(_insensitive(setting, of), reason_code("insensitive"), nothing)
        return jnp.where(response.margin < AT_A_KINK, kink, nothing)
    of_each = {"max_rotation": response.rotation, "max_stress": response.stress}
    if of in of_each:
        largest = jnp.sort(jnp.abs(of_each[of]))
        return jnp.where(largest[-1] - largest[-2] < AT_A_KINK * largest[-1], kink, nothing)
    return nothing


def _insensitive(setting: Setting, of: str) -> Array:
    """Whether Young's modulus and a section common to all flexures do not matter: see `limits`."""
    alone = setting.stress_limit is None and setting.force_limit is None
    place = of in ("tip_travel", "tip_path")
    return jnp.all(jnp.asarray(setting.wrench) == 0) & (alone and place)


def respond(
    design: Design,
    setting: Setting,
    *,
    steps: int | None = None,
    share: Array | float | None = None,
    tolerance: Array | float | None = None,
    extra: tuple[str, ...] = (),
    throw: bool = True,
) -> Response:
    """The equilibrium that is reached from rest as the loads grow.

    `steps`: Taylor segments of each exact arc, 32. `share`: of them that are taken, a number that one compiled
    program is given; None: all. `tolerance`: last Newton correction, in radii and radians,
    which leaves an error of its square. `extra`: responses of `ON_REQUEST` that are wanted. `throw`: raise
    an error when there is no result, where values are known (not inside transformations).
    """
    check_point("gripper.respond", design, setting, extra)
    steps = whole_number("steps", steps, SEGMENTS, FEWEST_SEGMENTS, 200)
    design, setting = as_arrays((design, setting))
    if tolerance is None:
        tolerance = default_tolerance(jnp.asarray(design.young).dtype)
    segments = taken(steps, share, FEWEST_SEGMENTS)
    response = _respond(design, setting, tolerance, segments, extra=tuple(sorted(set(extra))))
    if throw:
        raise_failure("gripper.respond", response.result)
    return response


@eqx.filter_jit
def _respond(design, setting, tolerance, segments: Steps, *, extra: tuple[str, ...]) -> Response:
    allowed = legal(RULES, design, setting) & segments.legal
    tame = spare(design), spare(setting)
    design, setting = where_legal(allowed, (design, setting), tame)
    model = lump(design, setting)
    rest = at_rest(model.linkage, model.pushes)
    wrench = lumped.nondimensional_wrench(model, setting.wrench)
    walk = Walk(model, rest, wrench, segments, tolerance)
    found, margin = loaded(walk, setting)
    state, outcome = found.state, found.outcome
    q = state.q
    known = linearize(model.linkage, state.loads, q, segments)
    stiffness = assembled(model.linkage, known)
    still = lumped.shapes(model, rest)
    dtype = q.dtype
    shown = shown_where(allowed, outcome, dtype)
    measured = {"grip_force": state.forces[1] * model.force * shown}
    # Each response on request has a path of its own, shown where it arrives; unused paths are not compiled.
    if set(extra) & set(CLOSED):
        closed = walk.to("moved", -lumped.rest_tip(model)[0], 0.0)
        outcome = first_outcome(outcome, closed.outcome)
        seen = closed_responses(model, design, closed.state, still, segments)
        measured |= {k: v * shown_where(allowed, closed.outcome, dtype) for k, v in seen.items()}
    if set(extra) & set(LIMITED):
        seen, ended, margin_of_limits = workspace(walk, design, setting)
        outcome, margin = first_outcome(outcome, ended), jnp.minimum(margin, margin_of_limits)
        measured |= {k: v * shown_where(allowed, ended, dtype) for k, v in seen.items()}
    units = stiffness_units(model)
    loaded_stiffness = under_load(stiffness, model.pushes, state.forces, q)
    if "natural_frequency" in extra:
        touches = setting.object_half_width is not None and state.forces[1] != 0
        in_units = loaded_stiffness * units
        frequency = lumped.lowest_frequency(model, q, design, in_units, touches)
        measured["natural_frequency"] = frequency * shown

    tip = lumped.tip_of(model, q) * model.length
    rotation = lumped.rotations(q)
    stress = lumped.stresses(model, design, state, segments)
    gaps = clearance_of(model, state, still)
    missing = wrench + pushed(model.pushes, state.forces, q) - known.internal
    unbalanced = jnp.max(jnp.abs(missing).reshape(-1) / jnp.sum(jnp.abs(stiffness), axis=1))
    balanced = jnp.where(
        unbalanced < tolerance, code(RESULTS.successful), code(RESULTS.not_converged)
    )
    outcome = first_outcome(outcome, balanced)
    numbers: dict[str, Value] = dict(
        configuration=configuration_of(model, q),
        tip_x=tip[0],
        tip_y=tip[1],
        tip_angle=q[HOLDING, 2],
        rotation=rotation,
        max_rotation=jnp.max(jnp.abs(rotation)),
        stress=stress,
        max_stress=jnp.max(stress),
        clearance=gaps,
        stiffness=stiffness * units,
        smallest_singular=_smallest_singular(loaded_stiffness),
        residual=unbalanced,
        margin=margin,
    )
    numbers = {name: value * shown for name, value in numbers.items()}
    numbers |= {name: measured[name] if name in extra else None for name in ON_REQUEST}
    response = Response(
        **numbers,
        iterations=found.iterations,
        result=from_code(jnp.where(allowed, outcome, code(RESULTS.out_of_range))),
    )
    return finite_if_ok(response, ON_REQUEST)


def _smallest_singular(matrix: Array) -> Array:
    """NaN where the matrix has an entry that is not finite, about which LAPACK would print."""
    finite = jnp.all(jnp.isfinite(matrix))
    values = jnp.linalg.svd(jnp.where(finite, matrix, jnp.eye(len(matrix))), compute_uv=False)
    return jnp.where(finite, values[-1], jnp.nan)
