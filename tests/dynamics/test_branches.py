"""Continuation of fixed points on maps whose branches are known in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.dynamics.branches import Family, Stride, follow


def family(change, count=None):
    """The map z' = z + change(z, p), repeated; `count` flags which states count as impacts."""

    def period_map(q, z, periods, tolerance, look=True):
        del periods, tolerance, look
        after = z + change(z, q)
        impacts = jnp.zeros(()) if count is None else jnp.where(count(z[0]), 1.0, 0.0)
        return after, jnp.stack([after[0], impacts])

    return Family(period_map, jnp.atleast_1d, count=1)


def parabola(z, p):
    return 0.2 * (p - z**2)


def kink(steepness):
    return lambda z, p: 0.2 * (p - steepness * jnp.abs(z))


def peak(z, p):
    return 0.2 * (20 * (1 - jnp.abs(p)) - z)


def circle(z, p):
    return 0.1 * (1 - z**2 - p**2)


def grazing(z, p):
    """z' = z / 2 + p, less sqrt(-z) below 0 (Nordmark 1991): p = sqrt y - y / 2 there, y = -z."""
    hit = z < 0
    root = jnp.sqrt(jnp.where(hit, -z, 1.0))
    return -0.5 * z + p - jnp.where(hit, root, 0.0)


def at_folds(branch):
    return branch.parameter[branch.folds], branch.state[branch.folds, 0]


def test_smooth_fold():
    """p = z^2: stable above (multiplier 1 - 0.4 z), unstable below."""
    branch = follow(family(parabola), np.array([1.0]), 1.0, -0.5, 1.5)
    assert branch.ends == ("bound", "bound")
    np.testing.assert_allclose(branch.parameter, branch.state[:, 0] ** 2, atol=1e-7)
    np.testing.assert_allclose(branch.parameter[[0, -1]], 1.5, rtol=1e-12)
    parameter, state = at_folds(branch)
    np.testing.assert_allclose(parameter, [0.0], atol=1e-7)
    np.testing.assert_allclose(state, [0.0], atol=1e-6)
    np.testing.assert_allclose(branch.multipliers[:, 0], 1 - 0.4 * branch.state[:, 0], atol=1e-12)
    away = np.abs(branch.state[:, 0]) > 1e-5
    assert np.all((branch.stable == (branch.state[:, 0] > 0))[away])


@pytest.mark.parametrize("steepness", [1.0, 4.0])
def test_fold_at_a_kink(steepness):
    """p = s |z|: the branch goes on behind its corner, be that blunt or sharp."""
    start = np.array([0.5 / steepness])
    branch = follow(family(kink(steepness)), start, 0.5, -0.5, 1.0)
    assert branch.ends == ("bound", "bound")
    assert len(branch.folds) == 1
    np.testing.assert_array_equal(branch.folds, branch.corners)
    parameter, state = at_folds(branch)
    np.testing.assert_allclose([parameter[0], state[0]], 0.0, atol=1e-5)
    states = sorted(branch.state[[0, -1], 0])
    np.testing.assert_allclose(states, [-1 / steepness, 1 / steepness], rtol=1e-6)
    away = np.abs(branch.state[:, 0]) > 1e-5
    assert np.all((branch.stable == (branch.state[:, 0] > 0))[away])


@pytest.mark.parametrize("start", [-0.5, 0.5])
def test_a_peak_is_no_fold(start):
    """z = 20 (1 - |p|): the state turns around sharply, the parameter does not."""
    branch = follow(family(peak), np.array([10.0]), start, -1.0, 1.0)
    assert branch.ends == ("bound", "bound")
    np.testing.assert_allclose(branch.parameter[[0, -1]], [-1, 1])
    assert np.all(np.diff(branch.parameter) > 0)
    assert len(branch.folds) == 0
    np.testing.assert_allclose(branch.parameter[branch.corners], [0.0], atol=1e-5)
    np.testing.assert_allclose(branch.state[:, 0], 20 * (1 - np.abs(branch.parameter)), atol=1e-6)


def test_a_branch_that_starts_at_a_bound_has_its_first_point_once():
    branch = follow(family(peak), np.array([0.0]), -1.0, -1.0, -0.5)
    assert branch.ends == ("bound", "bound")
    assert np.all(np.diff(branch.parameter) > 0)


def test_points_are_told_as_they_come():
    told = []
    branch = follow(family(parabola), np.array([1.0]), 1.0, -0.5, 1.5, watch=told.append)
    assert 0.8 * len(branch.parameter) < sum(told) < len(branch.parameter)


def test_closed_branch():
    branch = follow(family(circle), np.array([0.6]), 0.8, -2.0, 2.0)
    assert branch.ends == ("closed", "closed")
    assert sorted(np.round(at_folds(branch)[0], 6)) == [-1.0, 1.0]
    np.testing.assert_allclose(branch.state[:, 0] ** 2 + branch.parameter**2, 1.0, atol=1e-6)


def test_ends_at_grazing_from_both_sides():
    """Without impact z = 2 p down to p = 0; with it from p = 0 over a fold at p = 1/2."""
    maps = family(grazing, count=lambda z: z < 0)
    free = follow(maps, np.array([0.4]), 0.2, -0.5, 1.0)
    assert free.ends == ("grazing", "bound") and len(free.folds) == 0
    np.testing.assert_allclose(free.parameter[0], 0.0, atol=1e-5)
    y = 0.16
    hits = follow(maps, np.array([-y]), np.sqrt(y) - y / 2, -0.5, 1.0)
    assert sorted(hits.ends) == ["bound", "grazing"]
    near = 0 if hits.ends[0] == "grazing" else -1
    np.testing.assert_allclose(hits.parameter[near], 0.0, atol=1e-3)
    np.testing.assert_allclose(at_folds(hits)[0], [0.5], atol=1e-7)
    y = -hits.state[:, 0]
    np.testing.assert_allclose(hits.parameter, np.sqrt(y) - y / 2, atol=1e-7)


def test_limit_on_points_is_told():
    branch = follow(
        family(parabola), np.array([1.0]), 1.0, -0.5, 1.5, Stride(longest=1e-3, points=20)
    )
    assert branch.ends == ("step_limit", "step_limit")
    assert len(branch.parameter) == 41


def test_no_orbit_is_an_error():
    with pytest.raises(ValueError, match="no periodic motion near"):
        follow(family(parabola), np.array([1.0]), -0.4, -0.5, 1.5)


def test_start_outside_of_the_range_is_an_error():
    with pytest.raises(ValueError, match="low <= at <= high"):
        follow(family(parabola), np.array([1.0]), 2.0, -0.5, 1.5)
