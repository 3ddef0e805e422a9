"""Values that make no sense together: complaints about numbers, harmless stand-ins for traced lanes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.devices.stickslip.design import Design, Setting
from diffmicro.mechanics import elastic
from diffmicro.parameters import as_arrays, check, is_traced

FLATTEST = 1.25
"""Largest flat tip over the contact radius that the whole sphere would have."""


def consistent(design: Design, setting: Setting) -> Array:
    """Conditions on several values at once; `_contradiction` has their messages."""
    moduli = (design.young_steel, design.poisson_steel, design.young_ruby, design.poisson_ruby)
    force = (setting.preload - setting.runner_weight / 2) / 2**0.5
    lower = (setting.preload + setting.runner_weight / 2) / 8**0.5
    whole = elastic.hertz_contact_radius(
        jnp.minimum(force, lower), design.radius, elastic.effective_modulus(*moduli)
    )
    good = (setting.back_step + setting.corner_time < setting.period) & (
        setting.corner_time <= setting.back_step
    )
    good = good & (setting.runner_weight < 2 * setting.preload)
    good = good & (design.tip_radius <= FLATTEST * whole)
    if setting.dynamic_friction is not None:
        good = good & (setting.dynamic_friction <= setting.friction)
    return jnp.all(good)


def harmless(legal: Array, design: Design, setting: Setting) -> tuple[Design, Setting]:
    """The values, or in lanes that are not legal the published ones, so that they end."""
    words = {name: getattr(setting, name) for name in ("waveform", "law", "springs", "memory")}
    safe = as_arrays((Design(), Setting(**words)))

    def choose(value: Any, other: Any) -> Any:
        return jnp.where(legal, value, jnp.asarray(other, value.dtype))

    trees = []
    for tree, spare in zip((design, setting), safe, strict=True):
        values = {}
        for name, value in vars(tree).items():
            if isinstance(value, Array):
                other = getattr(spare, name)
                value = choose(value, jnp.zeros_like(value) if other is None else other)
            values[name] = value
        trees.append(type(tree)(**values))
    return trees[0], trees[1]


def check_point(where: str, design: Design, setting: Setting) -> None:
    """Raise ValueError for values that are out of range or contradict each other; traced ones pass."""
    amplitude = getattr(setting, "amplitude", None)  # of what may be no Setting: `check` says so
    numeric = isinstance(amplitude, float | int | np.ndarray | Array) and not is_traced(amplitude)
    if numeric and np.any(np.asarray(amplitude) > 1e-4):
        raise ValueError(
            f"{where}: Setting.amplitude = {setting.amplitude} m is not allowed; it has to be above 0 and at "
            f"most 0.0001. It is in meters: 100 nm is 100e-9. The default is 1e-07."
        )
    check(where, design, setting)
    for name in ("springs", "memory"):
        if not isinstance(getattr(setting, name), int):
            raise ValueError(
                f"{where}: Setting.{name} = {getattr(setting, name)} is not allowed; it has to be a whole "
                f"number, because it fixes the size of the calculation."
            )
    for word in ("samples", "fourier"):
        if (setting.waveform == word) != (getattr(setting, word) is not None):
            raise ValueError(
                f"{where}: Setting.{word} goes with waveform = {word}, and waveform is {setting.waveform}. "
                f"Give both or neither."
            )
    if setting.dynamic_friction is not None and setting.law == "masing":
        raise ValueError(
            f"{where}: law = masing knows one friction coefficient, but dynamic_friction = "
            f"{setting.dynamic_friction}. Use law = mdr, or leave dynamic_friction out."
        )
    given = (design, setting)
    if is_traced(*jax.tree.leaves(given)) or np.all(consistent(*as_arrays(given))):
        return
    raise ValueError(f"{where}: " + _contradiction(design, setting))


def _contradiction(design: Design, setting: Setting) -> str:
    """What is wrong with values that contradict each other, and the remedy."""
    if np.any(np.asarray(setting.back_step) + setting.corner_time >= setting.period):
        return (
            f"Setting.back_step = {setting.back_step} s with corner_time = {setting.corner_time} s is not "
            f"allowed; it has to be shorter than period = {setting.period} s. Shorten the back step."
        )
    if np.any(np.asarray(setting.corner_time) > setting.back_step):
        return (
            f"Setting.corner_time = {setting.corner_time} s is not allowed; it has to be at most back_step = "
            f"{setting.back_step} s, or the corners meet. Shorten it."
        )
    if np.any(np.asarray(setting.runner_weight) >= 2 * np.asarray(setting.preload)):
        return (
            f"Setting.runner_weight = {setting.runner_weight} N is not allowed; it has to be below twice the "
            f"preload = {setting.preload} N, or the upper contacts open. Raise the preload."
        )
    if setting.dynamic_friction is not None and np.any(
        np.asarray(setting.dynamic_friction) > setting.friction
    ):
        return (
            f"Setting.dynamic_friction = {setting.dynamic_friction} is not allowed; it has to be at most "
            f"friction = {setting.friction}, the static one."
        )
    return (
        f"Design.tip_radius = {design.tip_radius} m is not allowed; it has to be at most {FLATTEST} times the "
        f"contact radius of the whole sphere under this preload. A flatter tip is a punch: raise the preload or "
        f"the radius, or lower tip_radius."
    )
