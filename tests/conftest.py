"""Set-up of all tests: fast loops, 64 bits, figures without a screen, fixed random numbers."""

import ctypes
import gc
import os
import zlib
from collections.abc import Iterator

import jax
import numpy as np
import psutil  # comes with distributed
import pytest

from diffmicro._configure import configure

os.environ.setdefault("MPLBACKEND", "Agg")
configure(double=True)
# A vector that meets a matrix by accident broadcasts in silence; here it is an error, so write the
# missing axis. (Strict promotion of types would be welcome too, but optax does not hold it.)
jax.config.update("jax_numpy_rank_promotion", "raise")

MEMORY = 4e9
"""Bytes above which a process gives its compiled programs back; all slow tests need several times as much."""


@pytest.fixture(scope="module", autouse=True)
def programs_do_not_pile_up() -> Iterator[None]:
    """JAX keeps every program that a process has compiled, and the C library what was freed."""
    yield
    if psutil.Process().memory_info().rss > MEMORY:
        jax.clear_caches()
        gc.collect()
        if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):  # glibc alone
            libc.malloc_trim(0)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same in every run and differ between tests."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
