"""How hard can the gripper hold an object of 0.4 mm under 100 uN of actuation force and 150 MPa of bending stress?

Free: width and height of the section, radius of each flexure. Held: hinges, bodies, angles, the object's half
width of 0.2 mm. Constraint: the bending stress while it grips.

The published design grips with 19.1 uN at 241 MPa; at 150 MPa 21.3 uN are reached. Stress ~ h sets the height
(4.48 um). The radius of a is at its upper bound of 0.28 mm, those of b and c at the lower one of 0.12 mm, that
of d, 0.21 mm, is inside. The width is at its bound of 50 um. All five starts
end there, in 52 evaluations.
"""

from pathlib import Path
from typing import Any

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import gripper
from diffmicro.plot.gripper import before_after

FREE = {
    "section_width": (15e-6, 50e-6),
    "section_height": (3e-6, 8e-6),
    "beam_radius": (0.12e-3, 0.28e-3),
}
SETTING = dict(force=100e-6, object_half_width=0.2e-3)
STRESS = 150e6
"""Largest bending stress [Pa]."""


def problem() -> Any:
    """The published gripper with the exact model, and what is free."""
    return device_problem(
        gripper.DEVICE,
        FREE,
        Objective("grip_force", "maximize"),
        (Constraint("max_stress", "<=", STRESS),),
        setting=gripper.published_setting(**SETTING),
    )


def draw(result: Result, path: Path) -> None:
    """Both designs at rest and gripping, and the search."""
    before_after(result, path, "force", 1e6, "uN")


STUDY = Study(
    "gripper_grip",
    problem,
    options={"method": "sqp", "budget": 100},
    random_designs=300,
    draw=draw,
    show={
        "section_width": (1e6, "um"),
        "section_height": (1e6, "um"),
        "grip_force": (1e6, "uN"),
        "max_stress": (1e-6, "MPa"),
        "closing_force": (1e6, "uN"),
    },
)
