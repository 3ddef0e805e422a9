"""Several contacts at once, and what a device made by `hybrid.device` reports when nothing settles or moves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import hybrid, parameter, reason_text, value_and_gradient
from diffmicro.dynamics.hybrid import run
from diffmicro.dynamics.system import Numerics
from diffmicro.parameters import as_arrays
from diffmicro.results import word, words


class Design(hybrid.Design):
    mass: float = parameter(1e-6, "mass of each", "kg", above=0)
    bound: float = parameter(2e-6, "friction force under each", "N", low=0)


class Setting(hybrid.Setting):
    frequency: float = parameter(100.0, "frequency", "Hz", above=0)
    force: float = parameter(6e-6, "amplitude of the drive", "N", low=0)


class Feet(hybrid.Motion):
    """Two equal masses that fall onto the same floor, and know nothing of each other."""

    left = hybrid.Coordinate("height of the left one", start=1e-5, scale=1e-5)
    right = hybrid.Coordinate("height of the right one", start=1e-5, scale=1e-5)
    floor = hybrid.Impact("left", restitution=0.5)
    ground = hybrid.Impact("right", restitution=0.5)

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        fall = -setting.force / design.mass
        return {
            "left": fall + now.floor / design.mass,
            "right": fall + now.ground / design.mass,
        }


def after(motion, design, setting, periods=1):
    given = as_arrays((design, setting))
    system = motion.system(*given)
    start = motion.state_of(motion.start(*given), motion.units(*given))
    return jax.jit(lambda: run(system, start, periods, Numerics()))()


def test_two_that_land_in_the_same_instant_do_the_same():
    moved = after(Feet(), Design(), Setting())
    assert int(moved.periods) == 1
    np.testing.assert_array_equal(moved.state.left, moved.state.right)
    np.testing.assert_array_equal(moved.state.left_rate, moved.state.right_rate)
    # a = 6 m/s^2 from 10 um: 1.83 ms to the floor, bounces of half the speed, at rest after 5.5 ms of 10.
    assert bool(moved.mode.floor) and bool(moved.mode.ground) and float(moved.state.left) == 0


def test_chatter_ends_when_its_series_says():
    rest = np.sqrt(2 * 1e-5 / 6.0) * (
        1 + 2 * 0.5 / (1 - 0.5)
    )  # all flights of the bounces added up
    early, late = (Setting(frequency=1 / (rest * f)) for f in (0.999, 1.001))
    assert not bool(after(Feet(), Design(), early).mode.floor)
    assert bool(after(Feet(), Design(), late).mode.floor)


SHAKEN = hybrid.device(
    "shaken",
    "a mass on dry ground",
    Design,
    Setting,
    type(
        "Shaken",
        (hybrid.Motion,),
        dict(
            place=hybrid.Coordinate("place", drifts=True),
            ground=hybrid.Coulomb("place", bound=lambda now, d, s: d.bound),
            push=hybrid.Harmonic(),
            period=lambda self, design, setting: 1 / setting.frequency,
            accelerations=lambda self, now, d, s: {
                "place": (s.force * now.push + now.ground) / d.mass
            },
        ),
    ),
    source="-",
    responses={"velocity": hybrid.drift("place"), "stick": hybrid.share("ground")},
)


@pytest.fixture(scope="module")
def shaken():
    def lanes(forces):
        def respond(force):
            return SHAKEN.respond(Design(), Setting(force=force), window=0, throw=False)

        return jax.vmap(respond)(forces)

    return jax.jit(lanes)(jnp.array([6e-6, 1e-6, -1.0, jnp.nan]))


@pytest.mark.slow
def test_lanes_that_are_bad_are_alone_and_what_sticks_is_stalled(shaken):
    assert list(words(shaken.result)) == ["ok", "stalled", "out_of_range", "out_of_range"]
    assert np.isnan(shaken.velocity[2:]).all() and np.isnan(shaken.stick[2:]).all()
    assert float(shaken.velocity[1]) == 0 and float(shaken.stick[1]) == 1


@pytest.mark.slow
def test_a_gradient_says_that_the_motion_is_symmetric():
    function = value_and_gradient(SHAKEN, ("mass",), "velocity", **SHAKEN.lone)
    _, _, certificate, response = jax.jit(function)(Design(), Setting())
    assert word(response.result) == "ok"
    assert "symmetric and does not drift" in reason_text(certificate)


@pytest.mark.slow
def test_a_motion_that_is_symmetric_does_not_drift(shaken):
    speed = 6e-6 / 1e-6 / (2 * np.pi * 100)
    assert abs(float(shaken.velocity[0])) < 1e-9 * speed
    assert word(jax.tree.map(lambda leaf: leaf[0], shaken.result)) == "ok"
