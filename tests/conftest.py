"""Set-up of all tests: fast loops, 64 bits, figures without a screen, fixed random numbers, no kept programs."""

import os
import zlib

import jax
import numpy as np
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


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same in every run and differ between tests."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
