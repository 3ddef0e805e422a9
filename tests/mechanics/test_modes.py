"""Modes: exact motion, series, responses, matrices and back, and the model of a clamped beam."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from scipy.integrate import solve_ivp

from diffmicro.mechanics import beam_modes, modes
from tests.oracles import closed_forms


@pytest.mark.parametrize(
    ("w", "zeta", "time"), [(3.0, 0.05, 2.0), (500.0, 0.7, 0.01), (6.0, 0.0, 1.0)]
)
def test_propagator_is_the_matrix_exponential(w, zeta, time):
    exact = scipy.linalg.expm(time * np.array([[0.0, 1.0], [-w * w, -2 * zeta * w]]))
    found = np.reshape(np.array(modes.propagator(w, zeta, time)), (2, 2))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    np.testing.assert_allclose(
        np.array(modes.propagator(w, zeta, time / 2).twice()),
        found.ravel(),
        rtol=0,
        atol=1e-12 * np.abs(exact).max(),
    )


def test_series_and_their_derivatives_are_those_of_the_closed_form():
    w, zeta = jnp.array([3.0, 40.0, 6.0]), jnp.array([0.05, 0.8, 0.0])
    time = modes.LONGEST_ANGLE / w * jnp.array([1.0, 0.9, 0.7])

    def closed(w, zeta, time):
        return jnp.stack(modes.propagator(w, zeta, time))

    def short(w, zeta, time):
        series = modes.table(jax.lax.stop_gradient(zeta))
        return jnp.stack(modes.short_propagator(w, zeta, series, time))

    np.testing.assert_allclose(short(w, zeta, time), closed(w, zeta, time), rtol=1e-13, atol=1e-13)
    both = [jax.jacfwd(f, (0, 1, 2))(w, zeta, time) for f in (short, closed)]
    for a, b in zip(*both, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())


def test_sine_and_square_responses_are_exact():
    w, zeta, gain = np.array([560.0, 2300.0]), np.array([0.03, 0.06]), np.array([1e-7, -4e-8])
    drive = 580.0
    times = np.linspace(0, 0.05, 7)[1:]
    for square in (False, True):

        def rates(t, y, sign, square=square):
            u = sign if square else np.sin(drive * t)
            return np.concatenate([y[2:], w**2 * (gain * u - y[:2]) - 2 * zeta * w * y[2:]])

        y, t, found, sign = np.zeros(4), 0.0, [], 1.0
        switches = np.arange(1, 12) * np.pi / drive
        for stop in np.sort(np.concatenate([times, switches[switches < times[-1]]])):
            y = solve_ivp(rates, (t, stop), y, "DOP853", args=(sign,), rtol=1e-12, atol=1e-20).y[
                :, -1
            ]
            t = stop
            if np.any(np.isclose(stop, times, rtol=1e-12)):
                found.append(y[:2])
            else:
                sign = -sign
        response = closed_forms.square_response if square else closed_forms.sine_response
        ours = response(
            jnp.asarray(w), jnp.asarray(zeta), jnp.asarray(gain), drive, jnp.asarray(times)
        )
        np.testing.assert_allclose(ours, np.array(found), rtol=0, atol=1e-10 * np.abs(gain).max())


def test_piecewise_linear_force_is_exact_at_any_step():
    w, zeta = jnp.array([560.0, 2300.0]), jnp.array([0.03, 0.06])
    coarse = jnp.linspace(0.0, 1.0, 5)[:, None] * jnp.array([[3.0, -1.0]])
    fine = jnp.linspace(0.0, 1.0, 401)[:, None] * jnp.array([[3.0, -1.0]])
    few, many = modes.driven(w, zeta, coarse, 1e-2), modes.driven(w, zeta, fine, 1e-4)
    for a, b in zip(few, many, strict=True):
        np.testing.assert_allclose(a[-1], b[-1], rtol=1e-11)


def test_matrices_and_back(rng):
    shape = rng.normal(size=(5, 5))
    frequency = np.sort(rng.uniform(100, 5000, 5))
    damping = rng.uniform(0.01, 0.1, 5)
    m, c, k = closed_forms.matrices(
        jnp.asarray(shape), jnp.asarray(frequency), jnp.asarray(damping), 1e-4
    )
    np.testing.assert_allclose(
        np.sqrt(scipy.linalg.eigh(np.asarray(k), np.asarray(m), eigvals_only=True)),
        frequency,
        rtol=1e-9,
    )
    shapes, found, ratios = closed_forms.modal_data(m, c, k, 1e-4)
    np.testing.assert_allclose(found, frequency, rtol=1e-9)
    np.testing.assert_allclose(ratios, damping, rtol=1e-8)
    signs = np.sign(np.sum(np.asarray(shapes) * shape, axis=0))
    np.testing.assert_allclose(np.asarray(shapes) * signs, shape, rtol=1e-7, atol=1e-8)


def test_clamped_beam():
    roots = beam_modes.roots(2)
    np.testing.assert_allclose(roots, [1.8751041, 4.6940911], rtol=1e-7)
    length, thickness, width, young, density = 0.02, 3e-4, 2e-3, 62e9, 7700.0
    inertia, area = width * thickness**3 / 12, width * thickness
    first = beam_modes.frequencies(length, thickness, young, density, 2)
    expected = roots**2 / (2 * np.pi * length**2) * np.sqrt(young * inertia / (density * area))
    np.testing.assert_allclose(first, expected, rtol=1e-12)
    double = beam_modes.frequencies(2 * length, 2 * thickness, young, density, 2)
    np.testing.assert_allclose(double, first / 2, rtol=1e-12)


def test_static_gain_of_a_bimorph():
    """Against the deflection of a beam under the moment of two active halves, and the sum over many modes."""
    length, thickness, piezo, young, width = 0.02, 3e-4, 2.74e-10, 62e9, 2e-3
    y = (np.arange(200000) + 0.5) * (thickness / 2 / 200000)
    stress = young * piezo / (thickness / 2)
    moment = 2 * np.sum(stress * y) * width * (thickness / 2 / 200000)
    deflection = moment / (young * width * thickness**3 / 12) * length**2 / 2
    assert float(beam_modes.static_gain(length, thickness, piezo)) == pytest.approx(
        deflection, rel=1e-6
    )
    shares = beam_modes.gain_shares(220)
    assert shares.sum() == pytest.approx(1.0, rel=1e-5)
    gains = beam_modes.gains(length, thickness, piezo, 3)
    np.testing.assert_allclose(gains, deflection * shares[:3], rtol=1e-6)
