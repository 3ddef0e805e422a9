"""`diffmicro list`, `show`, `doctor` and `sweep`."""

import csv
import dataclasses
import re

import numpy as np
import pytest

from diffmicro._device import Alias
from diffmicro.command import sweeping, words
from diffmicro.command.words import parameters, responses
from diffmicro.devices import OWN, device
from diffmicro.units import in_si, parsed
from tests.sweep import toy


def test_list_names_every_device(run):
    done = run("list")
    assert done.code == 0
    for name in OWN:
        assert name in done.out


@pytest.mark.parametrize("name", OWN)
def test_show_names_every_parameter_and_response_with_unit(run, name):
    done = run("show", name)
    assert done.code == 0
    lines = done.out.splitlines()
    known = parameters(device(name)) | responses(device(name))
    for key, entry in known.items():
        # A row begins in the first column; a name may be a parameter and a response.
        rows = [line for line in lines if re.match(rf" ?{key} ", line)]
        assert rows
        shown = [cell for row in rows for cell in re.split(r"\s{2,}", row)]
        if entry.unit != "-" and isinstance(entry.default, float):  # in a unit that reads well
            assert any(_same(f"{a}{b}", entry) for a, b in zip(shown, shown[1:], strict=False))
        else:
            assert entry.unit in ("", "-") or any(_alike(cell, entry.unit) for cell in shown)


def _alike(cell, unit):
    try:
        return cell == unit or parsed(cell).powers == parsed(unit).powers
    except ValueError:
        return False


def _same(text, entry):
    try:
        return in_si(text, entry.unit) == pytest.approx(entry.default, rel=1e-9)
    except ValueError:
        return False


@pytest.mark.parametrize("how", [(), ("--random", "4")])
def test_an_alias_is_swept_or_held_where_what_it_is_made_with_varies(
    run, tmp_path, monkeypatch, how
):
    aliased = dataclasses.replace(
        toy.TOY, aliases={"pace": Alias("drive", "length", "of the drive")}
    )
    monkeypatch.setattr(words, "device", lambda name: aliased)
    count = () if how else (":3",)
    length = "length=1m:3m" + "".join(count)
    for pace in ("pace=40cm", "pace=20cm:90cm" + "".join(count)):
        out = tmp_path / "pace.csv"
        done = run("sweep", "toy", length, pace, "--out", out, *how)
        assert done.code == 0, done.err
        rows = list(csv.DictReader(out.read_text().splitlines()))
        found = [[float(row[key]) for row in rows] for key in ("pace", "velocity", "length")]
        np.testing.assert_allclose(found[0], found[1], rtol=1e-15)
        assert len(set(found[2])) > 2
    beyond = run("sweep", "toy", length, "pace=-1m:1m" + "".join(count), "--out", out, *how)
    assert beyond.code == 2 and "drive" in beyond.err


def test_doctor_tells_versions_and_settings(run):
    done = run("doctor")
    assert done.code == 0
    for part in ("jaxlib: ", "precision: 64 bits", "XLA_FLAGS", "wrmma"):
        assert part in done.out


