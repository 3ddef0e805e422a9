"""Several feet at once."""

import jax.numpy as jnp
import numpy as np

from diffmicro.devices.legs.feet import Robot, simulate_feet


def test_quadruped_on_all_feet_loses_energy_and_stays_above_the_ground():
    path = simulate_feet(Robot(), 10.0, 86.0, periods=20, steps=1000)
    height = np.asarray(path.height)[:, :4]
    assert np.all(np.isfinite(height))
    hits = np.sum(np.asarray(path.impulse) > 0, axis=0)
    assert np.all(hits[:4] > 0) and hits[4] == 0
    assert np.all(np.asarray(path.impulse) >= 0)
    assert float(np.min(path.loss)) >= -1e-18 and float(np.sum(path.loss)) > 0
    # Impacts come up to one step late: a foot below the ground rises in the next step.
    below = height[:-1] < 0
    assert below.any() and np.all(np.diff(height, axis=0)[below] > 0)


def test_in_the_air_the_feet_follow_the_exact_response():
    from tests.oracles.closed_forms import sine_response

    robot = Robot(gap=jnp.ones(5))
    path = simulate_feet(robot, 10.0, 86.0, periods=2, steps=50)
    modal = sine_response(
        2 * jnp.pi * jnp.asarray(robot.frequency), jnp.asarray(robot.damping), 10 * jnp.asarray(robot.drive),
        2 * jnp.pi * 86.0, path.time,
    )  # fmt: skip
    exact = 1.0 + np.asarray(modal) @ np.asarray(robot.mode_shape).T
    np.testing.assert_allclose(path.height, exact, rtol=0, atol=1e-15)
