"""Table 3 of Ryou 2014 as the experiments hold it."""

import numpy as np

from diffmicro.devices.legs.measured import table3_deviation
from experiments.ryou2014.statistics import EXPERIMENT, PAPER


def test_table_3_has_its_printed_average_errors():
    """-6, -3 and 2 %, of the rows' sums: rounded to 0.5, and 0.1 more from the last digits of the entries."""
    errors = 100 * (PAPER.sum(axis=1) / EXPERIMENT.sum(axis=1) - 1)
    np.testing.assert_allclose(errors, [-6, -3, 2], rtol=0, atol=0.6)


def test_deviation_is_the_root_mean_square_of_the_relative_ones():
    one = np.ones((3, 3))
    one[1, 2] = 1.3
    both = table3_deviation(np.stack([EXPERIMENT * one, 0.9 * EXPERIMENT]))
    np.testing.assert_allclose(both, [0.3 / 3, 0.1], rtol=1e-12)
