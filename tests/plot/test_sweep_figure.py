"""What a figure of a sweep shows: its lines, marks, units."""

import numpy as np
import pytest

from diffmicro.plot.sweep import save_sweep_figure, sweep_figure
from diffmicro.sweep import Table


@pytest.fixture
def table():
    """Two load factors up and down; one point erratic, one without a number."""
    x, load, way = (a.ravel() for a in np.meshgrid([1.0, 2.0, 3.0], [8.0, 32.0], ["up", "down"]))
    order = np.argsort(-x, kind="stable")  # as if finished in another order
    status = np.full(x.size, "ok", "<U12")
    velocity = 1e-3 * x * load
    status[0], status[1], velocity[1] = "erratic", "no_orbit", np.nan
    columns = dict(ratio=x, load=load, direction=way, velocity=velocity, status=status)
    columns = {name: column[order] for name, column in columns.items()}
    units = {"ratio": "-", "load": "-", "velocity": "m/s"}
    return Table(("ratio", "load"), columns, np.arange(x.size), units)


def test_one_line_for_each_combination_and_direction(table):
    axes = sweep_figure(table).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert {"load 8 (up)", "load 8 (down)", "load 32 (up)", "load 32 (down)"} <= lines.keys()
    assert lines["load 8 (up)"].get_linestyle() == "-"
    assert lines["load 8 (down)"].get_linestyle() == "--"
    assert lines["load 8 (up)"].get_color() == lines["load 8 (down)"].get_color()
    down = lines["load 32 (down)"]
    np.testing.assert_allclose(
        np.asarray(down.get_xydata(), float), [[1, 32], [2, 64], [3, 96]], rtol=1e-12
    )


def test_statuses_are_marked_and_interrupt_the_line(table):
    axes = sweep_figure(table).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert {"erratic", "no_orbit"} <= lines.keys()
    for way in ("up", "down"):
        heights = np.asarray(lines[f"load 8 ({way})"].get_ydata())
        assert np.isfinite(heights).tolist() == [False, True, True]
    crosses = [line.get_xydata() for line in axes.lines if line.get_marker() == "x"]
    assert np.concatenate(crosses).tolist() == [[1.0, 8.0]]


def test_labels_have_units_with_prefix(table):
    axes = sweep_figure(table).axes[0]
    assert axes.get_xlabel() == "ratio"
    assert axes.get_ylabel() == "velocity [mm/s]"


def test_it_is_drawn_into_a_file(table, tmp_path):
    save_sweep_figure(table, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
