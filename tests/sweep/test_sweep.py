"""Sweeps of a device with known answers: grids, chunks, second search, carried states, files."""

import csv
import dataclasses
import tracemalloc

import jax
import numpy as np
import pytest

from diffmicro._device import Alias
from diffmicro.devices import as_device
from diffmicro.results import words
from diffmicro.sweep import grid, join, size, sweep, write_csv, write_npz, writer
from diffmicro.sweep.grids import batches, batches_of, points_of
from diffmicro.sweep.lanes import (
    calculate,
    calculate_one,
    lane_function,
)
from diffmicro.sweep.plan import Work
from diffmicro.sweep.run import job_of
from tests.sweep import toy


def table(axes, **options):
    return join(list(sweep(toy.TOY, axes, **options)))


def test_a_grid_is_the_product_with_the_first_axis_fastest():
    columns = grid({"drive": [1.0, 2.0], "length": [3.0, 4.0, 5.0]})
    assert columns["drive"].tolist() == [1, 2] * 3
    assert columns["length"].tolist() == [3, 3, 4, 4, 5, 5]


def test_every_row_belongs_to_its_parameters():
    found = table({"drive": np.linspace(0.1, 1.9, 7), "length": [1.0, 3.0]})
    assert len(found) == 14 == size({"drive": range(7), "length": range(2)})
    np.testing.assert_allclose(found["velocity"], found["drive"] * found["length"], rtol=1e-15)
    assert set(found["status"]) == {"ok"}
    assert found.units == {"drive": "Hz", "length": "m", "velocity": "m/s", "seen": "-"}


@pytest.mark.parametrize("carry", ["none", "up"])
def test_an_alias_is_placed_at_every_point_as_a_word_would_be(carry):
    """pace = length * drive, and so the velocity, whatever the length."""
    aliased = dataclasses.replace(
        toy.TOY, aliases={"pace": Alias("drive", "length", "of the drive")}
    )
    axes = {"pace": np.array([0.2, 0.6, 0.9]), "length": [1.0, 3.0]}
    found = join(list(sweep(aliased, axes, carry=carry)))
    assert found.keys == ("pace", "length") and "drive" not in found.columns
    np.testing.assert_allclose(found["velocity"], found["pace"], rtol=1e-15)
    assert found.units["pace"] == "m"
    with pytest.raises(ValueError, match="pace is drive times length: give one"):
        next(sweep(aliased, {"pace": [1.0], "drive": [1.0]}))


def test_words_and_none_are_swept_in_order():
    found = table({"drive": [0.5, 1.0], "waveform": ["square", "sine"], "share": [None, 0.25]})
    assert found["velocity"].tolist() == [0.5, 1.0, -0.5, -1.0] * 2
    assert found["share"].tolist() == [None] * 4 + [0.25] * 4


def test_bad_lanes_have_their_status_and_spoil_nothing():
    found = table({"length": [1.0, -1.0, np.nan, 2.0]})
    assert found["status"].tolist() == ["ok", "out_of_range", "out_of_range", "ok"]
    np.testing.assert_array_equal(found["velocity"], [0.5, np.nan, np.nan, 1.0])


@pytest.mark.parametrize("count", [5, 8, 11])
def test_chunks_agree_with_single_points_and_repeat_what_the_cheap_search_missed(count):
    """With `few=0` all go in chunks of 4, of which 11 fill the last with copies."""
    drives = np.linspace(3.0, 8.0, count)
    columns = {"drive": drives}
    (batch,) = batches(points_of(toy.TOY, columns, toy.Design(), toy.Setting()))
    build = lane_function(toy.respond)
    quick = dict(toy.TOY.quick)
    pieces = {
        few: list(calculate(build, batch, quick=quick, few=few, chunk=4)) for few in (0, count)
    }
    outputs = {}
    for few, parts in pieces.items():
        lanes = np.concatenate([part.lanes for part in parts])
        assert sorted(lanes) == list(range(count))
        stacked = jax.tree.map(lambda *x: np.concatenate(x), *[part.output for part in parts])
        order = np.argsort(lanes)
        outputs[few] = stacked.velocity[order], stacked.seen[order]
    np.testing.assert_array_equal(outputs[0][0], outputs[count][0])
    np.testing.assert_allclose(outputs[0][0], 10 * drives, rtol=1e-15)
    hard = (drives > 5) & (drives < 7)
    assert hard.any()
    np.testing.assert_array_equal(outputs[0][1], hard)  # the full search only where needed


