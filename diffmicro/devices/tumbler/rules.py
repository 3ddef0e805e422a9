"""Values that make no sense together: complaints about numbers, harmless stand-ins for traced lanes."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.devices.tumbler.body import core_of
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.parameters import as_arrays, check, is_traced, valid


def legal_or_harmless(design: Design, setting: Setting) -> tuple[Design, Setting, Array]:
    """Bad lanes run on harmless numbers, so that they end, and are blanked afterwards."""
    legal = valid(design, setting)
    if design.outline.startswith("spiked"):
        core_length, core_thickness, top = core_of(design)
        legal = legal & (core_thickness > 0) & (top <= design.thickness * (1 + 1e-9))
        legal = (
            legal
            & (core_length > 2 * design.spike_base)
            & (core_length <= design.length * (1 + 1e-9))
        )
    harmless = as_arrays((Design(), Setting()))

    def choose(name: str, given: Any, own: Any) -> Any:
        if given is None or isinstance(given, str):
            return given
        own = HARMLESS.get(name, own)
        return jnp.where(
            legal, given, jnp.broadcast_to(jnp.asarray(own, given.dtype).ravel()[0], given.shape)
        )

    def replaced(tree: Any, own: Any) -> Any:
        names = [f.name for f in dataclasses.fields(tree)]
        chosen = {n: choose(n, getattr(tree, n), getattr(own, n)) for n in names}
        return dataclasses.replace(tree, **chosen)

    return replaced(design, harmless[0]), replaced(setting, harmless[1]), legal


HARMLESS = dict(
    core_length=0.8e-3,
    core_thickness=0.05e-3,
    spike_height=0.025e-3,
    density=5e3,
    magnetic_share=1.0,
    inertia=1e-14,
)
"""Values that a lane with bad input runs on where the defaults do not fit together or are none."""


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    check(where, design, setting)
    if not design.outline.startswith("spiked"):
        return
    core_length, core_thickness, top = core_of(design)
    if is_traced(core_length, core_thickness, top, design.spike_base, design.length):
        return
    if np.any(np.asarray(core_thickness) <= 0) or np.any(
        np.asarray(top) > np.asarray(design.thickness) * (1 + 1e-9)
    ):
        raise ValueError(
            f"{where}: spikes of height {design.spike_height} m above and below a core of "
            f"{core_thickness} m do not fit into Design.thickness = {design.thickness} m. Make the spikes "
            "or the core smaller, or the body thicker."
        )
    if np.any(np.asarray(core_length) < 2 * np.asarray(design.spike_base)) or np.any(
        np.asarray(core_length) > np.asarray(design.length) * (1 + 1e-9)
    ):
        raise ValueError(
            f"{where}: the core of {core_length} m has to be longer than two spike bases of "
            f"{design.spike_base} m and at most Design.length = {design.length} m. Change one of them."
        )
