"""Which hemispheres, preload and stroke make the stick-slip drive push hardest?

Free: radius, preload, stroke. Held: 3 % damping, 100 Hz, worn tips of 3 um. Limits: radius up to 2 mm (footprint),
pressure in the contact at most 0.9 GPa, vibration without sensor at most 4 nm (rms times sqrt 2), stroke up to
300 nm.

Force rises and pressure falls with radius, so the footprint binds, and so do the stroke and the pressure, which
sets the preload: 2 mm, 300 nm and 1.391 N push with 0.852 N (0.198 N as published, 4.31 of them). Each limit costs
what its multiplier says: 0.56 mN for each um of radius, 1.30 mN for each nm of stroke, 1.76 mN for each MPa of
pressure. Vibration, 3.88 nm, is just free; it binds instead of the pressure where that may be above 0.92 GPa.
The search takes 7 evaluations, its gradient is certified; the best of 16 random designs has 0.321 N.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diffmicro.design import Constraint, Objective, Result, Study, device_problem
from diffmicro.devices import stickslip
from diffmicro.plot.design import Panel, before_after

FREE = {"radius": (0.2e-3, 2e-3), "preload": (0.1, 2.0), "amplitude": (40e-9, 300e-9)}
OBJECTIVE = Objective("force", "maximize")
CONSTRAINTS = (
    Constraint("peak_pressure", "<=", 0.9e9),
    Constraint("residual_vibration", "<=", 4e-9),
)
STEPS = 16000
"""Steps in the slow phase: the gradient at the optimum agrees with that of half as many within 3e-4."""

DESIGN = partial(stickslip.published_design, damping_ratio=0.03, tip_radius=3e-6)


def problem() -> Any:
    """The published drive with damping and worn tips, and what is free."""
    return device_problem(
        stickslip.DEVICE, FREE, OBJECTIVE, CONSTRAINTS, design=DESIGN(), steps=STEPS
    )


def draw(result: Result, path: Path) -> None:
    """Force over stroke and over preload, before and after, and the search."""
    found = result.json("")
    sides = (found["published"], found["optimized"])
    panels = [
        Panel(
            "stroke [nm]", "generated force [mN]", [_over(side, "amplitude", 1e9) for side in sides]
        ),
        Panel(
            "preload [N]", "generated force [mN]", [_over(side, "preload", 1.0) for side in sides]
        ),
    ]
    before_after(result, panels, path, 1e3, "mN")


def _over(
    side: dict[str, Any], name: str, factor: float
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Force along one parameter through the design, and the design's own point."""
    values = np.linspace(*FREE[name], 15)
    design = stickslip.Design(**side["design"])
    forces = []
    for value in values:
        setting = stickslip.Setting(**{**side["setting"], name: float(value)})
        forces.append(float(stickslip.respond(design, setting, throw=False).force))
    here = side["setting"][name]
    return factor * values, 1e3 * np.array(forces), factor * here, 1e3 * side["response"]["force"]


STUDY = Study(
    "stickslip_force",
    problem,
    options={"method": "sqp", "budget": 40},
    random_designs=16,
    draw=draw,
    show={
        "radius": (1e3, "mm"),
        "amplitude": (1e9, "nm"),
        "force": (1e3, "mN"),
        "peak_pressure": (1e-9, "GPa"),
        "residual_vibration": (1e9, "nm"),
    },
)
