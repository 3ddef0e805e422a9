"""How steep a slope can a cuboid of the published density climb?

Free: length and thickness. Held: depth, density, share of magnetic material, paper, 20 mT at 1 Hz. Objective:
the climb margin, the incline at which the mean speed falls to zero. Constraint: 1.8 mm/s on level ground, as
published.

What limits the slope is weight: the electrostatic force that presses the robot on stays, so a lighter one climbs
steeper (a cuboid of 500 x 100 um 84.7 degrees at 1.2 mm/s, one of 800 x 300 um 27.8 at 2.2 mm/s). Speed is the
perimeter, so the best cuboid is as thin as it may be and as short as the speed allows. Adhesion of the faces does
not help: what slides first is an edge.
"""

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
    return device_problem(tumbler, FREE, OBJECTIVE, CONSTRAINTS, design=DESIGN())


def draw(result: Result, path: Path) -> None:
    """Speed over incline, the climb margin over the length, and the search."""
    found = result.json("")
    sides = (found["published"], found["optimized"])
    panels = [
        Panel("incline [degrees]", "speed [mm/s]", [_speeds(side) for side in sides]),
        Panel("time [ms]", "distance on level ground [mm]", [_path(side) for side in sides]),
    ]
    before_after(result, panels, path, 180 / np.pi, "degrees")


def _design(side: dict[str, Any]) -> tumbler.Design:
    numbers = side["design"]
    return tumbler.Design(**{**numbers, "outline_radii": tuple(numbers["outline_radii"])})


def _speeds(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    angles = np.linspace(0.0, 65.0, 27)
    design, speeds = _design(side), []
    for angle in np.radians(angles):
        setting = tumbler.Setting(**{**side["setting"], "incline": angle})
        speeds.append(1e3 * float(tumbler.respond(design, setting, throw=False).speed))
    return angles, np.array(speeds), float(np.degrees(side["response"]["climb_margin"])), 0.0


def _path(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    path = tumbler.simulate(_design(side), tumbler.Setting(**side["setting"]), turns=1.0)
    return 1e3 * path.time, 1e3 * path.position, np.nan, np.nan


STUDY = Study(
    "tumbler_climb",
    problem,
    options=dict(budget=40),
    draw=draw,
    show={
        "length": (1e6, "um"),
        "thickness": (1e6, "um"),
        "speed": (1e3, "mm/s"),
        "climb_margin": (180 / np.pi, "degrees"),
    },
)
"""820 x 80 um climbs 60.6 degrees, the published 800 x 100 um 51.5."""
