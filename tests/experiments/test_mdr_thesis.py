"""The thesis' figures on contacts and on the stick-slip drive, as far as its text gives numbers."""

import pytest

from experiments.mdr_thesis import curves, loops, vibration
from experiments.outcome import verdict


@pytest.mark.parametrize("name", list(loops.EXPERIMENTS))
def test_contacts_are_reproduced(name):
    assert verdict(loops.EXPERIMENTS[name].run().checks) == "reproduced"


@pytest.mark.slow
def test_properties_of_the_drive():
    assert verdict(curves.table3_1().checks) == "reproduced"


@pytest.mark.slow
def test_shaped_signal_and_zero_amplitude():
    assert verdict(vibration.shaped(160e-9, 1e-3).checks) == "reproduced"
    assert verdict(curves.zero_amplitudes().checks) == "reproduced"


@pytest.mark.slow
def test_the_envelope_is_near_but_does_not_fit_within_15_percent():
    """Eq. 3.38 leaves out that slip changes the vibration's stiffness: measured 20 % off."""
    start, envelope, frequency = vibration.figure3_36().checks
    assert start.holds and frequency.holds and not envelope.holds
