"""The equilibrium under the setting's force, and what belongs to it: units, gaps, how it ended."""

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import DTypeLike

from diffmicro.devices.gripper import lumped
from diffmicro.devices.gripper.design import Design, Setting
from diffmicro.devices.gripper.lumped import Model, Walk
from diffmicro.mechanics.equilibrium import Found, State
from diffmicro.resolution import Steps
from diffmicro.results import RESULTS, code


def default_tolerance(dtype: DTypeLike) -> float:
    """Square root of the rounding error, so that one more Newton step is exact."""
    return 4 * float(jnp.finfo(dtype).eps) ** 0.5


def configuration_of(model: Model, q: Array) -> Array:
    centers = (model.linkage.centers + q[:, :2]) * model.length
    return jnp.concatenate([centers, q[:, 2:]], axis=1).reshape(-1)


def loaded(walk: Walk, setting: Setting) -> tuple[Found, Array]:
    """The state under the actuation force, and the relative distance to touching or leaving the object."""
    force = setting.force / walk.model.force
    if setting.object_half_width is None:
        return walk.to("pushed", force, 0.0), jnp.ones_like(force)
    # First until the tip touches, then on with either the tip or its force held.
    gap = setting.object_half_width / walk.model.length - lumped.rest_tip(walk.model)[0]
    touching = walk.to("moved", gap, 0.0)
    contact = jax.lax.stop_gradient(touching.state.forces[0])
    touches = force > contact
    held = walk.conditions("held", force, gap)
    free = walk.conditions("pushed", force, 0.0)
    goal = jax.tree.map(lambda a, b: jnp.where(touches, a, b), held, free)
    begin = goal._replace(value=jnp.stack([contact, jnp.where(touches, gap, 0.0)]))
    found = walk.on(touching.state, begin, goal)
    margin = jnp.abs(force - contact) / jnp.maximum(jnp.abs(force), jnp.abs(contact))
    outcome = first_outcome(touching.outcome, found.outcome)
    iterations = touching.iterations + found.iterations
    return found._replace(outcome=outcome, iterations=iterations), margin


def closed_responses(
    model: Model, design: Design, state: State, still: Array, segments: Steps
) -> dict:
    return {
        "closing_force": state.forces[0] * model.force,
        "closing_rotation": jnp.max(jnp.abs(lumped.rotations(state.q))),
        "closing_stress": jnp.max(lumped.stresses(model, design, state, segments)),
        "closing_clearance": clearance_of(model, state, still),
    }


def clearance_of(model: Model, state: State, still: Array) -> Array:
    """The gaps change one way along a stroke, so the smallest is at one of its ends."""
    here = lumped.clearances(lumped.shapes(model, state))
    return jnp.min(jnp.minimum(here, lumped.clearances(still))) * model.length


def stiffness_units(model: Model) -> Array:
    """Of the tangent's entries: force or moment over length or angle."""
    force = jnp.stack([model.force, model.force, model.force * model.length])
    travel = jnp.stack([model.length, model.length, jnp.ones_like(model.length)])
    return jnp.tile(force, 3)[:, None] / jnp.tile(travel, 3)[None, :]


def shown_where(allowed: Array, outcome: Array, dtype: DTypeLike) -> Array:
    """One where there is a result, else NaN."""
    return jnp.where(allowed & (outcome == code(RESULTS.successful)), 1.0, jnp.nan).astype(dtype)


def first_outcome(earlier: Array, later: Array) -> Array:
    return jnp.where(earlier == code(RESULTS.successful), later, earlier)
