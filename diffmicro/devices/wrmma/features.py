"""What of the WRMMA the rules of a process are about, and the design of a part that was etched too much.

Nickel: both parts and the gap. Gold: the springs' beams, the spaces between them and to the pads, the pads. A part
that lost d at every edge has a wider gap and shorter, narrower parts, whose masses follow; springs that lost d are
softer, and with them the tethered frequency is lower: about by 1.5 times the share of the width.
"""

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.devices.wrmma.design import Design
from diffmicro.devices.wrmma.layout import GOLD, NICKEL, Layout, spring_sizes
from diffmicro.devices.wrmma.lumped import masses
from diffmicro.mechanics.springs import folded_stiffness
from diffmicro.shapes import Feature


def features(design: Design, layout: Layout) -> tuple[Feature, ...]:
    """Widths, gaps and thicknesses of both layers."""
    body, hammer = _lengths(design)
    beam, _, pitch = spring_sizes(design, layout)
    half, reach = design.width / 2, (layout.spring_folds - 1) * pitch
    across = [
        Feature("between_folds", "gap", GOLD, pitch - beam),
        Feature("between_pads", "gap", GOLD, reach - 2 * beam),
        Feature("between_springs", "gap", GOLD, 2 * (half - layout.pad)),
    ]
    if layout.spring_folds > 2:
        # From the corner of a pad to that of the first lower turn.
        corner = jnp.stack([pitch - 1.5 * beam, layout.spring_space - beam / 2])
        apart = jnp.sqrt(jnp.sum(jnp.maximum(corner, 1e-12) ** 2))
        across.append(Feature("fold_to_pad", "gap", GOLD, apart))
    return (
        Feature("rest_gap", "gap", NICKEL, design.rest_gap),
        Feature("width", "width", NICKEL, design.width),
        Feature("body_length", "width", NICKEL, body),
        Feature("hammer_length", "width", NICKEL, hammer),
        Feature("height", "thickness", NICKEL, design.height),
        Feature("spring_width", "width", GOLD, beam),
        Feature("pad", "width", GOLD, layout.pad),
        *across,
        Feature("spring_thickness", "thickness", GOLD, layout.spring_thickness),
    )


def etched(design: Design, layout: Layout, taken: Mapping[str, Array]) -> Design:
    """The design of a part of which the etch took so much more from every edge."""
    nickel, gold = taken[NICKEL.name], taken[GOLD.name]
    body, hammer = (length - 2 * nickel for length in _lengths(design))
    part = dataclasses.replace(
        design,
        rest_gap=design.rest_gap + 2 * nickel,
        width=design.width - 2 * nickel,
        device_length=design.device_length - 2 * nickel,
        mass_ratio=hammer / body,
    )
    beam, length, pitch = spring_sizes(design, layout)
    chain = (layout.spring_folds, length, pitch, layout.spring_space)
    material = (layout.spring_young, layout.spring_thickness)
    softer = folded_stiffness(*chain, *material, beam - 2 * gold) / folded_stiffness(
        *chain, *material, beam
    )
    lighter = masses(part)[1] / masses(design)[1]
    return dataclasses.replace(
        part, tethered_frequency=design.tethered_frequency * jnp.sqrt(softer / lighter)
    )


def _lengths(design: Design) -> tuple[Real, Real]:
    """Of body and hammer [m]."""
    body = (design.device_length - design.rest_gap) / (1 + design.mass_ratio)
    return body, design.mass_ratio * body
