"""A branch in SI units, and as the table that `diffmicro branches` writes."""

import numpy as np
import pytest

from diffmicro._device import hooked
from diffmicro.command.branching import branches_table
from diffmicro.dynamics.branches import Branch
from diffmicro.hybrid import branches
from tests.hybrid.robots import BALL


def test_a_branch_is_written_in_si_units(monkeypatch):
    found = Branch(
        parameter=np.array([50.0, 60.0]),
        state=np.zeros((2, 2)),
        # displacement, stick, margin; then leaves, lands, peak and hits in natural units
        observed=np.array([[0.0, 0.0, 1.0, 2.0, -3.0, 0.5, 1.0]] * 2),
        multipliers=np.array([[0.5 + 0.5j, 0.1], [-1.2, 0.1]]),
        stable=np.array([True, False]),
        folds=np.array([], int),
        corners=np.array([1]),
        ends=("bound", "grazing"),
    )
    monkeypatch.setattr(branches, "each_from_rest", lambda *given: [found])
    assert BALL.branches is not None
    each = hooked(BALL.branches)(BALL.Design(), BALL.Setting(), "frequency", 50.0, 60.0)
    table = branches_table(BALL, list(each))
    assert table.keys == ("frequency",)
    # Lengths count in the scale of the coordinate, 1 mm; time in periods of the drive.
    rate = 1e-3 * found.parameter
    np.testing.assert_allclose(table.columns["peak"], 0.5e-3)
    np.testing.assert_allclose(table.columns["leaves"], 2 * rate)
    np.testing.assert_allclose(table.columns["lands"], -3 * rate)
    np.testing.assert_allclose(table.columns["multiplier"], [np.sqrt(0.5), 1.2])
    assert list(table.columns["kind"]) == ["bound", "grazing"]
    assert list(table.columns["stable"]) == [True, False]


@pytest.mark.parametrize("key", ["frequenzy", "start", "start_periods"])
def test_what_is_no_number_is_refused_with_those_that_are(key):
    from examples.capsule.capsule import CAPSULE

    assert CAPSULE.branches
    each = hooked(CAPSULE.branches)(CAPSULE.Design(), CAPSULE.Setting(), key, 50.0, 60.0)
    with pytest.raises(ValueError, match=f"'{key}' is not a parameter .*; take one of"):
        next(each)
