"""Which smooth outline tumbles fastest at a given mass, mass and magnet following the shape?

Free: the outline (four radii of curvature), length and thickness. Held: depth, density, share of magnetic
material, paper, 20 mT at 5 Hz, level. Constraint: no heavier than the published cuboid.

What limits the speed is the mass: an outline that rolls has the speed of its perimeter, and inside a given
rectangle the rectangle itself is longest, 2 (L + H) f, the trivial bound. At a given mass the best outline is a
lens: nearly the perimeter of its rectangle with little more than half of its area. It reaches 92 % of its
rectangle's bound (14.2 against 15.4 mm/s for the perimeter alone at a length of 1.4 mm), where the ellipse of
the published length and thickness has 8.2 mm/s. Radii differ between starts: the perimeter is flat there.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import tumbler
from diffmicro.plot.design import Panel, before_after
from diffmicro.plot.tumbler import section

MASS = 1.6071e-7
VOLUME = 0.8e-3 * 0.4e-3 * 0.1e-3
"""The published cuboid's [kg, m^3]."""

FREE = {
    "outline_radii": (0.05, 20.0),
    "length": (0.4e-3, 1.4e-3),
    "thickness": (0.1e-3, 0.3e-3),
}
OBJECTIVE = Objective("speed", "maximize")
CONSTRAINTS = (Constraint("mass", "<=", MASS),)
DESIGN = partial(
    tumbler.published_design,
    outline="support",
    outline_radii=(1.0, 1.0, 1.0, 1.0),
    density=MASS / VOLUME,
    magnetic_share=2.9e-11 / VOLUME,
)
SETTING = partial(tumbler.published_setting, field_frequency=5.0)


def problem() -> Any:
    """An ellipse of the published length and thickness, and what is free."""
    return device_problem(tumbler, FREE, OBJECTIVE, CONSTRAINTS, design=DESIGN(), setting=SETTING())


def bound(length: float, thickness: float, frequency: float) -> float:
    """What no convex outline inside the rectangle exceeds without slip: the rectangle's own speed [m/s]."""
    return 2 * (length + thickness) * frequency


def draw(result: Result, path: Path) -> None:
    """Both outlines, speed over frequency with the rectangle's bound, and the search."""
    found = result.json("")
    sides = (found["published"], found["optimized"])
    panels = [
        Panel("along [mm]", "height [mm]", [_outline(side) for side in sides]),
        Panel("field frequency [Hz]", "speed [mm/s]", [_speeds(side) for side in sides]),
    ]
    before_after(result, panels, path, 1e3, "mm/s")


def _design(side: dict[str, Any]) -> tumbler.Design:
    numbers = side["design"]
    return tumbler.Design(**{**numbers, "outline_radii": tuple(numbers["outline_radii"])})


def _outline(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    corners = 1e3 * section(_design(side), 0.0, 0.0, 0.0)
    closed = np.concatenate([corners, corners[:1]])
    return closed[:, 0], closed[:, 1], np.nan, np.nan


def _speeds(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    frequencies = np.linspace(1.0, 12.0, 12)
    design, speeds = _design(side), []
    for frequency in frequencies:
        setting = tumbler.Setting(**{**side["setting"], "field_frequency": frequency})
        speeds.append(1e3 * float(tumbler.respond(design, setting, throw=False).speed))
    here = side["setting"]["field_frequency"]
    return frequencies, np.array(speeds), here, 1e3 * side["response"]["speed"]


STUDY = Study(
    "tumbler_outline",
    problem,
    options=dict(budget=100),
    random_designs=200,
    draw=draw,
    show={
        "length": (1e6, "um"),
        "thickness": (1e6, "um"),
        "mass": (1e9, "ug"),
        "speed": (1e3, "mm/s"),
    },
)
"""Best designs repeat to the mass, which binds; the radii may differ between seeds."""
