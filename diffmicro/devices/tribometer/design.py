"""What a fabricator could change, and the setting it works in, with the source of every value."""

import equinox as eqx
from jax import Array

from diffmicro.parameters import Value, parameter
from diffmicro.tolerance import Tolerance

LAWS = {"oop": ("coulomb", "mdr"), "ipi": ("quasistatic", "dynamic"), "ipp": ("quasistatic",)}
"""The laws of friction for each direction, the usual one first."""


MOST_VIBRATION = 20.0
"""Largest force ratio: contact is there for a quarter of the period, and the force up to six times its mean."""


class Design(eqx.Module):
    """What a fabricator could change."""

    radius: Array | float = parameter(
        3.5e-3,
        "radius of the sphere that touches the disc, out of plane",
        "m",
        symbol="R",
        source="Table 4.1",
        above=0,
    )
    probe_mass: Array | float = parameter(
        2.1e-3, "equivalent mass of the probe", "kg", symbol="m_e", source="Table 4.1", above=0
    )
    young: Array | float = parameter(
        210e9, "Young's modulus of both bodies", "Pa", symbol="E_steel", source="Table 4.1", above=0
    )
    poisson: Array | float = parameter(
        0.3,
        "Poisson's ratio of both bodies",
        "-",
        symbol="nu_steel",
        source="Table 4.1",
        low=0,
        high=0.5,
    )
    tip_radius: Array | float | None = parameter(
        None,
        "radius of the probe's worn, flat tip, law mdr; None: a whole sphere",
        "m",
        symbol="b",
        source="section 4.3.3: possibly a flattened sphere",
        above=0,
    )
    roughness: Array | float | None = parameter(
        None,
        "rms height of the surface, law mdr; None: smooth",
        "m",
        symbol="h_rms",
        source="section 4.3.3: rough sphere; 0.92 um in section 3.4.5",
        above=0,
    )
    hurst: Array | float = parameter(
        1.7,
        "Hurst exponent of the rough surface",
        "-",
        symbol="H",
        source="section 3.4.5",
        above=0,
        high=2,
        needs="roughness",
    )
    roughness_length: Array | float = parameter(
        383e-6,
        "length over which roughness was measured",
        "m",
        symbol="L",
        source="section 3.4.5",
        above=0,
        needs="roughness",
    )


class Setting(eqx.Module):
    """Load, vibration and drag. Exactly one of drag_ratio and sliding_velocity is given."""

    normal_force: Array | float = parameter(
        9.5, "mean normal force", "N", symbol="F_n,0", source="Table 4.1", above=0
    )
    force_ratio: Array | float = parameter(
        0.5,
        "amplitude of the normal force over its mean, out of plane",
        "-",
        symbol="dF_n/F_n,0",
        source="Fig. 4.8; above 1, where contact is lost, an extension",
        above=0,
        high=MOST_VIBRATION,
        unless="vibration_length",
    )
    vibration_length: Array | float | None = parameter(
        None,
        "amplitude of the probe's change of length, out of plane; gives the force ratio",
        "m",
        symbol="dl",
        source="eq. 4.23",
        above=0,
    )
    stiffness_factor: Array | float = parameter(
        2.64,
        "stiffness of the contact over that of a smooth sphere, fitted by the thesis",
        "-",
        symbol="lambda",
        source="section 4.3.4",
        above=0,
        needs="vibration_length",
    )
    friction: Array | float = parameter(
        0.4,
        "friction coefficient without vibration",
        "-",
        symbol="mu_0",
        source="Table 4.1",
        above=0,
    )
    fast_friction: Array | float | None = parameter(
        None,
        "friction coefficient at high sliding velocities, where `friction` is that at rest; None: the same",
        "-",
        symbol="mu_0,fast",
        source="Table 4.1: 0.33, with 0.44 at small velocities",
        above=0,
        needs="sliding_velocity",
    )
    weakening_velocity: Array | float = parameter(
        20e-3,
        "mean sliding velocity over which the coefficient goes from the one to the other",
        "m/s",
        source="section 4.3.4: in the figure alone; ours",
        above=0,
        needs="fast_friction",
    )
    frequency: Array | float = parameter(
        30e3, "frequency of the vibration", "Hz", symbol="omega/2 pi", source="Table 4.1", above=0
    )
    vibration_velocity: Array | float = parameter(
        0.0567,
        "amplitude of the velocity of one contact point, in plane",
        "m/s",
        symbol="v^",
        source="section 4.4.2: dl = 0.42 um at 43 kHz",
        above=0,
    )
    track_angle: Array | float = parameter(
        0.0,
        "angle between the motion and the line of the contact points, in line, quasi-static",
        "rad",
        symbol="theta",
        source="15.25 deg in Table 4.2",
        low=-1.5,
        high=1.5,
    )
    drag_ratio: Array | float | None = parameter(
        None,
        "drag force over the mean friction force without vibration",
        "-",
        symbol="F/mu_0 F_n,0",
        source="eq. 4.15",
        low=0,
    )
    sliding_velocity: Array | float | None = parameter(
        None, "mean velocity of sliding", "m/s", symbol="<v>", source="eq. 4.9", low=0
    )
    direction: str = parameter(
        "oop",
        "of the vibration: oop out of plane, ipi in plane in line, ipp in plane across",
        source="Fig. 4.1",
        words=("oop", "ipi", "ipp"),
    )
    law: str | None = parameter(
        None,
        "of friction; the direction's usual one if None",
        source="sections 4.3 to 4.5",
        words=("coulomb", "mdr", "dynamic", "quasistatic"),
    )


PROCESS = (
    Tolerance("probe_mass", 0.01),
    Tolerance("normal_force", 0.03),
    Tolerance("vibration_velocity", 0.03),
)
"""How set-ups deviate where nothing else is said: ours."""


def published_design(**overrides: Value) -> Design:
    """The probe of Table 4.1."""
    return Design(**overrides)


def published_setting(**overrides: Value) -> Setting:
    """Table 4.1 with half of the normal force vibrating, dragged with 3/4 of the friction force."""
    if "drag_ratio" not in overrides and overrides.get("sliding_velocity") is None:
        overrides["drag_ratio"] = 0.75
    return Setting(**overrides)


def law_of(setting: Setting) -> str:
    """The law of friction: the one given, or the usual one of the direction."""
    return setting.law or LAWS[setting.direction][0]
