"""Points drawn from a box, parts of a sweep for several programs, and their merging, by the command."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from diffmicro.command.app import app
from diffmicro.sweep import Interval, Shard, drawn, join, sweep
from diffmicro.sweep.record import _runs
from tests.sweep import toy

TOY = f"{toy.__file__}:TOY"


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("sobol", [False, True])
def test_what_is_drawn_stays_in_its_box_and_does_not_depend_on_the_count(sobol):
    boxes = {"drive": Interval(2.0, 3.0), "waveform": ["square", "sine"], "n": Interval(4, 6, True)}
    many, few = (drawn(boxes, count, seed=3, sobol=sobol) for count in (300, 7))
    assert all(list(many[key][:7]) == list(few[key]) for key in boxes)
    assert 2.0 <= min(many["drive"]) < 2.05 and 2.95 < max(many["drive"]) <= 3.0
    assert set(many["waveform"]) == {"square", "sine"} and set(many["n"]) == {4, 5, 6}
    other = drawn(boxes, 7, seed=4, sobol=sobol)
    assert list(other["drive"]) != list(few["drive"])


def test_a_sobol_sequence_is_more_even_than_chance():
    box = {"drive": Interval(0.0, 1.0), "length": Interval(0.0, 1.0)}

    def largest_gap(sobol):
        values = np.sort(drawn(box, 256, sobol=sobol)["drive"])
        return np.max(np.diff(values))

    assert largest_gap(True) < 2 / 256 < largest_gap(False)


def test_paired_values_go_side_by_side():
    given = {"drive": [0.25, 0.5, 0.75], "length": [1.0, 2.0, 4.0]}
    found = join(list(sweep(toy.TOY, given, paired=True)))
    assert found["velocity"].tolist() == [0.25, 1.0, 3.0]
    with pytest.raises(ValueError, match="equally many: drive has 2, length has 1"):
        list(sweep(toy.TOY, {"drive": [1.0, 2.0], "length": [1.0]}, paired=True))
    with pytest.raises(ValueError, match="no neighbor"):
        list(sweep(toy.TOY, given, paired=True, carry="up"))


def test_the_command_draws(tmp_path):
    out = tmp_path / "drawn.jsonl"
    words = (TOY, "drive=0.1:0.9", "waveform=square,sine", "length=2", "--out", out)
    assert "40 points" in run("sweep", *words, "--random", 40, "--seed", 5, "--dry-run")
    assert not out.exists()
    run("sweep", *words, "--random", 40, "--seed", 5)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 40
    for row in rows:
        sign = 1 if row["waveform"] == "square" else -1
        assert row["velocity"] == pytest.approx(2 * sign * row["drive"], rel=1e-12)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "npz", "nc"])
def test_parts_become_the_whole_to_the_byte(tmp_path, ending):
    words = ("sweep", TOY, "drive=0.1:1.9:301", "waveform=square,sine", "share=None,0.25")
    whole = tmp_path / f"whole.{ending}"
    run(*words, "--out", whole)
    parts = [tmp_path / f"part{n}.{ending}" for n in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        run(*words, "--out", part, "--shard", f"{number}/3")
    merged = tmp_path / f"merged.{ending}"
    assert "1204 points of 3 parts" in run("merge", *parts[::-1], "--out", merged)
    assert merged.read_bytes() == whole.read_bytes()
    assert "nothing is calculated again" in run(*words, "--out", merged, "--resume")


def test_walks_stay_together():
    axes = {"drive": np.linspace(0.1, 3.0, 40), "length": [1.0, 2.0, 3.0]}
    whole = join(list(sweep(toy.TOY, axes, carry="both")))
    pieces = [
        piece
        for number in (1, 2)
        for piece in sweep(toy.TOY, axes, carry="both", shard=Shard(number, 2))
    ]
    np.testing.assert_array_equal(join(pieces)["velocity"], whole["velocity"])


def test_what_cannot_be_merged_is_said(tmp_path):
    words = ("sweep", TOY, "drive=0.1:1.9:600", "--out")
    one, two, other, whole = (tmp_path / f"{name}.csv" for name in ("1", "2", "other", "whole"))
    run(*words, one, "--shard", "1/3")
    run(*words, two, "--shard", "2/3")
    run(*words, whole)
    run("sweep", TOY, "drive=0.1:1.8:600", "--out", other, "--shard", "3/3")
    out = ("--out", tmp_path / "all.csv")
    assert "Of 3 parts 3 is missing" in run("merge", one, two, *out, code=2)
    again = tmp_path / "again.csv"
    for ending in ("", ".sweep.json"):
        shutil.copy(f"{one}{ending}", f"{again}{ending}")
    assert "are the same part, 1 of 3" in run("merge", one, again, *out, code=2)
    assert "other.csv is of another sweep" in run("merge", one, two, other, *out, code=2)
    assert "wrote, or it was changed since" in run("merge", one, whole, *out, code=2)
    assert "There is no file" in run("merge", one, tmp_path / "none.csv", *out, code=2)
    two.write_text(two.read_text() + "\n")
    assert "changed since" in run("merge", one, two, *out, code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["drive=1:2", "--random", 5, "--sobol", 5], "two ways to draw points"),
        (["drive=1:2:3", "--random", 5], "drawn from key=low:high"),
        (["drive=2:1", "--random", 5], "first value has to be below the second"),
        (["drive=1", "--random", 5], "No key has values to draw from"),
        (["drive=-1:2", "--random", 5], "drive = -1 Hz is not allowed"),
        (["drive=1:2", "--random", 5, "--carry", "up"], "no neighbor"),
        (["drive=1:2:3", "--shard", "4/3"], "has to be I/N"),
        (["drive=1:2:3", "--shard", "1/5"], "fewer pieces of work than 5"),
    ],
)
def test_bad_words(tmp_path, words, message):
    assert message in run("sweep", TOY, *words, "--out", tmp_path / "x.csv", code=2)


def test_rows_as_runs():
    assert _runs(np.array([4, 5, 6, 8, 10, 3])) == [(4, 1, 3), (8, 2, 2), (3, 1, 1)]
