"""Figures of a yield and of boundaries: limits with units, no share above all parts, and a named point."""

import numpy as np

from diffmicro.boundary.values import Boundary, BoundaryCertificate
from diffmicro.fabrication.yields import counted
from diffmicro.plot.bars import elasticity_bars
from diffmicro.plot.boundaries import plot_boundaries
from diffmicro.plot.tolerances import tolerances_figure


def test_a_yield_ends_at_all_parts_and_its_limits_have_units():
    places = np.random.default_rng(0).standard_normal((50, 2))
    found = counted(places, np.where(places[:, 0] > 1, "speed >= 0.07", "").astype(object))
    shown = {"device": "robot", "yield": found.share, "low": found.low, "high": found.high}
    shown |= {"parts": 50, "method": found.method, "causes": found.causes, "nearest": None}
    figure = tolerances_figure(
        shown, found, ["a", "b"], lambda text: text.replace("0.07", "70 mm/s")
    )
    left, _, cloud = figure.axes
    assert left.get_xticks().max() == 100
    assert [text.get_text() for text in left.get_yticklabels()] == ["good", "speed >= 70 mm/s"]
    assert "speed >= 70 mm/s" in cloud.get_legend_handles_labels()[1][1]


def test_the_point_between_boundaries_is_named():
    judged = BoundaryCertificate("refused", "", 0.0, None, 0.0)
    lost = Boundary("ratio", "below", "start_lost", 0.9, 1.0, {}, False, "erratic", judged)
    axes = plot_boundaries([lost], "ratio", "-", {"ratio": 1.0}).axes[0]
    assert axes.get_legend_handles_labels()[1] == ["the point looked at"]


def test_bars_that_are_all_refused_say_so():
    shares = {"a": np.nan, "b": np.nan}
    axes = elasticity_bars(shares, dict.fromkeys(shares, "refused"), "speed").axes[0]
    assert "speed has no derivative that is a number here" in axes.get_title()
    assert not elasticity_bars({"a": 1.0}, {"a": "certified"}, "speed").axes[0].get_title()
