"""What of the stick-slip drive the rules of a process are about: hemispheres, their spacing, the runner."""

import jax.numpy as jnp

from diffmicro.devices.stickslip.design import Design
from diffmicro.devices.stickslip.layout import CARRIER, RUBY, RUNNER, Layout
from diffmicro.shapes import Feature


def features(design: Design, layout: Layout) -> tuple[Feature, ...]:
    """Radius, gap, widths and thicknesses; the runner is as thick as its mass says."""
    area = layout.runner_length * layout.runner_width
    apart = jnp.minimum(layout.contact_length, layout.contact_width)
    return (
        Feature("radius", "radius", RUBY, design.radius),
        Feature("between_hemispheres", "gap", RUBY, apart - 2 * design.radius),
        Feature("runner_length", "width", RUNNER, layout.runner_length),
        Feature("runner_width", "width", RUNNER, layout.runner_width),
        Feature("runner", "thickness", RUNNER, design.runner_mass / (layout.runner_density * area)),
        Feature("carrier_thickness", "thickness", CARRIER, layout.carrier_thickness),
    )
