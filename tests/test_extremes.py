"""`ok` comes with finite numbers and small residuals only, however extreme the input: points that once failed, and
random ones of every device."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import OWN, device, gripper
from diffmicro.devices.tribometer.inplane import walk
from diffmicro.parameters import as_arrays
from diffmicro.results import words

LANES = 32
"""Points of a fuzz, one batch."""

LEGS = dict(window=0.25)
"""One look and a few periods, so that a lane that never repeats ends soon."""

HELD = {"legs": ("settle", "window", "drive_frequency", "frequency", "damping")}
"""What sets the number of steps, and with it how long a lane takes: it keeps its value."""

BOUNDS = {"gripper": gripper.default_tolerance(jnp.float64), "tribometer": 1e-9}
"""Residuals that ok stays below."""

QUICK = ("tribometer",)
"""Devices whose batch takes a few seconds."""


def _numbers(response):
    return {k: v for k, v in vars(response).items() if k != "result"}


def _wrong(response):
    """Names of what is not finite in lanes that are ok."""
    good = np.array([word == "ok" for word in words(response.result)])
    found = []
    for name, value in _numbers(response).items():
        for leaf in jax.tree.leaves(value):
            if not np.isfinite(np.asarray(leaf)[good]).all():
                found.append(name)
    return found


def _respond(name, design, setting):
    module = device(name)
    return module.respond(
        module.published_design(**design), module.published_setting(**setting), throw=False
    )


@pytest.mark.parametrize(
    "name, design, setting",
    [
        ("tribometer", {}, dict(frequency=5e-324)),
        ("tribometer", dict(probe_mass=9.5e-240), dict(frequency=6.6e-87)),
        ("tribometer", {}, dict(sliding_velocity=1e169, normal_force=1e-179)),
        ("gripper", dict(section_height=1.8e247), {}),
        ("tumbler", {}, dict(friction=3.6e150)),
    ],
)
def test_what_overflows_is_out_of_range(name, design, setting):
    response = _respond(name, design, setting)
    assert words(response.result).item() == "out_of_range"
    for leaf in jax.tree.leaves(_numbers(response)):
        assert not np.issubdtype(leaf.dtype, np.floating) or np.isnan(leaf).all()


def _lanes(name, seed):
    """Points around the published one: some parameters off by factors up to 1e250, most by some decades."""
    module, chance = device(name), np.random.default_rng(seed)
    extra = LEGS if name == "legs" else {}
    point = as_arrays((module.published_design(), module.published_setting(**extra)))
    held = HELD.get(name, ())
    leaves, tree = jax.tree.flatten_with_path(point)
    drawn = []
    for path, leaf in leaves:
        if path[-1].name in held:
            drawn.append(jnp.broadcast_to(leaf, (LANES, *leaf.shape)))
            continue
        off = chance.random(LANES) < 0.25
        far = chance.random(LANES) < 0.5
        decades = np.where(far, chance.uniform(-250, 250, LANES), chance.uniform(-6, 6, LANES))
        with np.errstate(over="ignore"):
            factor = 10.0 ** np.where(off, decades, 0.0)
        shape = (LANES,) + (1,) * leaf.ndim
        drawn.append(jnp.asarray(np.asarray(leaf)[None] * factor.reshape(shape), leaf.dtype))
    return tree.unflatten(drawn)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in OWN]
)
def test_ok_is_finite_wherever(name):
    module = device(name)
    respond = jax.jit(jax.vmap(lambda d, s: module.respond(d, s, throw=False)))
    response = respond(*_lanes(name, seed=4))
    said = words(response.result)
    assert not _wrong(response)
    assert (said == "ok").any() and (said != "ok").any()
    if name in BOUNDS:
        assert np.max(np.asarray(response.residual)[said == "ok"]) < BOUNDS[name]


@pytest.mark.slow
def test_legs_out_of_reach_take_no_longer_than_others():
    """A film or a drive that needs too many steps is refused before the steps are made."""
    module = device("legs")
    respond = jax.jit(lambda d, s: module.respond(d, s, throw=False))

    def answer(design, setting):
        point = module.published_design(**design), module.published_setting(**setting)
        before = time.process_time()
        said = words(jax.block_until_ready(respond(*as_arrays(point))).result).item()
        return said, time.process_time() - before

    answer({}, {})
    said, usual = answer({}, {})
    assert said == "ok"
    for far in (({"film": 1e-15}, {}), ({}, {"drive_frequency": 1e7}), ({}, {"window": 1e9})):
        said, spent = answer(*far)
        assert said == "step_limit" and spent < 3 * usual


def test_residual_of_a_gripper_of_tiny_arcs():
    """The arcs are a billionth of the linkage: moments are huge in the arcs' unit, what they move is not."""
    response = _respond("gripper", dict(beam_radius=(5e-12,) * 4), {})
    assert words(response.result).item() == "ok"
    assert float(response.residual) < BOUNDS["gripper"]
    assert float(response.max_rotation) < 1e-12


def test_light_probe_walks_like_a_caterpillar():
    """However light it is, one contact point always rests, and the mean velocity is that of |cos|."""
    drags, kappas = jnp.meshgrid(jnp.linspace(0.05, 0.95, 19), 10.0 ** jnp.arange(3, 130, 3))
    found = jax.jit(jax.vmap(walk))(drags.ravel(), kappas.ravel())
    np.testing.assert_allclose(found.velocity, 2 / np.pi, rtol=1e-12)
    assert np.max(found.residual) < 1e-12


@pytest.mark.parametrize(
    "setting",
    [
        dict(direction="ipp", drag_ratio=1e-30),
        dict(direction="ipp", drag_ratio=1 - 1e-15),
        dict(direction="ipi", drag_ratio=1e-300),
    ],
)
def test_velocity_beyond_the_range_it_is_looked_for_in_is_a_status(setting):
    response = _respond("tribometer", {}, setting)
    assert words(response.result).item() == "not_converged"
    assert np.isnan(response.sliding_velocity)
