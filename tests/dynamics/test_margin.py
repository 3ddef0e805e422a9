"""The margin of a motion that repeats does not depend on where its period begins."""

import jax.numpy as jnp
import pytest

from diffmicro.dynamics.margin import Margin
from diffmicro.dynamics.system import Step

FAR = [jnp.asarray(1.0), jnp.asarray(-1.0), jnp.asarray(0.0), jnp.asarray(0.0)]
"""A guard that falls at a constant rate, so it grazes nowhere."""


def margin(ends):
    """Of one period with steps up to these instants: (instant, by an event, whether the drive changes)."""
    found, before = Margin.unknown(jnp.zeros(())), 0.0
    for at, event, turned in ends:
        fired = (jnp.asarray(event),)
        span, whole = jnp.asarray(at - before), jnp.asarray(1.0)
        found = found.after(
            Step((), (FAR,), span, whole, fired, jnp.asarray(at == 1.0), jnp.asarray(turned), ())
        )
        before = at
    return float(found.whole)


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.5, 0.85])
def test_where_the_period_begins_does_not_matter(shift):
    """Events at 0.1, 0.3 and 0.8: two of them are 0.2 apart, wherever the end of the period falls."""
    places = sorted((at + shift) % 1.0 for at in (0.1, 0.3, 0.8))
    steps = [(at, True, False) for at in places] + [(1.0, False, False)]
    assert margin(steps) == pytest.approx(0.2)


def test_an_event_right_behind_the_first_switch_counts():
    """The drive changes at the end of the period, which is where it begins."""
    assert margin([(0.05, True, False), (1.0, False, True)]) == pytest.approx(0.05)
    assert margin([(0.97, True, False), (1.0, False, True)]) == pytest.approx(0.03)


def test_switches_alone_keep_their_distance():
    assert margin([(0.1, False, True), (1.0, False, True)]) == 1.0


def test_one_event_is_a_period_apart_from_itself():
    assert margin([(0.4, True, False), (1.0, False, False)]) == pytest.approx(1.0)
