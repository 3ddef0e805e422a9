"""Values that make no sense together: complaints about numbers, harmless stand-ins for traced lanes."""

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.tribometer.design import LAWS, Design, Setting, law_of
from diffmicro.parameters import check


def harmless(legal: Array, design: Design, setting: Setting) -> tuple[Design, Setting]:
    """Bad lanes run on the published numbers, so that they end; they are blanked afterwards."""
    given = (design, setting)
    safe = Setting(
        drag_ratio=None if setting.drag_ratio is None else 0.75,
        sliding_velocity=None if setting.sliding_velocity is None else 1e-3,
        direction=setting.direction,
        law=setting.law,
    )
    return jax.tree.map(
        lambda x, y: jnp.where(legal, x, jnp.asarray(y, x.dtype)), given, (Design(), safe)
    )


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    if (setting.drag_ratio is None) == (setting.sliding_velocity is None):
        told = "neither is" if setting.drag_ratio is None else "both are"
        raise ValueError(
            f"{where}: exactly one of Setting.drag_ratio and Setting.sliding_velocity has to be given, "
            f"and {told}. Give the one that is imposed; the other is a response."
        )
    law = law_of(setting)
    if law not in LAWS[setting.direction]:
        raise ValueError(
            f"{where}: Setting.law = {law} does not exist for direction {setting.direction}; it has to be one of "
            f"{', '.join(LAWS[setting.direction])}."
        )
