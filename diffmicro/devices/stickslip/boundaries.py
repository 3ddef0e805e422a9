"""What limits the stick-slip drive: see `Device.limits`."""

from diffmicro._device import Limit

LIMITS = (
    Limit(
        "zero_amplitude",
        "the stroke no longer moves the runner",
        lambda response, design, setting: setting.amplitude - response.zero_amplitude,
        needs=("zero_amplitude",),
    ),
)
