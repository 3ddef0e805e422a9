"""Drive signals: corners, stroke, periodicity, shaping."""

import jax.numpy as jnp
import numpy as np

from diffmicro import signals

TIME = jnp.linspace(0, 1, 4001)
FALL, NONE = jnp.asarray(0.1), jnp.asarray(0.0)


def test_plain_sawtooth():
    at = signals.sawtooth(jnp.array([0.0, 0.45, 0.9, 0.95, 1.0, 1.45]), FALL, NONE, NONE, NONE)
    np.testing.assert_allclose(at, [0, 0.5, 1, 0.5, 0, 0.5], atol=1e-12)


def test_shaped_sawtooth_returns_at_the_speed_of_the_fall():
    lift = jnp.asarray(0.5)
    at = signals.sawtooth(jnp.array([0.0, 0.85, 0.95, 0.975, 1.0]), FALL, lift, lift, NONE)
    np.testing.assert_allclose(at, [0.5, 1.0, 0.0, 0.25, 0.5], atol=1e-12)


def test_rounded_corners_keep_the_stroke():
    plain = signals.sawtooth(TIME, FALL, NONE, NONE, NONE)
    rounded = signals.sawtooth(TIME, FALL, NONE, NONE, jnp.asarray(0.05))
    np.testing.assert_allclose([rounded.min(), rounded.max()], [0, 1], atol=1e-4)
    assert jnp.abs(jnp.diff(rounded, 2)).max() < 0.05 * jnp.abs(jnp.diff(plain, 2)).max()
    np.testing.assert_allclose(rounded[0], rounded[-1], atol=1e-12)


def test_samples_and_fourier():
    values = jnp.array([0.0, 1.0, 0.5, -0.5])
    np.testing.assert_allclose(
        signals.samples(jnp.array([0.25, 0.375, 0.875, 1.25]), values), [1, 0.75, -0.25, 1]
    )
    wave = signals.fourier(TIME, jnp.array([[0.0, 1.0], [0.5, 0.0]]))
    expected = jnp.sin(2 * jnp.pi * TIME) + 0.5 * jnp.cos(4 * jnp.pi * TIME)
    np.testing.assert_allclose(wave, expected, atol=1e-12)
