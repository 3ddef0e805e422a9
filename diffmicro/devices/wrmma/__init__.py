"""The wireless resonant magnetic microactuator (Nagy 2012): two masses, a spring, a field, friction.

Hammer and body are soft-magnetic bars on one spring. A switched field pulls them together; body friction
turns the oscillation into drift. From the design to the mean velocity of the periodic motion, differentiable.

| paper | here | unit |
|---|---|---|
| alpha = m_H / m_B | `mass_ratio` | - |
| L_device, g_0 | `device_length`, `rest_gap` | m |
| k = m_H (2 pi f_n)^2 | `tethered_frequency` f_n | Hz |
| c, epsilon | `damping`, `restitution` | N s/m, - |
| c_g, kappa, n_x | `gap_fit`, `gain_fit`, `demagnetization` | - |
| B, script B | `field`, `field_offset` | T, - |
| f_a / f_1 | `frequency_ratio` | - |
| beta, mu | `load_factor`, `friction` | - |
| F_C0, phi | `clamp_force`, `clamp_phase` | N, rad |
| V_C0, A_S | `clamp_voltage`, `clamp_area` | V, m^2 |
| d_S, epsilon | `substrate_thickness`, `substrate_permittivity` | m, - |
| u_robot, eq. 49 | `velocity` | m/s |

Corrections to the paper: the magnetic force acts across the gap x2 - x1 itself; the spring's elongation is
x2 - x1 - g0; eq. 41 omits the spring force; the clamp's on-value is 4 F_C0. `force_scale` brings the printed
constants to the printed eta = 14.79 / beta. Left out: vertical motion of the body, rotation, coupling of
friction and impact (the floor transmits no impulse while the hammer hits the body).
"""

from diffmicro._device import Alias, Device
from diffmicro.devices.wrmma.design import (
    CAUTIONS,
    PROCESS,
    Design,
    Setting,
    published_design,
    published_setting,
)
from diffmicro.devices.wrmma.features import etched, features
from diffmicro.devices.wrmma.layout import Layout, geometry
from diffmicro.devices.wrmma.lumped import drive_period, eta, lump, masses, rest_force
from diffmicro.devices.wrmma.response import (
    HELD_CLOSED,
    METHODS,
    Response,
    afresh,
    nearby,
    objection,
    respond,
)
from diffmicro.devices.wrmma.rules import RULES
from diffmicro.devices.wrmma.simulation import ROOM_FOR_EVENTS, Trajectory, simulate
from diffmicro.devices.wrmma.steady import MotionState, Observed, period_map
from diffmicro.dynamics.orbits import Search
from diffmicro.recheck import ByWarmStart

DEVICE = Device(
    name="wrmma",
    title="wireless resonant magnetic microactuator: two masses, a spring, a switched field, friction",
    source="Nagy et al. 2012",
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
        "frequency_ratio",
    ),
    aliases={"frequency": Alias("frequency_ratio", "tethered_frequency", "frequency of the drive")},
    recheck=ByWarmStart(nearby, afresh),
    rules=RULES,
    objection=objection,
    cautions=CAUTIONS,
    quick=dict(search=Search(multiples=False, twins=0), window=0),
    lone=dict(search=Search(compact=True), window=0),
    carries=True,
    branches="diffmicro.devices.wrmma.branches:each_branch",
    orbits="diffmicro.devices.wrmma.orbits:periodic",
    animation="diffmicro.plot.wrmma:animation",
    geometry=geometry,
    Layout=Layout,
    features=features,
    etched=etched,
)

__all__ = [
    "PROCESS",
    "CAUTIONS",
    "DEVICE",
    "Layout",
    "geometry",
    "etched",
    "features",
    "Design",
    "HELD_CLOSED",
    "METHODS",
    "MotionState",
    "Observed",
    "ROOM_FOR_EVENTS",
    "Response",
    "Setting",
    "Trajectory",
    "afresh",
    "drive_period",
    "eta",
    "lump",
    "masses",
    "nearby",
    "objection",
    "period_map",
    "published_design",
    "published_setting",
    "respond",
    "rest_force",
    "simulate",
]
