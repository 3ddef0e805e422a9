"""With how little rotation of its flexures can the gripper close?

Free: radius (0.1 to 0.3 mm) and angle (120 to 340 degrees) of each flexure. Held: hinges, bodies, section.
Constraint: 20 um between the ends of an arc and between arcs, at rest and closed; `problem(clearance=None)` goes
without.

From 28.9 to 16.85 degrees. The bounds limit it: all radii are at 0.3 mm, the angles of flexures a and b at 340, of
d at 120 degrees; only that of c, 282.6 degrees, is inside. The clearance does not bind: 59 um are left between the
ends of an arc when the gripper is closed (104 um at rest). The closing force falls from 69.9 to 35.5 uN and the
stress from 240 to 164 MPa. All four starts of seed 0 arrive at this corner.
"""

from pathlib import Path
from typing import Any

import numpy as np

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import gripper
from diffmicro.plot.gripper import before_after

FREE = {
    "beam_radius": (0.1e-3, 0.3e-3),
    "beam_angle": (float(np.deg2rad(120)), float(np.deg2rad(340))),
}
CLEARANCE = 20e-6
"""Smallest distance [m]."""

OBJECTIVE = Objective("closing_rotation", "minimize")


def problem(clearance: float | None = CLEARANCE) -> Any:
    """The published gripper with the exact model, and what is free."""
    constraints = () if clearance is None else (Constraint("closing_clearance", ">=", clearance),)
    extra = ("closing_force", "closing_stress", "closing_clearance")
    return device_problem(gripper.DEVICE, FREE, OBJECTIVE, constraints, extra=extra)


def draw(result: Result, path: Path) -> None:
    """Both designs, at rest and closed, and the search."""
    before_after(result, path, "closing_force", 180 / np.pi, "deg")


STUDY = Study(
    "gripper_rotation",
    problem,
    options={"method": "sqp", "budget": 800},
    random_designs=500,
    draw=draw,
    show={
        "closing_rotation": (180 / np.pi, "deg"),
        "closing_force": (1e6, "uN"),
        "closing_stress": (1e-6, "MPa"),
        "closing_clearance": (1e6, "um"),
    },
)
