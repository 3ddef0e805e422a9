"""The identification of Table 3: its coordinates, its bounds, and a short search."""

import numpy as np
import pytest

from diffmicro.devices import legs
from diffmicro.devices.legs.measured import IDENTIFIED, identified_design, identified_setting
from optimize import legs_table3


def test_coordinates_and_back():
    unit = legs_table3.fitted()
    values = legs_table3.values_of(unit)
    assert unit.shape == (24,) and np.all((unit > 0) & (unit < 1))
    np.testing.assert_allclose(values["gain"], legs.published_design().gain, rtol=1e-12)
    np.testing.assert_allclose(values["mobility"], legs.published_design().mobility, rtol=1e-12)
    assert values["drive_frequency"] == pytest.approx(92.3, rel=1e-12)


def test_identified_set_is_within_its_bounds():
    setting = identified_setting()
    values = IDENTIFIED | {n: getattr(setting, n) for n in legs_table3.IN_SETTING}
    for name, (low, high, _, _) in legs_table3.BOUNDS.items():
        assert np.all((np.array(values[name]) >= low) & (np.array(values[name]) <= high)), name
    air = legs.free_amplitude(identified_design(), legs.published_setting(drive_frequency=89.5))
    assert float(air) <= legs_table3.FREE_MOST
    assert float(
        legs_table3.free_amplitudes(legs_table3.unit_of(values)[None])[0]
    ) == pytest.approx(float(air), rel=1e-9)


@pytest.mark.slow
def test_a_short_search_is_judged_beside_the_fitted_set():
    found = legs_table3.search(0, 1)
    assert found["fitted"] == pytest.approx(0.26, abs=0.015)
    assert found["identified"] < 0.23
    assert np.isfinite(found["rms"]) and np.shape(found["numbers"]) == (3, 3)
