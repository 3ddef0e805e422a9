"""Robots of one's own: declare coordinates, contacts and a drive, write accelerations in SI units, get a `Device`.

    class Capsule(hybrid.Motion):
        capsule = hybrid.Coordinate("place of the capsule", "m", drifts=True)
        friction = hybrid.Coulomb("capsule", bound=lambda now, design, setting: ...)
        push = hybrid.Harmonic()

        def period(self, design, setting):
            return 1 / setting.frequency

        def accelerations(self, now, design, setting):
            return {"capsule": (setting.force * now.push + now.friction) / design.mass}

    CAPSULE = hybrid.device("capsule", "...", Design, Setting, Capsule, source="...",
                            responses={"velocity": hybrid.drift("capsule")})

Guards, resets, natural units, the search for the periodic motion and its derivatives follow from that. See
docs/extending.md; one floor below are `Assembled` and `System`, which `Motion.system` may return.
"""

import equinox as eqx

from diffmicro.dynamics.series import cos, exp, log, power, sin, sin_cos, sqrt, tanh, where
from diffmicro.dynamics.starts import Approach, periods_field, start_field
from diffmicro.dynamics.system import Schedule, Step
from diffmicro.hybrid.device import device
from diffmicro.hybrid.drive import Harmonic, Samples, Sawtooth, Segmented, Square, Steps
from diffmicro.hybrid.motion import Motion, MotionError, Now
from diffmicro.hybrid.observers import Observer, count, drift, largest, share, smallest
from diffmicro.hybrid.parts import Coordinate, Coulomb, Hold, Impact, OneSidedSpring
from diffmicro.hybrid.system import Assembled, System, assembled


class Design(eqx.Module):
    """What a fabricator could change: derive from it, with a `parameter` for each number."""


class Setting(eqx.Module):
    """Surface and drive: derive from it, with a `parameter` for each number."""


__all__ = [
    "Approach",
    "Assembled",
    "Coordinate",
    "Coulomb",
    "Design",
    "Harmonic",
    "Hold",
    "Impact",
    "Motion",
    "MotionError",
    "Now",
    "Observer",
    "OneSidedSpring",
    "Samples",
    "Sawtooth",
    "Schedule",
    "Segmented",
    "Setting",
    "Square",
    "Step",
    "Steps",
    "System",
    "assembled",
    "cos",
    "count",
    "device",
    "drift",
    "exp",
    "largest",
    "log",
    "periods_field",
    "power",
    "share",
    "sin",
    "sin_cos",
    "smallest",
    "sqrt",
    "start_field",
    "tanh",
    "where",
]
