"""Sweeps that are stopped, resumed and spread over processes end in the same bits."""

import errno
import itertools
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from diffmicro._files import DIGEST, complaint_of, replace
from diffmicro.devices import device
from diffmicro.sweep import Store, StoreError, Table, beside, join, sweep
from diffmicro.sweep.plan import WALK, Job, Work, fingerprint
from tests.sweep import toy

TOY = device("tests.sweep.toy:TOY")

AXES = {"drive": np.linspace(0.0, 3.0, 2 * WALK + 3), "length": [1.0, 2.0]}
"""Walks of three chunks, over the toy's hysteresis."""


def same(one: Table, other: Table) -> bool:
    """To the bit, with NaN where the other has it."""
    assert list(one.columns) == list(other.columns)
    return all(bits(one[name]) == bits(other[name]) for name in one.columns)


def bits(column):
    return column.dtype, column.tolist() if column.dtype == object else column.tobytes()


def stopped(folder, chunks, axes=AXES, **options):
    """A sweep that ends after some chunks."""
    parts = sweep(TOY, axes, store=Store(folder), **options)
    list(itertools.islice(parts, chunks))
    parts.close()


@pytest.mark.parametrize("carry", ["none", "both"])
@pytest.mark.parametrize("chunks", [1, 4, 7])
def test_a_resumed_sweep_is_the_whole_one_and_calculates_only_what_is_missing(
    tmp_path, carry, chunks
):
    whole = join(list(sweep(TOY, AXES, carry=carry)))
    folder = tmp_path / "a.csv.part"
    stopped(folder, chunks, carry=carry)
    assert len(list(folder.glob("chunk-*.bin"))) == chunks
    store = Store(folder, resume=True)
    assert same(join(list(sweep(TOY, AXES, carry=carry, store=store))), whole)
    assert (store.kept, store.torn) == (chunks, 0)
    store.remove()
    assert not folder.exists()


@pytest.mark.parametrize("damage", ["short", "empty", "flipped", "swapped"])
def test_a_torn_chunk_is_calculated_again_and_never_loaded(tmp_path, damage):
    """In the middle of a walk, with finished chunks before and after it."""
    folder = tmp_path / "part"
    whole = join(list(sweep(TOY, AXES, carry="up", store=Store(folder))))
    chunks = sorted(folder.glob("chunk-*.bin"))
    file, content = chunks[1], chunks[1].read_bytes()
    bits = bytearray(content)
    bits[DIGEST + 400] ^= 1
    damaged = {
        "short": content[: len(content) // 2],
        "empty": b"",
        "flipped": bytes(bits),
        "swapped": chunks[2].read_bytes(),  # whole, but another chunk
    }
    file.write_bytes(damaged[damage])
    store = Store(folder, resume=True)
    assert same(join(list(sweep(TOY, AXES, carry="up", store=store))), whole)
    assert (store.kept, store.torn) == (len(chunks) - 1, 1)
    assert file.read_bytes() == content


def test_a_file_that_was_never_renamed_is_no_chunk(tmp_path):
    stopped(tmp_path / "part", 2)
    (tmp_path / "part" / "chunk-000005.bin.partial").write_bytes(b"half a ch")
    store = Store(tmp_path / "part", resume=True)
    assert same(join(list(sweep(TOY, AXES, store=store))), join(list(sweep(TOY, AXES))))
    store.remove()
    assert not (tmp_path / "part").exists()


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(axes={"drive": np.linspace(0.0, 2.9, 35), "length": [1.0, 2.0]}), "drive is"),
        (dict(axes={"length": [1.0, 2.0], "drive": AXES["drive"]}), "order of the keys is"),
        (dict(design=toy.Design(share=0.25)), "share is 0.5 there, 0.25 here"),
        (dict(setting=toy.Setting(waveform="sine")), "waveform is square there, sine here"),
        (dict(responses=["velocity"]), "responses is"),
        (dict(carry="up"), "carry is none there, up here"),
        (dict(offset=1.0), "numerics is"),
    ],
)
def test_another_sweep_does_not_resume_and_says_what_differs(tmp_path, change, message):
    folder = tmp_path / "part"
    stopped(folder, 3)
    options = {"axes": AXES} | change
    with pytest.raises(StoreError, match=message):
        next(sweep(TOY, options.pop("axes"), store=Store(folder, resume=True), **options))
    assert len(list(folder.glob("chunk-*.bin"))) == 3


FINGERPRINT = (
    "precision", "version of diffmicro", "version of jaxlib", "cut", "source of diffmicro",
    "source of the device",
)  # fmt: skip


