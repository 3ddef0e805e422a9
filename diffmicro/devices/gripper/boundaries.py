"""What limits the gripper: the fold of its path of loads, contact of its own parts, and the limits that were
given."""

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Limit
from diffmicro.devices.gripper.design import Design, Setting


def _left(name: str, use: Callable[..., Array]) -> Callable[..., Array | None]:
    """What is left to a limit, as a share of it; None where it was not given."""

    def room(response: PyTree, design: Design, setting: Setting) -> Array | None:
        limit = getattr(setting, name)
        return None if limit is None else 1 - use(response, setting) / limit

    return room


# Beside a fold the smallest singular value of the stiffness goes with the root of what is left; its square is
# smooth.
LIMITS = (
    Limit(
        "past_fold",
        "the equilibrium cannot be followed any further as the loads grow",
        lambda response, design, setting: response.smallest_singular**2,
        status="past_fold",
    ),
    Limit(
        "clearance",
        "arcs, bodies or neighboring arcs touch",
        lambda response, design, setting: response.clearance,
    ),
    Limit(
        "rotation",
        "the largest rotation reaches its limit",
        _left("rotation_limit", lambda response, setting: response.max_rotation),
    ),
    Limit(
        "stress",
        "the largest bending stress reaches its limit",
        _left("stress_limit", lambda response, setting: response.max_stress),
    ),
    Limit(
        "force",
        "the actuation force reaches its limit",
        _left("force_limit", lambda response, setting: jnp.abs(setting.force)),
    ),
)
