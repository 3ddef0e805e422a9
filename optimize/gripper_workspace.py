"""How far can the tip travel under 100 MPa of bending stress and 40 uN of actuation force, and still be stiff?

Free: height of the section, one radius and one angle for all flexures. Held: the width (the thickness of the
wafer's layer), hinges and bodies, the starts of the arcs. Constraint: a lowest natural frequency of 300 Hz, which
opposes thin sections and long arcs (the published design has 320 Hz with the assumed masses).

From 0.342 mm (all arcs at the published mean of 300 degrees) to 0.519 mm. Three limits meet: the frequency sets
the height (6.17 um, inside its range; without that constraint, and with the width free, it falls to its bound
of 3 um and the tip travels 1.036 mm), the actuation force ends the closing at 40 uN and the stress ends the
opening, less than 1 % apart. Radius and angle are at their bounds of 0.3 mm and 330 degrees.
"""

from pathlib import Path
from typing import Any

import numpy as np

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import gripper
from diffmicro.plot.gripper import before_after

FREE = {
    "section_height": (3e-6, 12e-6),
    "beam_radius[:]": (0.1e-3, 0.3e-3),
    "beam_angle[:]": (float(np.deg2rad(180)), float(np.deg2rad(330))),
}
LIMITS = dict(stress_limit=100e6, force_limit=40e-6)
FREQUENCY = 300.0
"""Lowest natural frequency [Hz]."""


def problem() -> Any:
    """The published gripper with the exact model, and what is free."""
    return device_problem(
        gripper.DEVICE,
        FREE,
        Objective("tip_travel", "maximize"),
        (Constraint("natural_frequency", ">=", FREQUENCY),),
        setting=gripper.published_setting(**LIMITS),
        extra=("close_force", "close_limit", "open_limit"),
    )


def draw(result: Result, path: Path) -> None:
    """Both designs at rest and at the closing limit, and the search."""
    before_after(result, path, "close_force", 1e3, "mm")


STUDY = Study(
    "gripper_workspace",
    problem,
    options={"method": "sqp", "budget": 120},
    random_designs=0,
    draw=draw,
    show={
        "section_height": (1e6, "um"),
        "tip_travel": (1e3, "mm"),
        "close_force": (1e6, "uN"),
        "natural_frequency": (1.0, "Hz"),
    },
)
