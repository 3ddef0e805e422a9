"""Values that make no sense together: complaints about numbers, harmless stand-ins for traced lanes."""

import numpy as np

from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.parameters import check, is_traced


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    gap, length = design.rest_gap, design.device_length
    if not is_traced(gap, length) and not np.all(np.asarray(gap) < np.asarray(length)):
        raise ValueError(
            f"{where}: Design.rest_gap = {gap} m is not allowed; it has to be below device_length = "
            f"{length} m, which contains it. Make the gap smaller or the device longer."
        )
