"""What a fabricator could change, and the setting it works in, with the source of every value."""

import equinox as eqx
from jax import Array

from diffmicro.mechanics.presliding import SINGLE_STATE_LAWS
from diffmicro.parameters import Value, parameter
from diffmicro.tolerance import Tolerance

LAWS = ("mdr", "masing", *SINGLE_STATE_LAWS)
"""Laws of friction."""


class Design(eqx.Module):
    """What a fabricator could change."""

    radius: Array | float = parameter(
        1e-3, "radius of the hemispheres", "m", symbol="R", source="Table 3.2", above=0, high=1.0
    )
    tip_radius: Array | float = parameter(
        0.0,
        "radius of their worn, flat tips",
        "m",
        symbol="b",
        source="section 3.4.4: 0.006 R when worn",
        low=0,
    )
    hurst: Array | float = parameter(
        1.7,
        "Hurst exponent of the runner's surface",
        "-",
        symbol="H",
        source="section 3.4.5",
        above=0,
        high=2,
    )
    roughness: Array | float = parameter(
        0.0,
        "rms height of the runner's surface",
        "m",
        symbol="h_rms",
        source="section 3.4.5: 0.92 um",
        low=0,
    )
    roughness_length: Array | float = parameter(
        383e-6,
        "length over which roughness was measured",
        "m",
        symbol="L",
        source="section 3.4.5",
        above=0,
    )
    runner_mass: Array | float = parameter(
        3e-3, "mass of the runner", "kg", symbol="m", source="Table 3.1", above=0
    )
    young_steel: Array | float = parameter(
        210e9, "Young's modulus of the runner", "Pa", symbol="E_steel", source="Table 3.1", above=0
    )
    young_ruby: Array | float = parameter(
        370e9,
        "Young's modulus of the hemispheres",
        "Pa",
        symbol="E_ruby",
        source="Table 3.1",
        above=0,
    )
    poisson_steel: Array | float = parameter(
        0.3,
        "Poisson's ratio of the runner",
        "-",
        symbol="nu_steel",
        source="Table 3.1",
        low=0,
        high=0.5,
    )
    poisson_ruby: Array | float = parameter(
        0.3,
        "Poisson's ratio of the hemispheres",
        "-",
        symbol="nu_ruby",
        source="Table 3.1",
        low=0,
        high=0.5,
    )
    sensor_stiffness: Array | float = parameter(
        25e3, "stiffness of the force sensor", "N/m", symbol="k_fs", source="Table 3.1", low=0
    )
    damping_ratio: Array | float = parameter(
        0.0,
        "damping of the runner over the critical one, of contacts that stick",
        "-",
        source="eq. 3.2 has none",
        low=0,
        high=1,
    )


class Setting(eqx.Module):
    """Preload, surface and drive."""

    preload: Array | float = parameter(
        0.5,
        "force that presses runner and actuators together",
        "N",
        symbol="F_p",
        source="Table 3.2",
        above=0,
    )
    friction: Array | float = parameter(
        0.3,
        "friction coefficient, the static one if there are two",
        "-",
        symbol="mu_s",
        source="Table 3.1",
        above=0,
    )
    dynamic_friction: Array | float | None = parameter(
        None,
        "friction coefficient of what slides; None: as `friction`",
        "-",
        symbol="mu_d",
        source="Table 3.1: 0.2",
        above=0,
    )
    stribeck_velocity: Array | float | None = parameter(
        None,
        "sliding rate at which friction falls to the dynamic one, laws lugre and elastoplastic; None: it does not",
        "m/s",
        source="eq. 2.5: F_ss(x'), no number",
        above=0,
        needs="dynamic_friction",
    )
    contact_viscosity: Array | float | None = parameter(
        None,
        "force of a contact over the rate of its elastic displacement, laws lugre and elastoplastic; None: none",
        "N s/m",
        symbol="eta_1",
        source="Table 2.1, no number",
        low=0,
    )
    lubricant_viscosity: Array | float | None = parameter(
        None,
        "force of a contact over its sliding rate, laws lugre and elastoplastic; None: dry",
        "N s/m",
        symbol="eta_2",
        source="Table 2.1, no number",
        low=0,
    )
    presliding_scale: Array | float | None = parameter(
        None,
        "elastic displacement of law ceim at 1 N and the published moduli; None: as the contact's size makes it",
        "m",
        symbol="x_e,ps",
        source="section 2.1: one of six fitting parameters, no number",
        above=0,
    )
    presliding_powers: Array = parameter(
        (2 / 3, 0.0, 0.0, 0.0, 0.0),
        "powers in it of normal force, both Young's moduli (steel, ruby) and both 1 - nu",
        "-",
        source="section 2.1: the other five; as Hertz by force",
        low=-5,
        high=5,
        needs="presliding_scale",
    )
    amplitude: Array | float = parameter(
        100e-9,
        "full stroke of the drive, in meters: 100 nm is 100e-9",
        "m",
        symbol="A",
        source="Fig. 3.15",
        above=0,
        high=1e-4,
    )
    period: Array | float = parameter(
        0.01, "period of the drive", "s", symbol="T", source="section 3.5.3: 100 Hz", above=0
    )
    back_step: Array | float = parameter(
        1e-6, "duration of the back step", "s", symbol="T2", source="Fig. 3.37", above=0
    )
    corner_time: Array | float = parameter(
        0.0,
        "time over which corners of the sawtooth are rounded",
        "s",
        symbol="epsilon",
        source="Fig. 3.19",
        low=0,
    )
    shaping: Array | float = parameter(
        0.0,
        "forward move after the back step, over the presliding of each group",
        "-",
        source="section 3.5.3",
        low=0,
        high=2,
    )
    runner_weight: Array | float = parameter(
        0.0,
        "weight of the runner, off the two contacts and onto the four",
        "N",
        symbol="mg",
        source="section 3.4.3",
        low=0,
    )
    rolling: Array | float | None = parameter(
        None,
        "share of the drive's motion that turns the hemispheres about their centers, law mdr; None: no rotation",
        "-",
        source="section 3.4.6",
        low=0,
        high=1,
    )
    waveform: str = parameter(
        "sawtooth",
        "sawtooth; samples or fourier: signals of any shape, with their coefficients",
        words=("sawtooth", "samples", "fourier"),
    )
    samples: Array | None = parameter(
        None, "positions of the drive at equal times, over the stroke", "-", shapes=(("n",),)
    )
    fourier: Array | None = parameter(
        None,
        "rows a_k, b_k of the drive's Fourier series, over the stroke",
        "-",
        shapes=(("n", 2),),
    )
    law: str = parameter(
        "mdr",
        "friction: mdr and masing are contacts of finite size (springs, exact), the others have one state",
        source="sections 2.1 and 3.3.2",
        words=LAWS,
    )
    springs: int = parameter(
        200,
        "springs on half a contact, for mdr",
        "-",
        symbol="N",
        source="eq. 3.3",
        low=1,
        high=10**5,
        whole=True,
    )
    memory: int = parameter(
        512, "reversals that masing remembers", "-", low=2, high=10**5, whole=True
    )


PROCESS = (
    Tolerance("radius", 0.01),
    Tolerance("preload", 0.05),
    Tolerance("amplitude", 0.03),
)
"""How drives deviate where nothing else is said: ours, for ruby hemispheres on shear piezos."""


def published_design(**overrides: Value) -> Design:
    """Table 3.1, and the largest hemispheres of Table 3.2."""
    return Design(**overrides)


def published_setting(**overrides: Value) -> Setting:
    """Preload 0.5 N, stroke 100 nm at 100 Hz."""
    return Setting(**overrides)
