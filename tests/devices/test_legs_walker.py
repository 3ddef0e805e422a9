"""The robot that walks on two feet: SciPy's integration, mirror image, no friction, balance, the contract."""

import math
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.devices.legs.walker import WALKER, Design, Setting
from diffmicro.parameters import as_arrays
from diffmicro.results import word
from diffmicro.testing import Case, check_device
from tests.oracles.walker import velocity, walked

PLACE = "diffmicro.devices.legs.walker:WALKER"


def plain(given) -> SimpleNamespace:
    """The numbers of a Design or Setting."""
    return SimpleNamespace(**{k: float(v) for k, v in vars(given).items()})


@pytest.fixture(scope="module")
def respond():
    return jax.jit(lambda s: WALKER.respond(as_arrays(Design()), s, throw=False))


def test_every_foot_of_a_standing_robot_carries_half_of_it():
    """Statics, from the accelerations as they are written."""
    design, setting = Design(), Setting(lift=0.0, swing=0.0)
    sunk = -0.5 * design.mass * setting.gravity / design.pad_stiffness
    path = walked(plain(design), plain(setting), 1e-3)
    np.testing.assert_allclose(path.heights, sunk, rtol=1e-9)
    assert path.lifted == pytest.approx(design.mass * setting.gravity * 1e-3, rel=1e-9)
    assert abs(path.pushed) < 1e-15


@pytest.mark.slow
def test_the_way_from_rest_is_the_oracles():
    design, setting = Design(), Setting()
    assert WALKER.simulate is not None
    path = WALKER.simulate(design, setting, periods=4)
    end = walked(plain(design), plain(setting), 4 / setting.frequency)
    x, fore, hind = end.places
    ours = {name: float(np.asarray(getattr(path, name))[-1]) for name in (
        "fore", "hind", "reach", "spread", "walk", "follow",
    )}  # fmt: skip
    theirs = dict(fore=end.heights[0], hind=end.heights[1], reach=x - fore, spread=fore - hind,
                  walk=fore, follow=hind)  # fmt: skip
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, abs=1e-6 * setting.lift), name


@pytest.mark.slow
def test_velocity_mirror_image_and_balance(respond):
    """One period by the oracle; swing turned around; feet exchanged; without friction, and without swing."""
    found = respond(as_arrays(Setting()))
    assert word(found.result) == "ok" and 0 < float(found.fore_contact) < 1
    setting, design = plain(Setting()), plain(Design())
    period = 1 / setting.frequency
    path = walked(design, setting, period, found.state)
    assert path.places[1] / period == pytest.approx(float(found.velocity), rel=1e-8)
    assert path.heights[0] == pytest.approx(float(found.state["fore"]), abs=1e-6 * setting.lift)
    # Over a period the pads carry the weight, and friction pushes nothing.
    assert path.lifted == pytest.approx(design.mass * setting.gravity * period, rel=1e-6)
    assert abs(path.pushed) < 1e-6 * path.lifted
    back = respond(as_arrays(Setting(swing_phase=-0.5 * math.pi)))
    assert float(back.velocity) == pytest.approx(-float(found.velocity), rel=1e-7)
    ahead, mirrored = (
        respond(as_arrays(Setting(gait=g, swing=w))) for g, w in ((1.0, 3e-6), (-1.0, -3e-6))
    )
    assert float(mirrored.velocity) == pytest.approx(-float(ahead.velocity), rel=1e-7)
    for still in (dict(friction=0.0), dict(swing=0.0)):
        given = respond(as_arrays(Setting(**still, gait=0.0)))
        assert abs(float(given.velocity)) < 1e-9 * float(found.velocity), still


@pytest.mark.slow
def test_certified_gradients_are_slopes_of_the_oracles_velocity():
    """By friction, swing and gait: differences of the oracle's settled velocity over 1e-3 of each."""
    names = ("friction", "swing", "gait")
    gradient_of = jax.jit(value_and_gradient(WALKER, names, "velocity"))
    _, gradient, certificate, response = gradient_of(as_arrays(Design()), as_arrays(Setting()))
    assert verdict_word(certificate) == "certified", reason_text(certificate)
    design, given = plain(Design()), vars(plain(Setting()))
    settling = math.ceil(math.log(1e-6) / math.log(float(response.multiplier)))

    def moved(**changes):
        return velocity(design, SimpleNamespace(**(given | changes)), settling, response.state)

    for name in names:
        h = 1e-3 * given[name]
        known = (moved(**{name: given[name] + h}) - moved(**{name: given[name] - h})) / (2 * h)
        assert float(gradient[name]) == pytest.approx(known, rel=1e-3), name


@pytest.mark.slow
def test_it_keeps_the_contract():
    check_device(
        PLACE,
        Case("velocity", ("mass", "swing"), numerics=dict(window=0), single=dict(tolerance=1e-5)),
    )
