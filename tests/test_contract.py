"""What holds for every device: the shipped contract test, `diffmicro.testing`, at one point each."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import OWN
from diffmicro.parameters import parameter
from diffmicro.recheck import ByResolution
from diffmicro.testing import (
    CHECKS,
    Case,
    Trial,
    check_device,
    gradient_is_the_slope_of_the_value,
    is_a_layer,
    motions_are_pure,
    motions_change_as_their_derivative_says,
    no_gradient_by_the_start,
    ok_means_finite,
    reverse_equals_forward,
    single_precision_is_usable,
)
from tests.cases import CAPSULE, CASES
from tests.regression import points as regression
from tests.regression import stored
from tests.sweep.toy import TOY


def test_every_device_has_a_case():
    assert set(CASES) == {*OWN, CAPSULE}


@pytest.fixture(scope="module")
def trial(request):
    return Trial(request.param, CASES[request.param])


MOTIONS = (motions_are_pure, motions_change_as_their_derivative_says)

APART = (
    is_a_layer,
    ok_means_finite,
    gradient_is_the_slope_of_the_value,
    reverse_equals_forward,
    *MOTIONS,
)
"""Checks that compile much for one device: each has a test of its own, slow where it takes half a minute."""

LONG = {
    ok_means_finite: ("legs", "tumbler", "wrmma"),
    gradient_is_the_slope_of_the_value: ("legs", "tumbler", "wrmma"),
    reverse_equals_forward: ("gripper", "legs", "stickslip", "tumbler", "wrmma"),
    no_gradient_by_the_start: ("legs", "wrmma"),
    single_precision_is_usable: ("gripper", "legs", "stickslip", "tumbler", "wrmma"),
}
"""Devices for which a check compiles for long."""


def _slow(name, check):
    """Fast tests hold the capsule beside SciPy already, in tests/examples."""
    return pytest.mark.slow if name == CAPSULE or name in LONG.get(check, ()) else ()


OTHER_LANE = 8 * np.finfo(float).eps
"""What the place in a batch may change, relative: a few roundings where the last lanes fill no vector."""


def numbers_are_those_stored(trial):
    """Values, derivatives and statuses of five points (`tests/regression`), and again in another order."""
    label = trial.device.name
    if label not in OWN:
        return
    at = regression.places(label)
    here = regression.answers(trial, trial.lanes, at)
    told = stored.changes(label, here, stored.load()[label])
    assert not told, "\n".join([*told, stored.REMEDY])
    order = np.array([3, 0, 4, 1, 2])
    again = regression.answers(trial, trial.lanes, at[order])
    assert [again["status"][i] for i in np.argsort(order)] == list(here["status"])
    for name, values in here.items():
        if name != "status":
            there = np.asarray(values)[order]
            np.testing.assert_allclose(again[name], there, rtol=OTHER_LANE, atol=0, err_msg=name)


TOGETHER = [
    pytest.param(n, c, marks=_slow(n, c), id=f"{n.rpartition(':')[2].lower()}-{c.__name__}")
    for n in CASES
    for c in (*CHECKS, numbers_are_those_stored)
    if c not in APART
]


@pytest.mark.parametrize(("trial", "check"), TOGETHER, indirect=["trial"])
def test_contract(trial, check):
    check(trial)


@pytest.mark.parametrize(
    "name, check",
    [
        pytest.param(n, check, marks=_slow(n, check))
        for check in APART
        if check in LONG
        for n in OWN
    ],
)
def test_apart(name, check):
    """The certificate, which `test_contract` holds for every device, looks at slopes of the value too."""
    check(Trial(name, CASES[name]))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "tribometer" else pytest.mark.slow) for n in OWN]
)
def test_is_a_layer(name):
    """Tracing a device in all mappings at once takes up to a minute; the quickest one is always tried."""
    is_a_layer(Trial(name, CASES[name]))


@pytest.mark.parametrize("check", MOTIONS)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "tribometer" else pytest.mark.slow) for n in OWN]
)
def test_motions(name, check):
    """The tumbler's, whose length is not known beforehand, is also traced in `tests/devices/test_tumbler.py`."""
    check(Trial(name, CASES[name]))


TOY_CASE = Case("velocity", ("length", "drive"), single_rtol=1e-6)


def _with(change):
    """The toy with its response changed, checked again by a lower resolution that it has not."""

    def respond(design, setting, **numerics):
        return change(TOY.respond(design, setting, **numerics))

    recheck = ByResolution(lambda numerics: numerics)
    return dataclasses.replace(TOY, respond=respond, carries=False, recheck=recheck)


def test_a_sound_device_passes():
    check_device(_with(lambda response: response), TOY_CASE)


def test_a_field_without_unit_is_refused():
    class Nameless(eqx.Module):
        length: float = parameter(1.0, "length")

    with pytest.raises(TypeError, match="Nameless.length has no unit or no meaning"):
        dataclasses.replace(TOY, Design=Nameless, published_design=Nameless)


def test_ok_with_a_response_that_is_not_finite_is_refused():
    def spoilt(response):
        return eqx.tree_at(lambda r: r.seen, response, response.seen * jnp.inf)

    with pytest.raises(AssertionError, match="ok means finite: seen is inf with status ok"):
        check_device(_with(spoilt), TOY_CASE)


@jax.custom_jvp
def _off(value):
    return value


@_off.defjvp
def _off_jvp(primals, tangents):
    return _off(*primals), 1.01 * tangents[0]


def test_a_gradient_off_by_a_hundredth_is_refused():
    def planted(response):
        return eqx.tree_at(lambda r: r.velocity, response, _off(response.velocity))

    with pytest.raises(AssertionError, match="is not the slope of its value") as caught:
        check_device(_with(planted), TOY_CASE)
    assert "the gradient is uncertified: the value's differences disagree" in str(caught.value)
