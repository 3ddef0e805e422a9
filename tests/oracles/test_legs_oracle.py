"""The oracle of the legs against closed forms."""

import numpy as np
import pytest

from tests.oracles.legs import bounce

ONE = dict(
    frequency=np.array([100.0]), damping=np.array([0.02]), gain=np.array([1e-6]),
    mobility=np.array([1e4]), film=0.0, film_offset=1e-6, electrostatic=0.0, electrostatic_offset=1e-6,
)  # fmt: skip


def test_free_vibration_of_one_mode():
    setting = dict(
        voltage=0.0, waveform="sine", drive_frequency=50.0, gap=1.0, restitution=0.5, law="full"
    )
    w, zeta, t = 2 * np.pi * 100, 0.02, 0.013
    path = bounce(ONE, setting, t, (np.array([1e-6]), np.array([0.0])))
    damped = w * np.sqrt(1 - zeta**2)
    exact = (
        1e-6 * np.exp(-zeta * w * t) * (np.cos(damped * t) + zeta * w / damped * np.sin(damped * t))
    )
    assert path.displacement[0] == pytest.approx(exact, rel=1e-9)


def test_one_impact_of_one_mode():
    """Without damping the foot reaches the ground with w sqrt(A^2 - gap^2) and leaves with half of it."""
    design = ONE | dict(damping=np.array([0.0]))
    setting = dict(
        voltage=0.0, waveform="sine", drive_frequency=50.0, gap=0.5e-6, restitution=0.5, law="full"
    )
    w = 2 * np.pi * 100
    path = bounce(design, setting, 0.006, (np.array([1e-6]), np.array([0.0])))
    assert len(path.impacts) == 1
    assert path.impacts[0].time == pytest.approx(np.arccos(-0.5) / w, rel=1e-9)
    assert path.impacts[0].speeds[0] == pytest.approx(0.5 * w * 1e-6 * np.sqrt(0.75), rel=1e-9)
