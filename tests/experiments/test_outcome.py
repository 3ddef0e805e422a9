"""How statements are judged and written down, and how experiments are started from the command line."""

import json

import numpy as np
import pytest

from experiments import gallery, scoreboard
from experiments.__main__ import main
from experiments.outcome import (
    CONTRADICTED,
    INCOMPARABLE,
    OWN,
    PARTLY,
    REPRODUCED,
    Experiment,
    Outcome,
    Said,
    incomparable,
    number,
    order,
    own,
    reason,
    verdict,
    write,
)
from experiments.progress import counted
from experiments.reading import half_digit

PLACE = Said("section 1", "it flies")
HOLDS = order(PLACE, "it moves", "yes", "yes", True)
FAILS = order(PLACE, "it flies", "yes", "it slides", False)
MUTE = incomparable(PLACE, "how far", "no number in the text")
OURS = own("a hand calculation", "it weighs", "1", "1", True)


@pytest.mark.parametrize(
    "checks, word",
    [
        ([HOLDS], REPRODUCED),
        ([HOLDS, FAILS, MUTE], PARTLY),
        ([FAILS, OURS], CONTRADICTED),
        ([MUTE, OURS], INCOMPARABLE),
        ([OURS], OWN),
    ],
)
def test_verdict(checks, word):
    assert verdict(check.verdict for check in checks) == word
    assert reason(checks) == ("it flies: it slides" if FAILS in checks else "")


@pytest.mark.parametrize(
    "printed, half", [("1.2", 0.05), ("63", 0.5), ("0.1161", 5e-5), ("1e-3", 5e-4), ("4.0e6", 5e4)]
)
def test_a_printed_number_is_known_to_half_a_unit_of_its_last_digit(printed, half):
    assert half_digit(printed) == pytest.approx(half, rel=1e-12)


@pytest.mark.parametrize(
    "measured, more, holds",
    [(1.24, 0, True), (1.25, 0, True), (1.26, 0, False), (1.26, 0.02, True), (np.nan, 9, False)],
)
def test_number(measured, more, holds):
    assert number(PLACE, "a limit", "1.2", measured, more=more).holds == holds


def test_approximately_allows_its_share():
    assert not number(PLACE, "a force", "200", 210).holds
    assert number(PLACE, "a force", "200", 210, about=0.1).holds


@pytest.mark.parametrize("said", [Said("", "words"), Said("section 1", " ")])
def test_no_statement_without_place_and_words(said):
    with pytest.raises(ValueError, match="say where the source says so"):
        order(said, "it moves", "yes", "yes", True)


def test_record_and_figure(tmp_path):
    def draw(figure):
        figure.subplots().plot([0, 1])

    data = {"x": np.array([1.0, np.nan]), "3": [np.float64(2.5), "a"]}
    found = Outcome([HOLDS, FAILS, MUTE, OURS], data, draw)
    known = write("trial", Experiment("a trial", lambda: found), found, tmp_path)
    read = json.loads((tmp_path / "trial.json").read_text())
    assert read == known and read["data"] == {"x": [1.0, None], "3": [2.5, "a"]}
    assert [check["verdict"] for check in read["checks"]] == [
        REPRODUCED,
        CONTRADICTED,
        INCOMPARABLE,
        OWN,
    ]
    assert (tmp_path / "trial.png").read_bytes()[1:4] == b"PNG"
    table = scoreboard.scoreboard([read])
    assert "| trial | a trial | partly | 1 | 1 | 1 | 1 | it flies: it slides |" in table


def test_a_changed_verdict_changes_the_fingerprint():
    def table(check):
        found = Outcome([check], {}, lambda figure: None)
        from experiments.outcome import record

        return {
            "nagy2012_trial": scoreboard.kept(record("t", Experiment("t", lambda: found), found))
        }

    one, other = (scoreboard.fingerprint(table(c)) for c in (HOLDS, HOLDS._replace(holds=False)))
    assert one != other
    assert "1 are reproduced" in scoreboard.sentence(table(HOLDS))


def test_counted_goes_through_everything_without_a_terminal():
    assert list(counted((i for i in range(3)), "numbers")) == [0, 1, 2]


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
    assert (
        "| nagy2012_fig4 | frequency range of stiction | reproduced | 3 |"
        in (out / "scoreboard.md").read_text()
    )
    assert "statements of the sources" in capsys.readouterr().out


def test_recording_writes_the_table_and_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(scoreboard, "EXPECTED", tmp_path / "verdicts.json")
    monkeypatch.setattr(scoreboard, "PAGE", tmp_path / "sources.md")
    monkeypatch.setattr(gallery, "PAGE", tmp_path / "gallery.md")
    assert main(["nagy2012_table2", "--out", str(tmp_path), "--record"]) == 0
    assert list(scoreboard.expected()) == ["nagy2012_table2"]
    assert "| Table II |" in (tmp_path / "sources.md").read_text()
    assert "nagy2012_table2" in (tmp_path / "gallery.md").read_text()


def test_typo_gets_a_suggestion(capsys):
    assert main(["nagy2012_figg6"]) == 2
    assert "Did you mean nagy2012_fig6?" in capsys.readouterr().err
