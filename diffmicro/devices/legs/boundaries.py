"""What limits the legs: see `Device.limits`."""

from diffmicro._device import Limit
from diffmicro.devices.legs.airborne import lowest_in_air

LIMITS = (
    Limit(
        "contact_onset",
        "the motion in the air touches the ground",
        lambda response, design, setting: lowest_in_air(design, setting),
        alone=True,
    ),
    Limit(
        "bounces_from_rest",
        "from rest the foot ends in the air, and beyond in a motion that bounces",
        lambda response, design, setting: response.peak_height - 2 * response.amplitude,
    ),
)
