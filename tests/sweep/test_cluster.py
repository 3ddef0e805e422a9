"""Sweeps by the processes of dask.distributed: the same bits as by one, and messages when something is wrong."""

import json
import os
import shutil

import numpy as np
import pytest
from distributed import LocalCluster

from diffmicro._programs import VARIABLE
from diffmicro.devices import device
from diffmicro.sweep import Store, Table, WorkerDied, cluster, join, sweep
from diffmicro.sweep.chunks import calculate_chunk
from diffmicro.sweep.plan import WALK, Work, environment
from diffmicro.sweep.remote import Call, carried_out
from diffmicro.sweep.run import job_of
from tests.sweep import toy
from tests.sweep.processes import alive, children

TOY = device("tests.sweep.toy:TOY")
FILE = f"{toy.__file__}:TOY"

AXES = {"drive": np.linspace(0.0, 3.0, 2 * WALK + 3), "length": [1.0, 2.0]}
"""Walks of three chunks, over the toy's hysteresis."""


def same(one: Table, other: Table) -> bool:
    """To the bit, with NaN where the other has it."""
    assert list(one.columns) == list(other.columns)
    return all(bits(one[name]) == bits(other[name]) for name in one.columns)


def bits(column):
    return column.dtype, column.tolist() if column.dtype == object else column.tobytes()


@pytest.mark.parametrize("carry", ["none", "both"])
def test_workers_find_the_same_bits(workers, tmp_path, carry):
    axes = {**AXES, "share": [None, 0.25]}
    alone = join(list(sweep(TOY, axes, carry=carry)))
    store = Store(tmp_path / "part")
    pieces = list(sweep(TOY, axes, carry=carry, cluster=workers, store=store))
    assert same(join(pieces), alone)
    if carry == "both":
        assert alone["velocity"].max() == 60.0  # the upper branch was reached
    # What workers left behind is what one process would have left.
    store = Store(tmp_path / "part", resume=True)
    assert same(join(list(sweep(TOY, axes, carry=carry, store=store))), alone)
    assert store.kept == len(pieces)


def test_batches_with_gradients_and_parts_too(workers, run, tmp_path):
    words = ("sweep", FILE, "drive=0.1:6.5:300", "length=1,2", "--grad", "length")
    ways = {
        "one.csv": (),
        "workers.csv": ("--cluster", workers),
        "part1.csv": ("--shard", "1/2", "--cluster", workers),
        "part2.csv": ("--shard", "2/2"),
    }
    for name, way in ways.items():
        run(*words, *way, "--out", tmp_path / name)
    run("merge", tmp_path / "part1.csv", tmp_path / "part2.csv", "--out", tmp_path / "merged.csv")
    one, *others = ((tmp_path / f"{n}.csv").read_bytes() for n in ("one", "workers", "merged"))
    assert all(other == one for other in others)


