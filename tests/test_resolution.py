"""A resolution that a compiled program is given does what the same resolution in the program does."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.autodiff.pruning import pruned
from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.devices import gripper, stickslip
from diffmicro.parameters import as_arrays
from diffmicro.resolution import taken
from diffmicro.results import word
from diffmicro.sweep.lanes import HASTY

GRIPPER = (gripper.DEVICE, dict(force=20e-6), "tip_x", "beam_radius", 16)
SAWTOOTH = dict(preload=0.25, amplitude=80e-9, period=2e-3, law="dahl")
WAVE = np.append(np.linspace(0, 1, 39), 0.5)
DRIVE = (stickslip.DEVICE, SAWTOOTH, "force", "radius", 300)
SAMPLES = (stickslip.DEVICE, {**SAWTOOTH, "waveform": "samples", "samples": WAVE}, *DRIVE[2:])

soon = partial(jax.jit, compiler_options=HASTY)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(GRIPPER, id="gripper", marks=pytest.mark.slow),
        pytest.param(DRIVE, id="drive", marks=pytest.mark.slow),
        pytest.param(SAMPLES, id="samples", marks=pytest.mark.slow),
    ],
)
def test_a_share_of_the_steps_is_a_resolution(case):
    """Half of twice the steps: the same value and slope, and others than those of all steps."""
    device, given, response, name, steps = case
    design, setting = as_arrays((device.published_design(), device.published_setting(**given)))

    def slope(**numerics):
        def value(scale):
            moved = dataclasses.replace(design, **{name: getattr(design, name) * scale})
            return getattr(device.respond(moved, setting, throw=False, **numerics), response)

        return jax.jvp(value, (jnp.ones(()),), (jnp.ones(()),))

    wanted = soon(lambda: slope(steps=steps))()
    shared = soon(lambda share: slope(steps=2 * steps, share=share))
    np.testing.assert_allclose(shared(0.5), wanted, rtol=1e-9)
    assert abs(shared(1.0)[1] / wanted[1] - 1) > 1e-9


@pytest.mark.parametrize("device", [gripper, stickslip])
@pytest.mark.parametrize("share", [2.0, 0.0, -1.0, np.nan, jnp.asarray(1.5)])
def test_what_is_no_share_of_the_steps_is_refused(device, share):
    with pytest.raises(ValueError, match=f"share = {share} is .* above 0 and at most 1.* 32 steps"):
        device.respond(device.Design(), device.published_setting(), steps=32, share=share)


def test_a_traced_value_that_is_no_share_is_out_of_range():
    device, given, *_ = DRIVE
    point = as_arrays((device.published_design(), device.published_setting(**given)))
    respond = soon(lambda share: device.respond(*point, steps=300, share=share, throw=False))
    found = respond(2.0)
    assert word(found.result) == "out_of_range" and jnp.isnan(found.force)
    assert word(respond(0.5).result) == "ok"
    refused = jax.vmap(lambda share: taken(32, share, 8))(jnp.array([0.5, 1.0, 2.0, -1.0, jnp.nan]))
    np.testing.assert_array_equal(refused.legal, [True, True, False, False, False])
    np.testing.assert_array_equal(refused.used, [16, 32, 32, 32, 32])


@pytest.mark.slow
def test_a_certificate_by_one_program_is_that_by_two():
    device, given, response, name, _ = GRIPPER
    point = as_arrays((device.published_design(), device.published_setting(**given)))
    one, two = (
        soon(value_and_gradient(device, [name], response, **numerics))(*point)[:3]
        for numerics in (device.lone, {})
    )
    assert verdict_word(one[2]) == "certified"
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12), one, two)


def test_steps_that_are_taken():
    whole, half = taken(32, None, 8), taken(32, 0.5, 8)
    assert (whole.number, float(half.number)) == (32, 16)
    assert (float(taken(32, 0.1, 8).number), float(half.fewer(4).number)) == (8, 4)
    assert float(taken(33, 0.5, 8).multiple_of(5).number) == 20
    index, unit = jnp.arange(32), jnp.asarray(3.0)
    for steps in (whole, half):
        lengths, places = steps.length(index, unit), steps.before(index, unit)
        np.testing.assert_allclose(jnp.sum(jnp.broadcast_to(lengths, (32,))), 3.0)
        np.testing.assert_allclose(jnp.diff(places)[:10], 3.0 / steps.number)
    np.testing.assert_array_equal(half.length(index, unit)[16:], 0)


def test_what_nobody_needs_is_not_compiled():
    """The derivative of a loop whose value alone is wanted."""

    def both(x):
        def looped(x):
            return jax.lax.fori_loop(0, 9, lambda _, y: jnp.sin(y), x)

        device = jax.jit(lambda x: (x * x, looped(x)))
        value, slope = jax.jvp(device, (x,), (jnp.ones_like(x),))
        return {"value": value, "slope": slope[0]}

    def cosines(function):
        def again(x):
            return jax.lax.while_loop(lambda y: y > 9, lambda y: function(y)["slope"], x)

        return jax.jit(again).lower(jnp.ones(())).as_text().count("cosine")

    assert cosines(both) == 1 and cosines(pruned(both)) == 0
    two = jnp.full((), 2.0)
    jax.tree.map(np.testing.assert_array_equal, pruned(both)(two), both(two))
