"""Hessians through `respond`, against Richardson differences of gradients with steps far above the time grid."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import gripper, tribometer, tumbler
from diffmicro.devices.tribometer.motion import critical_velocity
from diffmicro.devices.wrmma import published_design, published_setting, respond, simulate

STEP = 1e-3
"""Relative; the differences' own error is the fourth power of it."""


def wrmma(p):
    setting = published_setting(load_factor=p[1], frequency_ratio=p[2])
    response = respond(published_design(mass_ratio=p[0]), setting, throw=False)
    return response.velocity, response.impacts


def differences(gradient, p):
    """The Hessian from gradients at two steps, the error of second order taken out."""

    def column(i, scale):
        step = scale * STEP * p[i] * np.eye(p.size)[i]
        return (gradient(p + step)[0] - gradient(p - step)[0]) / (2 * step[i])

    return np.stack([(4 * column(i, 1) - column(i, 2)) / 3 for i in range(p.size)])


@pytest.mark.slow
def test_hessian_of_the_wrmma():
    """At two points without impacts and one with an impact each period."""
    gradient = jax.jit(jax.grad(wrmma, has_aux=True))
    hessian = jax.jit(jax.hessian(lambda p: wrmma(p)[0]))
    for point, impacts in [((1.5, 8, 1), 0), ((1.5, 32, 1), 0), ((1.5, 32, 1.58), 1)]:
        p = np.array(point, float)
        assert float(gradient(jnp.asarray(p))[1]) == impacts
        np.testing.assert_allclose(hessian(jnp.asarray(p)), differences(gradient, p), rtol=1e-4)


def gripper_tip(p):
    design = gripper.published_design(young=1e11 * p[0])
    response = gripper.respond(design, gripper.published_setting(force=p[1]), throw=False)
    return response.tip_x, None


def tumbler_speed(p):
    """Each turn of the box ends with impacts of its edges."""
    design = tumbler.published_design(length=0.8e-3 * p[0])
    setting = tumbler.published_setting(field_frequency=p[1])
    return tumbler.respond(design, setting, throw=False).speed, None


@pytest.mark.slow
@pytest.mark.parametrize(
    "function, points",
    [
        (gripper_tip, [(1.0, 5e-5), (1.0, -3e-5), (1.2, 2e-5)]),
        (tumbler_speed, [(1.0, 10.0), (1.05, 8.0), (0.95, 12.0)]),
    ],
    ids=["gripper", "tumbler"],
)
def test_hessian_of_a_device(function, points):
    gradient = jax.jit(jax.grad(function, has_aux=True))
    hessian = jax.jit(jax.hessian(lambda p: function(p)[0]))
    for point in points:
        p = np.array(point)
        expected = differences(gradient, p)
        size = np.abs(np.asarray(gradient(jnp.asarray(p))[0]))[:, None] / p[None, :]
        off = np.abs(np.asarray(hessian(jnp.asarray(p))) - expected)
        assert np.all(off < 1e-4 * np.maximum(np.abs(expected), size))


def test_second_derivative_of_the_tribometer():
    def velocity(p):
        setting = tribometer.published_setting(drag_ratio=p[0])
        return tribometer.respond(
            tribometer.published_design(), setting, throw=False
        ).sliding_velocity

    gradient = jax.jit(lambda p: (jax.grad(velocity)(p), None))
    hessian = jax.jit(jax.hessian(velocity))
    for ratio in (0.6, 0.7, 0.8):
        p = np.array([ratio])
        np.testing.assert_allclose(hessian(jnp.asarray(p)), differences(gradient, p), rtol=1e-4)


def test_second_derivative_of_the_largest_of_a_function():
    """Springs slide all along above the largest velocity that a phase needs, and that phase moves."""

    def needed(p):
        return critical_velocity(p[0], p[1])

    gradient = jax.jit(lambda p: (jax.grad(needed)(p), None))
    hessian = jax.jit(jax.hessian(needed))
    for point in ((0.5, 0.2), (0.8, 1.0)):
        p = np.array(point)
        np.testing.assert_allclose(hessian(jnp.asarray(p)), differences(gradient, p), rtol=1e-6)


@pytest.mark.slow
def test_extremes_of_the_wrmma():
    """The largest speed of the body counts what an impact leaves, and its second derivatives that it moves."""

    hard = published_setting(field=7.1e-3, load_factor=74.13, frequency_ratio=1.233)
    design = published_design(mass_ratio=0.923, restitution=0.831)
    response = respond(design, hard)
    motion = simulate(design, hard, periods=int(response.period_multiple), start=response.state)
    fastest = np.abs(motion.body_speed).max()  # at the ends of steps, those of impacts among them
    assert fastest == pytest.approx(float(response.peak_body_speed), rel=1e-6)
    gentle = published_setting()
    for of in ("peak_body_speed", "min_gap"):

        def one(p, of=of):
            return getattr(respond(published_design(mass_ratio=p[0]), gentle, throw=False), of)

        gradient = jax.jit(lambda p, one=one: (jax.grad(one)(p), None))
        p = np.array([1.5])
        np.testing.assert_allclose(
            jax.jit(jax.hessian(one))(jnp.asarray(p)), differences(gradient, p), rtol=1e-4
        )