def test_a_device_from_a_file_and_the_file_of_a_scheduler(workers, run, tmp_path):
    """The workers know neither the file as a module nor the folder of this process."""
    shutil.copy(toy.__file__, tmp_path / "robot.py")
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": workers}))
    words = ("sweep", f"{os.path.relpath(tmp_path / 'robot.py')}:TOY", "drive=0:1:5")
    run(*words, "--out", tmp_path / "one.npz")
    run(*words, "--cluster", tmp_path / "scheduler.json", "--out", tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_single_precision_stays_single(workers, run, tmp_path):
    import jax

    words = ("sweep", FILE, "drive=0.1:0.9:5", "--precision", 32)
    try:
        run(*words, "--out", tmp_path / "one.csv")
        run(*words, "--cluster", workers, "--out", tmp_path / "two.csv")
    finally:
        jax.config.update("jax_enable_x64", True)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert "0.30000001" in (tmp_path / "one.csv").read_text()  # of the nearest 32-bit number


def test_what_a_device_complains_about_is_an_error_here_too(workers):
    with pytest.raises(ValueError, match="offset = nonsense"):
        list(sweep(TOY, AXES, cluster=workers, offset="nonsense"))


@pytest.mark.parametrize("key", ["version of jaxlib", "XLA_FLAGS"])
def test_a_worker_with_other_packages_is_refused(workers, run, tmp_path, monkeypatch, key):
    here = environment() | {key: "another"}
    monkeypatch.setattr(cluster, "environment", lambda: here)
    told = run(
        "sweep", FILE, "drive=0:1:5", "--cluster", workers, "--out", tmp_path / "a.csv", code=2
    )
    assert f"{key} is" in told and "another here" in told and "the same packages" in told


def test_no_scheduler_is_a_message(run, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 1)
    words = ("sweep", FILE, "drive=0:1:5", "--out", tmp_path / "a.csv", "--cluster")
    assert "answered at tcp://127.0.0.1:9 within 1 s" in run(*words, "tcp://127.0.0.1:9", code=2)
    assert "is no address of a dask scheduler" in run(*words, "here", code=2)
    told = run(*words, tmp_path / "none.json", code=2)
    assert "none.json is no file of a dask scheduler" in told
    assert "give one" in run(*words, "tcp://127.0.0.1:9", "--workers", 2, code=2)


def test_a_cluster_without_workers_is_a_message(run, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "WAIT", 1)
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", memory_limit=0) as empty:
        address = empty.scheduler_address  # pyright: ignore[reportAttributeAccessIssue]
        words = ("--cluster", address, "--out", tmp_path / "a.csv")
        told = run("sweep", FILE, "drive=0:1:5", *words, code=2)
    assert "no worker for 1 s. Start some: dask worker tcp://" in told


def test_without_dask_one_process_calculates_and_says_so(run, tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("diffmicro._extras.import_module", absent)
    out = tmp_path / "a.csv"
    told = run("sweep", FILE, "drive=0:1:3", "--out", out, "--workers", 2)
    assert "pip install 'diffmicro[cluster]'" in told and "One process calculates all" in told
    assert len(out.read_text().splitlines()) == 4
    told = run("sweep", FILE, "drive=0:1:3", "--out", out, "--cluster", "tcp://a:1", code=2)
    assert "pip install 'diffmicro[cluster]'" in told


@pytest.mark.parametrize("carry", ["none", "up"])
def test_a_parcel_holds_all_that_a_chunk_needs(carry):
    work = Work(job_of(TOY, AXES, None, None, None, carry, {}, wrt=()))
    same_as = environment(), True
    arrays = None
    for chunk in work.chunks[:2]:
        call = Call(TOY, calculate_chunk, (work.job.recipe, work.load(chunk), arrays))
        found = carried_out(call.packed(), *same_as)
        expected = work.calculate(chunk, arrays)
        assert all(found[name].tobytes() == expected[name].tobytes() for name in expected)
        arrays = found if carry == "up" else None


@pytest.mark.parametrize("keeps", [False, True])
def test_workers_keep_programs_where_this_process_does(keeps, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "in_use", lambda: tmp_path if keeps else None)
    folder = tmp_path / "programs"
    with LocalCluster(
        n_workers=1, dashboard_address="127.0.0.1:0", memory_limit=0, env={VARIABLE: str(folder)}
    ) as found:
        address = str(found.scheduler_address)  # pyright: ignore[reportAttributeAccessIssue]
        list(sweep(TOY, {"drive": np.linspace(0.0, 1.0, 5)}, cluster=address))
    assert folder.exists() == keeps and bool(list(tmp_path.glob("programs/*"))) == keeps


def test_no_process_outlives_a_sweep_that_is_given_up():
    parts = sweep(TOY, {"drive": np.linspace(0.0, 1.0, 200)}, workers=2)
    before = children(os.getpid())
    next(parts)
    own = children(os.getpid()) - before
    assert len(own) >= 2
    parts.close()
    assert not any(map(alive, own))


@pytest.mark.slow
def test_a_chunk_that_ends_every_process_is_named_and_the_finished_ones_are_kept(tmp_path):
    axes = {"drive": np.linspace(0.0, 1.0, 40)}
    deadly = float(axes["drive"][30])
    for kept in (0, 28):
        store = Store(tmp_path / "part", resume=True)
        with pytest.raises(WorkerDied, match=r"Chunk 31 of 40 \(1 point from drive = 0.769"):
            list(sweep(TOY, axes, workers=2, store=store, deadly=deadly))
        assert store.kept >= kept
