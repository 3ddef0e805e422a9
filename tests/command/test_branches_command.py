"""`diffmicro branches`: files, the figure, exit codes, and words that state nothing to follow."""

import csv
import json

import numpy as np
import pytest

from diffmicro.command import branching
from diffmicro.devices.wrmma import branches as wrmma_branches
from diffmicro.dynamics import branches as dynamics_branches
from diffmicro.dynamics.branches import follow

COLUMNS = [
    "mass_ratio", "velocity", "min_gap", "impacts", "multiplier", "stable", "branch", "kind",
]  # fmt: skip
SHORT = ("branches", "wrmma", "mass_ratio=1.4:1.6", "load_factor=8", "--seeds", 2)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The files of a branch without folds."""
    from diffmicro.command import main

    folder = tmp_path_factory.mktemp("short")
    for ending in ("csv", "npz", "jsonl"):
        words = [*map(str, SHORT), "--out", str(folder / f"a.{ending}")]
        assert main([*words, "--plot", str(folder / "a.png")]) == 0
    return folder


def test_a_row_is_a_point_with_its_kind(short):
    rows = list(csv.DictReader((short / "a.csv").read_text().splitlines()))
    assert list(rows[0]) == COLUMNS
    kinds = [row["kind"] for row in rows]
    assert kinds == ["bound", *["regular"] * (len(rows) - 2), "bound"]
    assert {row["stable"] for row in rows} == {"1"} and {row["branch"] for row in rows} == {"1"}
    ratios = [float(row["mass_ratio"]) for row in rows]
    np.testing.assert_allclose(sorted(ratios)[:: len(rows) - 1], [1.4, 1.6], rtol=1e-12)
    assert len(set(ratios)) == len(ratios)
    assert all(0 < float(row["multiplier"]) < 1 for row in rows)


def test_all_files_hold_the_same(short):
    rows = list(csv.DictReader((short / "a.csv").read_text().splitlines()))
    lines = [json.loads(line) for line in (short / "a.jsonl").read_text().splitlines()]
    with np.load(short / "a.npz") as arrays:
        for name in ("mass_ratio", "velocity", "min_gap"):
            read = [float(row[name]) for row in rows]
            assert read == arrays[name].tolist() == [line[name] for line in lines]
        assert arrays["kind"].tolist() == [line["kind"] for line in lines]
        assert arrays["stable"].dtype == bool and lines[0]["stable"] is True


def test_a_figure(short):
    assert (short / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_hysteresis_at_load_factor_32(run, tmp_path):
    """Between 1.8485 and 1.8495 event-driven DOP853 integration (tests/oracles) loses the motion."""
    out = tmp_path / "a.npz"
    done = run(
        "branches", "wrmma", "frequency_ratio=1.3:2", "load_factor=32", "field=5e-3", "--out", out,
        "--plot", tmp_path / "a.png",
    )  # fmt: skip
    assert (done.code, done.out) == (0, "")
    assert "folds at 1.848" in done.err and "grazing" in done.err
    with np.load(out) as table:
        x, kind, stable, branch = (
            table[n] for n in ("frequency_ratio", "kind", "stable", "branch")
        )
        (impacting,) = np.unique(branch[table["impacts"] == 1])
        own = branch == impacting
        (fold,) = np.flatnonzero(own & (kind == "fold"))
        assert 1.8485 < x[fold] < 1.8495
        before = own & (np.arange(len(x)) <= fold)
        assert np.all(stable[before & (x > 1.35)])
        behind = own & (np.arange(len(x)) > fold)
        assert not np.any(stable[behind])
        last = np.flatnonzero(behind)[-1]
        assert kind[last] == "grazing"
        np.testing.assert_allclose(x[last], 1.592, atol=1e-3)


@pytest.mark.slow
def test_sharp_corners_are_passed_without_a_fold(run, tmp_path):
    """At low frequencies the branch has many corners; it is one branch, stable all along."""
    out = tmp_path / "a.npz"
    assert (
        run("branches", "wrmma", "frequency_ratio=0.2:1.3", "load_factor=32", "--out", out).code
        == 0
    )
    with np.load(out) as table:
        assert set(table["branch"]) == {1} and np.all(table["stable"])
        assert set(table["kind"]) <= {"regular", "corner", "bound"}
        assert np.all(np.diff(table["frequency_ratio"]) > 0)


@pytest.mark.slow
def test_a_branch_that_breaks_off_is_exit_code_3_and_kept(run, tmp_path):
    """At clamp phase 0 the clamp stops the body where the period begins: its state there jumps."""
    out = tmp_path / "a.csv"
    done = run(
        "branches", "wrmma", "clamp_phase=-1:1", "clamp_force=1", "load_factor=12", "--out", out
    )
    assert done.code == 3 and "not converged" in done.err
    rows = list(csv.DictReader(out.read_text().splitlines()))
    broken = [row for row in rows if row["kind"] == "not_converged"]
    assert broken and all(abs(float(row["clamp_phase"])) < 1e-4 for row in broken)


def test_no_motion_to_start_from_is_exit_code_3(run, tmp_path, monkeypatch):
    monkeypatch.setattr(wrmma_branches, "_from_rest", lambda *args: None)
    out = tmp_path / "a.csv"
    done = run(*SHORT, "--out", out)
    assert (done.code, done.out) == (3, "")
    assert "none of 2 simulations" in done.err and "--seeds" in done.err
    assert not out.exists()


def test_ctrl_c_keeps_the_finished_branches(run, tmp_path, monkeypatch, short):
    def interrupted(*args):
        if calls:
            raise KeyboardInterrupt
        calls.append(args)
        return follow(*args)

    calls = []
    monkeypatch.setattr(dynamics_branches, "follow", interrupted)
    monkeypatch.setattr(dynamics_branches, "_comes_by", lambda *args: False)
    out = tmp_path / "a.csv"
    done = run(*SHORT, "--out", out)
    assert done.code == 130 and "finished branches are in" in done.err
    assert out.read_bytes() == (short / "a.csv").read_bytes()


def test_ctrl_c_before_the_first_branch(run, tmp_path, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(wrmma_branches, "_from_rest", interrupted)
    done = run(*SHORT, "--out", tmp_path / "a.csv")
    assert done.code == 130 and "Interrupted." in done.err
    assert not (tmp_path / "a.csv").exists()


def test_kinds_of_points():
    class Line:
        parameter = np.arange(5.0)
        corners, folds, ends = np.array([1, 2]), np.array([2]), ("bound", "grazing")

    kinds = branching._kinds(Line)
    assert kinds.tolist() == ["bound", "corner", "fold", "regular", "grazing"]


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["mass_ratio=1:2:5"], "without a count"),
        (["mass_ratio=1.5"], "exactly one key with a range"),
        (["mass_ratio=1:2", "field=1e-3:2e-3"], "mass_ratio, field are 2"),
        (["mass_ratio=2:1"], "below the stop"),
        (["mass_ratio=1:1"], "below the stop"),
        (["mass_ratio=-1:1"], "above 0"),
        (["mass_ratio=a:2"], "one number"),
        (["mass_ratio=nan:2"], "finite"),
        (["mass_ratio=1:"], "one number"),
        (["mas_ratio=1:2"], "did you mean mass_ratio?"),
        (["mass_ratio=1:2", "feild=1"], "did you mean field?"),
        (["waveform=1:2"], "takes words"),
        (["steps=1:2"], "no parameter"),
        (["mass_ratio=1:2", "--method", "moreau"], "method event"),
        (["mass_ratio=1:2", "--steps", "1e9"], "steps"),
        (["mass_ratio=1:2", "--seeds", "1"], "seeds"),
        (["mass_ratio=1:2", "--plot", "a.doc"], ".png"),
    ],
)
def test_bad_branches(run, tmp_path, arguments, told):
    done = run("branches", "wrmma", *arguments, "--out", tmp_path / "a.csv")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize("device", ["tumbler", "gripper"])
def test_devices_without_branches_name_those_with(run, device):
    done = run("branches", device, "field=1:2", "--out", "a.csv")
    assert done.code == 2
    assert f"{device} has no continuation" in done.err and "wrmma" in done.err
    assert "did you mean wrmma?" in run("branches", "wrma", "field=1:2", "--out", "a.csv").err


def test_bad_files(run, tmp_path):
    words = ("branches", "wrmma", "mass_ratio=1:2", "--out")
    assert ".csv, .npz, .jsonl" in run(*words, "a.xlsx").err
    assert "does not exist" in run(*words, tmp_path / "none" / "a.csv").err
    (tmp_path / "a.csv").mkdir()
    assert "is a folder" in run(*words, tmp_path / "a.csv").err
