"""Branches of the WRMMA: the hysteresis at load factor 32 (Nagy 2012, Fig. 5), explained."""

import numpy as np
import pytest

from diffmicro.devices import wrmma
from diffmicro.devices.wrmma.branches import branches
from diffmicro.dynamics.orbits import Search

SETTING = wrmma.published_setting(load_factor=32.0, field=5e-3)
DESIGN = wrmma.published_design()
PLAIN = Search(multiples=False, twins=0)


@pytest.fixture(scope="module")
def found():
    return branches(DESIGN, SETTING, "frequency_ratio", 1.3, 2.0)


@pytest.fixture(scope="module")
def impacting(found):
    (branch,) = [b for b in found if b.impacts.max() == 1]
    return branch


@pytest.fixture(scope="module")
def gliding(found):
    """The motion without impacts at high frequencies."""
    (branch,) = [b for b in found if b.impacts.max() == 0 and b.parameter.max() == 2.0]
    return branch


@pytest.mark.slow
def test_impact_branch_is_stable_up_to_its_fold(impacting):
    """The fold lies where impact and reversal reach the switches of the field: a corner.

    The paper's sweep loses the motion at 1.84. Event-driven DOP853 integration (tests/oracles) has
    the stable orbit at 1.8485 still (multiplier 0.9503), and at 1.8495 no longer.
    """
    (fold,) = impacting.folds
    assert fold in impacting.corners
    np.testing.assert_allclose(impacting.parameter[fold], 1.8490, atol=5e-4)
    np.testing.assert_allclose(impacting.parameter[fold], 1.840, atol=0.02)
    before = impacting.parameter[: fold + 1] > 1.35
    assert np.all(impacting.stable[: fold + 1][before])
    assert not np.any(impacting.stable[fold + 1 :])


@pytest.mark.slow
def test_unstable_branch_ends_at_grazing(impacting, gliding):
    """At 1.592, where the branch without impact ends too: both are one orbit there."""
    assert impacting.ends[1] == "grazing" and gliding.ends[0] == "grazing"
    np.testing.assert_allclose(impacting.parameter[-1], 1.592, atol=1e-3)
    np.testing.assert_allclose(gliding.parameter[0], 1.592, atol=1e-3)
    np.testing.assert_allclose(impacting.velocity[-1], gliding.velocity[0], rtol=1e-2)
    assert impacting.multiplier[-1] > 100
    assert np.all(gliding.stable)
    assert gliding.min_gap[0] < 1e-4 * DESIGN.rest_gap < gliding.min_gap[-1]


@pytest.mark.slow
@pytest.mark.parametrize("frequency", [1.45, 1.7, 1.9])
def test_branches_hold_what_the_simulation_finds(found, frequency):
    """The motion from rest lies on the stable part of a branch."""
    setting = wrmma.published_setting(load_factor=32.0, frequency_ratio=frequency)
    response = wrmma.respond(DESIGN, setting, search=PLAIN, window=0)
    velocities = []
    for branch in found:
        crossings = np.flatnonzero(np.diff(branch.parameter > frequency))
        for i in crossings:
            if branch.stable[i]:
                ends = branch.parameter[i : i + 2], branch.velocity[i : i + 2]
                share = (frequency - ends[0][0]) / (ends[0][1] - ends[0][0])
                velocities.append(ends[1][0] + share * (ends[1][1] - ends[1][0]))
    nearest = min(velocities, key=lambda v: abs(v - float(response.velocity)))
    np.testing.assert_allclose(nearest, float(response.velocity), rtol=1e-3)
    # Between grazing and fold two stable motions coexist.
    assert len(velocities) == (2 if 1.593 < frequency < 1.848 else 1)


@pytest.mark.slow
def test_a_parameter_of_the_design_can_be_followed():
    (branch,) = branches(
        DESIGN, wrmma.published_setting(load_factor=8.0), "mass_ratio", 1.4, 1.6, seeds=2
    )
    assert branch.ends == ("bound", "bound")
    np.testing.assert_allclose(sorted(branch.parameter[[0, -1]]), [1.4, 1.6], rtol=1e-12)
    design = wrmma.published_design(mass_ratio=1.4)
    setting = wrmma.published_setting(load_factor=8.0)
    response = wrmma.respond(design, setting, search=PLAIN, window=0)
    at = int(np.argmin(branch.parameter))
    np.testing.assert_allclose(branch.velocity[at], float(response.velocity), rtol=1e-6)


@pytest.mark.parametrize("key", ["mass_ration", "waveform", "demagnetisation", "start_periods"])
def test_unknown_parameters_are_errors(key):
    with pytest.raises(ValueError, match="not a parameter that is a number"):
        branches(DESIGN, SETTING, key, 1.0, 2.0)


def test_a_parameter_without_a_value_is_an_error():
    with pytest.raises(ValueError, match="clamp_voltage has no value of its own here"):
        branches(DESIGN, SETTING, "clamp_voltage", 1.0, 2.0)


def test_values_out_of_range_are_errors():
    with pytest.raises(ValueError, match="rest_gap = .* has to be below device_length"):
        branches(DESIGN, SETTING, "rest_gap", 10e-6, 10.0)
    with pytest.raises(ValueError, match="above 0"):
        branches(DESIGN, SETTING, "frequency_ratio", -1.0, 2.0)
    with pytest.raises(ValueError, match="start < stop"):
        branches(DESIGN, SETTING, "frequency_ratio", 2.0, 1.0)
