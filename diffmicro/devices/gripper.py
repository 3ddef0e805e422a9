"""A gripper with curved flexures (Verotti 2022): three rigid bodies in a four-bar linkage of four arcs.

From beam radius, angle, section and hinge positions to tip position, stress, closing force and workspace, with
the published constant-stiffness models and the geometrically exact one. One of two mirrored halves is calculated.

| paper | here | unit |
|---|---|---|
| r_f, theta_f, f = a, b, c, d | `beam_radius`, `beam_angle` | m, rad |
| O_f | `hinge` | m |
| G_2, G_3, G_4 | `body` | m |
| s_3EE | `tip` | m |
| E_y, b, h | `young`, `section_width`, `section_height` | Pa, m, m |
| w_i | `wrench` | N, N, N m |
| F_2y | `force` | N |
| q, theta_i | `configuration`, `rotation` | m, rad |
| K_T | `stiffness` | N/m, N, N m |

Corrections to the paper: eqs. 33 (corner 0 is 1), 38c, 42, 43 and A9 have misprints; Tables 3-7 were printed
with a Jacobian of flexure d whose translation block is -1 instead of -A_4^T; table units are mm and uN. The
published models break action = reaction (see `mechanics.linkage`). Left out: bodies that bend, dynamics,
friction of the jaws, contact of bodies and arcs with each other (`clearance` tells how near it is).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._parameters import as_arrays, check, is_traced, parameter, valid, whole_number
from diffmicro._reasons import reason_code
from diffmicro._results import RESULTS, code, from_code, raise_failure
from diffmicro.devices import gripper_limits, gripper_model
from diffmicro.devices.gripper_model import HOLDING, Model, Walk, lump
from diffmicro.mechanics import arcs
from diffmicro.mechanics.equilibrium import Found, State, at_rest, pushed
from diffmicro.mechanics.linkage import MODELS, assembled, linearize

_ANGLES = tuple(math.radians(a) for a in (300.0, 320.0, 330.0, 250.0))
_STARTS = tuple(math.radians(a) for a in (22.5, 132.0, -15.0, 240.0))
_O_B = (2e-3 * math.cos(math.radians(22.5)), 2e-3 * math.sin(math.radians(22.5)))
_O_C = (0.5e-3 + 0.8e-3 * math.cos(math.radians(30)), 1.5e-3 + 0.8e-3 * math.sin(math.radians(30)))
_G_3 = (1.8e-3, 1.5e-3)
_RAY = math.hypot(_O_C[0] - _O_B[0], _O_C[1] - _O_B[1])
_TIP = tuple(c + 1.5e-3 * (c - b) / _RAY - g for b, c, g in zip(_O_B, _O_C, _G_3, strict=True))
_WIDEST = math.radians(359.0)


class Design(eqx.Module):
    """What a fabricator could change.

    beam_radius: radii of the flexures a, b, c, d [m].
    beam_angle: angles that their arcs turn by [rad].
    start_angle: polar angles of their first ends about the hinges, from which they run counter-clockwise [rad].
    hinge: centers of the arcs, x and y [m].
    body: centers of the bodies 2, 3, 4, where forces act [m].
    tip: the tip from the center of body 3 [m].
    young: Young's modulus [Pa].
    section_width: width of the flexures' section, normal to the plane [m].
    section_height: height of the section, in the plane [m].
    poisson: Poisson's ratio, for the shear of extensible beams [-].
    body_mass: masses of the bodies [kg].
    body_inertia: their moments of inertia about the centers [kg m^2].
    """

    beam_radius: Array | tuple = parameter((0.2e-3,) * 4, "r_f", "Table 1", above=0)
    beam_angle: Array | tuple = parameter(_ANGLES, "theta_f", "Table 1", above=0, high=_WIDEST)
    start_angle: Array | tuple = parameter(_STARTS, "", "Table 1, from the local base vectors")
    hinge: Array | tuple = parameter(
        ((0.5e-3, 0.0), _O_B, _O_C, (0.5e-3, 1.5e-3)), "O_f", "Table 1, not rounded"
    )
    body: Array | tuple = parameter(((1.5e-3, 0.2e-3), _G_3, (1e-3, 1.5e-3)), "G_i", "Table 1")
    tip: Array | tuple = parameter(_TIP, "s_3EE", "Table 1, not rounded")
    young: Array | float = parameter(100e9, "E_y", "Table 1", above=0)
    section_width: Array | float = parameter(25e-6, "b", "Table 1", above=0, shapes=((), (4,)))
    section_height: Array | float = parameter(5e-6, "h", "Table 1", above=0, shapes=((), (4,)))
    poisson: Array | float = parameter(0.25, "", "assumed: silicon", low=0, high=0.5)
    body_mass: Array | tuple = parameter(
        (1.2e-8,) * 3, "", "assumed: silicon, 1 mm x 0.2 mm x 25 um", above=0
    )
    body_inertia: Array | tuple = parameter(
        (1e-15,) * 3, "", "assumed: silicon, 1 mm x 0.2 mm x 25 um", above=0
    )


class Setting(eqx.Module):
    """Loads, limits and the model.

    force: actuation force at the center of body 2, along y [N].
    wrench: forces along x and y, and moments, on the bodies 2, 3, 4 [N, N, N m].
    object_half_width: half width of the object between the jaws: the tip does not pass it [m]; None: no object.
    rotation_limit: largest rotation of a flexure's ends against each other [rad]; None: no limit.
    stress_limit: largest bending stress [Pa]; None: no limit.
    force_limit: largest actuation force, pulling or pushing [N]; None: no limit.
    model: linear, partial, consistent, or exact.
    beam: of the exact model, inextensible and unshearable, or extensible (and shearable).
    """

    force: Array | float = parameter(0.0, "F_2y", "section 5.1")
    wrench: Array | tuple = parameter(((0.0, 0.0, 0.0),) * 3, "w_i", "eq. 23")
    object_half_width: Array | float | None = parameter(None, "", "")
    rotation_limit: Array | float | None = parameter(None, "", "20 deg in section 5.1", above=0)
    stress_limit: Array | float | None = parameter(None, "", "", above=0)
    force_limit: Array | float | None = parameter(None, "", "", above=0)
    model: str = parameter("exact", "", "eqs. 23, 24", words=MODELS)
    beam: str = parameter("inextensible", "", "", words=("inextensible", "extensible"))


class Response(eqx.Module):
    """Equilibrium under the loads, with the object in the way if there is one.

    configuration: positions of the bodies' centers and their rotations, x, y, theta of 2, 3, 4 [m, m, rad].
    tip_x: position of the tip, zero when the gripper is closed [m].
    tip_y: position of the tip along y [m].
    tip_angle: rotation of the tip [rad].
    rotation: rotation of each flexure's end against its start, body j minus body i [rad].
    max_rotation: largest of them without sign [rad].
    stress: largest bending stress along each flexure [Pa].
    max_stress: largest of them [Pa].
    clearance: smallest distance between ends of an arc, and between arcs, at rest or here [m].
    stiffness: tangent stiffness of the bodies' coordinates [N/m, N, N m].
    smallest_singular: smallest singular value of the tangent stiffness in units of EI and radius of flexure a [-].
    iterations: Newton iterations [-].
    closing_force: actuation force that brings the tip to x = 0, without an object [N].
    closing_rotation: largest rotation then [rad].
    closing_stress: largest bending stress then [Pa].
    closing_clearance: clearance then [m].
    tip_travel: distance along x of the tip's places at the two limits [m].
    tip_path: length of the tip's path between the limits [m].
    open_limit: which limit ends the opening: 1 rotation, 2 stress, 3 force [-].
    close_limit: which limit ends the closing [-].
    open_force: actuation force at the limit of opening [N].
    close_force: actuation force at the limit of closing [N].
    grip_force: force of the tip on the object, zero when they do not touch [N].
    natural_frequency: lowest natural frequency [Hz].
    result: how the calculation ended.
    residual: largest unbalanced force over EI / r^2 of flexure a [-].
    margin: relative distance to the nearest change of what binds: contact, limit [-].
    """

    configuration: Array
    tip_x: Array
    tip_y: Array
    tip_angle: Array
    rotation: Array
    max_rotation: Array
    stress: Array
    max_stress: Array
    clearance: Array
    stiffness: Array
    smallest_singular: Array
    iterations: Array
    closing_force: Any
    closing_rotation: Any
    closing_stress: Any
    closing_clearance: Any
    tip_travel: Any
    tip_path: Any
    open_limit: Any
    close_limit: Any
    open_force: Any
    close_force: Any
    grip_force: Any
    natural_frequency: Any
    result: RESULTS
    residual: Array
    margin: Array


CLOSED = ("closing_force", "closing_rotation", "closing_stress", "closing_clearance")
LIMITED = ("tip_travel", "tip_path", "open_limit", "close_limit", "open_force", "close_force")
ON_REQUEST = (*CLOSED, *LIMITED, "grip_force", "natural_frequency")
"""Responses that are calculated when they are named in `extra`; None else."""

METHOD = "equilibrium"
"""What a certificate calls the method."""


def published_design(**overrides: Any) -> Design:
    """Table 1 of the paper, geometry not rounded."""
    return Design(**overrides)


def published_setting(**overrides: Any) -> Setting:
    """No load, exact model."""
    return Setting(**overrides)


def coarser(numerics: dict) -> dict:
    """Half the segments of an arc: an error of 1e-6 of the radius instead of 1e-10."""
    return numerics | {"steps": max((numerics.get("steps") or arcs.SEGMENTS) // 2, FEWEST_SEGMENTS)}


FEWEST_SEGMENTS = 8

NEAR = 1e-3
"""Relative distance from a change of what binds below which a derivative counts as taken at a kink."""


def objection(response: Response, design: Design, setting: Setting, of: str, method: str) -> Array:
    """What speaks against a gradient (or for one that is zero): a code of `_reasons`, 0 for nothing."""
    del design, method
    kink, nothing = reason_code("kink"), jnp.asarray(0)
    if of == "grip_force":
        near = jnp.where(response.margin < NEAR, kink, nothing)
        return jnp.where(response.grip_force == 0, reason_code("dead_zone"), near)
    if of in LIMITED:
        nothing = jnp.where(_insensitive(setting, of), reason_code("insensitive"), nothing)
        return jnp.where(response.margin < NEAR, kink, nothing)
    of_each = {"max_rotation": response.rotation, "max_stress": response.stress}
    if of in of_each:
        largest = jnp.sort(jnp.abs(of_each[of]))
        return jnp.where(largest[-1] - largest[-2] < NEAR * largest[-1], kink, nothing)
    return nothing


def _insensitive(setting: Setting, of: str) -> Array:
    """Whether Young's modulus and a section common to all flexures do not matter: see `gripper_limits`."""
    alone = setting.stress_limit is None and setting.force_limit is None
    place = of in ("tip_travel", "tip_path")
    return jnp.all(jnp.asarray(setting.wrench) == 0) & (alone and place)


