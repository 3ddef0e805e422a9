"""What holds for every device, run over the table `diffmicro.devices.DEVICES`."""

import inspect
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from diffmicro._parameters import as_arrays, describe
from diffmicro._results import word
from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.devices import asking_for, device, on_request


@dataclass(frozen=True)
class Case:
    """An operating point: a response and one parameter of Design and of Setting that move it."""

    of: str
    wrt: tuple[str, str]
    design: dict[str, Any] = field(default_factory=dict)
    setting: dict[str, Any] = field(default_factory=dict)
    numerics: dict[str, Any] = field(default_factory=dict)
    single: dict[str, Any] = field(default_factory=dict)  # numerics of single precision
    single_rtol: float = 2e-3


CASES = {
    "wrmma": Case(
        "velocity",
        ("mass_ratio", "field"),
        setting=dict(load_factor=32.0),
        numerics=dict(window=0),
        single=dict(tolerance=1e-6),
    ),
    "tumbler": Case(
        "speed",
        ("length", "field"),
        setting=dict(field_frequency=10.0),
        single=dict(tolerance=1e-5),
    ),
    "legs": Case("peak_height", ("damping", "voltage"), setting=dict(gap=25e-6, voltage=6.0)),
    "stickslip": Case(
        "force", ("radius", "amplitude"), dict(damping_ratio=0.03), single=dict(tolerance=1e-3)
    ),
    "gripper": Case("tip_x", ("young", "force"), setting=dict(force=5e-5)),
    "tribometer": Case(
        "sliding_velocity", ("probe_mass", "friction"), setting=dict(drag_ratio=0.8)
    ),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    module, chosen = device(request.param), CASES[request.param]
    design = as_arrays(module.published_design(**chosen.design))
    setting = as_arrays(module.published_setting(**chosen.setting))
    return module, design, setting, chosen


def _scaled(tree, name, factor):
    return eqx.tree_at(lambda t: getattr(t, name), tree, getattr(tree, name) * factor)


@pytest.fixture(scope="module")
def of_scale(case):
    """The response as a function of relative changes of one design and one setting parameter."""
    module, design, setting, chosen = case
    numerics = asking_for(module, (chosen.of,), {**chosen.numerics, "throw": False})

    def function(x):
        changed = _scaled(design, chosen.wrt[0], x[0])
        driven = _scaled(setting, chosen.wrt[1], x[1])
        return getattr(module.respond(changed, driven, **numerics), chosen.of)

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


def test_responses_on_request_are_responses(case):
    module = case[0]
    assert set(on_request(module)) <= set(describe(module.Response))
    assert not on_request(module) or "extra" in inspect.signature(module.respond).parameters


def test_pytrees_round_trip(case):
    _, design, setting, _ = case
    for tree in (design, setting):
        leaves, structure = jax.tree.flatten(tree)
        again = jax.tree.unflatten(structure, leaves)
        assert jax.tree.structure(again) == structure
        assert all(
            np.array_equal(a, b) for a, b in zip(leaves, jax.tree.leaves(again), strict=True)
        )


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


def test_the_gradient_is_certified(case, of_scale, value_and_slopes):
    """Here the response is smooth, so the certificate has to say so; its gradient is jax's."""
    module, design, setting, chosen = case
    numerics = {k: v for k, v in chosen.numerics.items() if k != "window"}
    function = value_and_gradient(module.respond, chosen.wrt, chosen.of, **numerics)
    value, gradient, certificate, response = jax.jit(function)(design, setting)
    assert word(response.result) == "ok"
    assert verdict_word(certificate) == "certified"
    values, slopes = value_and_slopes(jnp.ones((5, 2)))
    np.testing.assert_allclose(value, values[0], rtol=1e-7)
    homes = (design, setting)
    shown = [
        jnp.sum(gradient[name] * getattr(home, name))
        for name, home in zip(chosen.wrt, homes, strict=True)
    ]
    np.testing.assert_allclose(shown, slopes[0], rtol=1e-5)


STARTING = [n for n in CASES if "start" in inspect.signature(device(n).respond).parameters]
"""Devices whose steady state can be searched from a given start."""


@pytest.mark.parametrize("case", STARTING, indirect=True, scope="module")
def test_no_gradient_by_the_start(case):
    """The steady motion does not depend on where its search began."""
    module, design, setting, chosen = case
    known = jax.lax.stop_gradient(module.respond(design, setting))

    def by_start(state):
        arguments = {**module.nearby(known, 1e-9), "start": state}
        return getattr(module.respond(design, setting, **arguments), chosen.of)

    slopes = jax.tree.leaves(jax.jit(jax.grad(by_start))(known.state))
    assert all(np.all(np.asarray(slope) == 0.0) for slope in slopes)


def test_single_precision(case, value_and_slopes):
    """A sweep's numbers: the same response to single precision's worth."""
    module, design, setting, chosen = case
    double = float(value_and_slopes(jnp.ones((5, 2)))[0][0])
    single = jax.tree.map(lambda x: x.astype(jnp.float32), (design, setting))
    numerics = asking_for(module, (chosen.of,), {**chosen.numerics, **chosen.single})
    response = module.respond(*single, **numerics)
    assert getattr(response, chosen.of).dtype == jnp.float32
    assert word(response.result) == "ok"
    np.testing.assert_allclose(float(getattr(response, chosen.of)), double, rtol=chosen.single_rtol)


def test_one_optimizer_step_goes_up(value_and_slopes):
    x = jnp.ones(2)
    optimizer = optax.sgd(1e-3)
    values, slopes = value_and_slopes(jnp.tile(x[None], (5, 1)))
    uphill = -slopes[0] / jnp.linalg.norm(slopes[0])
    updates, _ = optimizer.update(uphill, optimizer.init(x))
    moved = jnp.asarray(optax.apply_updates(x, updates))
    better, _ = value_and_slopes(jnp.tile(moved[None], (5, 1)))
    assert better[0] > values[0]


def test_bad_lane_is_alone(value_and_slopes):
    """A negative parameter blanks its own lane, value and gradient, and no other."""
    points = jnp.array([[1.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, jnp.nan], [1.0, 1.0]])
    values, slopes = value_and_slopes(points)
    assert np.isfinite(values[np.array([0, 2, 4])]).all()
    assert np.isnan(values[1]) and np.isnan(values[3])
    assert np.isnan(slopes[1]).any() and np.isfinite(slopes[0]).all()
