"""Roots of rising functions between bounds, and their derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.nonsmooth.bracketed import rising_root


def _cubic(z, target):
    return z**3 - target


def _steep(z, target):
    return jnp.tanh(1e6 * (z - target))


def _root(function, target, low=0.0, high=10.0):
    return rising_root(function, target, jnp.asarray(low), jnp.asarray(high))


@pytest.mark.parametrize("target", [1e-12, 1e-3, 2.0, 999.0])
def test_cubic(target):
    root, slope = jax.value_and_grad(lambda t: _root(_cubic, t))(target)
    assert float(root) == pytest.approx(target ** (1 / 3), rel=1e-12)
    assert float(slope) == pytest.approx(target ** (-2 / 3) / 3, rel=1e-11)


def test_second_derivative():
    second = jax.grad(jax.grad(lambda t: _root(_cubic, t)))(2.0)
    assert float(second) == pytest.approx(-2 / 9 * 2 ** (-5 / 3), rel=1e-10)


def test_where_newton_leaves_the_bracket_it_is_halved():
    assert float(_root(_steep, 3.3)) == pytest.approx(3.3, rel=1e-12)


def test_no_root_gives_the_nearest_end():
    assert float(_root(_cubic, -1.0)) == pytest.approx(0.0, abs=1e-12)
    assert float(_root(_cubic, 1e6)) == pytest.approx(10.0, rel=1e-12)


def test_batch_equals_single():
    targets = jnp.asarray([1e-9, 0.5, 7.0])
    batch = jax.vmap(lambda t: _root(_cubic, t))(targets)
    np.testing.assert_allclose(batch, [float(_root(_cubic, t)) for t in targets], rtol=1e-14)
