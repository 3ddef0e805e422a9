"""The corrected tangent of Verotti 2022, and what its experiments rest on."""

import numpy as np
import pytest

from experiments.verotti2022 import printed
from experiments.verotti2022.mechanism import at_force, residual_and_parts


def test_corrected_entries_of_table_3():
    """The errata's numbers, from the tangent with a right Jacobian."""
    first, second, third = residual_and_parts("partial", at_force("partial", 50.0))[1]
    right = first + second + third
    places = [(i, j) for i in (6, 7, 8) for j in (6, 7)]
    stated = (2557.66, -920.60, -288.59, 3849.92, -125.73, -881.46)
    expected = dict(zip(places, stated, strict=True))
    for (i, j), value in expected.items():
        assert right[i, j] == pytest.approx(value, abs=6e-3)
    other = np.ones((9, 9), bool)
    other[6:, 6:8] = False
    table = printed.matrix(printed.TABLE_3)
    assert np.all(np.abs(right - table)[other] <= 6e-3 * np.abs(table[other]) + 1e-9)
