"""The tumbler's contact patch against contacts at its corners, another method (`oracles.tumbler_vertex`)."""

import jax
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from diffmicro.devices.tumbler import published_design, published_setting
from diffmicro.devices.tumbler.implicit import simulate_implicit
from diffmicro.parameters import as_arrays
from tests.oracles.tumbler_vertex import Robot, tumble

pytestmark = pytest.mark.slow
STEPS, TURNS = 5000, 2


@pytest.mark.parametrize(
    ("robot", "setting"),
    [
        (Robot(), dict(field_frequency=10.0)),
        (Robot(frequency=15.0), dict(field_frequency=15.0)),
        (Robot(incline=0.26), dict(field_frequency=10.0, incline=0.26)),
        (Robot(yaw=0.2), dict(field_frequency=10.0, start_yaw=0.2)),
    ],
)
def test_speed_and_heading_are_the_same(robot, setting):
    places, headings = tumble(robot, STEPS, TURNS)
    design, setting = as_arrays((published_design(), published_setting(**setting)))
    path = simulate_implicit(design, setting, STEPS, turns=TURNS, every=STEPS)
    path = jax.tree.map(np.asarray, path)
    np.testing.assert_allclose(np.diff(path.position[:, 1]), np.diff(places[:, 1]), rtol=2e-3)
    across = Rotation.from_quat(path.attitude, scalar_first=True).as_matrix()[:, :, 0]
    np.testing.assert_allclose(np.arctan2(across[:, 1], across[:, 0]), headings, atol=0.01)
    assert np.abs(headings[-1]) < 0.01
    assert path.residual.max() < 1e-12
