"""With how little rotation of its flexures can the gripper close?

Free: radius (0.1 to 0.3 mm) and angle (120 to 340 degrees) of each flexure. Held: hinges, bodies, section.
Constraint: 20 um between the ends of an arc and between arcs, at rest and closed; `problem(clearance=None)` goes
without.

From 28.9 to 14.56 degrees, certified. Twelve starts that fill the box end at nine optima, nearly all corners of
it, of which the best has 16.65 degrees; one more start would find another with a probability of 68 %. So the
search goes on beside the best ones, with one variable after another mirrored, and comes to 14.56, 14.60 and
14.88 degrees: 16 optima in 436 evaluations. At 14.56 the radii of a and c are at 0.3 mm and that of d at 0.1,
the angles of a and b at 340 and that of d at 120 degrees; the radius of b, 0.242 mm, and the angle of c, 297
degrees, are inside. The clearance does not bind: 84 um are left.

A small rotation has its price: the closing force is 79 uN (69.9 as published) and the stress 340 MPa (240).
Where a fabricator allows less, give `closing_stress` a limit: 16.65 degrees need 47 uN and 176 MPa.
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
    options={"method": "sqp", "budget": 500},
    random_designs=500,
    draw=draw,
    show={
        "closing_rotation": (180 / np.pi, "deg"),
        "closing_force": (1e6, "uN"),
        "closing_stress": (1e-6, "MPa"),
        "closing_clearance": (1e6, "um"),
    },
)
