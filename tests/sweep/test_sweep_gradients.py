"""Gradients as columns of a sweep, with their verdicts; what a sweep will take; progress."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from diffmicro.command import progress as progressing
from diffmicro.command.app import app
from diffmicro.command.progress import Pace, duration, progress
from diffmicro.devices import device
from diffmicro.parameters import put
from diffmicro.sweep import Interval, drawn, join, sweep
from diffmicro.sweep.cost import Cost, cost_of
from diffmicro.sweep.gradients import derivative_columns
from diffmicro.sweep.run import WHOLE, job_of
from tests.sweep import toy

TOY = f"{toy.__file__}:TOY"


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("count", [3, 300])
def test_derivatives_are_columns_with_verdicts(count):
    """One by one, and in batches: d(length * drive * gain) by its factors."""
    drives = np.linspace(0.1, 3.0, count)
    axes = {"drive": drives, "length": [1.0, -1.0]}
    found = join(list(sweep(toy.TOY, axes, responses=["seen"], wrt=["length", "drive"])))
    gain = np.where(found["drive"] > 2, 10.0, 1.0)
    good = found["length"] > 0
    by_length, by_drive = found["dvelocity/dlength"], found["dvelocity/ddrive"]
    np.testing.assert_allclose(by_length[good], (gain * found["drive"])[good], rtol=1e-12)
    np.testing.assert_allclose(by_drive[good], gain[good], rtol=1e-12)
    assert np.isnan(by_length[~good]).all() and set(found["status"][~good]) == {"out_of_range"}
    verdicts = found["verdict of dvelocity/dlength"]
    # A device without a second resolution is never certified.
    assert set(verdicts[good]) == {"uncertified"} and set(verdicts[~good]) == {"refused"}
    assert found.units["dvelocity/dlength"] == "m/s / m"
    assert list(found.columns) == [
        "drive", "length", "seen",
        "dvelocity/dlength", "verdict of dvelocity/dlength",
        "dvelocity/ddrive", "verdict of dvelocity/ddrive", "status",
    ]  # fmt: skip


def test_gradients_are_those_of_evaluate(tmp_path):
    words = ("friction=0.3", "--grad", "normal_force,friction", "--of", "critical_velocity")
    out = tmp_path / "a.csv"
    run("sweep", "tribometer", "force_ratio=0.4,0.8", *words, "--out", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    for row in rows:
        given = ("evaluate", "tribometer", f"force_ratio={row['force_ratio']}", *words, "--json")
        answer = json.loads(CliRunner().invoke(app, list(given)).output)
        for key in ("normal_force", "friction"):
            name = f"dcritical_velocity/d{key}"
            slope = answer["grad"]["critical_velocity"][key]
            assert float(row[name]) == pytest.approx(slope, rel=1e-9)
            entry = answer["certificate"]["critical_velocity"]["entries"][key]
            assert row[f"verdict of {name}"] == entry["verdict"]
    assert "certified" in {row["verdict of dcritical_velocity/dfriction"] for row in rows}


def test_names_of_entries():
    slopes = np.arange(2 * 3 * 4.0).reshape(2, 3, 2, 2)  # points, response, parameter
    verdicts = np.full((2, 2, 2), "certified")
    found = derivative_columns("tip", "hinge", slopes, verdicts)
    names = [f"dtip_{r}/dhinge[{p}]" for r in (1, 2, 3) for p in range(4)]
    assert list(found) == [*names, *(f"verdict of dtip/dhinge[{p}]" for p in range(4))]
    assert found["dtip_3/dhinge[1]"].tolist() == [9.0, 21.0]
    assert list(derivative_columns("tip", "a", slopes[:, :, 0, 0], verdicts[:, 0, 0])) == [
        "dtip_1/da", "dtip_2/da", "dtip_3/da", "verdict of dtip/da"
    ]  # fmt: skip


@pytest.mark.slow
def test_entries_of_vectors_take_a_column_each():
    """Against differences of a smooth response, a step of 1e-5 of the radius."""
    gripper = device("gripper")
    axes = {"force": [1e-7, 2e-7]}
    setting = gripper.published_setting(model="linear")
    wrt, of = ["beam_radius"], ["tip_x", "rotation"]
    found = join(list(sweep("gripper", axes, responses=["tip_x"], setting=setting, wrt=wrt, of=of)))
    slopes = [name for name in found.columns if name.startswith("drotation")]
    assert slopes == [f"drotation_{r}/dbeam_radius[{p}]" for r in (1, 2, 3, 4) for p in range(4)]
    assert "verdict of drotation/dbeam_radius[3]" in found.columns
    step = 2e-9
    design = gripper.published_design()
    radius = float(np.asarray(design.beam_radius)[2])
    ends = []
    for shift in (-step, step):
        moved, _ = put(design, setting, {"beam_radius[2]": radius + shift})
        ends.append(
            join(
                list(sweep("gripper", axes, responses=["rotation"], design=moved, setting=setting))
            )
        )
    for r in (1, 2, 3, 4):
        slope = (ends[1][f"rotation_{r}"] - ends[0][f"rotation_{r}"]) / (2 * step)
        own = found[f"drotation_{r}/dbeam_radius[2]"]
        np.testing.assert_allclose(own, slope, rtol=1e-5, atol=1e-5 * np.abs(slope).max())


def test_parts_with_gradients_become_the_whole_to_the_byte(tmp_path):
    words = ("sweep", TOY, "drive=0.1:1.9:301", "--grad", "length,share")
    whole, merged = (tmp_path / f"{name}.csv" for name in ("whole", "merged"))
    run(*words, "--out", whole)
    parts = [tmp_path / f"part{n}.csv" for n in (1, 2)]
    for number, part in enumerate(parts, 1):
        run(*words, "--out", part, "--shard", f"{number}/2")
    run("merge", *parts, "--out", merged)
    assert merged.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--of", "velocity"], "name the parameters with --grad"),
        (["--grad", "lenth"], "did you mean length?"),
        (["--grad", "waveform"], "takes words"),
        (["--grad", "length", "--of", "speed"], "speed"),
        (["--grad", "share", "share=None,0.5"], "nothing to differentiate by"),
    ],
)
def test_bad_words(tmp_path, words, message):
    assert message in run("sweep", TOY, "drive=1:2:3", *words, "--out", tmp_path / "x.csv", code=2)


def test_a_walk_has_the_gradients_of_its_own_branch():
    """Between drive 1 and 2 the toy is ten times as fast where it came down from above."""
    axes = {"drive": [0.5, 1.5, 2.5], "length": [1.0, 2.0]}
    found = join(list(sweep(toy.TOY, axes, carry="both", wrt=["length", "drive"])))
    gain = found["velocity"] / (found["length"] * found["drive"])
    assert sorted(set(gain[found["drive"] == 1.5])) == [1.0, 10.0]
    np.testing.assert_allclose(found["dvelocity/dlength"], gain * found["drive"], rtol=1e-12)
    np.testing.assert_allclose(found["dvelocity/ddrive"], gain * found["length"], rtol=1e-12)


@pytest.mark.slow
def test_a_walk_of_the_wrmma_has_gradients_of_the_motion_that_it_follows():
    """Against differences of walks of two other designs, a step far above the tolerance of the orbits."""
    wrmma = device("wrmma")
    setting = wrmma.published_setting(load_factor=32.0)
    ratios = np.linspace(1.3, 1.6, 7)
    step = 1e-5

    def walked(mass_ratio, **asked):
        axes = {"frequency_ratio": ratios, "mass_ratio": [mass_ratio]}
        parts = sweep(wrmma, axes, carry="both", setting=setting, responses=["velocity"], **asked)
        return join(list(parts))

    found = walked(1.5, wrt=["mass_ratio"])
    low, high = (walked(1.5 * (1 + sign * step))["velocity"] for sign in (-1, 1))
    slope = (high - low) / (3.0 * step)
    certified = found["verdict of dvelocity/dmass_ratio"] == "certified"
    assert certified.sum() >= 8
    own = found["dvelocity/dmass_ratio"]
    np.testing.assert_allclose(own[certified], slope[certified], rtol=1e-4)


@pytest.mark.parametrize(
    ("count", "carry", "measured"), [(5, "none", 3), (600, "none", 200), (40, "up", 16)]
)
def test_a_dry_run_measures_a_few_points_and_counts_all(count, carry, measured):
    axes = {"drive": np.linspace(0.1, 1.9, count)}
    program = {"offset": float(count)}  # one that no other test has compiled
    cost = cost_of(job_of(toy.TOY, axes, None, None, None, carry, program), WHOLE)
    assert (cost.points, cost.measured) == (count, measured)
    assert 0 < cost.seconds < 1 and cost.compiling > 0


def test_the_time_of_several_processes():
    cost = Cost(points=1000, measured=3, seconds=0.1, compiling=5.0)
    assert (cost.total(), cost.total(4)) == (105.0, 30.0)


def test_a_dry_run_of_drawn_points_with_gradients(tmp_path):
    out = tmp_path / "a.csv"
    told = run("sweep", TOY, "drive=0.1:0.9", "--random", 40, "--grad", "length", "--dry-run",
               "--workers", 2, "--out", out)  # fmt: skip
    assert "40 points" in told and "in one process" in told and "in 2" in told
    assert not list(tmp_path.iterdir())


def test_a_list_of_drawn_points_has_gradients_too():
    found = join(
        list(sweep(toy.TOY, drawn({"drive": Interval(0.1, 0.9)}, 7), paired=True, wrt=["length"]))
    )
    np.testing.assert_allclose(found["dvelocity/dlength"], found["drive"], rtol=1e-12)


def test_pace_counts_what_is_calculated_from_the_first_piece_on():
    now = [0.0]
    pace = Pace(1000, lambda: now[0])
    pace.advance(400, ["ok"] * 400, fresh=False)
    assert pace.words() == "400 ok"
    now[0] = 30.0  # compiling
    pace.advance(100, ["ok"] * 100)
    now[0] = 40.0
    pace.advance(50, ["ok"] * 49 + ["erratic"])
    assert pace.rate == 5.0
    assert pace.words() == "5 points/s, 90 s left, 1 erratic, 549 ok"
    assert [duration(s) for s in (3.14159, 300, 9000, 4e5)] == [
        "3.14 s",
        "5 min",
        "2.5 hours",
        "4.63 days",
    ]


def test_without_a_terminal_a_line_says_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progressing, "EVERY", 0.0)
    with progress("sweep", 12) as advance:
        advance(4, ["ok", "ok", "stalled", "ok"])
    assert "sweep: 4 of 12 done, 3 ok, 1 stalled" in capsys.readouterr().err
