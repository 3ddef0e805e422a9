"""Rows on one of two motions: walked where a sweep is named, else the nearest; on the toy with an upper branch."""

from typing import Any

import numpy as np
import pytest

from diffmicro.identification import identify
from tests.sweep.toy import TOY

LENGTH = 0.8
FREE = {"length": (0.3, 3.0)}


def velocity(drive, up):
    return LENGTH * drive * np.where(up, 10.0, 1.0)


def test_rows_of_a_sweep_keep_to_the_motion_that_they_were_reached_on(rng):
    """Between drives 1 and 2 both motions are there: up the lower, down the upper."""
    drive = np.linspace(0.6, 2.6, 9)
    exact = np.concatenate([velocity(drive, drive > 2), velocity(drive, drive > 1)])
    columns = {
        "drive": np.tile(drive, 2),
        "sweep": ["up"] * 9 + ["down"] * 9,
        "velocity": exact + 0.01 * rng.normal(size=18),
        "velocity_error": [0.01] * 18,
    }
    order = rng.permutation(18)  # the order of the rows in the file does not matter
    columns = {name: [column[i] for i in order] for name, column in columns.items()}
    found = identify(TOY, columns, FREE)
    each = found.parameters["length"]
    assert found.used.all() and abs(each.value - LENGTH) < 4 * each.error
    np.testing.assert_array_equal(found.branch, columns["sweep"])
    # The words are what brings them there: without them half of the rows between lie on the other motion.
    turned = columns | {"sweep": ["up"] * 18}
    assert identify(TOY, turned, FREE).residual > 100


def test_rows_that_do_not_say_take_the_nearest_motion(rng):
    drive = np.linspace(0.6, 2.6, 15)
    upper = rng.random(15) < 0.5
    up = (drive > 2) | (upper & (drive > 1))
    columns: dict[str, Any] = {
        "drive": drive,
        "velocity": velocity(drive, up) + 0.01 * rng.normal(size=15),
        "velocity_error": [0.01] * 15,
    }
    found = identify(TOY, columns, FREE)
    each = found.parameters["length"]
    assert abs(each.value - LENGTH) < 4 * each.error
    np.testing.assert_array_equal(found.branch == "down", up & (drive < 2))
    assert found.json()["branches"]["down"] == int((up & (drive < 2)).sum())


def test_more_rows_than_are_calculated_one_by_one():
    drive = np.tile(np.linspace(0.1, 1.9, 30), 10)
    found = identify(TOY, {"drive": drive, "velocity": velocity(drive, False)}, FREE, starts=1)
    assert found.parameters["length"].value == pytest.approx(LENGTH, rel=1e-6)


def test_gradients_that_are_not_certified_are_named():
    drive = np.linspace(0.6, 1.9, 5)
    columns = {"drive": drive, "velocity": velocity(drive, False), "velocity_error": [0.01] * 5}
    found = identify(TOY, columns, FREE)
    assert len(found.uncertified) == 5 and found.used.all()
    assert "no second resolution to compare with" in found.uncertified[0].why