@pytest.mark.parametrize("key", FINGERPRINT)
def test_precision_versions_and_the_cut_belong_to_the_fingerprint(tmp_path, key):
    job = Job(TOY, AXES, toy.Design(), toy.Setting(), ("velocity",), "none", {})
    found = fingerprint(job)
    store = Store(tmp_path / "part")
    store.begin(found, 1)
    store.save(0, {"velocity": np.zeros(1)})
    store.release()
    with pytest.raises(StoreError, match=f"{key} is .* there, other here"):
        Store(tmp_path / "part", resume=True).begin(found | {key: "other"}, 1)


def test_a_sweep_that_is_given_up_frees_its_folder(tmp_path):
    store = Store(tmp_path / "part")
    parts = sweep(TOY, AXES, store=store)
    next(parts)
    parts.close()
    resumed = Store(tmp_path / "part", resume=True)
    assert same(join(list(sweep(TOY, AXES, store=resumed))), join(list(sweep(TOY, AXES))))
    assert resumed.kept > 0 and store.kept == 0


def test_a_device_that_was_changed_is_another_one(tmp_path):
    """Kept chunks of the file as it was are not mixed with those of the file as it is."""
    text, file = Path(toy.__file__).read_text(), tmp_path / "robot.py"
    words = ["sweep", f"{file}:TOY", "drive=0:1:8", "--out", str(tmp_path / "a.csv")]
    for own, resume in ((text, []), (text.replace("10.0, 1.0", "20.0, 1.0"), ["--resume"])):
        file.write_text(own)
        # A process of its own, as a device is read once.
        done = subprocess.run(
            [sys.executable, "-c", STOPPED, *words, *resume], capture_output=True, text=True
        )
    assert done.returncode == 2 and "source of the device is" in done.stderr


STOPPED = """
import sys
from diffmicro.command.app import app
from diffmicro.sweep import store
if "--resume" not in sys.argv:
    kept = store.Store.save
    def save(self, number, arrays):
        kept(self, number, arrays)
        if number == 3:
            raise KeyboardInterrupt
    store.Store.save = save
app(sys.argv[1:])
"""


def test_precision_is_what_jax_calculates_in():
    job = Job(TOY, AXES, toy.Design(), toy.Setting(), ("velocity",), "none", {})
    assert fingerprint(job)["precision"] == 64
    with jax.enable_x64(False):
        assert fingerprint(job)["precision"] == 32


def test_without_resume_nothing_is_overwritten(tmp_path):
    folder = tmp_path / "part"
    stopped(folder, 3)
    with pytest.raises(StoreError, match=r"holds 3 of 70 chunks .* --resume"):
        next(sweep(TOY, AXES, store=Store(folder)))
    with pytest.raises(StoreError, match=r"holds 3 chunks of another sweep .*carry"):
        next(sweep(TOY, AXES, store=Store(folder), carry="up"))
    assert len(list(folder.glob("chunk-*.bin"))) == 3


@pytest.mark.parametrize("content", [None, "not JSON", "[1]"])
def test_a_folder_of_something_else_is_left_alone(tmp_path, content):
    folder = beside(tmp_path / "a.csv")
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    if content is not None:
        (folder / "sweep.json").write_text(content)
    for resume in (False, True):
        with pytest.raises(StoreError, match="a.csv.part"):
            next(sweep(TOY, AXES, store=Store(folder, resume)))
    Store(folder).remove()
    assert (folder / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("left", [[], ["sweep.json.partial"], ["chunk-000000.bin.partial"]])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_without_a_first_file_is_no_obstacle(tmp_path, left, resume):
    """Killed, or out of disk, between making the folder and its first file."""
    folder = tmp_path / "a.csv.part"
    folder.mkdir()
    for name in left:
        (folder / name).write_bytes(b"")
    axes = {"drive": [0.5, 1.0]}
    assert same(
        join(list(sweep(TOY, axes, store=Store(folder, resume)))), join(list(sweep(TOY, axes)))
    )
    assert len(list(folder.glob("chunk-*.bin"))) == 2


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as caught:
        replace(tmp_path / "a.csv", b"numbers")
    assert caught.value.filename == str(tmp_path / "a.csv")
    assert complaint_of(caught.value).endswith(
        "a.csv: No space left on device. Make room on that disk, or write to another one."
    )
    assert not list(tmp_path.iterdir())


def test_no_workers_are_an_error():
    with pytest.raises(ValueError, match="at least 1"):
        next(sweep(TOY, AXES, workers=0))


def test_chunks_cover_every_row_once():
    for carry in ("none", "up", "both"):
        job = Job(TOY, AXES, toy.Design(), toy.Setting(), ("velocity",), carry, {})
        chunks = Work(job).chunks
        assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
        rows = np.concatenate([chunk.rows for chunk in chunks])
        assert sorted(rows) == list(range(70 * (2 if carry == "both" else 1)))
        assert all(chunk.after is None or chunk.after < chunk.number for chunk in chunks)
