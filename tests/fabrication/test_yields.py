"""The yield's estimate against closed forms: right on average, with an interval that keeps its word."""

import numpy as np
import pytest
from scipy.stats import chi2, norm

from diffmicro.fabrication.yields import Center, estimate

WAY = np.array([1.0, 0.5, -0.7, 0.2]) / np.linalg.norm([1.0, 0.5, -0.7, 0.2])
RUNS = 150


def beyond(distance):
    """Bad beyond a plane at this distance."""
    return lambda places: np.where(places @ WAY > distance, "far", "")


def two_sides(places):
    return np.where(places[:, 0] > 3.0, "right", np.where(places[:, 1] < -2.8, "below", ""))


def outside(places):
    return np.where((places[:, :3] ** 2).sum(1) > 16.0, "outside", "")


LOST = {
    "often": (beyond(1.0), norm.sf(1.0)),
    "seldom": (beyond(2.5), norm.sf(2.5)),
    "one in a thousand": (beyond(3.0902), norm.sf(3.0902)),
    "two ways": (two_sides, 1 - (1 - norm.sf(3.0)) * (1 - norm.sf(2.8))),
    "all around": (outside, chi2.sf(16.0, 3)),
}


@pytest.mark.parametrize("name", LOST)
def test_the_interval_holds_the_truth_and_the_mean_is_right(name):
    judge, lost = LOST[name]
    found = [estimate(judge, 4, parts=2000, seed=seed) for seed in range(RUNS)]
    held = sum(y.low <= 1 - lost <= y.high for y in found)
    # 95 % of RUNS, less three standard deviations of the count.
    assert held >= RUNS * 0.95 - 3 * np.sqrt(RUNS * 0.95 * 0.05)
    shares = 1 - np.array([y.share for y in found])
    assert abs(shares.mean() - lost) < 4 * shares.std() / np.sqrt(RUNS)


def test_rare_parts_cost_a_twentieth_of_counting():
    judge, lost = LOST["one in a thousand"]
    errors = np.std([estimate(judge, 4, parts=2000, seed=seed).share for seed in range(RUNS)])
    by_counting = np.sqrt(lost * (1 - lost) / 2000)
    assert (by_counting / errors) ** 2 > 20


def test_causes_and_the_nearest_bad_part():
    found = estimate(two_sides, 4, parts=3000)
    assert list(found.causes) == ["below", "right"]
    assert found.causes["below"] == pytest.approx(norm.sf(2.8), rel=0.2)
    assert found.nearest
    assert found.nearest.cause == "below" and found.nearest.distance == pytest.approx(2.8, rel=0.05)


def test_no_bad_part_is_no_certainty():
    found = estimate(lambda places: np.full(len(places), ""), 3, parts=1000)
    assert found.share == 1 and found.low < 1 - 1e-3 and found.high == 1
    assert found.nearest is None and "no bad part" in found.note


def test_a_center_that_misleads_makes_no_bias():
    wrong = Center(-3 * WAY, "far", "gradient")
    judge, lost = LOST["seldom"]
    found = estimate(judge, 4, parts=4000, by_gradient=lambda: [wrong])
    assert found.low <= 1 - lost <= found.high
    assert "gradient" in found.note


def test_nothing_is_judged_beyond_the_budget():
    asked = []

    def judge(places):
        asked.append(len(places))
        return beyond(3.0)(places)

    estimate(judge, 4, parts=1000)
    assert sum(asked) <= 1000
