"""Numbers on shards are those without: each device inside `jax.shard_map`, value and gradient."""

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec

from diffmicro.devices import OWN
from diffmicro.testing import Trial
from tests.cases import CASES

POINTS = np.array([[[1.0, 1.0], [1.01, 1.0]]])
"""Relative changes of one design and one setting parameter: one row for each device of the machine, two lanes."""

EACH = [pytest.param(n, marks=() if n == "tribometer" else pytest.mark.slow) for n in OWN]
"""The quickest one is always tried; it has loops, roots and implicit derivatives as the others do."""


@pytest.mark.parametrize("name", EACH)
def test_numbers_on_shards_are_the_same(name):
    layer = jax.vmap(jax.vmap(jax.value_and_grad(Trial(name, CASES[name]).value)))
    mesh = jax.make_mesh((1,), ("machine",), axis_types=(AxisType.Auto,))
    spec = PartitionSpec("machine")
    sharded = jax.shard_map(layer, mesh=mesh, in_specs=spec, out_specs=spec)
    expected = jax.jit(layer)(POINTS)
    for here, there in zip(expected, jax.jit(sharded)(POINTS), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", EACH)
def test_runs_under_pmap(name):
    layer = jax.vmap(Trial(name, CASES[name]).value)
    np.testing.assert_allclose(jax.pmap(layer)(POINTS)[0], jax.jit(layer)(POINTS[0]), rtol=1e-9)
