"""What limits the legs: see `Device.limits`."""

from diffmicro._device import Limit

LIMITS = (
    Limit(
        "contact_onset",
        "the foot, in the air until here, touches the ground",
        lambda response, design, setting: response.peak_height - 2 * response.amplitude,
    ),
)
