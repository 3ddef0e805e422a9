"""Boundaries of devices beside the WRMMA against places found another way, two designs of each limit."""

import pytest

from tests.physics.limit_truth import CASES, examine

LARGEST = 1e-4
"""Largest error of a place or a derivative that the issue of boundaries allows."""

SLOW = ("critical_velocity by springs", "rotation", "stress", "stall")


@pytest.mark.parametrize(
    "name", ["critical_velocity", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
def test_a_limit_and_its_derivative(name):
    found = examine(CASES[name], 2)
    assert len(found) == 2
    assert all(one.error < LARGEST for one in found), found
    # By springs nothing is found within 1 % of the critical velocity, so its neighbors say nothing.
    if name != "critical_velocity by springs":
        assert {one.verdict for one in found} == {"certified"}
