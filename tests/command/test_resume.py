"""`diffmicro sweep`: processes, sweeps that were killed or interrupted, and what is left of them."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from diffmicro._files import packed, replace
from diffmicro.command import sharing

WORDS = ("sweep", "tribometer", "friction=0.1:0.9:240")
CARRIED = (
    "sweep", "wrmma", "frequency_ratio=0.9:1.9:70", "field=4e-3,5e-3", "load_factor=32",
    "--carry", "both",
)  # fmt: skip
BATCHED = ("sweep", "wrmma", "frequency_ratio=0.9:1.9:150", "load_factor=8:32:6")


@pytest.fixture(autouse=True, scope="module")
def children_hear_ctrl_c():
    """Also where the tests run as a background job, which ignores it, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def start(*arguments):
    """`python -m diffmicro` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "diffmicro", *map(str, arguments)], stderr=subprocess.PIPE, text=True
    )


def stop_after(chunks, out, how, *arguments):
    """Start a sweep and send it a signal when so many chunks are on disk; its exit code and stderr."""
    process = start(*arguments, "--out", out)
    folder = out.with_name(out.name + ".part")
    limit = time.monotonic() + 240
    while len(list(folder.glob("chunk-*.bin"))) < chunks:
        assert process.poll() is None, f"it ended too early: {process.communicate()[1]}"
        assert time.monotonic() < limit
        time.sleep(0.002)
    process.send_signal(how)
    err = process.communicate(timeout=60)[1]
    return process.returncode, err, folder


def test_a_killed_sweep_goes_on_to_the_same_file(run, tmp_path, rng):
    assert run(*WORDS, "--out", tmp_path / "whole.csv").code == 0
    out = tmp_path / "killed.csv"
    chunks = int(rng.integers(1, 200))
    code, _, folder = stop_after(chunks, out, signal.SIGKILL, *WORDS)
    assert code == -signal.SIGKILL
    assert not out.exists()
    refused = run(*WORDS, "--out", out)
    assert refused.code == 2 and "--resume" in refused.err
    done = run(*WORDS, "--out", out, "--resume")
    assert done.code == 0 and "finished chunks were there" in done.err
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, workers, ending",
    [
        (WORDS, 2, "npz"),
        (CARRIED, 1, "npz"),
        (CARRIED, 2, "csv"),
        (BATCHED, 1, "csv"),
        (BATCHED, 2, "jsonl"),
    ],
)
def test_sweeps_killed_several_times(run, tmp_path, rng, words, workers, ending):
    """In processes, with walks, in batches of 256 lanes: the same bytes as in one go."""
    assert run(*words, "--out", tmp_path / f"whole.{ending}").code == 0
    out = tmp_path / f"killed.{ending}"
    most = {WORDS: 240, CARRIED: 20, BATCHED: 4}[words]
    options = ("--workers", workers)
    for chunks in sorted(rng.choice(np.arange(1, most), size=3, replace=False)):
        resume = ("--resume",) if out.with_name(out.name + ".part").exists() else ()
        stop_after(chunks, out, signal.SIGKILL, *words, *options, *resume)
    assert run(*words, "--out", out, *options, "--resume").code == 0
    assert out.read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()


def test_ctrl_c_keeps_what_is_finished(run, tmp_path):
    out = tmp_path / "a.csv"
    code, err, folder = stop_after(20, out, signal.SIGINT, *WORDS)
    assert code == 130, err
    assert "Interrupted" in err and "--resume" in err and "Traceback" not in err
    lines = out.read_text().splitlines()
    assert 21 <= len(lines) < 241
    assert run(*WORDS, "--out", out, "--resume").code == 0
    whole = out.read_text().splitlines()
    assert len(whole) == 241 and whole[: len(lines)] == lines
    assert not folder.exists()
    # Once it is whole, a repetition that is interrupted leaves it so.
    before = out.read_bytes()
    code, err, folder = stop_after(20, out, signal.SIGINT, *WORDS)
    assert code == 130, err
    assert "which stays" in err and folder.exists()
    assert out.read_bytes() == before


def test_ctrl_c_waits_for_the_end_of_a_file(monkeypatch, tmp_path):
    """In the middle of an archive `zipfile` would answer it with a ValueError."""

    def interrupted(*args, write=np.lib.format.write_array, **kwargs):
        signal.raise_signal(signal.SIGINT)
        write(*args, **kwargs)

    monkeypatch.setattr(np.lib.format, "write_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        packed({"a": np.arange(3.0)})
    monkeypatch.setattr(os, "replace", lambda *names, rename=os.replace: (
        signal.raise_signal(signal.SIGINT), rename(*names)
    ))  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        replace(tmp_path / "a.txt", b"whole")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"whole"]


def test_processes_write_the_same_file(run, tmp_path):
    assert run(*WORDS, "--out", tmp_path / "one.npz").code == 0
    done = run(*WORDS, "--out", tmp_path / "two.npz", "--workers", 2)
    assert done.code == 0
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        CARRIED,
        BATCHED,
        ("sweep", "tumbler", "field=12e-3:20e-3:5"),
        ("sweep", "stickslip", "friction=0.2:0.4:4", "law=mdr,masing"),
        ("sweep", "gripper", "force=0:2e-6:4", "model=linear,exact", "--precision", "32"),
    ],
    ids=lambda words: f"{words[1]} {words[2]}",
)
def test_processes_write_the_same_file_for_devices(run, tmp_path, words):
    for workers in (1, 3):
        assert run(*words, "--out", tmp_path / f"{workers}.csv", "--workers", workers).code == 0
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "3.csv").read_bytes()


def test_numbers_of_processes(run, tmp_path, monkeypatch):
    out = tmp_path / "a.csv"
    done = run(*WORDS, "--out", out, "--workers", 0)
    assert done.code == 2 and "at least 1" in done.err
    monkeypatch.setattr(sharing, "processors", lambda: 2)
    done = run("sweep", "tribometer", "friction=0.1,0.2", "--out", out, "--workers", 3)
    assert done.code == 0 and "3 processes share 2 processors" in done.err
    done = run("sweep", "wrmma", "field=4e-3,5e-3", "--out", out, "--workers", 2, "--carry", "up",
               "--method", "nonsense")  # fmt: skip
    assert done.code == 2
    assert "1 walk along field" in done.err and "nonsense" in done.err


def test_nothing_to_resume_is_a_note(run, tmp_path):
    out = tmp_path / "a.csv"
    done = run("sweep", "tribometer", "friction=0.1,0.2", "--out", out, "--resume")
    assert done.code == 0 and "nothing to resume" in done.err
    assert len(out.read_text().splitlines()) == 3
