"""MuJoCo as a peer of the tumbler: another engine, another contact law, the same speeds."""

import shutil

import pytest

from diffmicro.devices.tumbler import published_design, published_setting
from diffmicro.devices.tumbler.implicit import respond_implicit, usual_steps
from diffmicro.parameters import as_arrays

pytest.importorskip("mujoco", reason="MuJoCo is not installed (extra dev)")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler here"),
]

# Mean speeds of the event-located motion: reference points of Table 1, flat.
EVENT = {1.0: 0.0017961517051069261, 5.0: 0.009, 10.0: 0.018471628882449923}


@pytest.mark.parametrize("frequency", EVENT)
def test_speeds_agree_within_one_percent(frequency):
    from benchmarks.tumbler_mujoco import mujoco_speed

    design, setting = as_arrays((published_design(), published_setting(field_frequency=frequency)))
    peer = mujoco_speed(design, setting)
    steps = usual_steps(design, setting, 0.03)
    own = respond_implicit(design, setting, steps).speed
    assert peer == pytest.approx(EVENT[frequency], rel=1e-2)
    assert peer == pytest.approx(float(own), rel=1e-2)


def test_mujoco_slides_down_where_the_robot_does():
    from benchmarks.tumbler_mujoco import mujoco_loop

    for degrees, up in ((0.5, True), (1.2, False)):
        design, setting = as_arrays(
            (published_design(), published_setting(field_frequency=5.0, incline=degrees))
        )
        forward = mujoco_loop(design, setting, 3)()
        assert (forward[-1] > 0) == up
