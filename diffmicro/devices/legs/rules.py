"""Values that make no sense together: complaints about numbers, harmless stand-ins for traced lanes."""

from diffmicro.devices.legs.design import Design, Setting
from diffmicro.devices.legs.lumped import check_sizes
from diffmicro.parameters import check


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    check_sizes(where, design, setting)
