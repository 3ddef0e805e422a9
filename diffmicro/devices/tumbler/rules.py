"""What fields of Design and Setting have to keep together."""

from jax import Array

from diffmicro._types import Real
from diffmicro.devices.tumbler.body import body_of, core_of, outline_of
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.rules import Rule

ROUNDED = 1 + 1e-9
"""A core as long as the body, or spikes as high, may be so up to rounding."""


def _spiked(design: Design) -> bool:
    return design.outline.startswith("spiked")


def _core_fits(design: Design, _: Setting) -> Array | bool:
    if not _spiked(design):
        return True
    core_thickness, top = core_of(design)[1:]
    return (core_thickness > 0) & (top <= design.thickness * ROUNDED)


def _bases_fit(design: Design, _: Setting) -> Array | bool:
    if not _spiked(design):
        return True
    core_length = core_of(design)[0]
    return (core_length > 2 * design.spike_base) & (core_length <= design.length * ROUNDED)


def _density(design: Design) -> Real:
    outline = outline_of(design)
    return body_of(design, outline).mass / (outline.area * design.width)


def _sinks(design: Design, setting: Setting) -> Array | bool:
    return setting.fluid_density is None or setting.fluid_density < _density(design)


RULES = (
    Rule(
        _core_fits,
        lambda design, _: (
            f"spikes of height {design.spike_height} m above and below a core of {core_of(design)[1]} m do not "
            f"fit into Design.thickness = {design.thickness} m. Make the spikes or the core smaller, or the body "
            "thicker."
        ),
    ),
    Rule(
        _sinks,
        lambda design, setting: (
            f"Setting.fluid_density = {setting.fluid_density} kg/m^3 is not allowed; it has to be below "
            f"the robot's, {float(_density(design)):.5g} kg/m^3, or it floats. Take a lighter "
            "fluid or a heavier robot."
        ),
    ),
    Rule(
        _bases_fit,
        lambda design, _: (
            f"the core of {core_of(design)[0]} m has to be longer than two spike bases of {design.spike_base} m "
            f"and at most Design.length = {design.length} m. Change one of them."
        ),
    ),
)

HARMLESS = dict(
    fluid_viscosity=1e-3,
    fluid_density=1.0,
    core_length=0.8e-3,
    core_thickness=0.05e-3,
    spike_height=0.025e-3,
    density=5e3,
    magnetic_share=1.0,
    inertia=1e-14,
)
"""Values that a lane with bad input runs on where the defaults do not fit together or are none."""
