"""`diffmicro sweep` again on a file that is there: no whole table is lost, none is calculated twice."""

import csv
import itertools
import json

import numpy as np
import pytest

from diffmicro.command import sweeping
from diffmicro.plot import sweep as figures
from diffmicro.sweep import plan
from diffmicro.sweep import run as runs
from diffmicro.sweep.record import record_of
from diffmicro.sweep.table import read

WORDS = ("sweep", "tests.sweep.toy:TOY", "drive=0:3:12", "length=1,2")
OTHER = ("sweep", "tests.sweep.toy:TOY", "drive=0:3:13", "length=1,2")


@pytest.fixture
def calculated(monkeypatch):
    """Numbers of the chunks that were calculated, here or in other processes."""
    numbers = []
    whole, spread = plan.Work.calculate, runs.spread

    def here(work, chunk, state):
        numbers.append(chunk.number)
        return whole(work, chunk, state)

    def elsewhere(work, chunks, *rest):
        numbers.extend(chunk.number for chunk in chunks)
        return spread(work, chunks, *rest)

    monkeypatch.setattr(plan.Work, "calculate", here)
    monkeypatch.setattr(runs, "spread", elsewhere)
    return numbers


@pytest.fixture
def interrupt(monkeypatch):
    """`interrupt(n)`: from now on sweeps are interrupted after n pieces; None: no longer."""
    whole = sweeping.sweep

    def interrupt(pieces):
        def interrupted(*args, **options):
            parts = whole(*args, **options)
            yield from itertools.islice(parts, pieces)
            parts.close()
            raise KeyboardInterrupt

        monkeypatch.setattr(sweeping, "sweep", whole if pieces is None else interrupted)

    return interrupt


@pytest.mark.parametrize(
    "ending, options",
    [
        ("csv", ()),
        ("npz", ("--carry", "both")),
        ("nc", ("--carry", "up")),
        ("jsonl", ("--workers", 2)),
    ],
    ids=["csv", "npz walks", "nc walks", "jsonl processes"],
)
def test_a_finished_sweep_is_not_calculated_again(run, tmp_path, calculated, ending, options):
    out = tmp_path / f"a.{ending}"
    assert run(*WORDS, "--out", out, *options, "--resume").code == 0
    before, chunks = out.read_bytes(), len(calculated)
    assert chunks
    done = run(*WORDS, "--out", out, *options, "--resume", "--plot", tmp_path / "a.png")
    assert done.code == 0 and "nothing is calculated again" in done.err
    assert len(calculated) == chunks
    assert out.read_bytes() == before
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert {file.name for file in tmp_path.iterdir()} == {
        out.name, f"{out.name}.sweep.json", "a.png"
    }  # fmt: skip
    # Without the words that ask for it, it is calculated, to the same bytes.
    assert run(*WORDS, "--out", out, *options).code == 0
    assert len(calculated) == 2 * chunks and out.read_bytes() == before


@pytest.mark.parametrize("ending", ["csv", "npz", "jsonl", "nc"])
@pytest.mark.parametrize("words", [WORDS, OTHER], ids=["same", "other"])
def test_an_interrupted_repetition_leaves_the_whole_table(
    run, tmp_path, interrupt, calculated, ending, words
):
    out, figure = tmp_path / f"a.{ending}", tmp_path / "a.png"
    assert run(*WORDS, "--out", out, "--plot", figure).code == 0
    whole, drawn = out.read_bytes(), figure.read_bytes()
    interrupt(5)
    options = ("--resume",) if words is OTHER else ()
    done = run(*words, "--out", out, "--plot", figure, *options)
    assert done.code == 130 and "which stays" in done.err and "--resume goes on" in done.err
    assert out.read_bytes() == whole and figure.read_bytes() == drawn
    interrupt(None)
    calculated.clear()
    done = run(*words, "--out", out, "--resume")
    assert done.code == 0
    if words is WORDS:  # the table was whole all the time
        assert not calculated and out.read_bytes() == whole
    else:
        assert len(calculated) == 21
        assert "another sweep (drive is" in done.err
        assert run(*OTHER, "--out", tmp_path / f"b.{ending}").code == 0
        assert out.read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert not out.with_name(out.name + ".part").exists()


@pytest.mark.parametrize("change", ["no record", "edited", "torn record", "of somebody else"])
def test_a_table_of_unknown_origin_is_replaced_by_a_whole_one_only(
    run, tmp_path, interrupt, change
):
    out, record = tmp_path / "a.csv", tmp_path / "a.csv.sweep.json"
    if change == "of somebody else":
        out.write_text("measured\n1\n")
    else:
        assert run(*WORDS, "--out", out).code == 0
    if change == "no record":
        record.unlink()
    if change == "edited":
        out.write_text(out.read_text() + "# mine\n")
    if change == "torn record":
        record.write_text(record.read_text()[:90])
    before = out.read_bytes()
    interrupt(5)
    assert run(*WORDS, "--out", out, "--resume").code == 130
    assert out.read_bytes() == before
    interrupt(None)
    assert run(*WORDS, "--out", out, "--resume").code == 0
    known = record_of(out)
    assert len(out.read_text().splitlines()) == 25 and known is not None and known.whole


def test_parts_of_a_first_sweep_grow_and_do_not_shrink(run, tmp_path, interrupt):
    out = tmp_path / "a.csv"
    lengths = []
    for pieces in (9, 3, 15, None):
        interrupt(pieces)
        run(*WORDS, "--out", out, "--resume")
        lengths.append(len(out.read_text().splitlines()) - 1)
    assert lengths == [9, 9, 15, 24]


def test_a_death_leaves_the_whole_table_too(run, tmp_path, monkeypatch):
    def dying(*args, **options):
        yield next(whole(*args, **options))
        raise sweeping.WorkerDied("The process died.")

    out = tmp_path / "a.csv"
    assert run(*WORDS, "--out", out).code == 0
    before, whole = out.read_bytes(), sweeping.sweep
    monkeypatch.setattr(sweeping, "sweep", dying)
    assert run(*WORDS, "--out", out).code == 1
    assert out.read_bytes() == before


@pytest.mark.parametrize("ending", ["csv", "npz", "jsonl", "nc"])
def test_a_table_reads_back_and_draws_the_same_figure(run, tmp_path, monkeypatch, ending):
    """With a key that is not a number, a point without one, and walks."""
    tables = []
    monkeypatch.setattr(figures, "save_sweep_figure", lambda table, *_, **__: tables.append(table))
    words = (*WORDS[:2], "drive=0:6.5:5", "waveform=square,sine", "--carry", "both")
    out = tmp_path / f"a.{ending}"
    for _ in range(2):
        assert run(*words, "--out", out, "--resume", "--plot", tmp_path / "a.png").code == 0
    first, again = tables
    assert again.keys == first.keys and dict(again.units) == dict(first.units)
    assert list(again.columns) == list(first.columns)
    for name, column in first.columns.items():
        np.testing.assert_array_equal(again[name].astype(column.dtype), column)


def test_the_record_says_what_the_table_depends_on(run, tmp_path):
    out = tmp_path / "a.csv"
    assert run(*WORDS, "share=0.25", "--out", out).code == 0
    noted = json.loads((tmp_path / "a.csv.sweep.json").read_text())
    assert (noted["points"], noted["count"], noted["sweep"]["share"]) == (24, 24, 0.25)
    assert noted["units"]["velocity"] == "m/s"
    assert list(csv.DictReader(out.read_text().splitlines()))
    assert len(read(out, noted["keys"], noted["units"])) == 24
