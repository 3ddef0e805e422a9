"""The loops of docs/design.md run, and come to what the page says."""

import re
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "design.md"


@pytest.fixture(scope="module")
def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_a_loop_of_ones_own_comes_to_the_nearest_point_of_the_disk(blocks):
    (block,) = [b for b in blocks if "while state.status == SEARCHING" in b]
    names: dict = {}
    exec(block, names)
    np.testing.assert_allclose(names["u"], np.array([2, 1]) / np.sqrt(5), atol=1e-6)
    np.testing.assert_allclose(names["state"].multipliers, np.sqrt(5) - 1, rtol=1e-4)
    loop = block[block.index("optimizer = ") : block.index("print")]
    assert len(loop.splitlines()) <= 10


def test_a_network_trains_while_its_sensors_keep_their_distance(blocks):
    (block,) = [b for b in blocks if "eqx.nn.MLP" in b]
    names: dict = {}
    exec(block, names)
    tree = names["tree"]
    assert float(names["loss"](tree)) < 0.02 * float(names["first"])
    assert float(jnp.min(names["apart"](tree["places"]))) >= -1e-6
