"""What holds for every device, run over the table `diffmicro.devices.DEVICES`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from diffmicro._parameters import as_arrays, describe
from diffmicro._results import word
from diffmicro.devices import DEVICES, device
from diffmicro.dynamics.orbits import FOLLOW

OPERATING = {"wrmma": (dict(), dict(load_factor=32.0), "velocity", ("mass_ratio", "field"))}
"""Per device: design, setting, a response and parameters that it depends on."""


@pytest.fixture(scope="module", params=DEVICES)
def case(request):
    module = device(request.param)
    design, setting, of, wrt = OPERATING[request.param]
    design, setting = as_arrays(
        (module.published_design(**design), module.published_setting(**setting))
    )
    return module, design, setting, of, wrt


def _with(tree, name, value):
    return eqx.tree_at(lambda t: getattr(t, name), tree, value)


@pytest.fixture(scope="module")
def of_scale(case):
    """The response as a function of relative changes of one design and one setting parameter."""
    module, design, setting, of, (first, second) = case

    def function(x):
        changed = _with(design, first, getattr(design, first) * x[0])
        driven = _with(setting, second, getattr(setting, second) * x[1])
        return getattr(module.respond(changed, driven, window=0, throw=False), of)

    return function


@pytest.fixture(scope="module")
def value_and_slopes(of_scale):
    """Compiled once: value and forward derivatives of lanes."""
    return jax.jit(jax.vmap(lambda x: (of_scale(x), jax.jacfwd(of_scale)(x))))


def test_every_field_has_a_unit(case):
    module = case[0]
    for kind in (module.Design, module.Setting, module.Response):
        for name, known in describe(kind).items():
            if kind is module.Response and name in ("result", "state"):
                continue
            assert known.words or (known.unit and known.meaning), f"{kind.__name__}.{name}"


def test_pytrees_round_trip(case):
    _, design, setting, _, _ = case
    for tree in (design, setting):
        leaves, structure = jax.tree.flatten(tree)
        again = jax.tree.unflatten(structure, leaves)
        assert jax.tree.structure(again) == structure
        assert all(leaf.shape == () for leaf in leaves)


def test_batched_equals_single_and_gradient_equals_wide_differences(value_and_slopes):
    """Lanes do not disturb each other; differences with a step far above the resolution agree."""
    step = 1e-4
    points = jnp.array(
        [[1.0, 1.0], [1 + step, 1.0], [1 - step, 1.0], [1.0, 1 + step], [1.0, 1 - step]]
    )
    values, slopes = value_and_slopes(points)
    alone, slopes_alone = value_and_slopes(jnp.tile(points[3:4], (5, 1)))
    np.testing.assert_allclose(alone[0], values[3], rtol=1e-12)
    np.testing.assert_allclose(slopes_alone[0], slopes[3], rtol=1e-9)
    differences = [(values[1] - values[2]) / (2 * step), (values[3] - values[4]) / (2 * step)]
    np.testing.assert_allclose(slopes[0], differences, rtol=1e-5)


def test_reverse_equals_forward(of_scale, value_and_slopes):
    x = jnp.ones(2)
    _, slopes = value_and_slopes(jnp.tile(x[None], (5, 1)))
    np.testing.assert_allclose(jax.jit(jax.grad(of_scale))(x), slopes[0], rtol=1e-10)


def test_no_gradient_by_the_start(case):
    """The steady motion does not depend on where its search began."""
    module, design, setting, of, _ = case
    start = module.respond(design, setting).state

    def by_start(state):
        arguments = dict(start=state, search=FOLLOW, window=0, throw=False)
        return getattr(module.respond(design, setting, **arguments), of)

    slopes = jax.tree.leaves(jax.jit(jax.grad(by_start))(start))
    assert all(float(s) == 0.0 for s in slopes)


def test_single_precision(case):
    """A sweep's numbers: the same velocity to single precision's worth."""
    module, design, setting, of, _ = case
    double = float(getattr(module.respond(design, setting), of))
    single = jax.tree.map(lambda x: x.astype(jnp.float32), (design, setting))
    response = module.respond(*single, tolerance=1e-6)
    assert getattr(response, of).dtype == jnp.float32
    assert word(response.result) == "ok"
    np.testing.assert_allclose(float(getattr(response, of)), double, rtol=2e-3)


def test_one_optimizer_step_goes_up(value_and_slopes):
    x = jnp.ones(2)
    optimizer = optax.sgd(1e-3)
    values, slopes = value_and_slopes(jnp.tile(x[None], (5, 1)))
    uphill = -slopes[0] / jnp.linalg.norm(slopes[0])
    updates, _ = optimizer.update(uphill, optimizer.init(x))
    moved = jnp.asarray(optax.apply_updates(x, updates))
    better, _ = value_and_slopes(jnp.tile(moved[None], (5, 1)))
    assert better[0] > values[0]


def test_bad_lane_is_alone(case, value_and_slopes):
    """A negative parameter blanks its own lane, value and gradient, and no other."""
    points = jnp.array([[1.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, jnp.nan], [1.0, 1.0]])
    values, slopes = value_and_slopes(points)
    assert np.isfinite(values[np.array([0, 2, 4])]).all()
    assert np.isnan(values[1]) and np.isnan(values[3])
    assert np.isnan(slopes[1]).any() and np.isfinite(slopes[0]).all()