def respond(
    design: Design,
    setting: Setting,
    *,
    steps: int | None = None,
    tolerance: Array | float | None = None,
    extra: tuple[str, ...] = (),
    throw: bool = True,
) -> Response:
    """The equilibrium that is reached from rest as the loads grow.

    `steps`: Taylor segments of each exact arc, 12. `tolerance`: last Newton correction, in radii and radians,
    which leaves an error of its square. `extra`: responses of `ON_REQUEST` that are wanted. `throw`: raise
    an error when there is no result, where values are known (not inside transformations).
    """
    check_point("gripper.respond", design, setting, extra)
    steps = whole_number("steps", steps, arcs.SEGMENTS, FEWEST_SEGMENTS, 200)
    design, setting = as_arrays((design, setting))
    if tolerance is None:
        tolerance = default_tolerance(jnp.asarray(design.young).dtype)
    response = _respond(design, setting, tolerance, steps=steps, extra=tuple(sorted(set(extra))))
    if throw:
        raise_failure("gripper.respond", response.result)
    return response


def default_tolerance(dtype: Any) -> float:
    """Square root of the rounding error, so that one more Newton step is exact."""
    return 4 * float(jnp.finfo(dtype).eps) ** 0.5


@eqx.filter_jit
def _respond(design, setting, tolerance, *, steps: int, extra: tuple[str, ...]) -> Response:
    legal = valid(design, setting) & _apart(design, jnp)
    # A lane with bad values runs on the published ones.
    design, setting = jax.tree.map(
        lambda x, safe: jnp.where(legal, x, jnp.asarray(safe, x.dtype)),
        (design, setting),
        _harmless(design, setting),
    )
    model = lump(design, setting)
    rest = at_rest(model.linkage, model.pushes)
    wrench = gripper_model.nondimensional_wrench(model, setting.wrench)
    walk = Walk(model, rest, wrench, steps, tolerance)
    found, margin = _loaded(walk, setting)
    state, outcome = found.state, found.outcome
    q = state.q
    known = linearize(model.linkage, state.loads, q, steps)
    stiffness = assembled(model.linkage, known)
    still = gripper_model.shapes(model, rest)
    dtype = q.dtype
    shown = _mask(legal, outcome, dtype)
    measured = {"grip_force": state.forces[1] * model.force * shown}
    # What is asked for has a path of its own: where that arrives it is shown, and unused paths are not compiled.
    if set(extra) & set(CLOSED):
        closed = walk.to("moved", -gripper_model.rest_tip(model)[0], 0.0)
        outcome = _first(outcome, closed.outcome)
        seen = _closed(model, design, closed.state, still, steps)
        measured |= {k: v * _mask(legal, closed.outcome, dtype) for k, v in seen.items()}
    if set(extra) & set(LIMITED):
        seen, ended, margin_of_limits = gripper_limits.workspace(walk, design, setting)
        outcome, margin = _first(outcome, ended), jnp.minimum(margin, margin_of_limits)
        measured |= {k: v * _mask(legal, ended, dtype) for k, v in seen.items()}
    units = _stiffness_units(model)
    in_units = stiffness * units
    if "natural_frequency" in extra:
        measured["natural_frequency"] = gripper_model.lowest_frequency(design, in_units) * shown

    tip = gripper_model.tip_of(model, q) * model.length
    rotation = gripper_model.rotations(q)
    stress = gripper_model.stresses(model, design, state, steps)
    gaps = _clearance(model, state, still)
    missing = wrench + pushed(model.pushes, state.forces, q) - known.internal
    numbers: dict[str, Any] = dict(
        configuration=_configuration(model, q),
        tip_x=tip[0],
        tip_y=tip[1],
        tip_angle=q[HOLDING, 2],
        rotation=rotation,
        max_rotation=jnp.max(jnp.abs(rotation)),
        stress=stress,
        max_stress=jnp.max(stress),
        clearance=gaps,
        stiffness=in_units,
        smallest_singular=jnp.linalg.svd(stiffness, compute_uv=False)[-1],
        residual=jnp.max(jnp.abs(missing)),
        margin=margin,
    )
    numbers = {name: value * shown for name, value in numbers.items()}
    numbers |= {name: measured[name] if name in extra else None for name in ON_REQUEST}
    return Response(
        **numbers,
        iterations=found.iterations,
        result=from_code(jnp.where(legal, outcome, code(RESULTS.out_of_range))),
    )


