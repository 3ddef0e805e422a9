"""The C baseline (`benchmarks/c/wrmma_moreau.c`), compiled on this machine and called by ctypes."""

import ctypes
from functools import cache

import numpy as np

from benchmarks.compiled import compiled

PARAMETERS = (
    "mass_ratio", "device_length", "width", "height", "density", "rest_gap", "tethered_frequency",
    "damping", "restitution", "gap_fit", "gain_fit", "demagnetization", "force_scale", "field",
    "field_offset", "frequency_ratio", "load_factor", "friction", "clamp_force", "clamp_phase",
    "gravity",
)  # fmt: skip
"""In the order of the C enumeration."""

NUMBERS, STATES = 13, 4


@cache
def library() -> ctypes.CDLL:
    """The compiled baseline."""
    loaded = compiled("wrmma_moreau")
    loaded.procedure.restype = ctypes.c_long
    return loaded


def lump(parameters: np.ndarray) -> np.ndarray:
    """The scheme's numbers, one row a design."""
    numbers = np.zeros((len(parameters), NUMBERS))
    for row, out in zip(np.ascontiguousarray(parameters, np.float64), numbers, strict=True):
        library().lump(_pointer(row), _pointer(out))
    return numbers


def run(arrangement: str, numbers: np.ndarray, periods: int, steps: int) -> np.ndarray:
    """Velocities in the last of some periods from rest; arrangement is scalar or lanes."""
    precision = numbers.dtype
    state = np.zeros((len(numbers), STATES), precision)
    state[:, 0] = 1
    velocity = np.zeros(len(numbers), precision)
    call = getattr(library(), f"{arrangement}_f{8 * precision.itemsize}")
    call(
        _pointer(numbers),
        _pointer(state),
        ctypes.c_long(len(numbers)),
        periods,
        steps,
        _pointer(velocity),
    )
    return velocity


def procedure(
    parameters: np.ndarray, ratios: np.ndarray, carry: bool, steps: int = 1000
) -> tuple[np.ndarray, int]:
    """The paper's sweep: velocities, and the number of steps taken."""
    velocity, periods = np.zeros(len(ratios)), np.zeros(len(ratios), np.int32)
    taken = library().procedure(
        _pointer(np.ascontiguousarray(parameters)),
        _pointer(np.ascontiguousarray(ratios)),
        len(ratios),
        steps,
        ctypes.c_double(5e-10),
        300,
        100,
        int(carry),
        _pointer(velocity),
        _pointer(periods),
    )
    return velocity, int(taken)


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)
