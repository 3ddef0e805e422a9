"""What fields of Design and Setting have to keep together."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.devices.legs.design import Design, Setting
from diffmicro.devices.legs.lumped import LEG, Modes, modes_of
from diffmicro.rules import Rule


def _sizes(design: Design) -> dict[str, tuple[int, ...]]:
    return {name: np.shape(getattr(design, name)) for name in Modes._fields}


def _count(design: Design) -> int:
    return _sizes(design)["damping"][0]


def _missing(design: Design) -> list[str]:
    return [f"leg_{name}" for name in LEG if getattr(design, f"leg_{name}") is None]


def _shape_fits(design: Design, setting: Setting) -> Array | bool:
    if design.mode_shape is None:
        return True
    points, columns = np.shape(design.mode_shape)  # pyright: ignore[reportArgumentType, reportCallIssue]
    count = _count(design)
    return columns == count and (setting.law != "point" or points == count)


def _unlike(design: Design, _: Setting) -> str:
    sizes = ", ".join(f"{name} {shape}" for name, shape in _sizes(design).items())
    return (
        f"Design has modes of unlike number: {sizes}. Give frequency, damping, gain and mobility one value "
        "per mode each."
    )


def _incomplete(design: Design, _: Setting) -> str:
    return (
        f"Design.{_missing(design)[0]} is missing. A leg needs all of {', '.join('leg_' + name for name in LEG)}; "
        "leave all out to give the modes themselves."
    )


def _misshapen(design: Design, _: Setting) -> str:
    assert design.mode_shape is not None
    points, columns = np.shape(design.mode_shape)
    return (
        f"Design.mode_shape has {points} points and {columns} modes, but there are {_count(design)} modes. "
        "Give one column per mode; the law `point` needs as many points as modes."
    )


def _dominant_exists(design: Design, _: Setting) -> Array | bool:
    if design.dominant_mode is None:
        return True
    return jnp.any(jnp.asarray(design.dominant_mode) == jnp.arange(1, _count(design) + 1))


RULES = (
    Rule(lambda d, _: d.leg_length is not None or len(set(_sizes(d).values())) == 1, _unlike),
    Rule(lambda d, _: len(_missing(d)) in (0, len(LEG)), _incomplete),
    Rule(_shape_fits, _misshapen),
    Rule(
        _dominant_exists,
        lambda design, _: (
            f"Design.dominant_mode = {design.dominant_mode} is not allowed; it has to be a whole number from 1 to "
            f"{_count(design)}, the number of the mode that takes the impulse."
        ),
    ),
    Rule(
        lambda design, _: jnp.sum(jnp.asarray(modes_of(design).mobility)) > 0,
        lambda design, _: (
            f"Design.mobility = {np.asarray(design.mobility).tolist()} is not allowed; at least one mode "
            "has to move the foot. Give one of them a mobility above 0."
        ),
    ),
)

HARMLESS = dict(
    frequency=100.0,
    damping=0.05,
    gain=1e-7,
    mobility=1e4,
    dominant_mode=1.0,
    leg_length=1e-2,
    leg_thickness=3e-4,
    leg_width=1e-3,
    leg_young=60e9,
    leg_density=7600.0,
    window=0.1,
)
"""Values that a lane with bad input runs on, for any number of modes."""
