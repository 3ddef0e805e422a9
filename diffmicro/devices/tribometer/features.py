"""What of the tribometer the rules of a process are about: the hemisphere, its carrier, the disc."""

from diffmicro.devices.tribometer.design import Design
from diffmicro.devices.tribometer.layout import CARRIER, DISC, PROBE, Layout
from diffmicro.shapes import Feature


def features(design: Design, layout: Layout) -> tuple[Feature, ...]:
    """Radii, widths and thicknesses."""
    return (
        Feature("radius", "radius", PROBE, design.radius),
        Feature("disc_radius", "radius", DISC, layout.disc_radius),
        Feature("disc_thickness", "thickness", DISC, layout.disc_thickness),
        Feature("carrier_side", "width", CARRIER, layout.carrier_side),
        Feature("carrier_thickness", "thickness", CARRIER, layout.carrier_thickness),
    )
