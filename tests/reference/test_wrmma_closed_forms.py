"""Closed forms of the WRMMA against the equations they solve and the numbers that are printed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.reference import wrmma

TIME = jnp.linspace(0.0, 40.0, 400)


def second_derivative(function, *args):
    return jax.vmap(jax.grad(jax.grad(lambda t: function(t, *args))))(TIME)


def test_amplitudes_are_the_printed_ones():
    """Eq. 30: A_0 about -(B^2 + 0.81), A_1 about 2.55 B, A_2 about 0.81."""
    mean, single, double = wrmma.force_harmonics(1.0)
    assert (round(mean, 2), round(single, 2), round(double, 2)) == (1.81, 2.55, 0.81)


@pytest.mark.parametrize("offset", [1.0, 0.3, -2.0])
def test_harmonics_make_up_the_drive(offset):
    mean, single, double = wrmma.force_harmonics(offset)
    series = mean + single * jnp.sin(0.7 * TIME) - double * jnp.cos(1.4 * TIME)
    drive = wrmma.magnetic_drive(TIME, 0.7, offset)
    np.testing.assert_allclose(series, drive, atol=1e-13 * float(jnp.max(drive)))


@pytest.mark.parametrize("ratio", [0.3, 0.9, 1.7])
def test_stiction_solves_its_equation(ratio):
    """Eq. 29."""
    bend = second_derivative(wrmma.stiction_elongation, ratio)
    residual = bend + wrmma.stiction_elongation(TIME, ratio) + wrmma.magnetic_drive(TIME, ratio)
    assert jnp.max(jnp.abs(residual)) < 1e-12 * jnp.max(jnp.abs(bend))


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_sliding_solves_its_equation(direction):
    """Eq. 35, second line."""
    ratio, alpha, eta = 1.2, 1.5, 0.6
    args = ratio, alpha, eta, direction
    bend = second_derivative(wrmma.sliding_elongation, *args)
    residual = (
        bend
        + (alpha + 1) * wrmma.sliding_elongation(TIME, *args)
        - direction * alpha / eta
        + (alpha + 1) * wrmma.magnetic_drive(TIME, ratio)
    )
    assert jnp.max(jnp.abs(residual)) < 1e-12 * jnp.max(jnp.abs(bend))


def test_limits_of_figure_6():
    """3 mT, load factor 32, mass ratio 1.5: sliding between 0.76 and 1.19 by eq. 34."""
    low, high = wrmma.stiction_limits(14.79 / 32 * (3 / 5) ** 2)
    assert (round(float(low), 2), round(float(high), 2)) == (0.76, 1.19)


@pytest.mark.parametrize("harmonic", [1, 2])
def test_near_resonance_the_limit_is_where_stiction_breaks(harmonic):
    """Eq. 34 keeps one harmonic: at small eta the exact load of eq. 32 is one there."""
    eta, time = 1e-4, jnp.linspace(0.0, 4 * jnp.pi * harmonic, 20001)
    for limit in wrmma.stiction_limits(eta, harmonic):
        peak = jnp.max(wrmma.stiction_load(time, limit, eta))
        assert float(peak) == pytest.approx(1.0, abs=5 * eta)


def test_limits_without_a_lower_one():
    low, high = wrmma.stiction_limits(0.5)
    assert float(low) == 0.0 and float(high) > 1.0


def test_limits_refuse_other_harmonics():
    with pytest.raises(ValueError, match="harmonic must be 1 or 2"):
        wrmma.stiction_limits(0.1, harmonic=3)


def test_resonance_of_both_masses():
    """Eq. 36; printed 1.58 for a mass ratio of 1.5. It is the frequency of free sliding."""
    resonance = float(wrmma.sliding_resonance(1.5))
    assert round(resonance, 2) == 1.58
    near = [
        float(jnp.max(jnp.abs(wrmma.sliding_elongation(TIME, f, 1.5, 1.0, 1.0))))
        for f in (resonance * 0.999, resonance * 0.9)
    ]
    assert near[0] > 50 * near[1]


def test_scales():
    """Eqs. 26-27 with the published hammer: t_c = 1 / (2 pi 2300 Hz)."""
    mass = 0.6 * 8900 * 130e-6 * 50e-6 * 280e-6
    stiffness = mass * (2 * np.pi * 2300) ** 2
    scales = wrmma.characteristic_scales(mass, stiffness, 2e-6, 4e-6)
    assert float(scales.time) == pytest.approx(1 / (2 * np.pi * 2300), rel=1e-13)
    assert float(scales.eta) == pytest.approx(0.5, rel=1e-13)
    assert float(scales.elongation / scales.travel) == pytest.approx(0.5, rel=1e-13)
    assert float(scales.elongation * stiffness) == pytest.approx(2e-6, rel=1e-13)
