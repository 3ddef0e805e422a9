"""Set-up of all tests: fast loops, 64 bits, figures without a screen, fixed random numbers, own programs."""

import atexit
import ctypes
import gc
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
import psutil
import pytest

from diffmicro import _programs
from diffmicro._configure import configure

WORTH_KEEPING = 0.1
"""Seconds of compiling from which on a program is kept for the other files and processes of this run."""

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
# What an earlier run compiled must not decide a test, nor a test leave files in the user's folder. So each run has
# a folder of its own, that its workers and the commands they start inherit; most of a run's time is compiling.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ[_programs.VARIABLE] = tempfile.mkdtemp(prefix="diffmicro-programs-")
    atexit.register(shutil.rmtree, os.environ[_programs.VARIABLE], ignore_errors=True)
configure(double=True)


def share_programs() -> None:
    """Load what another file or process of this run compiled. A test with its own cache calls this after it."""
    _programs.install(_programs.Programs(Path(os.environ[_programs.VARIABLE])))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)


share_programs()
# Tests put other functions in the place of this package's, which a kept executable would not notice.
_programs.in_use = lambda: None
# A vector that meets a matrix by accident broadcasts in silence; here it is an error, so write the
# missing axis. (Strict promotion of types would be welcome too, but optax does not hold it.)
jax.config.update("jax_numpy_rank_promotion", "raise")

MOST_MEMORY = 4 * 1024**3
"""Bytes of a test process from which on it lets go of what it compiled: two have to fit into a small machine."""


@pytest.fixture(scope="module", autouse=True)
def compiled_programs_go() -> Iterator[None]:
    """After a file of tests: what it compiled serves few others, and stays for as long as the process lives."""
    yield
    if psutil.Process().memory_info().rss > MOST_MEMORY:
        jax.clear_caches()
        gc.collect()
        # The C library keeps what was freed; glibc can give it back.
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
            trim(0)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same in every run and differ between tests."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
