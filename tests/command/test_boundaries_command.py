"""The subcommand `boundaries`."""

import json

import pytest

from diffmicro.command.app import run

DEMO = (
    "mass_ratio=1.605457 rest_gap=33.61216e-6 tethered_frequency=1006.0008 frequency_ratio=0.904568"
)


@pytest.mark.slow
def test_the_cliff_of_the_demo(capsys, tmp_path):
    """The start from rest is lost at once, the motion itself ends at a fold 5.8 % higher."""
    figure = tmp_path / "b.png"
    words = ["boundaries", "wrmma", *DEMO.split(), "--along", "frequency_ratio"]
    assert run([*words, "--grad", "field,rest_gap", "--json", "--plot", str(figure)]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert figure.stat().st_size > 10_000
    assert [b["at"] for b in found] == sorted(b["at"] for b in found)
    above = [b for b in found if b["side"] == "above"]
    fold = above[-1]
    assert (fold["kind"], fold["ends"], fold["beyond"]) == ("fold", True, "gap_collapsed")
    assert fold["at"] == pytest.approx(0.95721, abs=1e-5)
    assert fold["certificate"]["verdict"] == "certified"
    assert fold["grad"].keys() == {"field", "rest_gap"}
    lost = next(b for b in above if b["kind"] == "start_lost")
    assert lost["distance"] < 1e-3 and lost["grad"] == {}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("wrmma --along waveform", "no derivative"),
        ("wrmma --along fild", "field"),
        ("wrmma --along clamp_force", "between"),
        ("wrmma --along field=1:2:3", "key=low:high"),
        ("wrmma --along field=1e-3:2e-3", "does not contain"),
        ("wrmma --along field --plot x.bmp", ".png"),
    ],
)
def test_what_cannot_be_looked_along(words, told, capsys):
    assert run(["boundaries", *words.split()]) == 2
    assert told in capsys.readouterr().err


def test_no_motion_no_boundary(capsys):
    """A little further up the start from rest does not settle."""
    words = DEMO.replace("0.904568", "0.9048").split()
    assert run(["boundaries", "wrmma", *words, "--along", "frequency_ratio"]) == 3
    assert "erratic" in capsys.readouterr().err