class Trajectory(NamedTuple):
    """The gripper under a row of actuation forces, SI units: arrays over the forces.

    `arcs` are points along the flexures (force, flexure, point, 2), `status` the codes of the outcomes.
    """

    force: Array
    configuration: Array
    tip: Array
    rotation: Array
    stress: Array
    grip_force: Array
    arcs: Array
    status: RESULTS


def simulate(
    design: Design,
    setting: Setting,
    *,
    forces: Any = None,
    points: int = 41,
    steps: int | None = None,
    tolerance: Array | float | None = None,
) -> Trajectory:
    """The equilibria under `forces` [N], or under `points` of them from zero to the setting's force."""
    check_point("gripper.simulate", design, setting)
    points = whole_number("points", points, 41, 2, 10**5)
    steps = whole_number("steps", steps, arcs.SEGMENTS, FEWEST_SEGMENTS, 200)
    design, setting = as_arrays((design, setting))
    if tolerance is None:
        tolerance = default_tolerance(jnp.asarray(design.young).dtype)
    if forces is None:
        forces = (
            jnp.linspace(0.0, 1.0, points, dtype=jnp.asarray(design.young).dtype) * setting.force
        )
    return _simulate(design, setting, jnp.asarray(forces), tolerance, steps=steps)


@eqx.filter_jit
def _simulate(design, setting, forces, tolerance, *, steps: int) -> Trajectory:
    model = lump(design, setting)
    wrench = gripper_model.nondimensional_wrench(model, setting.wrench)
    walk = Walk(model, at_rest(model.linkage, model.pushes), wrench, steps, tolerance)

    def one(force: Array) -> Trajectory:
        found, _ = _loaded(walk, eqx.tree_at(lambda s: s.force, setting, force))
        state = found.state
        shown = jnp.where(found.outcome == code(RESULTS.successful), 1.0, jnp.nan)
        path = Trajectory(
            force,
            _configuration(model, state.q) * shown,
            gripper_model.tip_of(model, state.q) * model.length * shown,
            gripper_model.rotations(state.q) * shown,
            gripper_model.stresses(model, design, state, steps) * shown,
            state.forces[1] * model.force * shown,
            gripper_model.shapes(model, state) * model.length * shown,
            from_code(found.outcome),
        )
        return path

    return jax.vmap(one)(forces)


