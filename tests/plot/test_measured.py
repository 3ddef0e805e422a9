"""`--data`: measured points over the figures of sweeps, branches and maps, in the units of their axes."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from diffmicro.boundary.chart import Chart
from diffmicro.devices import device, wrmma
from diffmicro.identification import data_of
from diffmicro.plot.branches import plot_branches
from diffmicro.plot.chart import plot_chart
from diffmicro.plot.measured import lay_over, measured_points
from diffmicro.plot.sweep import sweep_figure
from diffmicro.sweep import Table


@pytest.fixture
def measured():
    columns = {
        "frequency [kHz]": [2.3, 2.76],
        "field [mT]": [4, 5],
        "velocity [mm/s]": [3, 4],
        "velocity_error [mm/s]": [0.1, 0.2],
        "sweep": ["up", "down"],
    }
    wr = device("wrmma")
    return measured_points(
        data_of(wr, columns), wr, wrmma.published_design(), wrmma.published_setting()
    )


def points(axes):
    """Places of the points that are drawn with white faces."""
    lines = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    return [tuple(map(float, xy)) for line in lines for xy in line.get_xydata()]


def test_a_sweep_shows_them_in_its_units(measured):
    ratio = np.linspace(0.8, 1.4, 7)
    columns = {"frequency_ratio": ratio, "velocity": 5e-3 * ratio, "status": np.full(7, "ok")}
    units = {"frequency_ratio": "-", "velocity": "m/s"}
    table = Table(("frequency_ratio",), columns, np.arange(7), units)
    figure = sweep_figure(table, measured=measured)
    np.testing.assert_allclose(points(figure.axes[0]), [(1.0, 3.0), (1.2, 4.0)])
    assert figure.axes[0].get_ylabel() == "velocity [mm/s]"


def test_branches_and_maps_show_them(measured):
    class Branch:
        key = "frequency_ratio"
        parameter, velocity = np.array([0.9, 1.3]), np.array([2e-3, 5e-3])
        stable, folds, ends = np.array([True, True]), np.zeros(0, int), ("bound", "bound")

    figure = plot_branches([Branch()], measured=measured)
    np.testing.assert_allclose(points(figure.axes[0]), [(1.0, 3.0), (1.2, 4.0)])
    low, high = np.array([0.5, 1e-3]), np.array([2.0, 8e-3])
    chart = Chart(("frequency_ratio", "field"), low, high, (), (), 0)
    drawn = plot_chart(chart, ("ratio", "field"), measured=measured)
    np.testing.assert_allclose(points(drawn.axes[0]), [(1.0, 4e-3), (1.2, 5e-3)])


def test_a_column_that_is_not_there_is_named(measured):
    with pytest.raises(ValueError, match="the figure shows load_factor"):
        lay_over(Figure().subplots(), measured, ("load_factor", 1.0), ("velocity", 1.0))
