"""Elliptic integrals against SciPy, and their derivatives in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipe, ellipk

from diffmicro.mechanics.elliptic import agm
from tests.oracles.closed_forms import complete_first, complete_second

PARAMETERS = np.array([-50.0, -1.0, 0.0, 1e-9, 0.3, 0.9, 1 - 1e-6, 1 - 1e-12])


def test_values_equal_scipy():
    np.testing.assert_allclose(
        complete_first(jnp.asarray(PARAMETERS)), ellipk(PARAMETERS), rtol=1e-13
    )
    np.testing.assert_allclose(
        complete_second(jnp.asarray(PARAMETERS)), ellipe(PARAMETERS), rtol=1e-13
    )


def test_derivatives_equal_their_closed_forms():
    m = jnp.asarray([-1.0, 0.2, 0.9, 0.999])
    first = (ellipe(m) - (1 - m) * ellipk(m)) / (2 * m * (1 - m))
    second = (ellipe(m) - ellipk(m)) / (2 * m)
    np.testing.assert_allclose(jax.vmap(jax.grad(complete_first))(m), first, rtol=1e-11)
    np.testing.assert_allclose(jax.vmap(jax.grad(complete_second))(m), second, rtol=1e-11)


def test_legendres_relation():
    m = 0.37
    e, k = complete_second(m), complete_first(m)
    other_e, other_k = complete_second(1 - m), complete_first(1 - m)
    assert float(e * other_k + other_e * k - k * other_k) == pytest.approx(np.pi / 2, rel=1e-14)


def test_mean_of_numbers_far_apart():
    """Homogeneous of degree one; for b -> 0 it is pi a / (2 log(4 a / b))."""
    assert float(agm(3e5, 2e5)) == pytest.approx(1e5 * float(agm(3.0, 2.0)), rel=1e-14)
    assert float(agm(1.0, 1e-20)) == pytest.approx(np.pi / (2 * np.log(4e20)), rel=1e-13)
