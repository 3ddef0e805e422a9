"""What limits friction control: see `Device.limits`."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._device import Limit
from diffmicro.devices.tribometer.design import Design, Setting, law_of
from diffmicro.devices.tribometer.lumped import force_ratio


def _to_stall(response: PyTree, design: Design, setting: Setting) -> Array | None:
    if setting.drag_ratio is None or setting.direction != "oop":
        return None
    return setting.drag_ratio - jnp.maximum(1 - force_ratio(design, setting), 0.0)


def _to_lift_off(response: PyTree, design: Design, setting: Setting) -> Array | None:
    if setting.direction != "oop" or (
        setting.vibration_length is None and law_of(setting) == "mdr"
    ):
        return None
    return 1 - force_ratio(design, setting)


LIMITS = (
    Limit(
        "lift_off",
        "the vibration is so large that the probe lifts off once a period; law mdr ends there",
        _to_lift_off,
        status="out_of_range",
    ),
    Limit(
        "critical_velocity",
        "sliding is so fast that the vibration changes nothing (oop), or no contact turns back",
        lambda response, design, setting: response.critical_velocity - response.sliding_velocity,
    ),
    Limit(
        "stall",
        "the drag no longer exceeds the least friction force, so the probe stands still",
        _to_stall,
    ),
    Limit(
        "runaway",
        "the drag exceeds what friction can hold",
        lambda response, design, setting: (
            None if setting.drag_ratio is None else 1 - setting.drag_ratio
        ),
        status="runaway",
    ),
)
