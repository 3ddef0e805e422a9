"""Ensembles over starts against single responses, adhesion, and Table 3's statistics."""

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import legs
from diffmicro.devices.legs.ensemble import ensemble
from diffmicro.devices.legs.measured import TABLE3, starts, table3_deviation

BEGIN = jnp.asarray(starts(0, 2))


def means(design=None, **setting):
    design = legs.published_design() if design is None else design
    return ensemble(design, legs.published_setting(window=0.26, **setting), BEGIN)


@pytest.mark.slow
def test_all_starts_of_a_periodic_motion_have_its_statistics():
    found = means()
    # Values of `test_legs`: a separate program's, to 0.1 %.
    np.testing.assert_allclose(found.mean_height, 1.112873e-5, rtol=1e-3)
    np.testing.assert_allclose(found.peak_height, 2.304324e-5, rtol=1e-3)
    np.testing.assert_allclose(found.bounce_rate, 184.6, rtol=1e-9)
    assert np.all(np.asarray(found.bounce_height) < np.asarray(found.peak_height))


def test_adhesion_pulls_the_foot_down_by_its_force_over_the_stiffness():
    still = float(means(voltage=0.0).mean_height[0])
    assert still == pytest.approx(10e-6, rel=1e-9)
    sticky = legs.published_design(adhesion=1e-24, adhesion_offset=1e-6)
    pulled = float(means(sticky, voltage=0.0).mean_height[0])
    rate = 2 * np.pi * np.asarray(sticky.frequency)
    compliance = np.sum(np.asarray(sticky.mobility) / rate**2)
    force = 1e-24 / 11e-6**3
    # Twice a release at t = 0 at most; the mean over many cycles of ringing down is the static shift.
    assert 10e-6 - pulled == pytest.approx(force * compliance, rel=1e-2)
    # Driven, but without contact. When it bounces, other flights can make up for the pull.
    swinging = [float(means(d, voltage=2.0).mean_height[0]) for d in (sticky, None)]
    assert swinging[0] < swinging[1] and float(means(voltage=2.0).impacts[0]) == 0


def test_starts_and_deviation():
    assert np.all(BEGIN[0] == 0) and np.all(np.abs(BEGIN[1]) < 1e-7)
    assert table3_deviation(TABLE3) == 0
    assert table3_deviation(1.2 * np.array(TABLE3)) == pytest.approx(0.2, rel=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"^legs\.ensemble: .*restitution"):
        ensemble(
            legs.published_design(), legs.published_setting(restitution=2.0), jnp.zeros((1, 6))
        )
