"""Piezo legs (Ryou 2014): vibration modes that a voltage drives and whose foot hits the ground.

From modes, gains and gap to the height at which the foot bounces, differentiable where the motion is periodic.

| paper | here | unit |
|---|---|---|
| omega_k / 2 pi | `frequency` | Hz |
| zeta_k | `damping` | - |
| G_k = Phi_ck B_k / omega_k^2 | `gain` (static, at the contact foot) | m/V |
| Phi_ck^2 / eta_0^2 | `mobility` | 1/kg |
| Phi | `mode_shape` (points, modes), contact foot first | - |
| k of eq. 15 | `dominant_mode` | - |
| -alpha of eq. 19 | `restitution` | - |
| compliant ground of Fig. 7b | law `compliant`, `ground_stiffness`, `ground_damping` | N/m, - |
| F_SS | `film`, `electrostatic`, `adhesion` and their offsets | N m^2 s, N m^2/V^2, N m^3, m |
| N_B, A_max, A_avg of Table 3 | `bounce_rate`, `peak_height`, `bounce_height` | 1/s, m, m |

Corrections to the paper: the coefficient of restitution -0.51 is alpha of eqs. 6 and 19-28 (eq. 10 has one
minus too many); eta_0^2 is a mass, M = eta_0^2 Phi^-T Phi^-1, and modal forces are Phi^T F / eta_0^2. The
dominant law can add energy (`impact_loss` is then negative). Gains, damping, mobilities and small-scale forces
are not published: the published design is a set fitted to Table 3, nine numbers for about twenty unknowns, not
a measurement.

Left out: gravity (the robot hangs), lateral motion and friction, more than one foot on the ground (`walker` is a
device of its own, `feet` a simulation), hysteresis of the ceramics.
"""

from diffmicro._device import Device, Method
from diffmicro.devices.legs.boundaries import LIMITS
from diffmicro.devices.legs.design import (
    FITTED,
    PROCESS,
    Design,
    Setting,
    published_design,
    published_setting,
)
from diffmicro.devices.legs.features import etched, features
from diffmicro.devices.legs.layout import Layout, geometry
from diffmicro.devices.legs.lumped import free_amplitude, lump
from diffmicro.devices.legs.response import (
    STEPS,
    TOLERANCE,
    Response,
    afresh,
    nearby,
    objection,
    respond,
)
from diffmicro.devices.legs.rules import RULES
from diffmicro.devices.legs.simulation import Trajectory, simulate
from diffmicro.devices.legs.state import MotionState
from diffmicro.recheck import ByWarmStart

DEVICE = Device(
    name="legs",
    title="piezo leg structure: feet on vibrating modes that bounce on the ground",
    source="Ryou and Oldham 2014",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    simulate=simulate,
    published_design=published_design,
    published_setting=published_setting,
    methods=(Method("event", steps=STEPS),),
    process=PROCESS,
    drive=(
        "voltage",
        "drive_frequency",
    ),
    recheck=ByWarmStart(nearby, afresh, tolerance=TOLERANCE),
    rules=RULES,
    objection=objection,
    carries=True,
    limits=LIMITS,
    animation="diffmicro.plot.legs:animation",
    geometry=geometry,
    Layout=Layout,
    features=features,
    etched=etched,
)

__all__ = [
    "PROCESS",
    "lump",
    "free_amplitude",
    "DEVICE",
    "Layout",
    "geometry",
    "features",
    "etched",
    "Design",
    "FITTED",
    "MotionState",
    "Response",
    "STEPS",
    "Setting",
    "Trajectory",
    "nearby",
    "objection",
    "published_design",
    "published_setting",
    "respond",
    "simulate",
]
