"""The scatter of an etch as common tolerances: one cause for each layer, that moves all its widths and gaps.

A part of which the etch took d more from every edge than the drawing allows for is the design `etched(design,
layout, {layer: d})`. Its derivatives at d = 0 say by how many times d each parameter moves. Left out: what is not
linear in d; parts deviate by a few d, which has to be small against the widths.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._device import Device, hooked
from diffmicro.devices import as_device
from diffmicro.parameters import Fields, as_arrays, describe
from diffmicro.process.limits import kinds
from diffmicro.process.values import Process
from diffmicro.tolerance import Tolerance

NONE = 1e-12
"""Share of a parameter that counts as no move."""


def etch_tolerances(
    device: Device | str,
    process: Process,
    design: Fields | None = None,
    layout: Fields | None = None,
) -> tuple[Tolerance, ...]:
    """A tolerance for each layer whose etch scatters; ValueError where that moves nothing of the design."""
    device = as_device(device)
    if device.etched is None or device.Layout is None:
        raise ValueError(
            f"{device.name} does not say how etching changes its design. Give its Device etched=; see "
            "docs/drawing.md."
        )
    design, layout = device.part(design, layout)
    layers = {f.layer.name: f.layer for f in kinds(device, design, layout)}
    found = []
    for name, layer in layers.items():
        rules = process.of(layer)
        if rules is None or not rules.etch_scatter:
            continue
        moves = _moves(device, as_arrays(design), layout, tuple(layers), name)
        if moves:
            cause = f"etch of {name}" if len(layers) > 1 else "etch"
            found.append(Tolerance(cause, rules.etch_scatter, False, rules.etch_kind, moves))
    if not found:
        raise ValueError(
            f"{device.name}: no layer of {', '.join(layers)} has an etch that scatters and moves a parameter. "
            'Give etch_scatter in the rules, such as etch_scatter = "0.1um".'
        )
    return tuple(found)


def _moves(
    device: Device, design: Fields, layout: Fields, layers: tuple[str, ...], own: str
) -> tuple[tuple[str, float], ...]:
    """Each number of the design that the etch of one layer moves, and by how many times what is taken."""
    known = describe(type(design))
    assert device.etched is not None
    etched = hooked(device.etched)
    names = [n for n, p in known.items() if p.differentiable and getattr(design, n) is not None]

    def at(taken: Array) -> dict[str, Array]:
        all_taken = {name: taken if name == own else jnp.zeros(()) for name in layers}
        moved = etched(design, layout, all_taken)
        return {name: jnp.asarray(getattr(moved, name), float) for name in names}

    slopes = jax.jacfwd(at)(jnp.zeros(()))
    moves: list[tuple[str, float]] = []
    for name in names:
        value, slope = (np.asarray(x, float) for x in (getattr(design, name), slopes[name]))
        scale = 1e-6 * np.where(slope != 0, np.abs(slope), 1.0)
        for i, (one, size, step) in enumerate(
            zip(value.ravel(), slope.ravel(), scale.ravel(), strict=True)
        ):
            if not np.isfinite(size):
                raise ValueError(
                    f"{device.name}: how etching of {own} moves {name} is not known here."
                )
            if step > NONE * abs(one) and size:
                moves.append((f"{name}[{i}]" if value.ndim else name, float(size)))
    return tuple(moves)
