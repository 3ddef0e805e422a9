"""Drive signals over one period: sawtooth with a back step of finite speed, samples, Fourier series.

Time is in shares of the period, position in shares of the stroke. A sawtooth rises from `lift` to 1, falls to
0 within `fall`, and, when it is shaped, rises at once to `lift` at the speed of the fall, to meet the runner
where the contacts pull no more (MDR thesis, section 3.5.3; Bergander 2003). Rounded corners are the average
over a window of length `corner`; the stroke stays what it was.

Left out: what amplifier and piezo make of the signal.
"""

import jax.numpy as jnp
from jax import Array

from diffmicro._types import Scalar


def sawtooth_knots(fall: Scalar, lift: Scalar, longest: Scalar) -> tuple[Array, Array]:
    """Times and positions of the corners (4,): start, crest, bottom, end.

    longest: the largest lift of all signals that share these times.
    """
    zero, one = jnp.zeros_like(fall), jnp.ones_like(fall)
    bottom = 1 - longest * fall
    return jnp.stack([zero, bottom - fall, bottom, one]), jnp.stack([lift, one, zero, lift])


def sawtooth(time: Array, fall: Scalar, lift: Scalar, longest: Scalar, corner: Scalar) -> Array:
    """Position of the sawtooth at times from -1 to 2.

    fall: duration of the back step. lift: of the shaped move. longest: see `sawtooth_knots`. corner: window.
    """
    times, positions = sawtooth_knots(fall, lift, longest)
    window = jnp.where(corner > 0, corner, 1.0)
    # what the window takes off crest and bottom is given back to the stroke
    around = jnp.linspace(-corner / 2, corner / 2, EXTREMES)
    everywhere = jnp.concatenate([time, times[2] + around, times[1] + around])
    ends = jnp.stack([everywhere + corner / 2, everywhere - corner / 2])
    later, earlier = _area(ends, times, positions)
    rounded, bottom, crest = jnp.split(
        (later - earlier) / window, [len(time), len(time) + EXTREMES]
    )
    low, high = jnp.min(bottom), jnp.max(crest)
    span = jnp.where(corner > 0, high - low, 1.0)
    return jnp.where(corner > 0, (rounded - low) / span, _value(time, times, positions))


EXTREMES = 65
"""Instants at which the highest and lowest position of rounded corners are looked for."""


def _value(time: Array, times: Array, positions: Array) -> Array:
    """Periodic polygon through the corners."""
    t = time - jnp.floor(time)
    return jnp.interp(t, times, positions)


def _area(time: Array, times: Array, positions: Array) -> Array:
    """Integral of the periodic polygon from 0 to each time."""
    turns = jnp.floor(time)
    t = time - turns
    pieces = jnp.diff(times) * (positions[1:] + positions[:-1]) / 2
    before = jnp.concatenate([jnp.zeros(1, pieces.dtype), jnp.cumsum(pieces)])
    here = jnp.interp(t, times, positions)
    index = jnp.clip(jnp.searchsorted(times, t, side="right") - 1, 0, times.shape[0] - 2)
    part = (t - times[index]) * (positions[index] + here) / 2
    return turns * before[-1] + before[index] + part


def samples(time: Array, values: Array) -> Array:
    """Periodic polygon through values at equal distances, the first at time 0."""
    count = values.shape[0]
    t = (time - jnp.floor(time)) * count
    index = jnp.clip(jnp.floor(t).astype(jnp.int32), 0, count - 1)
    following = jnp.where(index == count - 1, 0, index + 1)
    return values[index] + (t - index) * (values[following] - values[index])


def fourier(time: Array, coefficients: Array) -> Array:
    """Sum of a_k cos(2 pi k t) + b_k sin(2 pi k t) over the rows (a_k, b_k), k from 1."""
    order = jnp.arange(1, coefficients.shape[0] + 1, dtype=coefficients.dtype)
    angle = 2 * jnp.pi * jnp.asarray(time)[..., None] * jnp.expand_dims(order, range(time.ndim))
    return jnp.cos(angle) @ coefficients[:, 0] + jnp.sin(angle) @ coefficients[:, 1]
