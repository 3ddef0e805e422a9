"""Drives on segments: each alone, and several in one schedule."""

from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import hybrid
from diffmicro.hybrid.drive import schedule

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
