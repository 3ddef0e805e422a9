"""How steep a slope can a cuboid of the published density climb?

Free: length and thickness. Held: depth, density, share of magnetic material, paper, 20 mT at 1 Hz. Objective:
the climb margin, the incline at which the mean speed falls to zero. Constraint: 1.8 mm/s on level ground, as
published.

What limits the slope is weight: the electrostatic force that presses the robot on stays, so a lighter one climbs
steeper (a cuboid of 500 x 100 um 84.7 degrees at 1.2 mm/s, one of 800 x 300 um 27.8 at 2.2 mm/s). Speed is the
perimeter, so the best cuboid is as thin as it may be and as short as the speed allows: 820 x 80 um climbs 60.63
degrees, the published 800 x 100 um 51.52. The speed binds (35.5 degrees less per mm/s more) and so does the
thickness (0.60 degrees less per um more). Three starts end there, certified, 17 evaluations in all; the best of
200 random designs climbs 57.7 degrees. It takes 1.7 minutes of one core, most of it compilation.

The trivial bound is an edge that holds without moving, sin a <= mu (cos a + F_elect / m g): 62.1 degrees
here, 52.4 published. Adhesion of the faces does not help: what slides first is an edge.
"""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import tumbler
from diffmicro.plot.design import Panel, before_after
from optimize.tumbler_outline import MASS, VOLUME

FREE = {"length": (0.4e-3, 1.2e-3), "thickness": (0.08e-3, 0.3e-3)}
OBJECTIVE = Objective("climb_margin", "maximize")
CONSTRAINTS = (Constraint("speed", ">=", 1.8e-3),)
DESIGN = partial(tumbler.published_design, density=MASS / VOLUME, magnetic_share=2.9e-11 / VOLUME)


def problem() -> Any:
    """The published cuboid at 1 Hz on paper, and what is free."""
    return device_problem(tumbler.DEVICE, FREE, OBJECTIVE, CONSTRAINTS, design=DESIGN())


def bound(mass: float, friction: float, pressing: float, gravity: float) -> float:
    """The steepest incline on which an edge without adhesion holds the resting robot by friction [rad]."""
    reach = friction * pressing / (mass * gravity) / math.hypot(1.0, friction)
    return math.asin(min(reach, 1.0)) + math.atan(friction)


def draw(result: Result, path: Path) -> None:
    """Incline over speed up to the steepest, the steepest over the length at each thickness, the search."""
    found = result.json("")
    sides = (found["published"], found["optimized"])
    panels = [
        Panel("speed [mm/s]", "incline [degrees]", [_speeds(side) for side in sides]),
        Panel(
            "length, at each thickness [um]",
            "steepest incline [degrees]",
            [_margins(side) for side in sides],
        ),
    ]
    before_after(result, panels, path, 180 / np.pi, "degrees")


def _design(side: dict[str, Any], **changed: Any) -> tumbler.Design:
    numbers = side["design"]
    return tumbler.Design(
        **{**numbers, "outline_radii": tuple(numbers["outline_radii"]), **changed}
    )


def _speeds(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    margin = side["response"]["climb_margin"]
    angles = margin * (1 - np.linspace(1.0, 0.01, 20) ** 2)  # it falls steeply at the end
    design, speeds = _design(side), []
    for angle in angles:
        setting = tumbler.Setting(**{**side["setting"], "incline": angle})
        speeds.append(1e3 * float(tumbler.respond(design, setting, throw=False).speed))
    return np.array(speeds), np.degrees(angles), 0.0, float(np.degrees(margin))


def _margins(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    setting, margins = tumbler.Setting(**side["setting"]), []
    lengths = np.linspace(*FREE["length"], 17)
    for length in lengths:
        design = _design(side, length=length)
        response = tumbler.respond(design, setting, extra=("climb_margin",), throw=False)
        margins.append(np.degrees(np.asarray(response.climb_margin)))
    here = float(np.degrees(side["response"]["climb_margin"]))
    return 1e6 * lengths, np.array(margins), 1e6 * side["design"]["length"], here


STUDY = Study(
    "tumbler_climb",
    problem,
    options=dict(budget=40, method="sqp"),
    random_designs=200,
    draw=draw,
    show={
        "length": (1e6, "um"),
        "thickness": (1e6, "um"),
        "speed": (1e3, "mm/s"),
        "climb_margin": (180 / np.pi, "degrees"),
    },
)