def _configuration(model: Model, q: Array) -> Array:
    centers = (model.linkage.centers + q[:, :2]) * model.length
    return jnp.concatenate([centers, q[:, 2:]], axis=1).reshape(-1)


def _loaded(walk: Walk, setting: Setting) -> tuple[Found, Array]:
    """The state under the actuation force, and the relative distance to touching or leaving the object."""
    force = setting.force / walk.model.force
    if setting.object_half_width is None:
        return walk.to("pushed", force, 0.0), jnp.ones_like(force)
    # First until the tip touches, then on with either the tip or its force held.
    gap = setting.object_half_width / walk.model.length - gripper_model.rest_tip(walk.model)[0]
    touching = walk.to("moved", gap, 0.0)
    contact = jax.lax.stop_gradient(touching.state.forces[0])
    touches = force > contact
    held = walk.conditions("held", force, gap)
    free = walk.conditions("pushed", force, 0.0)
    goal = jax.tree.map(lambda a, b: jnp.where(touches, a, b), held, free)
    begin = goal._replace(value=jnp.stack([contact, jnp.where(touches, gap, 0.0)]))
    found = walk.on(touching.state, begin, goal)
    margin = jnp.abs(force - contact) / jnp.maximum(jnp.abs(force), jnp.abs(contact))
    outcome = _first(touching.outcome, found.outcome)
    iterations = touching.iterations + found.iterations
    return found._replace(outcome=outcome, iterations=iterations), margin


