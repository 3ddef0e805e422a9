"""The motion over time, for looking at."""

from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from diffmicro.devices.gripper import lumped
from diffmicro.devices.gripper.design import Design, Setting
from diffmicro.devices.gripper.lumped import Walk, lump
from diffmicro.devices.gripper.response import FEWEST_SEGMENTS
from diffmicro.devices.gripper.rules import check_point
from diffmicro.devices.gripper.steady import configuration_of, default_tolerance, loaded
from diffmicro.mechanics.arcs import SEGMENTS
from diffmicro.mechanics.equilibrium import at_rest
from diffmicro.parameters import as_arrays, whole_number
from diffmicro.resolution import Steps
from diffmicro.results import RESULTS, code, from_code


class Trajectory(NamedTuple):
    """The gripper under a row of actuation forces, SI units: arrays over the forces.

    `arcs` are points along the flexures (force, flexure, point, 2), `status` the codes of the outcomes.
    """

    force: Annotated[Array, "N"]
    configuration: Array
    tip: Annotated[Array, "m"]
    rotation: Annotated[Array, "rad"]
    stress: Annotated[Array, "Pa"]
    grip_force: Annotated[Array, "N"]
    arcs: Array
    status: RESULTS


def simulate(
    design: Design,
    setting: Setting,
    *,
    forces: ArrayLike | None = None,
    points: int = 41,
    steps: int | None = None,
    tolerance: Array | float | None = None,
) -> Trajectory:
    """The equilibria under `forces` [N], or under `points` of them from zero to the setting's force."""
    check_point("gripper.simulate", design, setting)
    points = whole_number("points", points, 41, 2, 10**5)
    steps = whole_number("steps", steps, SEGMENTS, FEWEST_SEGMENTS, 200)
    design, setting = as_arrays((design, setting))
    if tolerance is None:
        tolerance = default_tolerance(jnp.asarray(design.young).dtype)
    if forces is None:
        forces = (
            jnp.linspace(0.0, 1.0, points, dtype=jnp.asarray(design.young).dtype) * setting.force
        )
    return _simulate(design, setting, jnp.asarray(forces), tolerance, Steps(steps))


@eqx.filter_jit
def _simulate(design, setting, forces, tolerance, segments: Steps) -> Trajectory:
    model = lump(design, setting)
    wrench = lumped.nondimensional_wrench(model, setting.wrench)
    walk = Walk(model, at_rest(model.linkage, model.pushes), wrench, segments, tolerance)

    def one(force: Array) -> Trajectory:
        found, _ = loaded(walk, eqx.tree_at(lambda s: s.force, setting, force))
        state = found.state
        shown = jnp.where(found.outcome == code(RESULTS.successful), 1.0, jnp.nan)
        path = Trajectory(
            force,
            configuration_of(model, state.q) * shown,
            lumped.tip_of(model, state.q) * model.length * shown,
            lumped.rotations(state.q) * shown,
            lumped.stresses(model, design, state, segments) * shown,
            state.forces[1] * model.force * shown,
            lumped.shapes(model, state) * model.length * shown,
            from_code(found.outcome),
        )
        return path

    return jax.vmap(one)(forces)
