"""The C baseline does the same as the library, or its times would compare nothing."""

import shutil
import time

import numpy as np
import pytest

from benchmarks import baseline, moreau_sweep, timing
from benchmarks.__main__ import main
from benchmarks.timing import in_turn, table
from diffmicro.devices.wrmma import published_design, published_setting
from diffmicro.devices.wrmma.sweep import paper_sweep

needs_compiler = pytest.mark.skipif(
    shutil.which("gcc") is None and shutil.which("cc") is None, reason="no C compiler here"
)


@needs_compiler
@pytest.mark.parametrize("precision, rtol", [("float64", 1e-6), ("float32", 2e-2)])
def test_stepping_is_the_same(precision, rtol):
    """Random points, clamped ones too, over the periods that are timed. After few periods even
    those on their way to erratic motions still agree, but for a few near an impact."""
    count = moreau_sweep.CHUNK
    drawn = moreau_sweep.draw(count)
    numbers = baseline.lump(moreau_sweep.parameters_of(drawn, count)).astype(precision)
    motions, unit = moreau_sweep.motions_of(drawn, precision)
    ours = np.asarray(moreau_sweep.stepped(motions)).reshape(-1) * unit
    for arrangement in ("scalar", "lanes"):
        theirs = baseline.run(arrangement, numbers, moreau_sweep.PERIODS, 1000)
        close = np.abs(ours - theirs) < rtol * np.maximum(np.abs(theirs), 1e-3)
        assert np.mean(close) > 0.97


@needs_compiler
def test_procedure_is_the_papers_sweep():
    """At 3 mT nothing is erratic, so both agree at every frequency, to the last period's rule."""
    ratios = np.linspace(0.8, 1.3, 11)
    parameters = moreau_sweep.parameters_of(
        {"field": np.array([3e-3]), "load_factor": np.array([32.0])}, 1
    )[0]
    setting = published_setting(field=3e-3, load_factor=32.0)
    for carry in (True, False):
        theirs, steps = baseline.procedure(parameters, ratios, carry)
        ours = paper_sweep(published_design(), setting, ratios, "up", carry=carry)
        np.testing.assert_allclose(ours.velocity, theirs, atol=5e-9)
        assert abs(int(np.sum(np.asarray(ours.periods))) * 1000 - steps) <= 0.02 * steps


def test_times_are_per_call_and_last():
    """Sleep is never shorter than asked for, on a busy machine either."""
    calls = {"short": 0, "long": 0}

    def sleeper(name, seconds):
        def call():
            calls[name] += 1
            time.sleep(seconds)

        return call

    seconds = in_turn(
        {n: sleeper(n, s) for n, s in (("short", 0.002), ("long", 0.05))}, 3, time.perf_counter
    )
    assert seconds["short"] >= 0.002 and seconds["long"] >= 0.05
    # Each round of the short one fills a window.
    assert calls["short"] * seconds["short"] > 2 * timing.WINDOW
    assert calls["long"] < calls["short"]


def test_table():
    assert table(["a", "b"], [["1", "2"]]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]


def test_unknown_name(capsys):
    assert main(["moreau"]) == 2
    assert "moreau_sweep" in capsys.readouterr().err
