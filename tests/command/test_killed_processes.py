"""`diffmicro sweep` while its processes are killed: workers, the program itself, the scheduler of a cluster."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sweep.processes import alive, children

WORDS = ("sweep", "tribometer", "friction=0.1:0.9:240")

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, scope="module")
def children_hear_ctrl_c():
    """Also where the tests run as a background job, which ignores it, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes that one undisturbed process writes."""
    out = tmp_path_factory.mktemp("whole") / "a.csv"
    assert start(*WORDS, "--out", out).wait(timeout=120) == 0
    return out.read_bytes()


def start(*arguments, **options):
    """`python -m diffmicro` in a process of its own; what it says goes into a pipe."""
    command = [sys.executable, "-m", "diffmicro", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)


def until(happened, process=None, seconds=120):
    limit = time.monotonic() + seconds
    while not (found := happened()):
        assert process is None or process.poll() is None, "it ended too early"
        assert time.monotonic() < limit
        time.sleep(0.005)
    return found


def chunks(out, count=1):
    folder = out.with_name(out.name + ".part")
    return lambda: len(list(folder.glob("chunk-*.bin"))) >= count


def test_a_killed_worker_costs_its_chunk_only(whole, tmp_path):
    out = tmp_path / "a.csv"
    process = start(*WORDS, "--out", out, "--workers", 2)
    until(chunks(out, 20), process)
    workers = sorted(children(process.pid))
    os.kill(workers[0], signal.SIGKILL)
    assert process.wait(timeout=120) == 0
    assert out.read_bytes() == whole


@pytest.mark.parametrize(
    "group", [False, True], ids=["the program alone", "all, as a terminal does"]
)
def test_ctrl_c_ends_the_processes_and_keeps_what_is_finished(whole, tmp_path, group):
    out = tmp_path / "a.csv"
    process = start(*WORDS, "--out", out, "--workers", 2, start_new_session=group)
    until(chunks(out, 20), process)
    workers = children(process.pid)
    assert len(workers) >= 2
    if group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert not any(map(alive, workers))
    assert 20 <= len(out.read_text().splitlines()) - 1 < 240
    assert start(*WORDS, "--out", out, "--resume").wait(timeout=120) == 0
    assert out.read_bytes() == whole


def test_processes_end_with_a_program_that_is_killed(whole, tmp_path):
    out = tmp_path / "a.csv"
    process = start(*WORDS, "--out", out, "--workers", 2)
    until(chunks(out, 20), process)
    workers = children(process.pid)
    assert len(workers) >= 2
    process.kill()
    process.wait(timeout=60)
    until(lambda: not any(map(alive, workers)), seconds=20)
    assert start(*WORDS, "--out", out, "--workers", 2, "--resume").wait(timeout=120) == 0
    assert out.read_bytes() == whole


def test_a_scheduler_that_is_killed_costs_nothing_finished(whole, tmp_path):
    """A cluster that was there before, found by its file."""
    out, file = tmp_path / "a.csv", tmp_path / "scheduler.json"
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    words = ["scheduler", "--scheduler-file", str(file), "--host", "127.0.0.1", "--port", "0"]
    words += ["--dashboard-address", "127.0.0.1:0", "--no-dashboard"]
    scheduler = dask(*words, **quiet)
    worker = None
    try:
        until(file.exists, scheduler)
        options = ["--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard"]
        worker = dask("worker", *options, "--local-directory", str(tmp_path), **quiet)
        process = subprocess.Popen(
            [sys.executable, "-m", "diffmicro", *WORDS, "--out", out, "--cluster", file],
            stderr=subprocess.PIPE,
            text=True,
        )
        until(chunks(out, 20), process)
        scheduler.kill()
        err = process.communicate(timeout=120)[1]
        assert process.returncode == 1
        assert "does not answer any more" in err and "--resume goes on" in err
        assert "Traceback" not in err
    finally:
        for ended in filter(None, (scheduler, worker)):
            ended.kill()
            ended.wait(timeout=60)
    assert start(*WORDS, "--out", out, "--resume").wait(timeout=120) == 0
    assert out.read_bytes() == whole


def dask(*words, **options):
    return subprocess.Popen([str(Path(sys.executable).with_name("dask")), *words], **options)
