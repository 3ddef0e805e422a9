"""What animations and figures share: pace, scale bar, the drawn field, elasticities with verdicts."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

from diffmicro import value_and_gradient
from diffmicro.devices import tribometer, wrmma
from diffmicro.plot.bars import elasticities, plot_elasticities
from diffmicro.plot.stage import RATE, pace, parted, scale_bar
from diffmicro.plot.wrmma import field_over
from diffmicro.reasons import VERDICTS


def test_the_pace_of_a_film():
    assert pace(1e-3, 4 * RATE) == "4,000 times slower than life"
    assert pace(8.0, RATE) == "8 times faster than life"
    assert pace(1.0, RATE) == "1 times slower than life"


@pytest.mark.parametrize("room", [0.9, 1.0, 1.99, 2.0, 4.9, 7.3, 1234.0])
def test_a_scale_bar_is_round_and_fits(room):
    axes = Figure().subplots()
    scale_bar(axes, (3.0, 0.0), room, 1e-6)
    length = float(np.ptp(np.asarray(axes.lines[0].get_xdata(), float)))
    assert room / 2.51 <= length <= room * 1.001
    assert f"{length / 10 ** np.floor(np.log10(length)):.6g}" in ("1", "2", "5")


@pytest.mark.parametrize(
    ("y", "gaps"),
    [
        ([0.0, 1.0, 2.0, 50.0, 51.0, 52.0], [3]),  # two motions
        ([0.0, 1.0, 50.0, 1.0, 0.0], []),  # a peak that is poorly resolved
        ([0.0, 5.0, 15.0, 35.0, 75.0], []),  # steep
        ([0.0, 0.0, 0.0, 5.0, 5.5, 6.0], [3]),  # it stands still, then moves
        ([np.nan, 1.0, 9.0, np.nan], []),  # no neighbor to compare with
        ([0.0, 1.0], []),
    ],
)
def test_a_line_does_not_join_what_jumps(y, gaps):
    x = np.arange(len(y)) + 1.0
    parts = parted(x, np.asarray(y))
    np.testing.assert_array_equal(np.delete(parts[1], gaps), y)
    assert np.isnan(parts[0]).nonzero()[0].tolist() == gaps


def test_the_drawn_field_is_the_applied_one():
    """B (s + offset) / 2: on for half a period, off for the other; with a rise it changes linearly."""
    design, setting = wrmma.published_design(), wrmma.published_setting()
    turns = (np.arange(1000) + 0.5) / 1000
    drawn = field_over(design, setting, turns)
    assert sorted(set(np.round(drawn, 12))) == [0.0, 5e-3] and drawn.mean() == pytest.approx(2.5e-3)
    slow = field_over(design, dataclasses.replace(setting, field_rise=0.2), turns)
    ramp = slow[(turns > 0.001) & (turns < 0.199)]
    np.testing.assert_allclose(np.diff(ramp), np.diff(ramp)[0], rtol=1e-6)
    assert np.abs(slow - drawn).max() <= 5e-3 and slow.mean() == pytest.approx(2.5e-3, rel=1e-3)


def test_elasticities_are_bars_with_their_verdicts():
    design, setting = tribometer.published_design(), tribometer.published_setting(drag_ratio=0.8)
    names = ("friction", "frequency", "drag_ratio")
    asked = value_and_gradient(tribometer.respond, names, "sliding_velocity")
    value, gradient, certificate, _ = asked(design, setting)
    shares = elasticities(value, gradient, design, setting)
    assert list(shares)[0] == "drag_ratio" and list(shares.values())[0] > 1
    figure = plot_elasticities(shares, certificate, "velocity")
    drawn = [float(bar.get_width()) for bar in figure.axes[0].patches]  # pyright: ignore
    assert drawn == pytest.approx(list(shares.values()))
    assert shares["friction"] == pytest.approx(1.0) and shares["frequency"] == pytest.approx(-1.0)
    doubted = {
        name: dataclasses.replace(entry, verdict=np.asarray(VERDICTS.index("uncertified")))
        for name, entry in certificate.entries.items()
    }
    doubt = dataclasses.replace(certificate, entries=doubted)
    shown = plot_elasticities(shares, doubt, "velocity")
    assert all(bar.get_hatch() for bar in shown.axes[0].patches)  # pyright: ignore
    assert "uncertified" in shown.axes[0].texts[0].get_text()
