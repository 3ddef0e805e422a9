"""How sweeps of Nagy 2012 are read: areas of motion, zigzags, crossings."""

import math

import numpy as np
import pytest

from experiments.nagy2012.clamp import _zigzags
from experiments.nagy2012.motion import F2, GRID, RATIOS, erratic, moving_area, zero_crossing


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
    assert _zigzags(line).tolist() == [RATIOS[40]]
