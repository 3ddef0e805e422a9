"""What limits friction control: see `Device.limits`."""

from typing import Any

from diffmicro._device import Limit
from diffmicro.devices.tribometer.design import Design, Setting
from diffmicro.devices.tribometer.lumped import force_ratio


def _to_stall(response: Any, design: Design, setting: Setting) -> Any:
    if setting.drag_ratio is None or setting.direction != "oop":
        return None
    return setting.drag_ratio - (1 - force_ratio(design, setting))


def _to_lift_off(response: Any, design: Design, setting: Setting) -> Any:
    if setting.vibration_length is None or setting.direction != "oop":
        return None
    return 1 - force_ratio(design, setting)


LIMITS = (
    Limit(
        "lift_off",
        "the vibration is so large that the probe lifts off once a period",
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
