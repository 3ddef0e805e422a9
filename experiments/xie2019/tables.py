"""Tables 1 and 2: the parameters, and what follows from them at once."""

import math
from typing import Any

from matplotlib.figure import Figure

from experiments.nagy2012.drawing import as_table
from experiments.outcome import Outcome, near
from experiments.xie2019.robots import asked, first, improved

TABLE1 = {
    "mass": 1.6071e-7,
    "electrostatic_force": 3.2022e-6,
    "friction": 0.3,
    "offset_angle": math.radians(27),
    "magnetic_volume": 2.9e-11,
    "magnetization": 15e3,
    "adhesion": 3.7148,
}
TABLE2 = {
    "mass": 6.94e-8,
    "electrostatic_force": 0.0,
    "friction": 0.5359,
    "offset_angle": 0.0,
    "magnetic_volume": 3.2e-11,
    "magnetization": 51835.0,
    "adhesion": 26.1771,
}


def table1() -> Outcome:
    """On paper; static stall field 5.487 mT, no-slip speed 1.8 mm/s at 1 Hz."""
    return _table(TABLE1, *first())


def table2() -> Outcome:
    """On aluminum."""
    return _table(TABLE2, *improved())


def _table(stated: dict[str, float], design: Any, setting: Any) -> Outcome:
    used = {name: float(getattr(design, name, getattr(setting, name, math.nan))) for name in stated}
    checks = [near(name, value, used[name], 1e-12 * abs(value)) for name, value in stated.items()]
    stall_field = asked("stall_field", design, setting)
    # By hand: the torque of weight, electrostatic force and adhesion about the long face's edge.
    area = design.length * design.width
    press = used["mass"] * 9.81 + used["electrostatic_force"] + used["adhesion"] * area
    moment = used["magnetic_volume"] * used["magnetization"]
    by_hand = press * design.length / 2 / moment
    checks.append(
        near(
            "field that lifts the lying robot, by moments about its edge",
            1e3 * by_hand,
            1e3 * stall_field,
            1e-6,
            "mT",
        )
    )

    def draw(figure: Figure) -> None:
        rows = [[name, f"{value:g}", f"{used[name]:g}"] for name, value in stated.items()]
        rows.append(["stall field [mT]", "", f"{1e3 * stall_field:.4g}"])
        as_table(figure.subplots(), ["parameter (SI)", "paper", "here"], rows)

    return Outcome(checks, {"used": used, "stall_field": stall_field}, draw)
