"""What limits the tumbler beside its motion's own changes: see `Device.limits`."""

from diffmicro._device import Limit

LIMITS = (
    Limit(
        "stall",
        "the field no longer lifts the robot off its face",
        lambda response, design, setting: setting.field - response.stall_field,
        needs=("stall_field",),
    ),
    Limit(
        "climb",
        "the mean speed up the incline falls to zero",
        lambda response, design, setting: response.climb_margin,
        needs=("climb_margin",),
    ),
)
