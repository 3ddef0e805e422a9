"""The statements of Nagy 2012, each with its number, and what could not be reproduced.

Each experiment runs once; every statement it checks has to hold but those named here.
"""

import math

import numpy as np
import pytest

from experiments.nagy2012 import EXPERIMENTS
from experiments.nagy2012.motion import F2, GRID, RATIOS, erratic, moving_area, zero_crossing
from experiments.outcome import verdict

NOT_REPRODUCED = {
    "nagy2012_fig3": {"curves differ only slightly between mass ratios, at the rest gap"},
    "nagy2012_table1": {"RMSE and R^2 of the fits"},
}

# Experiment -> at least this many statements, so that none gets lost.
STATEMENTS = {
    "nagy2012_fig3": 3,
    "nagy2012_fig4": 7,
    "nagy2012_fig5": 12,
    "nagy2012_fig6": 11,
    "nagy2012_fig7": 9,
    "nagy2012_fig8": 3,
    "nagy2012_fig9": 9,
    "nagy2012_fig10": 3,
    "nagy2012_fig11": 7,
    "nagy2012_table1": 4,
    "nagy2012_table2": 11,
    "nagy2012_table3": 6,
}


def test_every_experiment_is_tested():
    assert set(STATEMENTS) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_statements(name, found):
    checks = found(name).checks
    assert len(checks) >= STATEMENTS[name]
    fails = {c.statement: c.measured for c in checks if not c.holds}
    assert fails.keys() == NOT_REPRODUCED.get(name, set()), fails
    assert verdict(checks) == ("partly" if fails else "reproduced")


def test_numbers_of_figure_5(found):
    """The areas of motion again, from the data alone, to one grid step."""
    velocity = found("nagy2012_fig5").data["velocity"]
    for load, direction, last in (
        (8, "up", 1.92),
        (8, "down", 1.61),
        (32, "up", 1.84),
        (32, "down", 1.58),
    ):
        row = velocity[f"5 mT, load {load}, {direction}"]
        fast = RATIOS[row > 2e-3 * 1.5]
        assert fast[fast > 1.25].max() == pytest.approx(last, abs=GRID + 0.005)
        assert fast[fast > 1.25].min() == pytest.approx(1.33, abs=GRID + 0.005)


def test_numbers_of_figure_6(found):
    data = found("nagy2012_fig6").data
    assert data["zero"] == pytest.approx(1.168, abs=0.005)
    assert np.max(np.abs(data["up"] - data["down"])) < 1e-2 * np.max(data["up"])


def test_cosine_of_figure_10(found):
    """R^2 = 0.99 over the full circle, from the data alone."""
    data = found("nagy2012_fig10").data
    first = np.fft.fft(data["velocity"])
    power = np.abs(first[1:]) ** 2
    assert (power[0] + power[-1]) / power.sum() == pytest.approx(0.99, abs=0.01)


def test_area_of_motion():
    velocity = np.where((RATIOS > 1.4) & (RATIOS < 1.8), 1e-2, 1e-4)
    assert moving_area(velocity, F2, 0.05) == pytest.approx((1.4, 1.8), abs=GRID)
    assert moving_area(velocity, F2) == (RATIOS[0], RATIOS[-1])
    assert math.isnan(moving_area(0 * velocity, F2)[0])


def test_zigzags_and_crossings_are_counted():
    line = RATIOS - 1.0
    assert erratic(line) == 0 and zero_crossing(line, 0.8, 1.2) == pytest.approx(1.0)
    assert math.isnan(zero_crossing(line, 1.2, 1.4))
    line[40] += 5.0
    assert erratic(line) == 1
