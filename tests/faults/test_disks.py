"""Full disks, folders that cannot be written to, unknown versions, two programs at once: a message each."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from diffmicro._files import Claim, Taken
from diffmicro.design.run import Folder, FolderRefused
from diffmicro.sweep import Store, StoreError, beside

ROOT = Path(__file__).parents[2]
SWEEP = ("sweep", "tribometer", "friction=0.1:0.9:60")
SEARCH = ("optimize", "tribometer", "--maximize", "sliding_velocity", "drag_ratio=0.8", "--free",
          "friction=0.2:0.8", "--budget", "20")  # fmt: skip


def command(*words: object, most: int = 0, stdout: Any = subprocess.PIPE):
    """`python -m diffmicro`; `most`: bytes that a file may have, 0 for any number."""

    def bounded():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.run(
        [sys.executable, "-m", "diffmicro", *map(str, words)],
        stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=600,
        preexec_fn=bounded if most else None,
    )  # fmt: skip


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB; only the administrator can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if os.geteuid() or subprocess.run(made, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


@pytest.mark.slow
def test_a_sweep_on_a_full_disk_goes_on_when_there_is_room(small_disk, tmp_path):
    whole = tmp_path / "whole.csv"
    assert command(*SWEEP, "--out", whole).returncode == 0
    out = small_disk / "a.csv"
    full = command(*SWEEP, "--out", out)
    assert full.returncode == 2 and "Traceback" not in full.stderr
    assert "No space left on device. Make room" in full.stderr and "--resume" in full.stderr
    assert str(beside(out)) in full.stderr
    remount(small_disk, "size=4m")
    done = command(*SWEEP, "--out", out, "--resume")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("words", [SWEEP, SEARCH], ids=lambda words: words[0])
def test_a_folder_that_cannot_be_written_to_is_named(small_disk, words):
    remount(small_disk, "ro")
    refused = command(*words, "--out", small_disk / "a.csv")
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    assert str(small_disk) in refused.stderr and "may write to" in refused.stderr, refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [SWEEP, SEARCH], ids=lambda words: words[0])
def test_a_limit_on_the_size_of_files_is_named(tmp_path, words):
    refused = command(*words, "--out", tmp_path / "a.csv", most=300)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    assert str(tmp_path) in refused.stderr and "ulimit -f" in refused.stderr, refused.stderr
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has this device")
def test_answers_that_nobody_can_keep_are_an_error():
    with open("/dev/full", "w") as full:
        refused = command("evaluate", "tribometer", "drag_ratio=0.8", "--json", stdout=full)
    assert refused.returncode == 2 and "No space left on device. Make room" in refused.stderr
    assert "Traceback" not in refused.stderr and "Exception ignored" not in refused.stderr


def test_a_folder_is_claimed_once_and_free_after_the_claim(tmp_path):
    first = Claim(tmp_path)
    with pytest.raises(Taken, match="Another program is at work in .* Wait for its end"):
        Claim(tmp_path)
    first.release()
    second = Claim(tmp_path)
    del second
    Claim(tmp_path)


@pytest.mark.parametrize("resume", [False, True])
def test_two_sweeps_in_one_folder_are_refused(tmp_path, resume):
    first = Store(tmp_path / "part")
    first.begin({"device": "a"}, 2)
    late = Store(tmp_path / "part")
    late.begin({"device": "a"}, 2)
    first.save(0, {})
    with pytest.raises(StoreError, match="Another program is at work"):
        late.save(1, {})
    with pytest.raises(StoreError, match="Another program is at work"):
        Store(tmp_path / "part", resume).begin({"device": "a"}, 2)
    first.save(1, {})
    del first
    Store(tmp_path / "part", True).begin({"device": "a"}, 2)
    with pytest.raises(StoreError, match="began a sweep in .* meanwhile"):
        late.save(1, {})


def test_two_searches_in_one_folder_are_refused(tmp_path):
    first = Folder(tmp_path / "run", {"device": "a"}, False)
    with pytest.raises(FolderRefused, match="Another program is at work in .* elsewhere"):
        Folder(tmp_path / "run", {"device": "a"}, False)
    del first
    Folder(tmp_path / "run", {"device": "a"}, True)


@pytest.mark.slow
def test_an_unknown_version_is_refused_with_both_named(tmp_path):
    out = tmp_path / "a.csv"
    store = Store(beside(out))
    store.begin({"version of diffmicro": "99.0", "device": "tribometer"}, 60)
    store.save(0, {})
    del store
    refused = command(*SWEEP, "--out", out, "--resume")
    assert refused.returncode == 2 and "version of diffmicro is 99.0 there" in refused.stderr
    assert "delete the folder" in refused.stderr
    assert json.loads((beside(out) / "sweep.json").read_text())["version of diffmicro"] == "99.0"
