"""Compiled programs that outlast their process: found again, never stale, never in the way."""

import os
import stat
import threading
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import cache_key

from diffmicro import _programs
from diffmicro._programs import Programs, install, keep_programs, state, used, works
from tests.conftest import share_programs


@pytest.fixture
def programs(tmp_path):
    """A cache that JAX uses during the test."""
    cache = Programs(tmp_path)
    install(cache)
    yield cache
    share_programs()


def compiled(x: Any = 1.5, **options):
    """The value of a small program that is lowered and compiled anew."""
    program = jax.jit(lambda x: jnp.sin(x) * 3).lower(x).compile(options or None)
    return float(program(x))


def count(folder):
    return len(used(folder))


def test_what_jax_compiled_is_found_again(programs, tmp_path):
    first = compiled()
    assert (count(tmp_path), programs.found) == (1, 0)
    assert compiled() == first
    assert (count(tmp_path), programs.found) == (1, 1)
    assert works(programs)


def test_whatever_changes_the_program_changes_the_key(programs, tmp_path, monkeypatch):
    """Stale programs would be wrong results: flags, options, precision, versions and processor all count."""
    compiled()
    compiled(np.float32(1.5))
    assert count(tmp_path) == 2
    compiled(xla_backend_optimization_level=0)
    assert count(tmp_path) == 3
    monkeypatch.setenv("XLA_FLAGS", os.environ["XLA_FLAGS"].replace("=512", "=256"))
    compiled()
    assert count(tmp_path) == 4
    monkeypatch.setattr(cache_key, "jaxlib_version_str", "0.0.1")
    compiled()
    assert count(tmp_path) == 5
    monkeypatch.setattr(programs, "_machine", "another processor")
    compiled()
    assert (count(tmp_path), programs.found) == (6, 0)


def test_a_torn_program_is_compiled_again(programs, tmp_path):
    expected = compiled()
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for torn in (whole[:-7], b"", whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]):
        file.write_bytes(torn)
        assert compiled() == expected and programs.found == 0
        assert len(file.read_bytes()) > 100
    compiled()
    assert programs.found == 1


def test_a_program_that_cannot_be_loaded_is_replaced(programs, tmp_path):
    expected = compiled()
    (file,) = tmp_path.iterdir()
    file.write_bytes(_programs.digest(b"no program") + b"no program")
    with pytest.warns(UserWarning, match="Error reading persistent compilation cache"):
        assert compiled() == expected
    assert compiled() == expected


def test_the_longest_unused_go_first(tmp_path):
    cache = Programs(tmp_path, limit=1100)
    for number in range(8):
        cache.put(f"key {number}", bytes(100))
        os.utime(cache._file(f"key {number}"), (number, number))
    assert cache.get("key 0") == bytes(100)  # used now
    cache.put("large", bytes(300))
    left = [number for number in range(8) if cache.get(f"key {number}") is not None]
    assert left[0] == 0 and left[1:] == list(range(8 - len(left) + 1, 8))
    assert cache.get("large") == bytes(300)
    assert sum(size for _, size, _ in used(tmp_path)) <= 1100


def test_many_at_once_in_a_folder_that_is_too_small(tmp_path):
    """What is read is whole, whoever writes, replaces and removes it meanwhile."""
    wrong, said = [], []

    def work(own):
        cache = Programs(tmp_path, limit=20_000, complain=said.append)
        for turn in range(60):
            key = f"{(turn + own) % 12}"
            found = cache.get(key)
            if found is not None and found != key.encode() * 3000:
                wrong.append(key)
            cache.put(key, key.encode() * 3000)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, said) == ([], [])
    assert sum(size for _, size, _ in used(tmp_path)) < 20_000 + 6 * 6100


def test_what_a_killed_process_left_goes_with_time(tmp_path):
    cache = Programs(tmp_path, limit=1000)
    for name, used_at in (("a.1-1", 0.0), ("b.1-1", time.time())):
        (tmp_path / name).write_bytes(bytes(400))
        os.utime(tmp_path / name, (used_at, used_at))
    cache.put("key", bytes(300))
    cache.put("too large", bytes(1001))
    assert not (tmp_path / "a.1-1").exists() and (tmp_path / "b.1-1").exists()
    assert cache.get("key") == bytes(300) and cache.get("too large") is None


def test_a_folder_that_goes_away_is_one_line(tmp_path):
    said = []
    cache = Programs(tmp_path / "gone", complain=said.append)
    for key in ("a", "b"):
        assert cache.get(key) is None
        cache.put(key, b"program")
    assert len(said) == 1 and "gone" in said[0] and "No such file" in said[0]


def test_where_programs_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(_programs.VARIABLE, "off")
    assert state().folder is None and state().meant
    assert keep_programs() == state() and capsys.readouterr().err == ""
    monkeypatch.setenv(_programs.VARIABLE, str(tmp_path / "deep" / "own"))
    assert state() == (tmp_path / "deep" / "own", "", True)
    assert stat.S_IMODE((tmp_path / "deep" / "own").stat().st_mode) == 0o700
    monkeypatch.delenv(_programs.VARIABLE)
    monkeypatch.setattr(_programs.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert state().folder == tmp_path / "cache" / "diffmicro" / "programs"
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    assert state().folder is None and "left to JAX" in state().reason


def test_a_folder_that_cannot_be_used_is_said(tmp_path, monkeypatch, capsys):
    file = tmp_path / "file"
    file.write_text("no folder")
    monkeypatch.setenv(_programs.VARIABLE, str(file / "programs"))
    assert not keep_programs().meant
    assert "compiled programs are not kept" in capsys.readouterr().err
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv(_programs.VARIABLE, str(shared))
    assert state().folder is None and "others may write" in state().reason