@pytest.mark.parametrize("drive", [3.0, 6.0])
def test_one_point_alone_equals_one_of_many(drive):
    """The second is found by the full search only, with its window."""
    (batch,) = batches(
        points_of(toy.TOY, {"drive": np.array([drive])}, toy.Design(), toy.Setting())
    )
    build = lane_function(toy.respond)
    (expected,) = calculate(build, batch, quick={})
    alone = calculate_one(build, batch, lone=dict(toy.TOY.lone))
    assert words(alone.output.result).tolist() == ["erratic" if drive == 6 else "ok"]
    for a, b in zip(jax.tree.leaves(alone), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


SHARE, SEARCH = {"share": 1.0}, {"search": 1}


@pytest.mark.parametrize(
    ("lone", "tried"), [({}, [{}]), (SHARE, [SHARE]), (SHARE | SEARCH, [SHARE | SEARCH, SHARE])]
)
def test_a_point_that_fails_is_tried_without_the_cheap_search_alone(lone, tried):
    """A share of the steps is no cheaper search: the point would fail again, after compiling again."""
    (batch,) = batches(points_of(toy.TOY, {"drive": np.array([6.0])}, toy.Design(), toy.Setting()))
    built = []

    def build(**numerics):
        built.append(numerics)
        return lambda design, setting: toy.respond(design, setting, window=0, throw=False)

    calculate_one(build, batch, lone=lone)
    assert built == tried


def test_a_carried_state_shows_hysteresis():
    drives = np.array([0.5, 1.5, 2.5])
    found = table({"drive": drives, "length": [1.0, 2.0]}, carry="both")
    assert len(found) == 12 == size({"drive": drives, "length": [1, 2]}, "both")
    up, down = (found["direction"] == way for way in ("up", "down"))
    one = found["length"] == 1.0
    assert found["velocity"][up & one].tolist() == [0.5, 1.5, 25.0]
    assert found["drive"][down & one].tolist() == [2.5, 1.5, 0.5]
    assert found["velocity"][down & one].tolist() == [25.0, 15.0, 0.5]
    rest = table({"drive": drives})
    assert rest["velocity"].tolist() == [0.5, 1.5, 25.0]


def test_a_state_that_is_not_finite_is_not_handed_on():
    """The bad point (length below zero) has the state NaN; the walk goes on from the one before."""
    found = table({"length": [1.0, 2.0]}, carry="up", setting=toy.Setting(drive=6.0))
    assert found["status"].tolist() == ["erratic", "erratic"]
    lost = table({"drive": [-1.0, 1.5, 2.5]}, carry="down")
    assert lost["status"].tolist() == ["ok", "ok", "out_of_range"]
    assert lost["velocity"][:2].tolist() == [25.0, 15.0]


def test_numerics_reach_the_device_and_responses_are_chosen():
    found = table({"drive": [1.0]}, responses=["velocity"], offset=5.0)
    assert list(found.columns) == ["drive", "velocity", "status"]
    assert found["velocity"].tolist() == [6.0]


def test_files_keep_every_digit_and_mark_what_is_missing(tmp_path):
    found = table({"length": [1 / 3, -1.0], "waveform": ["square", "sine"]})
    write_csv(found, tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row["status"] for row in rows] == ["ok", "out_of_range"] * 2
    assert float(rows[0]["velocity"]) == found["velocity"][0]
    assert rows[1]["velocity"] == ""
    write_npz(found, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        for name in found.columns:
            np.testing.assert_array_equal(arrays[name], found[name].astype(arrays[name].dtype))


def test_mistakes_are_named(tmp_path):
    with pytest.raises(ValueError, match="drvie"):
        table({"drvie": [1.0]})
    with pytest.raises(ValueError, match="no axis"):
        table({})
    with pytest.raises(ValueError, match=r"\.csv, \.npz"):
        writer(tmp_path / "a.xlsx")


def test_too_many_points_are_counted_before_there_are_any():
    """1e9 points: no second, no megabyte."""
    axes = {"drive": np.linspace(0.0, 1.0, 10**6), "length": np.linspace(1.0, 2.0, 10**3)}
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"1000000 x 1000 values are 1000000000 points") as caught:
        next(sweep(toy.TOY, axes))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1e6
    for part in ("GB of memory", "hours", "fewer values of drive"):
        assert part in str(caught.value)


BATCHED = {
    "numbers": (toy.TOY, {"drive": [0.5, 1.0, 2.0], "length": [1.0, 2.0]}),
    "words and None": (
        toy.TOY,
        {"share": [None, 0.25, 0.5], "waveform": ["sine", "square"], "drive": [1.0, 2.0]},
    ),
    "entries of vectors": (
        "gripper",
        {"beam_radius[2]": [1e-4, 2e-4], "hinge[3]": [0.0, 1e-5, 2e-5], "model": ["linear", "exact"]},
    ),
    "all entries, then one": ("gripper", {"beam_radius[:]": [1e-4, 2e-4], "beam_radius[1]": [3e-4, 4e-4]}),
    "vectors": ("gripper", {"beam_radius": [[1e-4] * 4, [2e-4] * 4], "force": [0.0, 1e-6]}),
    "whole numbers": ("stickslip", {"springs": [100, 200], "friction": [0.2, 0.3]}),
    "what is imposed": ("tribometer", {"drag_ratio": [0.3, None], "sliding_velocity": [None, 1e-4]}),
}  # fmt: skip


@pytest.mark.parametrize("name", BATCHED)
def test_batches_from_columns_are_those_of_the_points(name):
    robot, axes = BATCHED[name]
    robot = as_device(robot)
    columns = grid(axes)
    start = robot.published_design(), robot.published_setting()
    expected = batches(points_of(robot, columns, *start))
    found = batches_of(robot, columns, *start)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert jax.tree.structure(one) == jax.tree.structure(other)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_a_million_points_are_columns():
    """Planning them takes what a few columns take, not a value of its own for each."""
    axes = {"drive": np.linspace(0.1, 1.0, 10**3), "length": np.linspace(1.0, 2.0, 10**3)}
    tracemalloc.start()
    work = Work(job_of(toy.TOY, axes, None, None, None, "none", {}))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(len(chunk.rows) for chunk in work.chunks) == 10**6
    assert most < 120 * 10**6  # bytes


@pytest.mark.parametrize(
    "device, axes, method, told",
    [
        ("gripper", {"force": [0.0, 1e-6]}, {}, "gripper takes no state to start from"),
        ("tumbler", {"incline": [0.0, 0.1]}, {"method": "implicit"}, "by the method implicit"),
    ],
)
def test_a_state_that_would_be_ignored_is_not_carried(device, axes, method, told):
    with pytest.raises(ValueError, match=f"sweep: carry = up: .*{told}"):
        next(sweep(device, axes, carry="up", **method))
