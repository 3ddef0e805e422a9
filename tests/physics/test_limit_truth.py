"""Boundaries of devices beside the WRMMA against places found another way: a few designs of each."""

import numpy as np
import pytest

from tests.physics.limit_truth import CASES, ORBITS, examine, examine_orbits

LARGEST = 1e-4
"""Of the issue: largest error of a derivative."""

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in CASES if name != "critical_velocity"]


@pytest.mark.parametrize("name", ["critical_velocity", *SLOW])
def test_a_limit_and_its_derivative(name):
    found = examine(CASES[name], 2)
    assert len(found) == 2
    errors = [one.error for one in found]
    assert np.all(np.isfinite(errors)) and max(errors) < LARGEST, errors
    # By springs nothing is found within 1 % of the critical velocity, so its neighbors say nothing.
    wanted = (
        {"certified"} if name != "critical_velocity by springs" else {"certified", "uncertified"}
    )
    assert {one.verdict for one in found} <= wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", ORBITS)
def test_boundaries_of_a_robot_outside_the_package(name):
    found = [one for kind in examine_orbits(*ORBITS[name], 3).values() for one in kind]
    compared = [one for one in found if np.isfinite(one.error)]
    assert compared
    assert all(one.error < LARGEST for one in compared if one.verdict == "certified"), found
