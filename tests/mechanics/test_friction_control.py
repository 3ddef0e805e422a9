"""Closed forms of friction under vibration against direct integration and limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipkm1

from diffmicro.mechanics import friction_control as closed
from tests.oracles.closed_forms import slow_velocity
from tests.oracles.vibrated_probe import coulomb_velocity


def test_slip_by_duration_equals_integration():
    durations = np.array([0.05, 0.9, 1.1, 3.0, 6.0])
    for duration in durations:
        share = float(closed.slip_share(duration))
        assert float(closed.slip_velocity(duration)) == pytest.approx(
            coulomb_velocity(share), rel=1e-8
        )
        assert np.cos(float(closed.slip_start(duration))) == pytest.approx(share - 1, abs=1e-12)


def test_limits_of_the_slip():
    """Nothing, eq. 4.19 for short slips, and one at the end, where slip never ends."""
    assert float(closed.slip_share(0.0)) == float(closed.slip_velocity(0.0)) == 0.0
    whole = 2 * np.pi
    assert float(closed.slip_share(whole)) == pytest.approx(1, rel=1e-14)
    assert float(closed.slip_velocity(whole)) == pytest.approx(1, rel=1e-14)
    share = closed.slip_share(1e-3)
    expected = float(slow_velocity(share))
    assert float(closed.slip_velocity(1e-3)) == pytest.approx(expected, rel=1e-6)


def test_series_and_closed_form_meet():
    edge = closed.SERIES_BELOW
    for function in (closed.slip_share, closed.slip_velocity):
        below, above = function(edge * (1 - 1e-12)), function(edge)
        assert float(below) == pytest.approx(float(above), rel=1e-10)
        slopes = [float(jax.grad(function)(x)) for x in (edge * (1 - 1e-9), edge)]
        assert slopes[0] == pytest.approx(slopes[1], rel=1e-7)


def test_explicit_approximation():
    durations = jnp.linspace(0.01, 6.28, 200)
    share = closed.slip_share(durations)
    fit = closed.approximate_share(closed.slip_velocity(durations))
    assert float(jnp.max(jnp.abs(fit - share))) < 0.01


def test_across_is_the_elliptic_integral():
    zeta = np.array([1e-4, 0.3, 1.0, 20.0])
    rest = zeta**2 / (1 + zeta**2)  # 1 - m, so that SciPy keeps its digits near m = 1
    expected = 2 / np.pi * np.sqrt(rest) * ellipkm1(rest)
    np.testing.assert_allclose(closed.perpendicular_ratio(jnp.asarray(zeta)), expected, rtol=1e-11)


def test_masses_of_the_rod():
    """33/140: the integral of the squared shape; two equal cross sections are one."""
    x = np.linspace(0, 1, 100001)
    share = np.trapezoid((1.5 * x**2 - 0.5 * x**3) ** 2, x)
    assert share == pytest.approx(33 / 140, rel=1e-8)
    one = float(closed.rod_mass(7860.0, 3e-3, 16e-3))
    two = float(closed.stepped_rod_mass(7860.0, 3e-3, 10e-3, 3e-3, 6e-3))
    assert two == pytest.approx(one, rel=1e-12)
