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
    up, down = (lines[f"load 8 ({way})"] for way in ("up", "down"))
    assert up.get_color() != down.get_color()
    assert (up.get_marker(), down.get_marker()) == (">", "<")
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


def grid(**axes):
    """A table of all combinations, finished without a fault."""
    columns = dict(zip(axes, (a.ravel() for a in np.meshgrid(*axes.values())), strict=True))
    count = len(next(iter(columns.values())))
    columns |= dict(velocity=np.arange(count) * 1e-3, status=np.full(count, "ok"))
    units = {name: "-" for name in axes} | {"velocity": "m/s"}
    return Table(tuple(axes), columns, np.arange(count), units)


def lines_of(figure):
    return [line for line in figure.axes[0].lines if line.get_marker() == "."]


def test_the_longest_axis_is_along_x_and_walks_stay_along_their_key(table):
    ratio, load = np.linspace(1, 2, 31), np.array([8.0, 32.0])
    figure = sweep_figure(grid(load=load, ratio=ratio))
    assert figure.axes[0].get_xlabel() == "ratio"
    assert [line.get_label() for line in lines_of(figure)] == ["load 8", "load 32"]
    for line in lines_of(figure):
        np.testing.assert_array_equal(line.get_xdata(), ratio)
    assert sweep_figure(grid(load=load, law=np.array(["a", "b", "c"]))).axes[0].get_xlabel() == (
        "load"
    )
    swapped = Table(("load", "ratio"), table.columns, table.rows, table.units)
    assert sweep_figure(swapped).axes[0].get_xlabel() == "load"


def test_many_lines_have_a_bar_of_colors():
    load = np.linspace(8, 32, 25)
    figure = sweep_figure(grid(load=load, ratio=np.linspace(1, 2, 31)))
    assert not figure.legends
    bar = figure.axes[1]
    assert bar.get_ylabel() == "load"
    ticks = {
        float(t.get_text()): y for t, y in zip(bar.get_yticklabels(), bar.get_yticks(), strict=True)
    }
    assert min(ticks) == 8.0 and max(ticks) == 32.0
    colors = {tuple(line.get_color()) for line in lines_of(figure)}
    assert len(colors) == 25


def test_many_lines_of_several_keys_have_a_note():
    axes = dict(load=np.linspace(8, 32, 5), friction=np.linspace(0.1, 0.5, 5))
    figure = sweep_figure(grid(**axes, ratio=np.linspace(1, 2, 31)))
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["25 combinations of\nload and friction"]


def test_what_all_points_share_is_the_title(table):
    assert sweep_figure(table, title="wrmma: field=3e-3").axes[0].get_title() == "wrmma: field=3e-3"


def test_points_on_no_grid_are_a_cloud_over_each_key():
    x = np.array([1.0, 4.0, 2.0, 9.0])
    columns = {"drive": x, "length": x[::-1], "velocity": np.array([1.0, 2.0, np.nan, 4.0])}
    columns["status"] = np.array(["ok", "ok", "refused", "stalled"], object)
    units = {"drive": "Hz", "length": "m", "velocity": "m/s"}
    figure = sweep_figure(Table(("drive", "length"), columns, np.arange(4), units))
    assert [axes.get_xlabel() for axes in figure.axes] == ["drive [Hz]", "length [m]"]
    shown = {
        line.get_label(): list(np.asarray(line.get_xdata())) for line in figure.axes[0].get_lines()
    }
    assert shown == {"ok": [1.0, 4.0], "refused": [], "stalled": [9.0]}
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "ok (2)",
        "refused (1)",
        "stalled (1)",
    ]
