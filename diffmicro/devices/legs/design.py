"""What a fabricator could change, and the setting it works in, with the source of every value."""

import equinox as eqx
from jax import Array

from diffmicro.mechanics.restitution import LAWS
from diffmicro.parameters import Value, parameter
from diffmicro.tolerance import Tolerance

COMPLIANT = "compliant"
"""The law of ground that yields."""

FITTED = "fitted to Table 3, not published"


class Design(eqx.Module):
    """What a fabricator could change: modes and small-scale forces, or the section of a leg."""

    frequency: Array | float = parameter(
        (89.5, 134.0, 314.6, 368.5, 660.0, 2910.0),
        "natural frequencies of the modes",
        "Hz",
        symbol="omega_k",
        source="Table 1, hexapod",
        above=0,
        shapes=(("modes",),),
        unless="leg_length",
    )
    damping: Array | float = parameter(
        (0.0335, 0.0596, 0.0661, 0.0544, 0.0684, 0.0528),
        "damping ratios of the modes",
        "-",
        symbol="zeta_k",
        source=FITTED,
        low=0,
        high=0.99,
        shapes=(("modes",),),
    )
    gain: Array | float = parameter(
        (-1.59e-07, 2.03e-07, 1.71e-08, -1.06e-07, 8.49e-08, 4.78e-08),
        "static displacement of the contact foot per volt by each mode",
        "m/V",
        symbol="G_k",
        source=FITTED,
        shapes=(("modes",),),
        unless="leg_length",
    )
    mobility: Array | float = parameter(
        (50100.0, 10500.0, 5860.0, 63100.0, 5120.0, 808000.0),
        "mobility of each mode at the contact foot, one over its modal mass there",
        "1/kg",
        symbol="mu_k",
        source=FITTED,
        low=0,
        shapes=(("modes",),),
        unless="leg_length",
    )
    mode_shape: Array | None = parameter(
        None,
        "displacement of points (rows, contact foot first) in the modes; None: only the foot's",
        "-",
        symbol="Phi",
        source="not published",
        shapes=(("feet", "modes"),),
    )
    dominant_mode: Array | float | None = parameter(
        None,
        "number of the dominant mode, from 1; None: the one of largest mobility",
        "-",
        symbol="k",
        source="section 3.4",
        low=1,
    )
    film: Array | float = parameter(
        4.65e-20, "coefficient of the squeeze film", "N m^2 s", symbol="K", source=FITTED, low=0
    )
    film_offset: Array | float = parameter(
        2.74e-6, "height at which the film acts at contact", "m", source=FITTED, above=0
    )
    electrostatic: Array | float = parameter(
        1.11e-18, "coefficient of the electrostatic attraction", "N m^2/V^2", source=FITTED, low=0
    )
    electrostatic_offset: Array | float = parameter(
        2.74e-6, "height at which the attraction acts at contact", "m", source=FITTED, above=0
    )
    adhesion: Array | float = parameter(
        0.0,
        "coefficient of the adhesion, Hamaker's constant times area over 6 pi",
        "N m^3",
        source="not in the paper; 0 is off",
        low=0,
    )
    adhesion_offset: Array | float = parameter(
        2.74e-6,
        "height at which the adhesion acts at contact",
        "m",
        source="as the film's",
        above=0,
    )
    leg_length: Array | float | None = parameter(
        None,
        "length of a clamped leg; given with its section, it makes frequency, gain and mobility",
        "m",
        symbol="L",
        source="model of a clamped leg",
        above=0,
    )
    leg_thickness: Array | float | None = parameter(
        None,
        "thickness of the leg, both halves active",
        "m",
        symbol="t",
        source="model of a clamped leg",
        above=0,
    )
    leg_width: Array | float | None = parameter(
        None, "width of the leg", "m", symbol="b", source="model of a clamped leg", above=0
    )
    leg_young: Array | float | None = parameter(
        None,
        "Young's modulus of the leg",
        "Pa",
        symbol="Y",
        source="model of a clamped leg",
        above=0,
    )
    leg_density: Array | float | None = parameter(
        None, "density of the leg", "kg/m^3", symbol="rho", source="model of a clamped leg", above=0
    )
    leg_piezo: Array | float = parameter(
        2.74e-10,
        "piezoelectric coefficient d31 of the leg",
        "m/V",
        symbol="d31",
        source="usual for Navy type VI ceramics",
        needs="leg_length",
    )


class Setting(eqx.Module):
    """Drive, ground, and how long is looked."""

    voltage: Array | float = parameter(
        10.0, "amplitude of the drive", "V", symbol="V_in", source="Table 3", low=0
    )
    waveform: str = parameter(
        "sine",
        "sine, V sin(2 pi f t), or square, its sign times V",
        source="Table 3",
        words=("sine", "square"),
    )
    drive_frequency: Array | float = parameter(
        92.3, "frequency of the drive", "Hz", symbol="f", source="fitted; not stated", above=0
    )
    gap: Array | float = parameter(
        10e-6,
        "height of the foot above the ground at rest",
        "m",
        symbol="d",
        source="Table 3",
        low=0,
    )
    restitution: Array | float = parameter(
        0.51,
        "coefficient of restitution of foot and ground",
        "-",
        symbol="-alpha",
        source="section 3.3",
        low=0,
        high=1,
    )
    law: str = parameter(
        "full",
        "how modes share impulse and contact force: full, dominant, point; or compliant, ground that yields",
        source="section 3.4; compliant: Fig. 7b",
        words=(*LAWS, COMPLIANT),
    )
    ground_stiffness: Array | float = parameter(
        1e4,
        "stiffness of the ground under the foot, law compliant",
        "N/m",
        source="not published; ours: a contact of 0.03 ms",
        above=0,
    )
    ground_damping: Array | float = parameter(
        0.2474,
        "share of the critical damping of the foot's mass on it, law compliant",
        "-",
        source="ours: a free mass rebounds with 0.51",
        low=0,
        high=10,
    )
    settle: Array | float = parameter(
        0.3,
        "transient that is left out, rounded up to whole drive periods",
        "s",
        source="section 4: at least 0.15 s",
        low=0,
    )
    window: Array | float = parameter(
        4.0,
        "time over which a motion that does not repeat is averaged, rounded down to whole periods",
        "s",
        source="Fig. 20: 1 s",
        above=0,
    )
    bounce_threshold: Array | float = parameter(
        0.5e-6,
        "peak above which a flight counts as a bounce",
        "m",
        source="resolution of Fig. 19",
        low=0,
    )


PROCESS = (
    Tolerance("frequency[:]", 0.02),
    Tolerance("damping[:]", 0.1),
    Tolerance("gain[:]", 0.05),
)
"""How legs deviate where nothing else is said: ours. All modes deviate together, as the film's thickness does."""


def published_design(**overrides: Value) -> Design:
    """The hexapod: frequencies of Table 1, everything else fitted to Table 3 (not published)."""
    return Design(**overrides)


def published_setting(**overrides: Value) -> Setting:
    """Table 3's first case: 10 V sine over a gap of 10 um, at a fitted frequency."""
    return Setting(**overrides)
