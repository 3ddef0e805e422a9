"""What of the tumbler the rules of a process are about, and the design of a part that was etched too much.

The section is drawn, and the width is the layer's thickness. Of a smooth outline the smallest radius counts, of
a spiked one the core and the bases of the spikes: their tips are sharp. An etch takes from the section all around,
and from mass and magnetic volume what the area loses, where these do not follow the shape by themselves.
"""

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
from jax import Array

from diffmicro.devices.tumbler.body import core_of, outline_of
from diffmicro.devices.tumbler.design import Design
from diffmicro.devices.tumbler.layout import MAGNETIC, Layout
from diffmicro.shapes import Feature


def features(design: Design, layout: Layout) -> tuple[Feature, ...]:
    """Widths, the smallest radius, and the thickness."""
    del layout
    width = Feature("width", "thickness", MAGNETIC, design.width)
    length = Feature("length", "width", MAGNETIC, design.length)
    if design.outline.startswith("spiked"):
        _, core, _ = core_of(design)
        return (
            length,
            Feature("core_thickness", "width", MAGNETIC, core),
            Feature("spike_base", "width", MAGNETIC, design.spike_base),
            width,
        )
    thickness = Feature("thickness", "width", MAGNETIC, design.thickness)
    if design.outline == "box":
        return length, thickness, width
    smallest = jnp.min(outline_of(design).radius)
    return length, thickness, Feature("outline", "radius", MAGNETIC, smallest), width


def etched(design: Design, layout: Layout, taken: Mapping[str, Array]) -> Design:
    """The design of a part of which the etch took so much more from every edge."""
    del layout
    if design.outline.startswith("spiked"):
        raise ValueError(
            "tumbler.etched: what an etch leaves of spikes is not known; take a box, a superellipse or a support "
            "outline, or give tolerances by --scatter."
        )
    lost = 2 * taken[MAGNETIC.name]
    smaller = dataclasses.replace(
        design, length=design.length - lost, thickness=design.thickness - lost
    )
    share = outline_of(smaller).area / outline_of(design).area
    return dataclasses.replace(
        smaller, mass=design.mass * share, magnetic_volume=design.magnetic_volume * share
    )
