"""Friction reduced by ultrasound (MDR thesis, chapter 4): a probe that vibrates while it is dragged over a disc.

From the design to the drag force at a sliding velocity, or the other way round, differentiable. The probe vibrates
out of plane (`oop`), in plane in line with the motion (`ipi`) or in plane across it (`ipp`).

| thesis | here | unit |
|---|---|---|
| R, m_e | `radius`, `probe_mass` | m, kg |
| b; h_rms, H, L | `tip_radius`; `roughness`, `hurst`, `roughness_length` (law `mdr`) | m; m, -, m |
| E, nu | `young`, `poisson` (both bodies) | Pa, - |
| F_n,0, dF_n / F_n,0 | `normal_force`, `force_ratio` | N, - |
| dl, lambda | `vibration_length`, `stiffness_factor` (give the force ratio, eq. 4.23) | m, - |
| mu_0, omega / 2 pi | `friction`, `frequency` | -, Hz |
| mu_0,slow, mu_0,fast | `friction`, `fast_friction` | - |
| v^ = dl omega / 2 | `vibration_velocity` | m/s |
| theta | `track_angle` | rad |
| F / (mu_0 F_n,0) = <mu> / mu_0 | `drag_ratio` given, `friction_ratio` found | - |
| <v> | `sliding_velocity` | m/s |

Laws: `coulomb` (oop, eqs. 4.8 to 4.14), `mdr` (oop, section 4.3.3: see `motion`, `tip`), `dynamic` (ipi, model 1:
see `inplane`), `quasistatic` (ipi, model 2, eq. 4.36; ipp, eq. 4.41). Corrections to the thesis are
listed there and in `mechanics.friction_control`. Extensions: loss of contact (`coulomb`, force ratios above 1,
see `mechanics.lift_off`), friction that falls with the mean velocity (`fast_friction`, see `lumped`). Left out:
the drive of the vibration.
"""

from diffmicro._device import Device, Method
from diffmicro.devices.tribometer.boundaries import LIMITS
from diffmicro.devices.tribometer.design import (
    PROCESS,
    Design,
    Setting,
    law_of,
    published_design,
    published_setting,
)
from diffmicro.devices.tribometer.features import features
from diffmicro.devices.tribometer.layout import Layout, geometry
from diffmicro.devices.tribometer.response import (
    KINK,
    MOST_COARSE,
    STEPS,
    Response,
    coarser,
    objection,
    respond,
)
from diffmicro.devices.tribometer.rules import RULES
from diffmicro.devices.tribometer.simulation import Trajectory, simulate
from diffmicro.recheck import ByResolution

DEVICE = Device(
    name="tribometer",
    title="friction under ultrasound: a probe that vibrates while it is dragged",
    source="MDR thesis, chapter 4",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    simulate=simulate,
    published_design=published_design,
    published_setting=published_setting,
    methods=(Method("steady", steps=STEPS),),
    process=PROCESS,
    drive=(
        "vibration_velocity",
        "frequency",
    ),
    recheck=ByResolution(coarser),
    rules=RULES,
    objection=objection,
    limits=LIMITS,
    animation="diffmicro.plot.tribometer:animation",
    geometry=geometry,
    Layout=Layout,
    features=features,
)

__all__ = [
    "PROCESS",
    "DEVICE",
    "Layout",
    "geometry",
    "features",
    "Design",
    "KINK",
    "MOST_COARSE",
    "Response",
    "STEPS",
    "Setting",
    "Trajectory",
    "coarser",
    "law_of",
    "objection",
    "published_design",
    "published_setting",
    "respond",
    "simulate",
]
