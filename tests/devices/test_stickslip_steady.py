"""Derivatives of the place that a drive comes to: right once, refused twice. A toy with a known place."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices.stickslip.steady import approach, differentiable


class Shown(NamedTuple):
    step: jax.Array


def _place(numbers):
    """Where the step push^2 - hold X vanishes, with a state that settles on the way."""

    def advance(parameters, state, place):
        push, hold = parameters
        state = 0.1 * state + 0.9 * (push**2 - hold * place)
        return state, Shown(state)

    def build(given):
        return tuple(given)

    held = jax.lax.stop_gradient(build(numbers))
    slope, no = -jnp.ones(()), jnp.asarray(False)
    found = approach(advance, held, jnp.zeros(()), slope, jnp.asarray(1e-9), no, carried=False)
    return differentiable(advance, build, tuple(numbers), found, free=False)[0]


AT = jnp.array([0.7, 1.3])


def test_first_derivatives_are_the_places():
    expected = [2 * 0.7 / 1.3, -((0.7 / 1.3) ** 2)]
    np.testing.assert_allclose(jax.jit(jax.jacfwd(_place))(AT), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(_place))(AT), expected, rtol=1e-6)


@pytest.mark.parametrize("outer", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("inner", [jax.jacfwd, jax.jacrev])
def test_second_derivatives_are_nan(outer, inner):
    """The slopes are those at a fixed place: differentiated again they would be finite and wrong."""
    assert np.isnan(jax.jit(outer(inner(_place)))(AT)).all()
    by_other = outer(lambda hold: inner(lambda push: _place(jnp.stack([push, hold])))(0.7))
    assert np.isnan(by_other(1.3))
