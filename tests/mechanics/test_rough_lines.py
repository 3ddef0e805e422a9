"""Random rough lines: their statistics, and how springs under them carry, against bisection and scaling."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.mechanics.rough_lines import ensemble, pressed, rough_line

LENGTH, MODULUS = 383e-6, 1.4725e11


@pytest.mark.parametrize("hurst", [0.4, 0.9, 1.7])
def test_mean_and_rms_are_those_asked_for(hurst):
    lines = np.asarray(ensemble(1, 5, 100, hurst, 0.92e-6, 1024))
    np.testing.assert_allclose(lines.mean(axis=1), 0, atol=1e-20)
    np.testing.assert_allclose(lines.std(axis=1), 0.92e-6, rtol=1e-12)


@pytest.mark.parametrize("hurst", [0.3, 0.6])
def test_differences_of_height_go_with_the_distance_to_the_power_of_hurst(hurst):
    """Eq. 2.72 in its statistics, away from the longest and the shortest wave."""
    lines = np.asarray(ensemble(2, 400, 4095, hurst, 1e-6, 8192))
    lags = np.array([8, 16, 32, 64])
    spread = [np.sqrt(np.mean((lines[:, lag:] - lines[:, :-lag]) ** 2)) for lag in lags]
    power = np.polyfit(np.log(lags), np.log(spread), 1)[0]
    assert power == pytest.approx(hurst, abs=0.06)


def test_pressed_is_where_the_springs_carry_the_force():
    line = ensemble(3, 1, 60, 0.9, 0.92e-6, 512)[0]
    below = np.max(line) - np.asarray(line)
    for force in np.geomspace(1e-4, 50, 7):
        depth = float(pressed(line, LENGTH, force, MODULUS))
        carried = MODULUS * LENGTH / 512 * np.sum(np.maximum(depth - below, 0))
        assert carried == pytest.approx(force, rel=1e-10)


def test_depth_scales_with_height_and_force():
    """d(c h, c F) = c d(h, F), so the derivatives by rms and force add up to the depth."""
    phases = jnp.asarray(np.random.default_rng(4).uniform(0, 6.28, 60))

    def depth(roughness, force):
        return pressed(rough_line(phases, 0.9, roughness, 512), LENGTH, force, MODULUS)

    by = jax.grad(depth, (0, 1))(0.92e-6, 0.3)
    assert 0.92e-6 * by[0] + 0.3 * by[1] == pytest.approx(float(depth(0.92e-6, 0.3)), rel=1e-10)


def test_too_many_waves_are_refused():
    with pytest.raises(ValueError, match="there have to be 1 to 7"):
        rough_line(jnp.zeros(8), 0.9, 1e-6, 16)
