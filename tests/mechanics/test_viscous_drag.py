"""Drag of ellipsoids: sphere, disc and slender spheroid in closed form, and what scaling demands."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.mechanics.viscous_drag import carlson_rd, carlson_rf, ellipsoid_drag


def _drag(a: float, b: float, c: float):
    force, moment = ellipsoid_drag(
        (jnp.asarray(float(a)), jnp.asarray(float(b)), jnp.asarray(float(c)))
    )
    return np.asarray(force), np.asarray(moment)


def test_carlson_equals_the_published_values():
    """Carlson 1995, section 3: R_F(1, 2, 0) and R_D(0, 2, 1)."""
    assert float(carlson_rf(1.0, 2.0, 1e-30)) == pytest.approx(1.3110287771461, rel=1e-9)
    assert float(carlson_rd(1e-30, 2.0, 1.0)) == pytest.approx(1.7972103521034, rel=1e-9)
    assert float(carlson_rd(2.0, 3.0, 4.0)) == pytest.approx(0.16510527294261, rel=1e-13)


def test_sphere_and_disc():
    force, moment = _drag(2, 2, 2)
    np.testing.assert_allclose(force, 6 * np.pi * 2, rtol=1e-13)
    np.testing.assert_allclose(moment, 8 * np.pi * 2**3, rtol=1e-13)
    force, moment = _drag(1, 1, 1e-7)
    np.testing.assert_allclose(force, [32 / 3, 32 / 3, 16], rtol=1e-6)
    np.testing.assert_allclose(moment, 32 / 3, rtol=1e-6)


@pytest.mark.parametrize("ratio", [1.5, 8.0])
def test_prolate_spheroid(ratio):
    """Happel and Brenner: along and across the axis, in logarithms."""
    e = np.sqrt(1 - ratio**-2)
    log = np.log((1 + e) / (1 - e))
    along = 16 * np.pi * ratio * e**3 / ((1 + e**2) * log - 2 * e)
    across = 32 * np.pi * ratio * e**3 / (2 * e + (3 * e**2 - 1) * log)
    np.testing.assert_allclose(_drag(ratio, 1, 1)[0], [along, across, across], rtol=1e-11)


def test_derivatives_are_homogeneous():
    """Euler: sum a_i dF/da_i = F, and 3 T of the moment."""
    axes = jnp.asarray([3.0, 0.5, 1.7])
    for which, power in ((0, 1), (1, 3)):
        values, slopes = (
            np.asarray(f(axes))
            for f in (
                lambda a, w=which: ellipsoid_drag(tuple(a))[w],
                jax.jacrev(lambda a, w=which: ellipsoid_drag(tuple(a))[w]),
            )
        )
        np.testing.assert_allclose(slopes @ np.asarray(axes), power * values, rtol=1e-10)