def _closed(model: Model, design: Design, state: State, still: Array, steps: int) -> dict:
    return {
        "closing_force": state.forces[0] * model.force,
        "closing_rotation": jnp.max(jnp.abs(gripper_model.rotations(state.q))),
        "closing_stress": jnp.max(gripper_model.stresses(model, design, state, steps)),
        "closing_clearance": _clearance(model, state, still),
    }


def _clearance(model: Model, state: State, still: Array) -> Array:
    """The gaps change one way along a stroke, so the smallest is at one of its ends."""
    here = gripper_model.clearances(gripper_model.shapes(model, state))
    return jnp.min(jnp.minimum(here, gripper_model.clearances(still))) * model.length


def _stiffness_units(model: Model) -> Array:
    """Of the tangent's entries: force or moment over length or angle."""
    force = jnp.stack([model.force, model.force, model.force * model.length])
    travel = jnp.stack([model.length, model.length, jnp.ones_like(model.length)])
    return jnp.tile(force, 3)[:, None] / jnp.tile(travel, 3)[None, :]


def _mask(legal: Array, outcome: Array, dtype: Any) -> Array:
    """One where there is a result, else NaN."""
    return jnp.where(legal & (outcome == code(RESULTS.successful)), 1.0, jnp.nan).astype(dtype)


def _first(earlier: Array, later: Array) -> Array:
    return jnp.where(earlier == code(RESULTS.successful), later, earlier)


def _harmless(design: Design, setting: Setting) -> tuple[Design, Setting]:
    """Numbers of the same structure that always have an equilibrium."""

    def like(given: Any, known: Any) -> Any:
        return jax.tree.map(lambda x, y: np.broadcast_to(np.asarray(y), x.shape), given, known)

    absent = {
        name: 1.0
        for name in ("object_half_width", "rotation_limit", "stress_limit", "force_limit")
        if getattr(setting, name) is not None
    }
    words = dict(model=setting.model, beam=setting.beam)
    return like(design, published_design()), like(setting, published_setting(**words, **absent))


CLOSEST = 1e-3
"""Smallest distance of two hinges over the largest."""


def _apart(design: Design, lib: Any) -> Any:
    """Whether no two hinges coincide."""
    hinge = lib.asarray(design.hinge)
    i, j = np.triu_indices(4, 1)
    squares = lib.sum((hinge[i] - hinge[j]) ** 2, axis=-1)
    return lib.min(squares) > CLOSEST**2 * lib.max(squares)


def check_point(where: str, design: Design, setting: Setting, extra: Sequence[str] = ()) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    if not is_traced(design.hinge) and not bool(_apart(design, np)):
        raise ValueError(
            f"{where}: Design.hinge = {np.asarray(design.hinge).tolist()} m is not allowed; two hinges "
            f"coincide, and a four-bar linkage has four different ones. Move them apart by more than {CLOSEST:g} "
            "of their largest distance."
        )
    for name in extra:
        if name not in ON_REQUEST:
            raise ValueError(
                f"{where}: extra = {name!r} is not known; these are: {', '.join(ON_REQUEST)}."
            )
    limits = ("rotation_limit", "stress_limit", "force_limit")
    if set(extra) & set(LIMITED) and all(getattr(setting, name) is None for name in limits):
        raise ValueError(
            f"{where}: {', '.join(n for n in extra if n in LIMITED)} needs a limit to end at: give one or "
            f"more of {', '.join(limits)} (for example rotation_limit = 0.349, 20 degrees)."
        )
    if "grip_force" in extra and setting.object_half_width is None:
        raise ValueError(
            f"{where}: grip_force needs Setting.object_half_width, the half width of the object [m]; "
            "for example 2e-4."
        )
