"""What of a leg the rules of a process are about, and the design of a part that was etched too much.

For a leg that is given by its dimensions. Its end in the clamp is not etched.
"""

import dataclasses
from collections.abc import Mapping

from jax import Array

from diffmicro.devices.legs.design import Design
from diffmicro.devices.legs.layout import ABOVE, BELOW, BETWEEN, PIEZO, Layout, sizes
from diffmicro.shapes import Feature


def features(design: Design, layout: Layout) -> tuple[Feature, ...]:
    """Widths and thicknesses of the active halves and the electrodes."""
    length, width, thickness = sizes(design)
    film, margin = layout.electrode_thickness, layout.electrode_margin
    electrodes = (("lower", BELOW), ("middle", BETWEEN), ("upper", ABOVE))
    return (
        Feature("leg_width", "width", PIEZO, width),
        Feature("leg_length", "width", PIEZO, length),
        Feature("halves", "thickness", PIEZO, (thickness - film) / 2),
        *(Feature(f"{n}_electrode", "width", each, width - 2 * margin) for n, each in electrodes),
        *(Feature(f"{n}_electrode", "thickness", each, film) for n, each in electrodes),
    )


def etched(design: Design, layout: Layout, taken: Mapping[str, Array]) -> Design:
    """The design of a part of which the etch took so much more from every edge."""
    del layout
    lost = taken[PIEZO.name]
    length, width, _ = sizes(design)
    return dataclasses.replace(design, leg_length=length - lost, leg_width=width - 2 * lost)
