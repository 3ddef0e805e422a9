"""The functions of `diffmicro.plot`: each kind of figure, of results whose picture is known."""

import ast
import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import diffmicro.plot
from diffmicro import plot
from diffmicro.design import Constraint, Objective, device_problem
from diffmicro.design.pareto import Front
from diffmicro.devices import device
from diffmicro.fabrication import Yield
from diffmicro.plot.bars import elasticity_bars
from diffmicro.plot.motions import loop_area
from diffmicro.plot.searches import history_figure
from diffmicro.plot.states import Traces

TURN = np.linspace(0, 2 * np.pi, 201)


def circle(radius=2e-6, **flags):
    """A runner on a circle in the plane of place and force; 1 s a turn."""
    columns = {"place": radius * np.cos(TURN), "force": 3e-3 * np.sin(TURN), **flags}
    return Traces("time", TURN / (2 * np.pi), columns, {"time": "s", "place": "m", "force": "N"})


def test_all_names_have_a_home():
    tree = ast.parse(Path(diffmicro.plot.__file__).read_text())
    typed = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("diffmicro")
        for alias in node.names
    }
    homes = diffmicro.plot._HOMES
    assert typed == {name: f"diffmicro.plot.{home}" for name, home in homes.items()}
    for name in homes:
        assert callable(getattr(plot, name)), name
    with pytest.raises(AttributeError, match="no attribute 'mistake'"):
        plot.mistake  # noqa: B018 # pyright: ignore[reportAttributeAccessIssue, reportUnusedExpression]


def test_a_hysteresis_loop_says_what_a_cycle_takes():
    motion = circle()
    assert loop_area(TURN[[0, 50, 100]] * 0, TURN[[0, 50, 100]]) == 0
    area = loop_area(motion.columns["place"], motion.columns["force"])
    assert area == pytest.approx(np.pi * 2e-6 * 3e-3, rel=1e-3)
    (axes,) = plot.plot_hysteresis(motion, "place", "force").axes
    assert axes.get_title() == "18.8 nJ a cycle"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("place [um]", "force [mN]")


def test_an_orbit_dots_its_jumps():
    motion = circle()
    force = motion.columns["force"].copy()
    force[100:] -= 2e-3  # an impact
    (axes,) = plot.plot_orbit(motion.also("force", force, "N"), "place", "force").axes
    whole, dotted = axes.lines[:2]
    assert np.flatnonzero(np.isnan(np.asarray(whole.get_xdata(), float))).tolist() == [100]
    assert dotted.get_linestyle() == ":" and len(np.asarray(dotted.get_xdata())) == 2
    assert len(axes.texts) == 4  # arrows
    half = motion.part(0.0, 0.5)
    (axes,) = plot.plot_hysteresis(half, "place", "force").axes
    assert axes.get_title() == "the curve is not closed, so it has no area" and not axes.patches


def test_a_phase_portrait_has_a_line_for_each_start():
    motions = [circle(radius) for radius in (1e-6, 3e-6)]
    (axes,) = plot.plot_phase_portrait(motions, "place", "force", orbits=[circle()]).axes
    widths = [line.get_linewidth() for line in axes.lines if line.get_marker() == "None"]
    assert widths == [0.7, 0.7, 2.2]
    with pytest.raises(ValueError, match="'speed' is no quantity of this motion; these are: time"):
        plot.plot_phase_portrait(motions, "place", "speed")
    with pytest.raises(ValueError, match="no motion"):
        plot.plot_phase_portrait([], "place", "force")


def test_a_map_of_contacts_fills_the_time_in_contact():
    touches = (TURN < np.pi / 2) | (TURN > np.pi)
    slides = np.where(TURN < np.pi, 1.0, -1.0)
    figure = plot.plot_contacts({"slow": circle(touches=touches, slides=slides)})
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == ["slow: touches", "slow: slides"] and axes.get_xlabel() == "time [s]"
    bars: list[Any] = list(axes.collections)
    widths = [float(np.ptp(bar.get_paths()[0].vertices[:, 0])) for bar in bars]
    assert widths == pytest.approx([0.25, 0.25, 0.5, 0.5, 0.5], abs=0.01)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["-1", "0", "1"]
    with pytest.raises(ValueError, match="no quantity of these motions is a flag"):
        plot.plot_contacts(circle())


