"""Labeled files of sweeps: cubes and points, units, provenance, the same bytes, and without the packages."""

import json
import time

import numpy as np
import xarray
from typer.testing import CliRunner

from diffmicro.command.app import app
from diffmicro.sweep import Table, join, sweep, writer
from diffmicro.sweep.table import read
from tests.sweep import toy

TOY = f"{toy.__file__}:TOY"


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


def test_a_grid_is_a_cube_with_names_units_and_words(tmp_path):
    out = tmp_path / "a.nc"
    words = ("drive=0:3:4", "length=1,2", "waveform=square,sine", "share=None,0.25")
    run("sweep", TOY, *words, "--grad", "length", "--out", out)
    found = xarray.load_dataset(out)
    assert dict(found.sizes) == {"share": 2, "waveform": 2, "length": 2, "drive": 4}
    assert found.drive.attrs["units"] == "Hz" and found.velocity.attrs["units"] == "m/s"
    assert found.share.attrs["units"] == "1" and np.isnan(found.share[0])
    assert found.velocity.sel(drive=3, length=2, waveform="sine", share=0.25) == -60.0
    slope = found.dvelocity_dlength
    assert slope.attrs == {"long_name": "dvelocity/dlength", "units": "m/s / m"}
    np.testing.assert_array_equal(
        slope.sel(waveform="sine", length=1, share=0.25), [0, -1, -2, -30]
    )
    assert set(found.verdict_dvelocity_dlength.values.ravel()) == {"uncertified"}
    assert bool((found.status == "ok").all())


def test_walks_have_a_direction(tmp_path):
    out = tmp_path / "a.nc"
    run("sweep", TOY, "drive=0.5:2.5:3", "length=1,2", "--carry", "both", "--out", out)
    found = xarray.load_dataset(out).velocity.sel(length=1)
    assert found.sel(direction="up").values.tolist() == [0.5, 1.5, 25.0]
    assert found.sel(direction="down", drive=1.5) == 15.0


def test_drawn_points_have_the_dimension_point_and_their_seed(tmp_path):
    out = tmp_path / "a.nc"
    run("sweep", TOY, "drive=0.1:0.9", "--random", 9, "--seed", 4, "share=0.25", "--out", out)
    found = xarray.load_dataset(out)
    assert dict(found.sizes) == {"point": 9}
    np.testing.assert_allclose(found.velocity, found.drive, rtol=1e-12)
    told = json.loads(found.about.item())
    assert told["words"].endswith("drive=0.1:0.9 share=0.25 --random=9 --seed=4")
    assert (told["share"], told["precision"], told["device"]) == (0.25, 64, "toy")
    assert {"version of jaxlib", "XLA_FLAGS", "machine"} <= told.keys()
    assert found.attrs["history"] == told["words"]


def test_a_part_is_no_cube_and_reads_back(tmp_path):
    """Rows of the whole sweep, the places of which the record knows."""
    part = tmp_path / "a.nc"
    run("sweep", TOY, "drive=0.1:1.9:7", "length=1,2", "--shard", "2/2", "--out", part)
    found = xarray.load_dataset(part)
    assert found.row.values.ravel().tolist() == list(range(7, 14))
    again = read(part, ("drive", "length"), {})
    np.testing.assert_allclose(again["velocity"], again["drive"] * again["length"], rtol=1e-12)
    few = join(list(sweep(toy.TOY, {"drive": [0.1, 0.2, 0.3], "length": [1.0, 2.0]}))[:5])
    writer(part)(few, part)
    assert dict(xarray.load_dataset(part).sizes) == {"point": 5}


def test_values_that_are_there_twice_are_points(tmp_path):
    out = tmp_path / "a.nc"
    run("sweep", TOY, "drive=0.5,0.5,1", "--out", out)
    assert dict(xarray.load_dataset(out).sizes) == {"point": 3}


def test_the_bytes_depend_on_the_table_alone(tmp_path):
    words = ("sweep", TOY, "drive=0.1:1.9:5", "--out")
    run(*words, tmp_path / "a.nc")
    time.sleep(1.1)  # HDF5 could note the time, in seconds
    run(*words, tmp_path / "b.nc")
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()


def test_many_words_are_small(tmp_path):
    count = 20_000
    columns = {"drive": np.arange(count) / 7, "status": np.full(count, "not_converged")}
    table = Table(("drive",), columns, np.arange(count), {"drive": "Hz"})
    writer(tmp_path / "a.nc")(table, tmp_path / "a.nc")
    assert (tmp_path / "a.nc").stat().st_size < 20 * count


def test_without_the_packages_it_says_what_to_install(tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("diffmicro._extras.import_module", absent)
    told = run("sweep", TOY, "drive=0:1:3", "--out", tmp_path / "a.nc", code=2)
    assert "pip install 'diffmicro[io]'" in told and ".csv, .npz and .jsonl do not" in told
    run("sweep", TOY, "drive=0:1:3", "--out", tmp_path / "a.csv")
