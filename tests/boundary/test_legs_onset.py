"""Where a foot in the air first touches: a closed form without small-scale forces, else its place found anew."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import boundaries, device
from diffmicro.devices import legs
from diffmicro.devices.legs.airborne import lowest_in_air
from diffmicro.parameters import as_arrays, get, put
from tests.oracles.legs import bounce

LEGS = device("legs")

IN_AIR = dataclasses.replace(LEGS, limits=tuple(limit for limit in LEGS.limits if limit.alone))
"""The legs with the limit alone that is looked for here."""

PUBLISHED = legs.published_design()


def point(scale=1.0, **changes):
    """The first two modes of the published leg, 50 um over the ground."""
    modes = ("frequency", "damping", "gain", "mobility")
    given = {name: np.asarray(getattr(PUBLISHED, name))[:2] * scale for name in modes}
    design = legs.published_design(**given, **changes)
    return design, legs.published_setting(gap=50e-6)


def onset(design, setting, wrt):
    """The gap at which the foot begins to touch."""
    (one,) = boundaries(IN_AIR, design, setting, along="gap", between=(1e-6, 50e-6), wrt=wrt)
    assert one.kind == "contact_onset" and one.side == "below"
    return one


@pytest.mark.slow
def test_without_small_scale_forces_the_lowest_point_is_below_by_the_free_amplitude():
    """Also where the motion goes through the ground."""
    design, setting = as_arrays(point(film=0.0, electrostatic=0.0))
    free = float(legs.free_amplitude(design, setting))
    for gap in (0.5 * free, 2 * free):
        there = put(design, setting, {"gap": jnp.asarray(gap)})
        assert float(lowest_in_air(*there)) == pytest.approx(gap - free, rel=1e-6)


@pytest.mark.slow
def test_without_small_scale_forces_it_is_the_free_amplitude():
    design, setting = as_arrays(point(film=0.0, electrostatic=0.0))
    wrt = ("damping", "drive_frequency", "gain", "voltage")
    one = onset(design, setting, wrt)

    def free(values):
        return legs.free_amplitude(*put(design, setting, values))

    values = {name: get(design, setting, name) for name in wrt}
    assert one.at == pytest.approx(float(free(values)), rel=1e-6)
    assert one.certificate.verdict == "certified", one.certificate.reason
    for name, slope in jax.grad(free)(values).items():
        np.testing.assert_allclose(one.grad[name], slope, rtol=1e-5)


@pytest.mark.slow
def test_there_is_none_where_the_foot_bounces_already():
    design, setting = as_arrays(point(film=0.0, electrostatic=0.0))
    gap = 0.5 * legs.free_amplitude(design, setting)
    setting = dataclasses.replace(setting, gap=gap)
    around = (0.8 * float(gap), 4 * float(gap))
    assert not boundaries(IN_AIR, design, setting, along="gap", between=around, wrt=("voltage",))


@pytest.mark.slow
def test_the_lowest_point_is_that_of_the_motion():
    """SciPy's DOP853 from rest to where the transient is over, well above the ground."""
    design, setting = point()
    given = {name: getattr(design, name) for name in ("frequency", "damping", "gain", "mobility")}
    small = ("film", "film_offset", "electrostatic", "electrostatic_offset")
    given |= {name: getattr(design, name) for name in small}
    drive = {name: getattr(setting, name) for name in ("voltage", "drive_frequency", "waveform")}
    drive |= {"gap": 20e-6, "law": "full", "restitution": 0.51}
    period = 1 / float(np.asarray(setting.drive_frequency))
    known = lowest_in_air(*as_arrays((design, dataclasses.replace(setting, gap=20e-6))))
    assert 0 < known < 15e-6
    settled, low = bounce(given, drive, 60 * period), np.inf
    for share in np.linspace(0, 1, 101)[1:]:
        start = (settled.displacement, settled.speed)
        there = bounce(given, drive, share * period, start)
        low = min(low, drive["gap"] + there.displacement.sum())
    assert not settled.impacts and low == pytest.approx(float(known), rel=2e-3)


def relocated(design, setting, near):
    """The gap of the onset by the secant method on values alone."""

    def room(gap):
        return float(lowest_in_air(design, put(design, setting, {"gap": jnp.asarray(gap)})[1]))

    one, other = near, near * 1.001
    first, second = room(one), room(other)
    for _ in range(6):
        if abs(second - first) < 1e-15 * abs(near):
            break
        one, other, first = other, other - second * (other - one) / (second - first), second
        second = room(other)
    return other


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_derivatives_are_those_of_places_found_anew(seed):
    """Of a random leg: each derivative alone, against places 0.01 % away; resonances are some percent wide."""
    rng = np.random.default_rng(seed)
    wrt = ("damping", "drive_frequency", "electrostatic", "film", "film_offset", "voltage")
    design, setting = point(rng.uniform(0.9, 1.1))
    changed = {name: rng.uniform(0.7, 1.4) * getattr(design, name) for name in wrt[2:5]}
    changed["voltage"] = setting.voltage * rng.uniform(0.5, 1.0)
    design, setting = as_arrays(put(design, setting, changed))
    one = onset(design, setting, wrt)
    assert one.certificate.verdict == "certified", one.certificate
    for name in wrt:
        value = get(design, setting, name)
        shares = (1 + 1e-4, 1 - 1e-4)
        more, less = (relocated(*put(design, setting, {name: value * x}), one.at) for x in shares)
        slope = float(jnp.sum(jnp.asarray(one.grad[name]) * value))
        off = abs((more - less) / 2e-4 - slope) / max(abs(slope), 1e-3 * one.at)
        assert off < 1e-4, (name, off)
