"""The loops of Moreau's stepping on maps whose motion is known in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.dynamics import moreau
from diffmicro.dynamics.moreau import Halt


def spiral(q, state, periods, tolerance):
    """z -> q0 z + q1, component by component; the displacement of a period is the first one."""
    del tolerance

    def once(_, carry):
        z, moved = carry
        z = q[0] * z + q[1]
        return z, moved + z[0]

    z, moved = jax.lax.fori_loop(0, periods, once, (state, jnp.zeros(())))
    return z, jnp.stack([moved, z[1]])


START = jnp.array([3.0, -2.0, 0.5])


@pytest.fixture(scope="module")
def found():
    return jax.jit(lambda q: moreau.find_orbit(spiral, q, START))


def test_march_takes_every_step_once():
    """Any number of steps, whether or not the loop's turns divide it."""
    for steps in (1, 7, 8, 1000):
        total = moreau.march(lambda s, k: s + k, jnp.zeros((), jnp.int32), steps)
        assert int(total) == steps * (steps - 1) // 2


def test_a_contraction_settles_to_its_fixed_point(found):
    orbit = found(jnp.array([0.6, 0.2]))
    assert bool(orbit.accepted) and int(orbit.periods) == 1
    np.testing.assert_allclose(orbit.state, 0.2 / (1 - 0.6), atol=1e-11)
    assert float(orbit.multiplier) == pytest.approx(0.6, rel=1e-3)


def test_derivative_of_the_fixed_point(found):
    """d/dq of q1 / (1 - q0), through the state and through what is observed."""
    q = jnp.array([0.6, 0.2])
    by_state, by_observed = jax.jacrev(lambda q: (found(q).state[0], found(q).observed[0]))(q)
    expected = [0.2 / 0.4**2, 1 / 0.4]
    np.testing.assert_allclose(by_state, expected, rtol=1e-9)
    np.testing.assert_allclose(by_observed, expected, rtol=1e-9)


def test_slow_decay_is_told_from_none(found):
    """0.985^1000 = 3e-7 is far from rounding, but on its way; 1.0001 and noise are not."""
    assert bool(found(jnp.array([0.985, 0.0])).accepted)
    assert not bool(found(jnp.array([1.0001, 0.0])).accepted)
    assert not bool(found(jnp.array([0.9999, 0.0])).accepted)


def test_period_two(found):
    orbit = found(jnp.array([-1.0, 1.0]))
    assert bool(orbit.accepted) and int(orbit.periods) == 2
    # The two states of the first component are 3 and -2.
    assert float(orbit.observed[0]) == pytest.approx(1.0)


def test_what_blows_up_is_not_accepted(found):
    assert not bool(found(jnp.array([4.0, 1.0])).accepted)


def test_chaos_is_not_accepted():
    def logistic(q, state, periods, tolerance):
        z = jax.lax.fori_loop(0, periods, lambda _, z: q[0] * z * (1 - z), state)
        return z, z[:1]

    orbit = jax.jit(lambda q: moreau.find_orbit(logistic, q, jnp.array([0.3])))(jnp.array([3.9]))
    assert not bool(orbit.accepted)


def test_lanes_that_have_settled_stand_still():
    """A batch gives, bit for bit, what each lane gives alone."""
    rates = jnp.array([0.1, 0.9, 0.5])
    settle = jax.jit(lambda r: moreau.settle(lambda z: r * z + 0.1, START))
    batch = jax.vmap(settle)(rates)
    for i, rate in enumerate(rates):
        alone = settle(rate)
        np.testing.assert_array_equal(batch.state[i], alone.state)
        assert int(batch.periods[i]) == int(alone.periods)


@pytest.mark.parametrize("ratio, most", [(0.5, 100), (0.99, 40)])
def test_the_papers_rule(ratio, most):
    """Displacements ratio^n differ by ratio^n (1 - ratio); the rule ends below 1e-3."""
    advance = lambda z: (ratio * z, z)  # noqa: E731
    _, moved, periods = moreau.until_steady(advance, jnp.array(1.0), Halt(1e-3, most))
    differences = ratio ** np.arange(most) * (1 - ratio)
    expected = min(most, int(np.argmax(differences < 1e-3)) + 2) if ratio < 0.9 else most
    assert int(periods) == expected
    assert float(moved) == pytest.approx(ratio ** (expected - 1))
