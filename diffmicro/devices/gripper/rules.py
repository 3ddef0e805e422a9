"""What fields of Design and Setting have to keep together, and what responses on request need."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro import rules
from diffmicro.devices.gripper.design import Design, Setting
from diffmicro.parameters import is_traced
from diffmicro.rules import Rule, check_requests

CLOSED = ("closing_force", "closing_rotation", "closing_stress", "closing_clearance")


LIMITED = ("tip_travel", "tip_path", "open_limit", "close_limit", "open_force", "close_force")


ON_REQUEST = (*CLOSED, *LIMITED, "grip_force", "natural_frequency")
"""Responses that are calculated when they are named in `extra`; None else."""

LIMITS = ("rotation_limit", "stress_limit", "force_limit")

CLOSEST = 1e-3
"""Smallest distance of two hinges over the largest."""


def hinges_apart(design: Design, _: Setting) -> Array | np.bool_:
    """Whether no two hinges coincide. NumPy does numbers, for which JAX would compile each operation."""
    traced = is_traced(*jax.tree.leaves(design.hinge))
    hinge = (jnp if traced else np).asarray(design.hinge)
    i, j = np.triu_indices(4, 1)
    squares = ((hinge[i] - hinge[j]) ** 2).sum(axis=-1)
    return squares.min() > CLOSEST**2 * squares.max()


RULES = (
    Rule(
        hinges_apart,
        lambda design, _: (
            f"Design.hinge = {np.asarray(design.hinge).tolist()} m is not allowed; two hinges coincide, and a "
            f"four-bar linkage has four different ones. Move them apart by more than {CLOSEST:g} of their "
            "largest distance."
        ),
    ),
)


def check_point(where: str, design: Design, setting: Setting, extra: Sequence[str] = ()) -> None:
    """Raise ValueError for values that are not allowed, and for responses whose limits are missing."""
    rules.check_point(where, RULES, design, setting)
    check_requests(where, extra, ON_REQUEST)
    if set(extra) & set(LIMITED) and all(getattr(setting, name) is None for name in LIMITS):
        raise ValueError(
            f"{where}: {', '.join(n for n in extra if n in LIMITED)} needs a limit to end at: give one or "
            f"more of {', '.join(LIMITS)} (for example rotation_limit = 0.349, 20 degrees)."
        )
    if "grip_force" in extra and setting.object_half_width is None:
        raise ValueError(
            f"{where}: grip_force needs Setting.object_half_width, the half width of the object [m]; "
            "for example 2e-4."
        )
