"""The stick-slip drive RaMoNa (MDR thesis, chapters 2 and 3): vibrating hemispheres push a runner.

Two hemispheres above and four below hold a runner and follow a sawtooth. In its slow part they carry the
runner along, in its fast part they slip back under it. The runner presses on a force sensor until it gains
no more: that mean force is the generated force. From the design to that force, differentiable.

| thesis | here | unit |
|---|---|---|
| R, b | `radius`, `tip_radius` | m |
| H, h_rms, L | `hurst`, `roughness`, `roughness_length` | -, m, m |
| m, k_fs | `runner_mass`, `sensor_stiffness` | kg, N/m |
| E, nu | `young_steel`, `young_ruby`, `poisson_steel`, `poisson_ruby` | Pa, - |
| F_p, F_n1 = F_p/sqrt 2, F_n2 = F_n1/2 | `preload`, `normal_force` | N |
| mu_s, mu_d | `friction`, `dynamic_friction` | - |
| A, T, T2 | `amplitude`, `period`, `back_step` | m, s, s |
| u_x,max | `presliding` | m |
| eta_1, eta_2 | `contact_viscosity`, `lubricant_viscosity` (laws `lugre`, `elastoplastic`) | N s/m |
| x_e,ps | `presliding_scale`, `presliding_powers` (law `ceim`) | m, - |
| F_gen, A_0 | `force`, `zero_amplitude` | N, m |

Corrections to the thesis: springs are clipped incrementally and on both sides (its Fig. 3.12 has neither).
Where it is silent: the sawtooth's period is 10 ms; damping acts on the runner against ground; a shaped move
is as fast as the back step. Step, back motion and vibration are those of the runner without the sensor. How
hemispheres roll (`rolling`, section 3.4.6) is a model of ours, see `mechanics.rolling`.
Left out: rotation of the runner, normal vibration.
"""

from diffmicro._device import Device, Method
from diffmicro.devices.stickslip.boundaries import LIMITS
from diffmicro.devices.stickslip.design import (
    PROCESS,
    Design,
    Setting,
    published_design,
    published_setting,
)
from diffmicro.devices.stickslip.features import features
from diffmicro.devices.stickslip.layout import Layout, geometry
from diffmicro.devices.stickslip.response import (
    HIGHEST,
    ON_REQUEST,
    QUIET,
    STEEPNESS,
    STEPS,
    Response,
    coarser,
    loaded_numbers,
    objection,
    respond,
    unloaded_numbers,
)
from diffmicro.devices.stickslip.rules import FLATTEST, RULES
from diffmicro.devices.stickslip.simulation import Trajectory, simulate
from diffmicro.recheck import ByResolution

DEVICE = Device(
    name="stickslip",
    title="stick-slip drive: a runner carried by six vibrating hemispheres",
    source="MDR thesis, chapters 2 and 3",
    Design=Design,
    Setting=Setting,
    Response=Response,
    respond=respond,
    simulate=simulate,
    published_design=published_design,
    published_setting=published_setting,
    methods=(Method("periodic", steps=STEPS),),
    process=PROCESS,
    drive=(
        "amplitude",
        "preload",
    ),
    recheck=ByResolution(coarser),
    lone=dict(share=1.0),
    hasty=False,  # thousands of steps a period: 12 s instead of 0.6 s, for 7 s less of compiling
    rules=RULES,
    objection=objection,
    on_request=ON_REQUEST,
    limits=LIMITS,
    animation="diffmicro.plot.stickslip:animation",
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
    "FLATTEST",
    "HIGHEST",
    "ON_REQUEST",
    "QUIET",
    "Response",
    "STEEPNESS",
    "STEPS",
    "Setting",
    "Trajectory",
    "coarser",
    "loaded_numbers",
    "objection",
    "published_design",
    "published_setting",
    "respond",
    "simulate",
    "unloaded_numbers",
]
