"""Values that make no sense together: complaints about numbers, harmless stand-ins for traced lanes."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from diffmicro.devices.gripper.design import Design, Setting, published_design, published_setting
from diffmicro.parameters import check, is_traced

CLOSED = ("closing_force", "closing_rotation", "closing_stress", "closing_clearance")


LIMITED = ("tip_travel", "tip_path", "open_limit", "close_limit", "open_force", "close_force")


ON_REQUEST = (*CLOSED, *LIMITED, "grip_force", "natural_frequency")
"""Responses that are calculated when they are named in `extra`; None else."""


def harmless(design: Design, setting: Setting) -> tuple[Design, Setting]:
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


def hinges_apart(design: Design, lib: Any) -> Any:
    """Whether no two hinges coincide."""
    hinge = lib.asarray(design.hinge)
    i, j = np.triu_indices(4, 1)
    squares = lib.sum((hinge[i] - hinge[j]) ** 2, axis=-1)
    return lib.min(squares) > CLOSEST**2 * lib.max(squares)


def check_point(where: str, design: Design, setting: Setting, extra: Sequence[str] = ()) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    if not is_traced(design.hinge) and not bool(hinges_apart(design, np)):
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
