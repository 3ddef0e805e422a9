"""What a fabricator could change, and the setting it works in, with the source of every value."""

import equinox as eqx
from jax import Array

from diffmicro.dynamics.starts import Approach, periods_field, start_field
from diffmicro.parameters import Value, parameter
from diffmicro.tolerance import Tolerance

STARTS = {
    "ramp": Approach("field", 0.0),
    "sweep_up": Approach("frequency_ratio", 0.8),
    "sweep_down": Approach("frequency_ratio", 1.25),
}
"""What is brought in over the periods of a start, and from which share of its value."""


class Design(eqx.Module):
    """What a fabricator could change."""

    mass_ratio: Array | float = parameter(
        1.5, "hammer mass over body mass", "-", symbol="alpha", source="Figs. 5-11", above=0
    )
    device_length: Array | float = parameter(
        300e-6,
        "length of both parts and the gap",
        "m",
        symbol="L_device",
        source="Table III",
        above=0,
    )
    width: Array | float = parameter(
        130e-6, "width of both parts", "m", source="section II-A", above=0
    )
    height: Array | float = parameter(
        50e-6, "height of both parts", "m", source="section II-A", above=0
    )
    density: Array | float = parameter(
        8900.0, "density of both parts", "kg/m^3", symbol="rho_Ni", source="Table III", above=0
    )
    rest_gap: Array | float = parameter(
        20e-6, "gap at rest", "m", symbol="g_0", source="Table III", above=0
    )
    tethered_frequency: Array | float = parameter(
        2300.0,
        "natural frequency of the hammer with the body held",
        "Hz",
        symbol="f_n",
        source="section III-B",
        above=0,
    )
    damping: Array | float = parameter(
        1e-6, "viscous damping between the parts", "N s/m", symbol="c", source="Table III", low=0
    )
    restitution: Array | float = parameter(
        0.5,
        "coefficient of restitution of their impact",
        "-",
        symbol="epsilon",
        source="Table III",
        low=0,
        high=1,
    )
    gap_fit: Array | float = parameter(
        0.025,
        "fit of the magnetic force, scale of the gap",
        "-",
        symbol="c_g",
        source="Table I",
        above=0,
    )
    gain_fit: Array | float = parameter(
        3.028, "fit of the magnetic force, gain", "-", symbol="kappa", source="Table I", low=0
    )
    demagnetization: Array | float | None = parameter(
        0.1161,
        "demagnetizing factor along the length; None: a rectangular prism's",
        "-",
        symbol="n_x",
        source="section II-A2",
        above=0,
        high=1,
    )
    force_scale: Array | float = parameter(
        0.2570963686482103,
        "factor on the magnetic force",
        "-",
        source="eta = 14.79/beta of Fig. 7 over eq. 27",
        low=0,
    )


class Setting(eqx.Module):
    """Surface, field and drive."""

    field: Array | float = parameter(
        5e-3, "amplitude B of the flux density", "T", symbol="B", source="Figs. 5-11", low=0
    )
    field_offset: Array | float = parameter(
        1.0, "offset of the field over half its amplitude", "-", symbol="script B", source="eq. 48"
    )
    field_rise: Array | float = parameter(
        0.0,
        "share of the period that a switch of the field takes, from the nominal instant on",
        "-",
        source="section II-A2: idealized",
        low=0,
        high=0.5,
    )
    frequency_ratio: Array | float = parameter(
        1.0,
        "drive frequency over tethered frequency",
        "-",
        symbol="f~",
        source="section II-B3",
        above=0,
    )
    load_factor: Array | float = parameter(
        8.0, "vertical load over weight", "-", symbol="beta", source="Fig. 5", low=0
    )
    friction: Array | float = parameter(
        0.5, "friction coefficient of body and floor", "-", symbol="mu", source="Table III", low=0
    )
    clamp_force: Array | float = parameter(
        0.0,
        "a quarter of the clamping force while it is on, F_C0",
        "N",
        symbol="F_C0",
        source="section II-A3; 1 N when on",
        low=0,
        unless="clamp_voltage",
    )
    clamp_voltage: Array | float | None = parameter(
        None,
        "voltage of the electrodes below the substrate while the clamp is on; gives the clamping force",
        "V",
        symbol="V_C0",
        source="eq. 14",
        low=0,
    )
    clamp_area: Array | float = parameter(
        9e-8,
        "area of the robot that faces the substrate",
        "m^2",
        symbol="A_S",
        source="section II-A1: roughly 300 x 300 um^2",
        above=0,
        needs="clamp_voltage",
    )
    substrate_thickness: Array | float = parameter(
        100e-6,
        "thickness of the substrate over the electrodes",
        "m",
        symbol="d_S",
        source="ours; the paper has none",
        above=0,
        needs="clamp_voltage",
    )
    substrate_permittivity: Array | float = parameter(
        3.9,
        "permittivity of the substrate over that of vacuum",
        "-",
        symbol="epsilon",
        source="ours, fused silica; the paper has none",
        above=0,
        needs="clamp_voltage",
    )
    clamp_phase: Array | float = parameter(
        0.0, "lead of the clamp over the field", "rad", symbol="phi", source="eq. 15"
    )
    gravity: Array | float = parameter(
        9.81, "gravitational acceleration", "m/s^2", symbol="g", source="eq. 1", low=0
    )
    magnetic_force: str = parameter(
        "gap",
        "gap: falls with the gap; constant: that at the rest gap, the linear model's (eq. 28)",
        source="eqs. 9, 19",
        words=("gap", "constant"),
    )
    waveform: str = parameter(
        "square",
        "square, or sine: the first harmonic of the square wave, (4/pi) sin",
        source="eqs. 10, 17",
        words=("square", "sine"),
    )
    start: str = start_field(STARTS, "section III: from rest")
    start_periods: int = periods_field()


CAUTIONS = {
    name: "gap_fit, gain_fit and demagnetization were fitted near the published geometry"
    for name in ("width", "height", "device_length")
}
"""Parameters that are better left alone in an optimization, and why."""


PROCESS = (
    Tolerance("mass_ratio", 0.02, kind="interval"),
    Tolerance("rest_gap", 1e-6, relative=False, kind="interval"),
    Tolerance("tethered_frequency", 0.02, kind="interval"),
)
"""How parts deviate where nothing else is said: ours, for bars and springs that are assembled by hand."""


def published_design(**overrides: Value) -> Design:
    """Table III and sections II-A and III-B of the paper, alpha = 1.5."""
    return Design(**overrides)


def published_setting(**overrides: Value) -> Setting:
    """Figure 5's 5 mT and beta = 8 at the tethered resonance."""
    return Setting(**overrides)
