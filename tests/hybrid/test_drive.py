"""Drives on segments: each alone, and several in one schedule."""

import re
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import hybrid, parameter
from diffmicro.hybrid.drive import schedule, segments_rule
from diffmicro.results import RESULTS, code

Both = namedtuple("Both", ["one", "other"])


def at(drive, time):
    """A drive's value by its segments, not by the schedule."""
    start = 0.0
    for end, first, last in drive.segments(None, None):
        if time < end or end == 1.0:
            length = end - start
            return first + (last - first) * (time - start) / (length or 1.0)
        start = end
    raise AssertionError


def along(found, entry, time):
    start = 0.0
    for end, first, last in zip(found.ends, found.starts, found.finishes, strict=True):
        if time < end:
            a, b = getattr(first, entry), getattr(last, entry)
            return a + (b - a) * (time - start) / (end - start)
        start = end
    raise AssertionError


SQUARE = hybrid.Square(low=0.0, high=2.0, rise=0.1)
DRIVES = {
    "apart": (SQUARE, hybrid.Sawtooth(rise=0.8)),
    "switching together": (hybrid.Square(), hybrid.Steps(lambda d, s: [(0.5, 1.0), (1.0, 3.0)])),
    "at once at the end": (hybrid.Sawtooth(rise=1.0), SQUARE),
    "samples": (hybrid.Samples((0.0, 1.0, 0.5)), hybrid.Sawtooth(rise=0.4)),
}


@pytest.mark.parametrize("name", DRIVES)
def test_several_drives_in_one_schedule(name):
    drives = DRIVES[name]
    found = schedule(drives, Both, None, None, jnp.asarray(1.0))
    assert float(found.ends[-1]) == 1.0
    for time in np.linspace(0.013, 0.993, 50):
        for entry, drive in zip(Both._fields, drives, strict=True):
            np.testing.assert_allclose(along(found, entry, time), at(drive, time), atol=1e-12)


def test_an_instant_of_a_switch_has_a_derivative():
    def ends(rise):
        drives = hybrid.Sawtooth(rise=lambda d, s: rise), hybrid.Square()
        return jnp.stack(schedule(drives, Both, None, None, jnp.asarray(1.0)).ends)

    np.testing.assert_allclose(jax.jacfwd(ends)(0.7), [0.0, 1.0, 0.0])


def test_no_segments_are_one():
    Nothing = namedtuple("Nothing", [])
    found = schedule((), Nothing, None, None, jnp.asarray(1.0))
    assert [float(end) for end in found.ends] == [1.0]


WRONG = {
    "end at 0.2, 0.9, 1.1, 1, .* Keep its rise at most duty": hybrid.Square(duty=0.9, rise=0.2),
    "end at 0.6, 0.5, 1.1, 1, ": hybrid.Square(duty=0.5, rise=0.6),
    "end at 1.2, 1, .* rise from 0 to 1": hybrid.Sawtooth(rise=1.2),
    "end at 0.4, 0.8, .* the last one at 1": hybrid.Steps(lambda d, s: [(0.4, 1.0), (0.8, 0.0)]),
    "end at 0.7, 0.4, 1, ": hybrid.Steps(lambda d, s: [(0.7, 1.0), (0.4, 0.0), (1.0, 2.0)]),
    "end at nowhere, .* one value at least": hybrid.Samples(()),
}


@pytest.mark.parametrize("message", WRONG)
def test_segments_that_do_not_fill_the_period_are_refused(message):
    rule = segments_rule(WRONG[message])
    assert not rule.test(None, None)
    assert re.search(message, rule.message(None, None))


def test_segments_that_fill_the_period_pass():
    tenths = hybrid.Steps(lambda d, s: [(sum([0.1] * (k + 1)), 1.0) for k in range(10)])
    jump = hybrid.Sawtooth(rise=0.0)
    for drive in (*(d for both in DRIVES.values() for d in both), tenths, jump):
        assert segments_rule(drive).test(None, None)


class Design(hybrid.Design):
    duty: float = parameter(0.5, "share of the period in which the mass is pushed", "-")


class Setting(hybrid.Setting):
    frequency: float = parameter(100.0, "frequency", "Hz", above=0)


class Pushed(hybrid.Motion):
    """A damped mass under a square wave."""

    x = hybrid.Coordinate("place", drifts=True, scale=1e-6)
    push = hybrid.Square(duty=lambda d, s: d.duty, rise=0.2)

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        return {"x": now.push - 200 * now.x_rate}


RESPONSES = {"velocity": hybrid.drift("x")}
DEVICE = hybrid.device("d", "d", Design, Setting, Pushed, source="-", responses=RESPONSES)


def test_a_device_refuses_them_where_numbers_are_known():
    assert DEVICE.simulate
    for calculate in (DEVICE.respond, DEVICE.simulate):
        with pytest.raises(ValueError, match="drive 'push' end at 0.2, 0.9, 1.1, 1, as shares"):
            calculate(Design(duty=0.9), Setting())


@pytest.mark.slow
def test_a_device_reports_them_in_lanes():
    @jax.vmap
    def lanes(duty):
        return DEVICE.respond(Design(duty=duty), Setting(), throw=False, **DEVICE.quick)

    found = lanes(jnp.array([0.6, 0.9, 0.1]))
    out = code(RESULTS.out_of_range)
    np.testing.assert_array_equal(code(found.result), [code(RESULTS.successful), out, out])
    # What is pushed up for 60 % of the time, and down for the rest, with a damper of 200 / s.
    np.testing.assert_allclose(found.velocity, [(0.6 - 0.4) / 200, np.nan, np.nan], rtol=1e-9)
