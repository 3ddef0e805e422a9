"""Stick-slip: force and gradient against an independent integration; certified where it is damped; its order."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.devices import stickslip
from diffmicro.devices.stickslip.design import LAWS
from diffmicro.devices.stickslip.lumped import lump, motion, statics
from diffmicro.parameters import as_arrays
from tests.oracles import stickslip as oracle
from tests.physics import motion_verdicts

POINT = dict(
    radius=0.5e-3, preload=0.25, friction=0.3, amplitude=80e-9, damping_ratio=0.03, runner_mass=3e-3
)
WRT = ("friction", "damping_ratio")
APART = 5e-3


@pytest.mark.slow
def test_force_and_gradient_agree_with_an_independent_integration():
    design = stickslip.Design(radius=0.5e-3, damping_ratio=0.03)
    setting = stickslip.Setting(preload=0.25, amplitude=80e-9, period=2e-3, springs=50)
    call = jax.jit(value_and_gradient(stickslip.DEVICE, wrt=WRT, of="force"))
    value, gradient, certificate, _ = call(*as_arrays((design, setting)))
    assert verdict_word(certificate) == "certified"
    slopes = {name: float(gradient[name] * POINT[name] / value) for name in WRT}
    shares = (-2, -1, 1, 2)
    lanes = [POINT] + [POINT | {n: POINT[n] * (1 + k * APART)} for n in WRT for k in shares]
    near = [1.0] + [1 + slopes[n] * k * APART for n in WRT for k in shares]
    given = {name: np.array([lane[name] for lane in lanes]) for name in POINT}
    force = oracle.force(given, float(value) * np.array(near), 2e-3, 50, 14)
    assert force[0] == pytest.approx(float(value), rel=5e-5)
    for i, name in enumerate(WRT):
        far_below, below, above, far_above = force[1 + 4 * i : 5 + 4 * i]
        slope = (far_below - 8 * below + 8 * above - far_above) / (12 * APART * force[0])
        # the differences smooth over the kinks of 50 springs
        assert slopes[name] == pytest.approx(slope, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_nine_of_ten_damped_drives_are_certified(law):
    """Draws that do not move are left out."""
    rng = np.random.default_rng(11)
    points = [motion_verdicts.stickslip_draw(rng, law, 200) for _ in range(32)]
    judged = motion_verdicts.verdicts(stickslip.DEVICE, points, motion_verdicts.STICKSLIP, "force")
    moving = [one for one in judged if motion_verdicts.well_posed(one.response)]
    sure = sum(verdict_word(one.certificate) == "certified" for one in moving)
    assert len(moving) >= 22 and sure >= 0.9 * len(moving)


@pytest.mark.slow
def test_values_are_of_fourth_order_and_derivatives_of_third():
    design, setting = as_arrays(
        (
            stickslip.Design(radius=0.5e-3, damping_ratio=0.03),
            stickslip.Setting(preload=0.25, amplitude=80e-9, period=4e-3, law="dahl"),
        )
    )

    def after(steps):
        def run(share):
            system = motion(lump(design, setting, statics(design, setting)), setting, steps)
            system = eqx.tree_at(lambda m: m.damping, system, system.damping * share)
            state, _ = system.period(system.rest(), jnp.zeros(()))
            _, seen = system.period(state, jnp.zeros(()))
            return seen.step

        return [
            float(x) for x in jax.jit(lambda s: jax.jvp(run, (s,), (jnp.ones(()),)))(jnp.ones(()))
        ]

    found = np.array([after(steps) for steps in (300, 1200, 9600)])
    off = np.abs(found[:2] - found[2])
    assert off[0, 0] > 4**3 * off[1, 0] and off[1, 0] < 1e-6
    assert off[0, 1] > 4**2 * off[1, 1] and off[1, 1] < 1e-4
