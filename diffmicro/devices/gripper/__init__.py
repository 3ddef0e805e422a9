"""A gripper with curved flexures (Verotti 2022): three rigid bodies in a four-bar linkage of four arcs.

From beam radius, angle, section and hinge positions to tip position, stress, closing force and workspace, with
the published constant-stiffness models and the geometrically exact one. One of two mirrored halves is calculated.

| paper | here | unit |
|---|---|---|
| r_f, theta_f, f = a, b, c, d | `beam_radius`, `beam_angle` | m, rad |
| O_f | `hinge` | m |
| G_2, G_3, G_4 | `body` | m |
| s_3EE | `tip` | m |
| E_y, b, h | `young`, `section_width`, `section_height` | Pa, m, m |
| w_i | `wrench` | N, N, N m |
| F_2y | `force` | N |
| q, theta_i | `configuration`, `rotation` | m, rad |
| K_T | `stiffness` | N/m, N, N m |

Corrections to the paper: eqs. 33 (corner 0 is 1), 38c, 42, 43 and A9 have misprints; Tables 3-7 were printed
with a Jacobian of flexure d whose translation block is -1 instead of -A_4^T; table units are mm and uN. The
published models break action = reaction (see `mechanics.linkage`). Left out: bodies that bend, dynamics,
friction of the jaws, contact of bodies and arcs with each other (`clearance` is its distance).
"""

from diffmicro._device import Device, Method
from diffmicro.devices.gripper.boundaries import LIMITS
from diffmicro.devices.gripper.design import (
    PROCESS,
    Design,
    Setting,
    published_design,
    published_setting,
)
from diffmicro.devices.gripper.features import etched, features
from diffmicro.devices.gripper.layout import Layout, geometry
from diffmicro.devices.gripper.response import (
    AT_A_KINK,
    FEWEST_SEGMENTS,
    Response,
    coarser,
    objection,
    respond,
)
from diffmicro.devices.gripper.rules import (
    CLOSED,
    CLOSEST,
    LIMITED,
    ON_REQUEST,
    RULES,
    check_point,
    hinges_apart,
)
from diffmicro.devices.gripper.simulation import Trajectory, simulate
from diffmicro.devices.gripper.steady import (
    clearance_of,
    closed_responses,
    configuration_of,
    default_tolerance,
    first_outcome,
    loaded,
    shown_where,
    stiffness_units,
)
from diffmicro.mechanics import arcs
from diffmicro.mechanics.linkage import MODELS
from diffmicro.recheck import ByResolution

DEVICE = Device(
    name="gripper",
    title="gripper: a four-bar linkage with curved flexures",
    source="Verotti et al. 2022",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    simulate=simulate,
    published_design=published_design,
    published_setting=published_setting,
    methods=(Method("equilibrium", steps=arcs.SEGMENTS),),
    process=PROCESS,
    drive=("force",),
    recheck=ByResolution(coarser),
    lone=dict(share=1.0),
    rules=RULES,
    objection=objection,
    on_request=ON_REQUEST,
    limits=LIMITS,
    shown_at={"force": 20e-6},
    animation="diffmicro.plot.gripper:animation",
    geometry=geometry,
    Layout=Layout,
    features=features,
    etched=etched,
)

__all__ = [
    "PROCESS",
    "MODELS",
    "CLOSED",
    "CLOSEST",
    "DEVICE",
    "Layout",
    "geometry",
    "etched",
    "features",
    "Design",
    "FEWEST_SEGMENTS",
    "LIMITED",
    "AT_A_KINK",
    "ON_REQUEST",
    "Response",
    "Setting",
    "Trajectory",
    "check_point",
    "clearance_of",
    "closed_responses",
    "coarser",
    "configuration_of",
    "default_tolerance",
    "first_outcome",
    "hinges_apart",
    "loaded",
    "objection",
    "published_design",
    "published_setting",
    "respond",
    "shown_where",
    "simulate",
    "stiffness_units",
]
