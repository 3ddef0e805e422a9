"""Hemispheres that turn: Carter's steady creep, the limit of none, and the drive by another integration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.devices import stickslip
from diffmicro.devices.stickslip.lumped import lump, motion, statics
from diffmicro.mechanics.loading import Outline
from diffmicro.mechanics.rolling import rolling_springs
from diffmicro.parameters import as_arrays
from tests.oracles import stickslip as oracle

APART = 5e-3

SPHERE = Outline(jnp.asarray(0.0), jnp.asarray(1.0), jnp.asarray(1.7))
CASE = dict(radius=2e-6, damping_ratio=0.05, preload=0.1, amplitude=1.5e-6, friction=1.0)
"""A stroke of nearly twice the contact radius and of three presliding distances, so that rolling shows."""


def given(**changes):
    known = CASE | dict(period=2e-3) | changes
    design = {name: known.pop(name) for name in ("radius", "damping_ratio")}
    return stickslip.published_design(**design), stickslip.published_setting(**known)


@pytest.mark.parametrize("creep", [0.3, 1.2, 1.9])
def test_steady_creep_is_carters_contact(creep):
    """A spring that comes in sticks, so that its deflection grows with the way, until it reaches its limit.

    With q u_1 a contact radius: F / u_1 = (q (2 - q)^2 / 2 + q^2 - q^3 / 3) / 2.
    """
    one = jnp.asarray(1.0)
    law = rolling_springs(SPHERE, one, one, 3 * one, 8000)
    ways = jnp.linspace(0, 3, 3001)

    @jax.jit
    def follow(creep):
        def go(state, way):
            return law.at(way).move(state, creep * 1e-3 * jnp.ones(1), jnp.ones(1)), None

        return law.force(jax.lax.scan(go, law.rest(), ways)[0], creep)

    expected = (creep * (2 - creep) ** 2 / 2 + creep**2 - creep**3 / 3) / 2
    np.testing.assert_allclose(follow(jnp.asarray(creep)), expected, rtol=1e-3)


def test_none_of_it_is_the_drive_that_moves():
    """A share of zero is the law `mdr` on both sides of its line, period by period."""

    @jax.jit
    def second(system):
        state, _ = system.period(system.rest(), 0.0)
        return system.period(state, 0.0)[1]

    def seen(**changes):
        design, setting = as_arrays(given(**changes))
        return second(motion(lump(design, setting, statics(design, setting)), setting, 300))

    moved, turned, rolled = seen(), seen(rolling=0.0), seen(rolling=1.0)
    # means over a spring's length are off by 1/(8 n^2) of the whole from values in its middle
    np.testing.assert_allclose(turned, moved, rtol=1e-4, atol=1e-5)
    assert abs(rolled.step - moved.step) > 1e-3


@pytest.mark.slow
def test_force_and_elasticities_of_the_drive_are_those_of_an_independent_integration():
    """Half of the stroke turns the hemispheres: more than half a contact radius goes through the contact."""
    known = CASE | dict(runner_mass=3e-3, rolling=0.5)
    names = ("friction", "damping_ratio", "rolling")
    call = value_and_gradient(stickslip.DEVICE, names, "force")
    value, gradient, certificate, _ = call(*given(rolling=0.5, springs=200))
    slopes = {name: float(gradient[name]) * known[name] / float(value) for name in names}
    lanes = [(1.0, known)] + [
        (1 + slopes[name] * share, known | {name: known[name] * (1 + share)})
        for name in names
        for share in (-APART, APART)
    ]
    given_to_all = {name: np.array([lane[name] for _, lane in lanes]) for name in known}
    near = float(value) * np.array([at for at, _ in lanes])
    force = oracle.force(given_to_all, near, 2e-3, 400, 14)
    assert force[0] == pytest.approx(float(value), rel=1e-4)
    for name, below, above in zip(names, force[1::2], force[2::2], strict=True):
        # differences smooth over springs that enter and leave, as over those of the drive that does not roll
        expected = (above - below) / (2 * APART * force[0])
        assert slopes[name] == pytest.approx(expected, abs=1e-3), name
    words = [verdict_word(certificate.entries[name]) for name in names]
    assert words == ["uncertified", "certified", "certified"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (dict(rolling=0.5, law="masing"), "rolling goes with law = mdr"),
        (dict(rolling=0.5, dynamic_friction=0.2), "knows one friction coefficient"),
        (dict(rolling=1.5), "rolling = 1.5"),
    ],
)
def test_bad_input_is_named(setting, message):
    with pytest.raises(ValueError, match=message):
        stickslip.respond(*given(**setting))