def test_a_yield_cloud_shows_what_tells_good_from_bad():
    places = np.random.default_rng(0).standard_normal((400, 3))
    causes = np.where(places[:, 2] > 1, "velocity >= 1", "").astype(object)
    shares = {"velocity >= 1": float(np.mean(causes != ""))}
    found = Yield(0.8, 0.7, 0.9, 400, "counting", shares, None, sample=(places, causes))
    (axes,) = plot.plot_yield_cloud(found, ["length", "width", "etch"]).axes
    assert axes.get_xlabel() == "etch [standard deviations]"
    good, bad = axes.lines[:2]
    assert bad.get_label() == f"velocity >= 1 ({np.sum(causes != '')})"
    assert np.asarray(bad.get_xdata(), float).min() > 1 > np.asarray(good.get_xdata(), float).max()
    one = found._replace(sample=(places[:, 2:], causes))
    assert not plot.plot_yield_cloud(one, ["etch"]).axes[0].get_ylabel()
    with pytest.raises(ValueError, match="kept no parts"):
        plot.plot_yield_cloud(found._replace(sample=None), ["etch"])


def test_a_front_marks_verdicts_and_has_units():
    values = np.array([[3e-3, 1e-3], [2e-3, 2e-3], [1e-3, 3e-3]])
    verdicts = ("certified", "certified", "refused")
    objectives = Objective("velocity", "maximize"), Objective("min_gap", "maximize")
    front = Front(*objectives, values, ({},) * 3, np.zeros(3), verdicts, ("ok",) * 3, 30)
    (axes,) = plot.plot_front(front, shown=((1e3, "mm/s"), (1e6, "um"))).axes
    assert axes.get_xlabel() == "velocity [mm/s], maximize"
    marked = {line.get_label(): len(np.asarray(line.get_xdata())) for line in axes.lines[1:]}
    assert marked == {"certified": 2, "refused": 1}


def test_a_history_is_the_searchs_own():
    """A step that misses a limit is hollow: its objective is nothing that was reached."""
    problem = device_problem(
        "wrmma",
        {"rest_gap": (1e-5, 3e-5)},
        Objective("velocity"),
        [Constraint("min_gap", ">=", 1e-6)],
    )
    name = str(problem.constraints[0])
    first = SimpleNamespace(evaluations=4, objective=2e-3, constraints={name: 1e-6})
    missing = SimpleNamespace(evaluations=8, objective=3e-3, constraints={name: -1e-6})
    result: Any = SimpleNamespace(
        problem=problem, history=(first, missing), constraints={name: {"bound": 1e-6}}
    )
    figure = plot.plot_history(result, "m/s")
    best, left = figure.axes
    np.testing.assert_allclose(np.asarray(best.lines[0].get_xydata()), [[4, 2], [8, 3]])
    good, missed = best.lines[1:]
    assert (good.get_ydata(), missed.get_ydata()) == ([2.0], [3.0])
    assert missed.get_label() == "misses a limit"
    assert best.get_ylabel() == "velocity [mm/s]" and left.get_ylabel() == "left to the bound [%]"
    assert [text.get_text() for text in figure.legends[0].texts] == ["min_gap >= 1 um"]
    assert len(history_figure([{"evaluations": "4", "objective": "1"}], "speed", "", {}).axes) == 1


def test_what_is_rounding_has_no_bar():
    (axes,) = elasticity_bars({"a": 1e-13, "b": -2e-14}, dict.fromkeys("ab", "certified"), "y").axes
    assert [float(bar.get_width()) for bar in axes.patches] == [0, 0]  # pyright: ignore


@pytest.mark.slow
def test_outlines_of_two_designs_lie_over_each_other():
    wrmma = device("wrmma")
    wide = dataclasses.replace(wrmma.published_design(), device_length=400e-6)
    designs = {"published": wrmma.published_design(), "long": wide}
    (axes,) = plot.plot_outline("wrmma", designs).axes
    legend = axes.get_legend()
    assert legend and [t.get_text() for t in legend.get_texts()] == ["published", "long"]
    low, high = axes.get_xlim()
    assert high - low == pytest.approx(1.1 * 400e-6, rel=1e-3)
