"""What fields of Design and Setting have to keep together."""

import jax.numpy as jnp
from jax import Array

from diffmicro.devices.stickslip.design import Design, Setting
from diffmicro.mechanics import elastic
from diffmicro.mechanics.presliding import COULOMB, SINGLE_STATE_LAWS
from diffmicro.rules import Rule

FLATTEST = 1.25
"""Largest flat tip over the contact radius that the whole sphere would have."""


def _goes_with(word: str) -> Rule:
    """The coefficients of a waveform are given with it, and only with it."""
    return Rule(
        lambda _, s: (s.waveform == word) == (getattr(s, word) is not None),
        lambda _, s: (
            f"Setting.{word} goes with waveform = {word}, and waveform is {s.waveform}. Give both or neither."
        ),
    )


RATED = tuple(law for law in SINGLE_STATE_LAWS if law not in COULOMB)
"""Laws that know the sliding rate."""


def _only_with(name: str, laws: tuple[str, ...]) -> Rule:
    """A parameter that some laws know, and no other."""
    return Rule(
        lambda _, s: getattr(s, name) is None or s.law in laws,
        lambda _, s: (
            f"Setting.{name} goes with law = {' or '.join(laws)}, and law is {s.law}. Leave it out, or take "
            "one of these laws."
        ),
    )


def _not_too_flat(design: Design, setting: Setting) -> Array | bool:
    moduli = (design.young_steel, design.poisson_steel, design.young_ruby, design.poisson_ruby)
    upper = (setting.preload - setting.runner_weight / 2) / 2**0.5
    lower = (setting.preload + setting.runner_weight / 2) / 8**0.5
    whole = elastic.hertz_contact_radius(
        jnp.minimum(upper, lower), design.radius, elastic.effective_modulus(*moduli)
    )
    return design.tip_radius <= FLATTEST * whole


RULES = (
    _goes_with("samples"),
    _goes_with("fourier"),
    Rule(
        lambda _, s: s.dynamic_friction is None or s.law != "masing",
        lambda _, s: (
            f"law = masing knows one friction coefficient, but dynamic_friction = {s.dynamic_friction}. Use law = "
            "mdr, or leave dynamic_friction out."
        ),
    ),
    Rule(
        lambda _, s: s.back_step + s.corner_time < s.period,
        lambda _, s: (
            f"Setting.back_step = {s.back_step} s with corner_time = {s.corner_time} s is not allowed; it "
            f"has to be shorter than period = {s.period} s. Shorten the back step."
        ),
    ),
    Rule(
        lambda _, s: s.corner_time <= s.back_step,
        lambda _, s: (
            f"Setting.corner_time = {s.corner_time} s is not allowed; it has to be at most back_step = "
            f"{s.back_step} s, or the corners meet. Shorten it."
        ),
    ),
    Rule(
        lambda _, s: s.runner_weight < 2 * s.preload,
        lambda _, s: (
            f"Setting.runner_weight = {s.runner_weight} N is not allowed; it has to be below twice the preload = "
            f"{s.preload} N, or the upper contacts open. Raise the preload."
        ),
    ),
    Rule(
        lambda _, s: s.dynamic_friction is None or s.dynamic_friction <= s.friction,
        lambda _, s: (
            f"Setting.dynamic_friction = {s.dynamic_friction} is not allowed; it has to be at most friction = "
            f"{s.friction}, the static one."
        ),
    ),
    Rule(
        lambda _, s: (
            s.law not in RATED or (s.dynamic_friction is None) == (s.stribeck_velocity is None)
        ),
        lambda _, s: (
            f"law = {s.law} falls from static to dynamic friction by the sliding rate: dynamic_friction and "
            "stribeck_velocity go together. Give both or neither."
        ),
    ),
    *(
        _only_with(name, RATED)
        for name in ("stribeck_velocity", "contact_viscosity", "lubricant_viscosity")
    ),
    _only_with("presliding_scale", ("ceim",)),
    _only_with("rolling", ("mdr",)),
    Rule(
        lambda _, s: s.rolling is None or s.dynamic_friction is None,
        lambda _, s: (
            f"Setting.rolling = {s.rolling} knows one friction coefficient, but dynamic_friction = "
            f"{s.dynamic_friction}. Leave one of them out."
        ),
    ),
    Rule(
        _not_too_flat,
        lambda design, _: (
            f"Design.tip_radius = {design.tip_radius} m is not allowed; it has to be at most {FLATTEST} times the "
            "contact radius of the whole sphere under this preload. A flatter tip is a punch: raise the "
            "preload or the radius, or lower tip_radius."
        ),
    ),
)

HARMLESS = dict(
    dynamic_friction=0.1, samples=0.0, fourier=0.0, contact_viscosity=0.0, lubricant_viscosity=0.0,
    presliding_scale=1e-8, rolling=0.0,
)  # fmt: skip
"""Values that a lane with bad input runs on where the default is none."""
