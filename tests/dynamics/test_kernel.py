"""What is computed where it is needed, alone and in lanes, and not at all where no lane needs it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.dynamics.kernel import kernel


def where_needed(*given):
    return kernel().where_needed(*given)


def halved(x, shift):
    return jnp.where(x > 0, 0.5 * x + shift, jnp.nan)


def test_one_lane_is_computed_or_spared():
    chosen = jax.jit(lambda needed, x: where_needed(needed, halved, 7.0, x, 1.0))
    assert chosen(True, 4.0) == 3.0
    assert chosen(False, 4.0) == 7.0


@pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)])
def test_lanes_keep_their_own(axes):
    needed = np.array([True, False, True])
    x = np.array([1.0, -2.0, 3.0])
    arguments = [v if axis == 0 else v[0] for v, axis in zip((needed, x), axes, strict=True)]
    chosen = jax.vmap(lambda n, x: where_needed(n, halved, 7.0, x, 1.0), in_axes=axes)
    expected = np.where(arguments[0], halved(arguments[1], 1.0), 7.0)
    np.testing.assert_array_equal(jax.jit(chosen)(*arguments), expected)


def test_lanes_of_lanes():
    needed = np.array([[True, False], [False, False]])
    x = np.arange(1.0, 5.0).reshape(2, 2)
    chosen = jax.vmap(jax.vmap(lambda n, x: where_needed(n, halved, 7.0, x, 1.0)))
    np.testing.assert_array_equal(chosen(needed, x), np.where(needed, 0.5 * x + 1.0, 7.0))


def test_nothing_is_computed_where_no_lane_needs_it():
    """The branch is a branch still: it counts how often it runs."""
    runs = []

    def counted(x):
        jax.debug.callback(lambda: runs.append(1))
        return x

    chosen = jax.jit(jax.vmap(lambda n, x: where_needed(n, counted, 0.0, x)))
    x = np.ones(4)
    jax.block_until_ready(chosen(np.zeros(4, bool), x))
    jax.effects_barrier()
    assert not runs
    jax.block_until_ready(chosen(np.array([False, True, False, False]), x))
    jax.effects_barrier()
    assert runs


def test_on_a_gpu_nothing_is_left_to_decide():
    """XLA sees constant conditions there, and an unknown one on a CPU."""

    def kept(x):
        (x,) = kernel().keep([x])
        return kernel().where_needed(x > 0, lambda x: x * x, 0.0, x)

    lowered = {
        platform: jax.jit(kept).trace(1.0).lower(lowering_platforms=(platform,)).as_text()
        for platform in ("cpu", "cuda")
    }
    assert lowered["cpu"].count("optimization_barrier") == 1
    assert "optimization_barrier" not in lowered["cuda"]
