"""Which smooth outline tumbles fastest at a given mass, mass and magnet following the shape?

Free: the outline (four radii of curvature), length and thickness. Held: depth, density, share of magnetic
material, paper, 20 mT at 1 Hz, level. Constraint: no heavier than the published cuboid.

An outline that rolls has the speed of its perimeter, and inside a given rectangle the rectangle itself is longest,
2 (L + H) f, the trivial bound. At a given mass the best outline is a lens along the rectangle's diagonal: more
than two diagonals of perimeter with half of the rectangle's area. From an ellipse of the published length and
thickness (1.637 mm/s) it comes to 2.823 mm/s, certified, 1400 x 111 um; its rectangle has 3.022, twice its
diagonal 2.809. The mass binds (2.53e-4 mm/s per ug) and so do the length (1.96 mm/s per mm) and how sharp and
how flat the outline may be. Lenses that lie level end at 2.260 mm/s: an optimum too, so one start does not do,
least of all the ellipse, which is as symmetric. In 148 evaluations six of
eleven starts end at four optima, two of them at the best. The best of 200 random designs has 2.373 mm/s. It
takes 2.3 minutes of one core.

A flat lens swings about the field when it passes its flat side. Where the swing makes it slip, no motion is
periodic and the mean speed has no derivative: 11 of 40 random designs at 1 Hz. The search turns them down.
At 5 Hz most outlines slip so, and it ends at their edge (11.73 mm/s, no optimum), hence the slow field.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import tumbler
from diffmicro.devices.tumbler.body import outline_of
from diffmicro.plot.design import Panel, before_after

MASS = 1.6071e-7
VOLUME = 0.8e-3 * 0.4e-3 * 0.1e-3
"""The published cuboid's [kg, m^3]."""

FREE = {
    "outline_radii": (0.2, 5.0),
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
SETTING = partial(tumbler.published_setting, field_frequency=1.0)


def problem() -> Any:
    """An ellipse of the published length and thickness, and what is free."""
    return device_problem(
        tumbler.DEVICE, FREE, OBJECTIVE, CONSTRAINTS, design=DESIGN(), setting=SETTING()
    )


def bound(length: float, thickness: float, frequency: float) -> float:
    """What no convex outline inside the rectangle exceeds without slip: the rectangle's own speed [m/s]."""
    return 2 * (length + thickness) * frequency


def draw(result: Result, path: Path) -> None:
    """Both outlines in their rectangles, speed over frequency with the rectangles' bounds, and the search."""
    found = result.json("")
    sides = (found["published"], found["optimized"])
    speeds = "speed, and 2 (L + H) f above it [mm/s]"
    panels = [
        Panel("along [mm]", "height, stretched [mm]", [_outline(side) for side in sides]),
        Panel("field frequency [Hz]", speeds, [_speeds(side) for side in sides]),
    ]
    before_after(result, panels, path, 1e3, "mm/s")


def _design(side: dict[str, Any]) -> tumbler.Design:
    numbers = side["design"]
    return tumbler.Design(**{**numbers, "outline_radii": tuple(numbers["outline_radii"])})


def _outline(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    design = _design(side)
    x, z = outline_of(design).points(8)
    half, low = float(design.length) / 2, float(design.thickness) / 2
    around = np.array([[half, half, -half, -half, half], [-low, low, low, -low, -low]])
    gap = np.full((2, 1), np.nan)  # a pen lifted between two curves of one color
    curves = np.concatenate([np.stack([x, z]), gap, around], axis=1)
    return *(1e3 * curves), np.nan, np.nan


def _speeds(side: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, float, float]:
    frequencies = np.linspace(0.5, 6.0, 12)
    design, speeds = _design(side), []
    for frequency in frequencies:
        setting = tumbler.Setting(**{**side["setting"], "field_frequency": frequency})
        speeds.append(float(tumbler.respond(design, setting, throw=False).speed))
    size = (float(design.length), float(design.thickness))
    bounds = [bound(*size, f) for f in frequencies]
    here = side["setting"]["field_frequency"]
    twice = np.concatenate([frequencies, [np.nan], frequencies])
    both = np.concatenate([speeds, [np.nan], bounds])
    return twice, 1e3 * both, here, 1e3 * side["response"]["speed"]


STUDY = Study(
    "tumbler_outline",
    problem,
    options=dict(budget=150, method="sqp"),
    random_designs=200,
    draw=draw,
    show={
        "length": (1e6, "um"),
        "thickness": (1e6, "um"),
        "mass": (1e9, "ug"),
        "speed": (1e3, "mm/s"),
    },
)
