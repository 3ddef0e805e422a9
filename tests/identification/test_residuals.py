"""Identification: what data tells, what it cannot tell, and gradients of averages."""

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import legs
from diffmicro.devices.legs.measured import foot_response, impact_shares
from diffmicro.identification import fit, impact_residual, response_residual, smoothed

TRUE = legs.published_design()


def test_frequency_response_gives_back_frequencies_damping_and_gains(rng):
    drive = jnp.asarray(np.geomspace(40.0, 5000.0, 200))
    error = 2e-10
    noise = rng.normal(size=(2, drive.size)) * error
    measured = foot_response(TRUE, drive) + noise[0] + 1j * noise[1]

    def model(p):
        return foot_response(legs.published_design(**p), drive)

    start = dict(
        frequency=TRUE.frequency * np.array([1.02, 0.98, 1.01, 0.99, 1.02, 0.98]),
        damping=TRUE.damping * 1.2,
        gain=TRUE.gain * 0.9,
    )
    found = fit(response_residual(model, measured, error), start, positive=("frequency", "damping"))
    assert found.misfit == pytest.approx(1.0, abs=0.15)
    assert found.unknown() == []
    deviations = np.concatenate(
        [(np.asarray(found.parameters[k]) / getattr(TRUE, k) - 1) for k in sorted(start)]
    )
    # Standard errors are what the deviations show: chi squared of 18 numbers.
    assert np.sum((deviations / found.spread) ** 2) < 45
    assert np.max(np.abs(deviations / found.spread)) < 5


def test_impact_maps_do_not_know_the_size_of_mobilities(rng):
    setting = legs.published_setting()
    before = jnp.asarray(rng.normal(size=(40, 6)) * 1e-3)
    error = 1e-6
    exact = before - impact_shares(TRUE, setting)[None, :] * jnp.sum(before, axis=1, keepdims=True)
    after = exact + rng.normal(size=before.shape) * error

    def shares(p):
        return impact_shares(
            legs.published_design(mobility=p["mobility"]),
            legs.published_setting(restitution=p["restitution"]),
        )

    residual = impact_residual(shares, before, after, error)
    start = dict(mobility=TRUE.mobility * np.array([0.5, 2, 1, 1.5, 0.7, 1.2]), restitution=0.4)
    found = fit(residual, start, positive=("mobility",))
    restitution = found.names.index("restitution")
    assert found.identifiable[restitution]
    assert float(found.parameters["restitution"]) == pytest.approx(
        0.51, abs=5 * 0.51 * found.spread[restitution]
    )
    assert found.singular_values[-1] == 0
    assert len(found.unknown()) == 6 and np.all(np.isinf(found.spread[:6]))
    # The direction that is not seen is a common factor of all mobilities.
    unseen = found.directions[-1]
    np.testing.assert_allclose(unseen[:6] / unseen[0], np.ones(6), rtol=1e-3)
    assert abs(unseen[restitution]) < 1e-6
    ratios = np.asarray(found.parameters["mobility"])
    np.testing.assert_allclose(
        ratios / ratios[5], TRUE.mobility / np.asarray(TRUE.mobility)[5], rtol=2e-2
    )


def test_a_start_at_zero_is_named():
    with pytest.raises(ValueError, match="gain starts at 0"):
        fit(lambda p: p["gain"], dict(gap=1.0, gain=0.0))


def test_smoothed_gradient_of_a_kink_and_of_a_rough_function():
    """E|x1 + 0.5 w| has the slope erf-like between -1 and 1; roughness far below the width averages out."""

    def rough(x):
        return jnp.abs(x[0] + 0.05) + 0.3 * x[1] + 1e-4 * jnp.sin(1e5 * x[0])

    found = smoothed(rough, 2, 0.1, 20000, seed=0)
    from scipy.stats import norm

    exact = 1 - 2 * norm.cdf(-0.5)
    assert float(found.gradient[0]) == pytest.approx(exact, abs=4 * float(found.gradient_error[0]))
    assert float(found.gradient[1]) == pytest.approx(0.3, abs=4 * float(found.gradient_error[1]))
    assert float(found.gradient_error[0]) < 0.02
    again = smoothed(rough, 2, 0.1, 20000, seed=0)
    assert float(again.value) == float(found.value)
