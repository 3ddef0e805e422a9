"""Motions that settle to nothing have no result, and what is cut short counts for nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from diffmicro import hybrid, parameter
from diffmicro.devices import wrmma
from diffmicro.devices.wrmma.lumped import lump
from diffmicro.devices.wrmma.steady import period_map
from diffmicro.hybrid import steady
from diffmicro.parameters import as_arrays
from diffmicro.results import NoResult, word


class Design(hybrid.Design):
    damping: float = parameter(0.05, "damper", "N s/m")


class Setting(hybrid.Setting):
    frequency: float = parameter(50.0, "frequency", "Hz", above=0)


class Swinging(hybrid.Motion):
    """A driven oscillator of 1 g, which a negative damping shakes up."""

    x = hybrid.Coordinate("place", scale=1e-4)
    push = hybrid.Harmonic()

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        return {"x": 1e3 * (0.01 * now.push - 300.0 * now.x - design.damping * now.x_rate)}


DEVICE = hybrid.device(
    "swing",
    "an oscillator",
    Design,
    Setting,
    Swinging,
    source="-",
    responses={"peak": hybrid.largest("x")},
)


def test_a_robot_without_a_drift_that_does_not_settle_has_no_result():
    search = DEVICE.quick["search"]
    response = DEVICE.respond(Design(damping=-0.05), Setting(), search=search, throw=False)
    assert word(response.result) == "no_orbit" and jnp.isnan(response.peak)
    with pytest.raises(NoResult, match="swing.respond: no_orbit"):
        DEVICE.respond(Design(damping=-0.05), Setting(), search=search)
    assert word(DEVICE.respond(Design(), Setting(), search=search).result) == "ok"


def test_periods_are_counted_by_whole_numbers_of_any_kind():
    assert DEVICE.simulate
    two, also_two = (DEVICE.simulate(Design(), Setting(), periods=n) for n in (2, 2.0))
    jax.tree.map(np.testing.assert_array_equal, also_two, two)


def _of_parts():
    robot = steady.Robot(Swinging(), ("peak",), (hybrid.largest("x"),), (), object)
    parameters, unravel = steady.lumped(*as_arrays((Design(), Setting())))
    return steady.period_map(robot, unravel, 12), parameters, jnp.array([1.0, 0.0])


def _of_the_wrmma():
    parameters, unravel = ravel_pytree(lump(*as_arrays((wrmma.Design(), wrmma.Setting()))))
    return period_map(unravel, 12), parameters, jnp.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize("motion", [_of_parts, _of_the_wrmma])
def test_a_motion_that_is_cut_short_has_no_displacement(motion):
    """A tolerance that no step keeps takes all advances before the period is over."""
    mapped, parameters, start = motion()

    @jax.jit
    def passed(tolerance):
        return mapped(parameters, start, 1, tolerance, look=False)

    assert np.all(np.isfinite(np.concatenate(passed(1e-9))))
    assert np.all(np.isnan(np.concatenate(passed(1e-60))))
