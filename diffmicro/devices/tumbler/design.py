"""What a fabricator could change, and the setting it works in, with the source of every value."""

import equinox as eqx
import numpy as np
from jax import Array

from diffmicro.parameters import Value, parameter
from diffmicro.tolerance import Tolerance


class Design(eqx.Module):
    """What a fabricator could change."""

    length: Array | float = parameter(
        0.8e-3, "length of the body", "m", symbol="L", source="experimental setup", above=0
    )
    width: Array | float = parameter(
        0.4e-3,
        "depth of the body, along the axis of rolling",
        "m",
        symbol="W",
        source="experimental setup",
        above=0,
    )
    thickness: Array | float = parameter(
        0.1e-3, "thickness of the body", "m", symbol="H", source="experimental setup", above=0
    )
    exponent: Array | float = parameter(
        2.0, "exponent of a superellipse, 2: an ellipse", "-", source="an ellipse", above=1, high=64
    )
    spike_base: Array | float = parameter(
        0.1e-3, "base of each spike", "m", source="Fig. 7b", above=0
    )
    spike_height: Array | float = parameter(
        0.125e-3, "height of each spike above its core", "m", source="Fig. 7b", above=0
    )
    core_length: Array | float | None = parameter(
        None,
        "length of the core that carries the spikes; None: the length",
        "m",
        source="Fig. 7",
        above=0,
    )
    core_thickness: Array | float | None = parameter(
        None,
        "thickness of that core; None: the thickness without the spikes",
        "m",
        source="Fig. 7",
        above=0,
    )
    outline_radii: Array | tuple[float, ...] = parameter(
        (1.0,) * 6,
        "radii of curvature, up to a factor, over half a turn of the normal from the bottom on",
        "m",
        source="an ellipse",
        above=0,
        shapes=(("n",),),
    )
    mass: Array | float = parameter(
        1.6071e-7, "mass", "kg", symbol="m", source="Table 1", above=0, unless="density"
    )
    offset_angle: Array | float = parameter(
        0.47123889803846897,
        "angle from the length to the magnetization",
        "rad",
        symbol="phi",
        source="Table 1: 27 degrees",
    )
    magnetic_volume: Array | float = parameter(
        2.9e-11,
        "volume of the magnetized material",
        "m^3",
        symbol="V_m",
        source="Table 1",
        above=0,
        unless="magnetic_share",
    )
    magnetization: Array | float = parameter(
        15e3, "magnetization of that material", "A/m", symbol="|E|", source="Table 1", low=0
    )
    density: Array | float | None = parameter(
        None,
        "density; None: the mass is `mass`, else it follows the shape",
        "kg/m^3",
        source="free outlines",
        above=0,
    )
    magnetic_share: Array | float | None = parameter(
        None,
        "share of the volume that is magnetized; None: `magnetic_volume`",
        "-",
        source="free outlines",
        above=0,
        high=1,
    )
    inertia: Array | float | None = parameter(
        None,
        "moment of inertia about the axis of rolling; None: of the outline, with even density",
        "kg m^2",
        symbol="I_xx",
        source="Fig. 7: kept for all shapes",
        above=0,
    )
    outline: str = parameter(
        "box",
        "shape of the section, always inside length and thickness",
        source="Figs. 1, 7",
        words=("box", "superellipse", "spiked", "spiked_ends", "support"),
    )


class Setting(eqx.Module):
    """Surface, field and drive."""

    field: Array | float = parameter(
        20e-3, "flux density of the turning field", "T", symbol="B", source="Figs. 5, 6, 8", low=0
    )
    field_frequency: Array | float = parameter(
        1.0, "turns of the field per time", "Hz", symbol="f_rot", source="Fig. 6", above=0
    )
    incline: Array | float = parameter(
        0.0,
        "slope of the surface, climbed by the rolling robot",
        "rad",
        source="Fig. 6",
        low=-np.pi / 2,
        high=np.pi / 2,
    )
    friction: Array | float = parameter(
        0.3, "friction coefficient", "-", symbol="mu", source="Table 1", low=0
    )
    adhesion: Array | float = parameter(
        3.7148, "adhesive force per contact area", "N/m^2", symbol="C", source="Table 1", low=0
    )
    electrostatic_force: Array | float = parameter(
        3.2022e-6,
        "constant force toward the surface",
        "N",
        symbol="F_elect",
        source="Table 1",
        low=0,
    )
    edge_band: Array | float = parameter(
        0.0,
        "width of the band whose adhesion a line contact gets",
        "m",
        source="none in the paper",
        low=0,
    )
    start_yaw: Array | float = parameter(
        0.0,
        "angle of the robot about the surface's normal at the start, for the implicit method",
        "rad",
        source="none in the paper",
    )
    gravity: Array | float = parameter(
        9.81, "gravitational acceleration", "m/s^2", symbol="g", source="eq. 12", above=0
    )
    fluid_viscosity: Array | float | None = parameter(
        None,
        "dynamic viscosity of the fluid around the robot; None: no drag",
        "Pa s",
        symbol="eta",
        source="the paper's outlook: wet environments",
        above=0,
    )
    fluid_density: Array | float | None = parameter(
        None,
        "density of the fluid around the robot; None: no buoyancy",
        "kg/m^3",
        source="the paper's outlook: wet environments",
        above=0,
    )
    adhesion_law: str = parameter(
        "force",
        "force: adhesion presses the body down; friction: it adds to the load in the friction bound alone",
        source="eq. 12",
        words=("force", "friction"),
    )


PROCESS = (
    Tolerance("edge", 1e-6, False, "interval", (("length", 2.0), ("width", 2.0))),
    Tolerance("thickness", 0.02),
    Tolerance("magnetization", 0.05),
)
"""How parts deviate where nothing else is said: ours, for lithography in a spun resist that is magnetized."""


def published_design(**overrides: Value) -> Design:
    """Table 1 of the paper: the cuboid used on paper."""
    return Design(**overrides)


def published_setting(**overrides: Value) -> Setting:
    """Table 1 of the paper, flat ground: 20 mT at 1 Hz on paper."""
    return Setting(**overrides)
