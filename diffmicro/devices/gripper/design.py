"""What a fabricator could change, and the setting it works in, with the source of every value."""

import math

import equinox as eqx
from jax import Array

from diffmicro.mechanics.linkage import MODELS
from diffmicro.parameters import Value, parameter
from diffmicro.tolerance import Tolerance

_ANGLES = tuple(math.radians(a) for a in (300.0, 320.0, 330.0, 250.0))


_STARTS = tuple(math.radians(a) for a in (22.5, 132.0, -15.0, 240.0))


_O_B = (2e-3 * math.cos(math.radians(22.5)), 2e-3 * math.sin(math.radians(22.5)))


_O_C = (0.5e-3 + 0.8e-3 * math.cos(math.radians(30)), 1.5e-3 + 0.8e-3 * math.sin(math.radians(30)))


_G_3 = (1.8e-3, 1.5e-3)


_RAY = math.hypot(_O_C[0] - _O_B[0], _O_C[1] - _O_B[1])


_TIP = tuple(c + 1.5e-3 * (c - b) / _RAY - g for b, c, g in zip(_O_B, _O_C, _G_3, strict=True))


_WIDEST = math.radians(359.0)


class Design(eqx.Module):
    """What a fabricator could change."""

    beam_radius: Array | tuple = parameter(
        (0.2e-3,) * 4,
        "radii of the flexures a, b, c, d",
        "m",
        symbol="r_f",
        source="Table 1",
        above=0,
    )
    beam_angle: Array | tuple = parameter(
        _ANGLES,
        "angles that their arcs turn by",
        "rad",
        symbol="theta_f",
        source="Table 1",
        above=0,
        high=_WIDEST,
    )
    start_angle: Array | tuple = parameter(
        _STARTS,
        "polar angles of their first ends about the hinges, from which they run counter-clockwise",
        "rad",
        source="Table 1, from the local base vectors",
    )
    hinge: Array | tuple = parameter(
        ((0.5e-3, 0.0), _O_B, _O_C, (0.5e-3, 1.5e-3)),
        "centers of the arcs, x and y",
        "m",
        symbol="O_f",
        source="Table 1, not rounded",
    )
    body: Array | tuple = parameter(
        ((1.5e-3, 0.2e-3), _G_3, (1e-3, 1.5e-3)),
        "centers of the bodies 2, 3, 4, where forces act",
        "m",
        symbol="G_i",
        source="Table 1",
    )
    tip: Array | tuple = parameter(
        _TIP,
        "the tip from the center of body 3",
        "m",
        symbol="s_3EE",
        source="Table 1, not rounded",
    )
    young: Array | float = parameter(
        100e9, "Young's modulus", "Pa", symbol="E_y", source="Table 1", above=0
    )
    section_width: Array | float = parameter(
        25e-6,
        "width of the flexures' section, normal to the plane",
        "m",
        symbol="b",
        source="Table 1",
        above=0,
        shapes=((), (4,)),
    )
    section_height: Array | float = parameter(
        5e-6,
        "height of the section, in the plane",
        "m",
        symbol="h",
        source="Table 1",
        above=0,
        shapes=((), (4,)),
    )
    poisson: Array | float = parameter(
        0.25,
        "Poisson's ratio, for the shear of extensible beams",
        "-",
        source="assumed: silicon",
        low=0,
        high=0.5,
    )
    body_mass: Array | tuple = parameter(
        (1.2e-8,) * 3,
        "masses of the bodies",
        "kg",
        source="assumed: silicon, 1 mm x 0.2 mm x 25 um",
        above=0,
    )
    body_inertia: Array | tuple = parameter(
        (1e-15,) * 3,
        "their moments of inertia about the centers",
        "kg m^2",
        source="assumed: silicon, 1 mm x 0.2 mm x 25 um",
        above=0,
    )


class Setting(eqx.Module):
    """Loads, limits and the model."""

    force: Array | float = parameter(
        0.0,
        "actuation force at the center of body 2, along y",
        "N",
        symbol="F_2y",
        source="section 5.1",
    )
    wrench: Array | tuple = parameter(
        ((0.0, 0.0, 0.0),) * 3,
        "forces along x and y, and moments, on the bodies 2, 3, 4",
        "N, N, N m",
        symbol="w_i",
        source="eq. 23",
    )
    object_half_width: Array | float | None = parameter(
        None,
        "half width of the object between the jaws: the tip does not pass it; None: no object",
        "m",
    )
    rotation_limit: Array | float | None = parameter(
        None,
        "largest rotation of a flexure's ends against each other; None: no limit",
        "rad",
        source="20 deg in section 5.1",
        above=0,
    )
    stress_limit: Array | float | None = parameter(
        None, "largest bending stress; None: no limit", "Pa", above=0
    )
    force_limit: Array | float | None = parameter(
        None, "largest actuation force, pulling or pushing; None: no limit", "N", above=0
    )
    model: str = parameter(
        "exact", "linear, partial, consistent, or exact", source="eqs. 23, 24", words=MODELS
    )
    beam: str = parameter(
        "inextensible",
        "of the exact model, inextensible and unshearable, or extensible (and shearable)",
        words=("inextensible", "extensible"),
    )


PROCESS = (
    Tolerance("etch", 0.1e-6, relative=False, moves=(("section_height", -2.0),)),
    Tolerance("section_width", 0.01),
    Tolerance("young", 0.02),
)
"""How parts deviate where nothing else is said: ours, for silicon etched through its device layer. The etch takes
as much from both sides of every beam."""


def published_design(**overrides: Value) -> Design:
    """Table 1 of the paper, geometry not rounded."""
    return Design(**overrides)


def published_setting(**overrides: Value) -> Setting:
    """No load, exact model."""
    return Setting(**overrides)
