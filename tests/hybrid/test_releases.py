"""What rests is released when the force says so, however little its own state says about it.

A block at rest has a series without terms, so the length of steps has to follow from the guards. At the start
every second coefficient of the sine vanishes. The forces of two opposed blocks add up to nothing.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import hybrid
from diffmicro.dynamics.hybrid import trace
from diffmicro.dynamics.system import Numerics


class Resting(hybrid.Motion):
    """The design is the amplitude of the drive; friction holds up to 1."""

    place = hybrid.Coordinate("place", scale=1.0, drifts=True)
    ground = hybrid.Coulomb("place", bound=lambda now, d, s: 1.0)
    push = hybrid.Harmonic(multiple=3, phase=-np.pi / 2)

    def period(self, design, setting):
        return jnp.ones_like(design)

    def accelerations(self, now, design, setting):
        return {"place": design * now.push + now.ground}


class Opposed(Resting):
    other = hybrid.Coordinate("place of the other", scale=1.0, drifts=True)
    floor = hybrid.Coulomb("other", bound=lambda now, d, s: 1.0)

    def accelerations(self, now, design, setting):
        return {
            "place": design * now.push + now.ground,
            "other": now.floor - design * now.push,
        }


def release(motion, amplitude):
    """When the block begins to slide [periods]."""
    system = motion.system(amplitude, None)
    start = motion.state_of(motion.start(amplitude, None), motion.units(amplitude, None))
    _, path = trace(system, start, 1, Numerics(), advances=40)
    return path.time[jnp.argmax(path.mode.ground != 0)]


@pytest.mark.parametrize("motion", [Resting(), Opposed()])
@pytest.mark.parametrize("amplitude", [1.02, 1.5])
def test_a_block_is_released_where_the_force_exceeds_friction(motion, amplitude):
    both = jax.jit(jax.value_and_grad(lambda a: release(motion, a)))
    time, slope = both(jnp.asarray(amplitude))
    true = np.arcsin(1 / amplitude) / (6 * np.pi)
    np.testing.assert_allclose(time, true, atol=1e-9)
    by_amplitude = -1 / (amplitude * np.sqrt(amplitude**2 - 1)) / (6 * np.pi)
    np.testing.assert_allclose(slope, by_amplitude, rtol=1e-6)
