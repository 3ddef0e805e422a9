"""The tumbling magnetic microrobot (Xie 2019): a magnetic body that a turning field rolls end over end.

Contact is with the convex hull of the body's outline; a flat face that lies on the ground adheres by its area.
From the outline and the field to the mean speed of the steady motion, differentiable.

| paper | here | unit |
|---|---|---|
| L, W, H | `length`, `width` (depth), `thickness` | m |
| m, phi, V_m, E | `mass`, `offset_angle`, `magnetic_volume`, `magnetization` | kg, rad, m^3, A/m |
| B, f_rot | `field`, `field_frequency` | T, Hz |
| mu, C, F_elect | `friction`, `adhesion`, `electrostatic_force` | -, N/m^2, N |
| - | `fluid_viscosity`, `fluid_density`: a fluid around the robot, none by default | Pa s, kg/m^3 |
| 2 (L + H) f_rot, eq. 15 | `no_slip_speed`: hull perimeter times frequency | m/s |
| v | `speed` | m/s |

`event` is the planar hybrid motion (`motion`), the limit of the paper's equations for small time steps;
`implicit` is the paper's time stepping in space (`implicit`). Left out: rebound, the field's gradients,
bodies that are not symmetric under half a turn.
"""

from diffmicro._device import Device
from diffmicro.devices.tumbler.boundaries import LIMITS
from diffmicro.devices.tumbler.design import (
    PROCESS,
    Design,
    Setting,
    published_design,
    published_setting,
)
from diffmicro.devices.tumbler.drift import stall_field
from diffmicro.devices.tumbler.features import etched, features
from diffmicro.devices.tumbler.layout import Layout, geometry
from diffmicro.devices.tumbler.response import (
    METHODS,
    NEAR_CLIMB,
    NEAR_STALL,
    ON_REQUEST,
    STEPS,
    TURNS_OVER,
    Response,
    afresh,
    nearby,
    objection,
    respond,
)
from diffmicro.devices.tumbler.rules import RULES
from diffmicro.devices.tumbler.simulation import simulate
from diffmicro.recheck import ByWarmStart

DEVICE = Device(
    name="tumbler",
    title="tumbling magnetic microrobot: a body that rolls end over end in a rotating field",
    source="Xie et al. 2019",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    simulate=simulate,
    published_design=published_design,
    published_setting=published_setting,
    methods=METHODS,
    process=PROCESS,
    drive=(
        "field",
        "field_frequency",
    ),
    recheck=ByWarmStart(nearby, afresh, tolerance=1e-10),
    rules=RULES,
    objection=objection,
    on_request=ON_REQUEST,
    carries=True,
    limits=LIMITS,
    animation="diffmicro.plot.tumbler:animation",
    geometry=geometry,
    Layout=Layout,
    files={"outline": "diffmicro.drawing.hulls:outline_from_file"},
    features=features,
    etched=etched,
)

__all__ = [
    "PROCESS",
    "stall_field",
    "DEVICE",
    "Layout",
    "geometry",
    "features",
    "etched",
    "Design",
    "METHODS",
    "NEAR_CLIMB",
    "NEAR_STALL",
    "ON_REQUEST",
    "Response",
    "STEPS",
    "Setting",
    "TURNS_OVER",
    "nearby",
    "objection",
    "published_design",
    "published_setting",
    "respond",
    "simulate",
]
