"""The runner on contacts that stick: exact steps of a damped oscillator under a force that is a cubic in time."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._types import Scalar

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(6)
SHARES = (1 + _POINTS) / 2
"""Shares of a step at which Gauss's rule looks."""

BENDS = np.stack([SHARES, SHARES**2]) * (1 - SHARES) * _WEIGHTS / 2
"""Bends of slip there, times the weights."""


class Oscillator(NamedTuple):
    """Exact step of x'' + 2 zeta x' + stiffness x = r for r linear from r0 to r1: rows of (x0, v0, r0, r1).

    position_bends, velocity_bends: what s (1 - s) and s^2 (1 - s) beside that add, s the share of the step.
    """

    position: tuple[Array, Array, Array, Array]
    velocity: tuple[Array, Array, Array, Array]
    position_bends: tuple[Array, Array]
    velocity_bends: tuple[Array, Array]


def oscillator(stiffness: Scalar, damping: Scalar, h: Array) -> Oscillator:
    """Steps of length h."""
    turn = jnp.sqrt(stiffness - damping**2)
    decay = jnp.exp(-damping * h)
    c, s = decay * jnp.cos(turn * h), decay * jnp.sin(turn * h) / turn
    stay, back = c + damping * s, -stiffness * s
    # r = r0 + slope t is followed by x = r/stiffness - offset slope
    offset = 2 * damping / stiffness**2
    constant = (1 - stay) / stiffness
    ramp = ((h - s) / stiffness - offset * (1 - stay)) / h
    ramp_rate = ((1 - c + damping * s) / stiffness + back * offset) / h
    # the same as series, where differences of nearly equal numbers would spoil short steps
    third = (4 * damping**2 - stiffness) / 2
    short = h < 0.01
    constant = jnp.where(short, h**2 * (1 / 2 - damping * h / 3 + third * h**2 / 12), constant)
    ramp = jnp.where(short, h**2 * (1 / 6 - damping * h / 12 + third * h**2 / 60), ramp)
    ramp_rate = jnp.where(short, h * (1 / 2 - damping * h / 3 + third * h**2 / 12), ramp_rate)
    # what a push at share s of the step does at its end, added up over the bends
    left = jnp.outer(jnp.asarray(1 - SHARES, h.dtype), h)
    fade, angle = jnp.exp(-damping * left), turn * left
    shift = fade * jnp.sin(angle) / turn
    kick = fade * jnp.cos(angle) - damping * shift
    bends = jnp.asarray(BENDS, h.dtype)
    by_bend = (bends @ shift) * h[None], (bends @ kick) * h[None]
    return Oscillator(
        (stay, s, constant - ramp, ramp),
        (back, c - damping * s, s - ramp_rate, ramp_rate),
        (by_bend[0][0], by_bend[0][1]),
        (by_bend[1][0], by_bend[1][1]),
    )
