"""Set-up of all tests: fast loops, 64 bits, figures without a screen, fixed random numbers, no kept programs."""

import ctypes
import gc
import os
import zlib
from collections.abc import Iterator

import jax
import numpy as np
import psutil
import pytest

from diffmicro._configure import configure

os.environ.setdefault("MPLBACKEND", "Agg")
# What an earlier run compiled must not decide a test, nor a test leave files in the user's folder.
os.environ["DIFFMICRO_CACHE"] = "off"
os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
configure(double=True)
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
