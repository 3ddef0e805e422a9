"""Eqs. 13 and 14: the paper's time stepping in space beside the events that all other experiments here follow.

Table 1 on paper, flat, 10 Hz. With a robot that does not begin in the plane of the field it shows what is
beyond the plane.
"""

import time

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import tumbler
from diffmicro.devices.tumbler import Response
from experiments.outcome import Outcome, Said, incomparable, own
from experiments.progress import counted
from experiments.reading import SAME
from experiments.xie2019.robots import first, motion

STEPS = (1000, 2000, 4000)
"""Time steps per turn of the field."""

YAWS = (0.1, 0.3)
"""Angle to the plane of the field at the start [rad]."""

FREQUENCY = 10.0


def stepping() -> Outcome:
    """Speed, penetration and time over the step; yaw after six turns."""
    event = float(motion(*first(field_frequency=FREQUENCY)).speed)
    found, seconds = [], []
    for steps in counted(STEPS, "step sizes"):
        found.append(_stepped(steps, 0.0))
        began = time.perf_counter()
        _stepped(steps, 0.0)
        seconds.append(time.perf_counter() - began)
    speed = np.array([float(r.speed) for r in found])
    deep = max(float(r.max_penetration) for r in found)
    turned = {yaw: float(_stepped(STEPS[1], yaw).yaw) for yaw in YAWS}
    left = max(abs(y) for y in turned.values())
    off = np.abs(speed / event - 1)
    checks = [
        own(
            "nonpenetration, a condition of the solver (eqs. 3, 14)",
            "deepest penetration over the height of the robot",
            "below 1e-6",
            f"{deep / 0.1e-3:.0e}",
            deep < 1e-6 * 0.1e-3,
        ),
        own(
            "event-driven motion in the plane",
            f"speed of the time stepping at {', '.join(str(n) for n in STEPS)} steps a turn",
            f"within {SAME:.0%}",
            ", ".join(f"{x:.2%}" for x in off) + f" off {1e3 * event:.3f} mm/s",
            np.all(off < SAME),
        ),
        own(
            "magnetic torque out of the plane of the field",
            "a robot that begins at an angle turns into the plane, after six turns",
            "below 1 % of the angle",
            f"{left:.0e} rad left of {', '.join(f'{y:g}' for y in YAWS)} rad",
            left < 0.01 * min(YAWS),
        ),
        incomparable(
            Said("Numerical results", "[no time step is named]"),
            "step and computing time",
            "the paper has neither; here "
            + ", ".join(
                f"{n} steps {1e3 * t / 6:.0f} ms" for n, t in zip(STEPS, seconds, strict=True)
            )
            + " a turn",
        ),
    ]

    def draw(figure: Figure) -> None:
        left_axes, right_axes = figure.subplots(1, 2)
        left_axes.loglog(STEPS, 100 * off, "o-")
        left_axes.set(xlabel="steps a turn", ylabel="speed off the events [%]")
        left_axes.set_xticks(STEPS, [str(n) for n in STEPS])
        left_axes.minorticks_off()
        right_axes.loglog(STEPS, [1e3 * t / 6 for t in seconds], "o-")
        right_axes.set(xlabel="steps a turn", ylabel="computing time of a turn [ms]")
        right_axes.set_xticks(STEPS, [str(n) for n in STEPS])
        right_axes.minorticks_off()

    data = {"steps": STEPS, "speed": speed, "event": event, "seconds": seconds, "yaw": turned}
    return Outcome(checks, data, draw)


def _stepped(steps: int, yaw: float) -> Response:
    design, setting = first(field_frequency=FREQUENCY, start_yaw=yaw)
    return tumbler.respond(design, setting, method="implicit", steps=steps, throw=False)
