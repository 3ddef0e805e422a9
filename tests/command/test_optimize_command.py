"""`diffmicro optimize`: words that state no problem."""

import json

import pytest

from diffmicro.command import optimizing, words
from diffmicro.design.ending import OPTIMAL
from diffmicro.devices import gripper


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--free", "mass_ratio=1:2"], "exactly one"),
        (
            ["--maximize", "velocity", "--minimize", "impacts", "--free", "mass_ratio=1:2"],
            "exactly one",
        ),
        (["--maximize", "velocity"], "Nothing is free"),
        (["--maximize", "velocty", "--free", "mass_ratio=1:2"], "did you mean velocity?"),
        (["--maximize", "velocity", "--free", "mas_ratio=1:2"], "did you mean mass_ratio?"),
        (["--maximize", "velocity", "--free", "mass_ratio=2:1"], "lower bound"),
        (["--maximize", "velocity", "--free", "mass_ratio=-1:2"], "above 0"),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2", "--subject", "gap>1"],
            "not a response",
        ),
        (["--maximize", "velocity", "--free", "waveform=1:2"], "waveform"),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2", "--free", "mass_ratio=1:1.6"],
            "mass_ratio is given twice, as 1:2 and as 1:1.6",
        ),
        (["--maximize", "velocity", "mass_ratio=1:2", "--free", "mass_ratio=1:2"], "given twice"),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2", "--free", "mass_ratio[:]=1:2"],
            "mass_ratio is free twice",
        ),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2"]
            + ["--robust", "rest_gap=2%", "--robust", "rest_gap=3%"],
            "tolerance of rest_gap is given twice",
        ),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2"]
            + ["--subject", "min_gap>1e-6", "--subject", "min_gap >= 1e-6"],
            "min_gap >= 1e-06 is given twice",
        ),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2", "--robust", "gap=2%"],
            "not a parameter",
        ),
        (
            ["--maximize", "velocity", "--free", "mass_ratio=1:2", "demagnetization=None"]
            + ["--robust", "demagnetization=2%"],
            "demagnetization has no value here",
        ),
        (["--maximize", "velocity", "mass_ratio=1:2", "field=-1"], "field"),
    ],
)
def test_what_states_no_problem(run, arguments, told):
    done = run("optimize", "wrmma", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def deviating(free, *robust):
    """Variables that deviate, and those that are held, of words about the gripper."""
    fixed = words.point(gripper.DEVICE, {})
    bounds = dict.fromkeys(free, (0.0, 1.0))
    found, held = optimizing._deviating(gripper.DEVICE, fixed, bounds, robust)
    return [t.variable for t in found], held


def test_each_entry_of_a_field_deviates_on_its_own():
    radii = [f"beam_radius[{i}]" for i in range(4)]
    names, held = deviating(["young"], "beam_radius=5%")
    assert names == list(held) == radii
    assert held["beam_radius[3]"] == pytest.approx((0.7 * 0.2e-3, 1.3 * 0.2e-3))
    assert deviating(["beam_radius"], "beam_radius=5%") == (radii, {})
    names, held = deviating(["beam_radius[1]"], "beam_radius=5%", "young=1%")
    assert names == [*radii, "young"]
    assert list(held) == [radii[0], *radii[2:], "young"]


def test_a_field_that_is_one_number_deviates_as_one():
    assert deviating(["beam_radius[:]"], "beam_radius=5%") == (["beam_radius"], {})
    names, held = deviating(["young"], "beam_radius[:]=5%")
    assert (names, list(held)) == (["beam_radius"], ["beam_radius[:]"])
    with pytest.raises(words.BadInput, match="free as one number"):
        deviating(["beam_radius[:]"], "beam_radius[2]=5%")
    with pytest.raises(words.BadInput, match="the entries of beam_angle differ"):
        deviating(["young"], "beam_angle[:]=5%")


def test_a_search_and_its_folder(run, tmp_path):
    """What the exit code and the object say, and that a second run leaves the first one alone."""
    out = tmp_path / "run"
    line = [
        "optimize",
        "tribometer",
        "--maximize",
        "sliding_velocity",
        "--free",
        "force_ratio=0.5:0.6",
    ]
    line += ["--method", "sqp", "--json", "--budget", "10"]
    done = run(*line, "--robust", "normal_force=2%", "--out", out)
    found = json.loads(done.out)
    assert (done.code, found["status"]) == (0, "ok")
    assert found["remainder"] <= OPTIMAL
    kept = (out / "checkpoint.bin").read_bytes()
    again = run(*line, "--robust", "normal_force=2%", "--out", out)
    assert (again.code, again.out) == (2, "")
    assert "--resume" in again.err
    assert (out / "checkpoint.bin").read_bytes() == kept
    other = run(*line, "--robust", "normal_force=3%", "--out", out, "--resume")
    assert (other.code, other.out) == (2, "")
    assert "another problem" in other.err
    resumed = run(*line, "--robust", "normal_force=2%", "--out", out, "--resume")
    assert resumed.code == 0
    assert json.loads(resumed.out)["variables"] == found["variables"]
