"""Tables 1 and 2: the procedure by which the adhesion coefficients were found, done on the simulated robot."""

import math
from typing import Any

from matplotlib.figure import Figure

from experiments.nagy2012.drawing import as_table
from experiments.outcome import Outcome, own, own_number
from experiments.xie2019.robots import asked, first, improved

GRAVITY = 9.81
NAMES = (
    "mass",
    "electrostatic_force",
    "friction",
    "offset_angle",
    "magnetic_volume",
    "magnetization",
    "adhesion",
)


def table1() -> Outcome:
    """On paper."""
    return _table(*first())


def table2() -> Outcome:
    """On aluminum."""
    return _table(*improved())


def _table(design: Any, setting: Any) -> Outcome:
    used = {name: float(getattr(design, name, getattr(setting, name, math.nan))) for name in NAMES}
    stall_field = asked("stall_field", design, setting)
    # Torque of weight, electrostatic force and adhesion about the long face's edge.
    area = float(design.length * design.width)
    weight = used["mass"] * GRAVITY + used["electrostatic_force"]
    moment = used["magnetic_volume"] * used["magnetization"]
    by_hand = (weight + used["adhesion"] * area) * float(design.length) / 2 / moment
    # Experimental setup: torque at which it rises over the moment arm and the area of contact.
    read = stall_field * moment / (float(design.length) / 2) / area
    checks = [
        own_number(
            "moments about the edge of the lying robot",
            "static vertical field that lifts it",
            1e3 * by_hand,
            1e3 * stall_field,
            1e-6,
            "mT",
        ),
        own(
            "the experimental setup's procedure, done on the simulated robot",
            "torque over moment arm and area gives the adhesion coefficient back",
            f"{used['adhesion']:.4g} N/m^2",
            f"{read:.4g} N/m^2: it holds weight and electrostatic force too, {weight / area:.3g} N/m^2",
            abs(read / used["adhesion"] - 1) < 0.05,
        ),
    ]

    def draw(figure: Figure) -> None:
        rows = [[name, f"{used[name]:g}"] for name in NAMES]
        rows.append(["stall field [mT]", f"{1e3 * stall_field:.4g}"])
        rows.append(["adhesion as the procedure reads it", f"{read:.4g}"])
        as_table(figure.subplots(), ["parameter (SI)", "paper and here"], rows)

    return Outcome(checks, {"used": used, "stall_field": stall_field, "read": read}, draw)
