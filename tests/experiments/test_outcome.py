"""How experiments are judged, written down, and started from the command line."""

import json

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.outcome import Check, Experiment, Outcome, near, reason, scoreboard, verdict, write

HOLDS = Check("it moves", "yes", "yes", True)
FAILS = Check("it flies", "yes", "it slides", False)


@pytest.mark.parametrize(
    "checks, word",
    [([HOLDS], "reproduced"), ([HOLDS, FAILS], "partly"), ([FAILS], "not")],
)
def test_verdict(checks, word):
    assert verdict(checks) == word
    assert reason(checks) == ("it flies: it slides" if FAILS in checks else "")


@pytest.mark.parametrize(
    "measured, holds", [(1.0, True), (1.1, True), (1.1001, False), (0.899, False), (np.nan, False)]
)
def test_near(measured, holds):
    assert near("a limit", 1.0, measured, 0.1).holds == holds


def test_record_and_figure(tmp_path):
    def draw(figure):
        figure.subplots().plot([0, 1])

    found = Outcome(
        [HOLDS, FAILS], {"x": np.array([1.0, np.nan]), "3": [np.float64(2.5), "a"]}, draw
    )
    known = write("trial", Experiment("a trial", lambda: found), found, tmp_path)
    read = json.loads((tmp_path / "trial.json").read_text())
    assert read == known and read["data"] == {"x": [1.0, None], "3": [2.5, "a"]}
    assert (tmp_path / "trial.png").read_bytes()[1:4] == b"PNG"
    table = scoreboard([read])
    assert "| trial | a trial | partly | 1 of 2 | it flies: it slides |" in table


def test_command(tmp_path, capsys):
    assert main(["list"]) == 0
    assert "nagy2012_fig10" in capsys.readouterr().out
    out = tmp_path / "out"
    assert main(["nagy2012_table3", "nagy2012_fig4", "--out", str(out)]) == 0
    assert {f.name for f in out.iterdir()} == {
        "nagy2012_table3.json",
        "nagy2012_table3.png",
        "nagy2012_fig4.json",
        "nagy2012_fig4.png",
        "scoreboard.md",
    }
    assert (out / "scoreboard.md").read_text().count("reproduced") == 2


def test_typo_gets_a_suggestion(capsys):
    assert main(["nagy2012_figg6"]) == 2
    assert "Did you mean nagy2012_fig6?" in capsys.readouterr().err