def test_a_sweep_becomes_a_file_and_a_figure(run, tmp_path):
    out, figure = tmp_path / "a.csv", tmp_path / "a.png"
    done = run(
        "sweep", "wrmma", "frequency_ratio=0.9:1.1:3", "load_factor=8,32", "mass_ratio=1.5",
        "--out", out, "--plot", figure, "--response", "velocity,impacts",
    )  # fmt: skip
    assert (done.code, done.out) == (0, "")
    assert "6 points" in done.err and "6 ok" in done.err
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert list(rows[0]) == ["frequency_ratio", "load_factor", "velocity", "impacts", "status"]
    at = [(float(row["frequency_ratio"]), float(row["load_factor"])) for row in rows]
    assert at == [(0.9, 8), (1.0, 8), (1.1, 8), (0.9, 32), (1.0, 32), (1.1, 32)]
    # Reference point "slide f1 b32", from an independent event-driven program.
    assert float(rows[4]["velocity"]) == pytest.approx(0.004717411184167364, rel=2e-5)
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_an_interrupted_sweep_keeps_what_is_finished(run, tmp_path, monkeypatch):
    def interrupted(*args, **options):
        pieces = iter(whole(*args, **options))
        yield next(pieces)
        yield next(pieces)
        raise KeyboardInterrupt

    whole = sweeping.sweep
    monkeypatch.setattr(sweeping, "sweep", interrupted)
    out = tmp_path / "a.npz"
    done = run("sweep", "wrmma", "frequency_ratio=0.9:1.1:3", "load_factor=32", "--out", out)
    assert done.code == 130
    with np.load(out) as arrays:
        np.testing.assert_array_equal(arrays["frequency_ratio"], [0.9, 1.0])
        assert arrays["velocity"][1] == pytest.approx(0.004717411184167364, rel=2e-5)


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["field=1e-3:2e-3"], "start:stop:count"),
        (["field=-1e-3:2e-3:5"], "field"),
        (["field=1e-3"], "several values"),
        (["field=1e-3:2e-3:5", "mass_ratio=-1"], "mass_ratio"),
        (["felid=1e-3:2e-3:5"], "did you mean field?"),
        (["field=1e-3:2e-3:5", "--carry", "sideways"], "none, up, down, both"),
        (["field=1e-3:2e-3:5", "--steps", "1e9"], "steps"),
        (["field=1e-3:2e-3:5", "--response", "speeed"], "speeed"),
        (["field=1e-3:2e-3:5", "--plot", "a.doc"], ".png"),
        (["field=1e-3:2e-3:5", "steps=10,20"], "one value for the whole sweep"),
        (["field=1e-3:2e-3:5", "waveform=sine,sqare"], "did you mean square?"),
    ],
)
def test_bad_sweeps(run, tmp_path, arguments, told):
    done = run("sweep", "wrmma", *arguments, "--out", tmp_path / "a.csv")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    "words, told",
    [
        (["gripper", "force=0:1e-6:2", "--carry", "up"], "wrmma, tumbler, legs"),
        (
            ["tumbler", "incline=0:0.1:2", "method=implicit", "--carry", "up"],
            "no state to start from by the method implicit; take event",
        ),
        (["gripper", "beam_radius=1e-3:2e-3:3"], "a range is for single numbers"),
        (["gripper", "force=0:1e-6:2", "beam_radius=1e-3,2e-3"], "it needs 4"),
        (["gripper", "force=0:1e-6:2", "method=event"], "gripper has no method"),
        (["tribometer", "drag_ratio=0.1,0.2", "sliding_velocity=0.1,0.2"], "exactly one of"),
        (
            ["tribometer", "direction=oop,ipi", "law=coulomb,dynamic"],
            "law = dynamic does not exist",
        ),
        (["stickslip", "springs=100:201:3"], "whole number"),
        (["tribometer", "drag_ratio=0.3,None"], "neither is"),
        (["tribometer", "drag_ratio=None,0.3"], "neither is"),
        (["tribometer", "friction=0.1:0.2:1000000", "radius=1e-3:2e-3:1000"], "1000000000 points"),
        (["wrmma", "field=1e-3:2e-3:5", "steps=5", "--steps", "6"], "steps is given twice"),
        (["gripper", "force=0,1e-6", "--response", "tip_travel"], "needs a limit to end at"),
    ],
)
def test_what_a_device_cannot_sweep(run, tmp_path, words, told):
    done = run("sweep", *words, "--out", tmp_path / "a.csv")
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_what_is_imposed_is_swept_instead_of_the_default(run, tmp_path):
    """A sliding velocity takes the place of the drag ratio that is imposed by default."""
    words = ("sweep", "tribometer", "sliding_velocity=1e-4:1e-3:3", "--out", tmp_path / "a.npz")
    for extra in ((), ("drag_ratio=None",)):
        assert run(*words, *extra).code == 0
        with np.load(tmp_path / "a.npz") as table:
            assert np.all(table["status"] == "ok") and np.all(np.diff(table["friction_ratio"]) > 0)


def test_commas_of_a_vector_part_no_values(run, tmp_path):
    radii = "beam_radius=2e-4,2e-4,2e-4,2e-4"
    out = tmp_path / "a.csv"
    assert run("sweep", "gripper", "force=0,1e-6", radii, "model=linear", "--out", out).code == 0
    assert len(out.read_text().splitlines()) == 3


def test_files_that_cannot_be_written_are_no_crash(run, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sweeping.Store, "save", full)
    done = run("sweep", "tribometer", "friction=0.1,0.2", "--out", tmp_path / "a.csv")
    assert done.code == 2 and "No space left" in done.err


def test_brackets_in_a_name_are_no_markup(run, tmp_path):
    folder = tmp_path / "d[" / "x]"
    folder.mkdir(parents=True)
    done = run(
        "sweep", "tribometer", "friction=0.1,0.2", "--out", folder / "[red]a.csv", "--resume"
    )
    assert done.code == 0
    assert f"2 points to {folder / '[red]a.csv'}" in done.err


def test_the_version(run):
    assert re.match(r"diffmicro \d+\.\d+", run("--version").out)


def test_bad_files(run, tmp_path):
    assert ".csv, .npz, .jsonl" in run("sweep", "wrmma", "field=1:2:2", "--out", "a.xlsx").err
    missing = tmp_path / "none" / "a.csv"
    assert "does not exist" in run("sweep", "wrmma", "field=1:2:2", "--out", missing).err
