"""Words with units become SI numbers, and of the right dimension only."""

import math

import pytest

from diffmicro.units import UnitError, exact, in_readable_units, in_si, round_below


@pytest.mark.parametrize(
    ("word", "unit", "value"),
    [
        ("20um", "m", 20e-6),
        ("5mT", "T", 5e-3),
        ("2.3kHz", "Hz", 2300),
        ("2.3e3 1/s", "Hz", 2300),
        ("27deg", "rad", math.radians(27)),
        ("1.8e-7kg", "kg", 1.8e-7),
        ("180ug", "kg", 1.8e-7),
        ("100nm", "m", 1e-7),
        ("70uN", "N", 70e-6),
        ("200MPa", "Pa", 2e8),
        ("200 N/mm^2", "Pa", 2e8),
        ("0.2GPa", "N/m^2", 2e8),
        ("5%", "-", 0.05),
        ("3mm/s", "m/s", 3e-3),
        ("8.9 g/cm^3", "kg/m^3", 8900),
        ("1uN s/m", "N s/m", 1e-6),
        ("2e-6 N*s/m", "N s/m", 2e-6),
        ("12", "m", 12.0),
        ("-3.5e-6", "m", -3.5e-6),
        (" 4 \u00b5m ", "m", 4e-6),
        ("1pm/V", "m/V", 1e-12),
        ("9.81 m/s^2", "m/s^2", 9.81),
        ("1e3 m^-1 A", "A/m", 1e3),
        ("50G", "T", 5e-3),
        ("2kGauss", "T", 0.2),
        ("3THz", "Hz", 3e12),
        ("3krpm", "Hz", 50),
    ],
)
def test_words_in_si(word, unit, value):
    assert in_si(word, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("word", "unit", "message"),
    [
        ("20um", "T", "has to be in T"),
        ("20um", "-", "has to be a pure number"),
        ("5parsec", "m", "'parsec' is no unit"),
        ("5mdeg", "rad", "'mdeg' is no unit"),
        ("0,015mm", "m", "decimal point instead of the comma: 0.015mm"),
        ("5m//s", "m/s", "no unit"),
        ("5m^99", "m", "no unit"),
    ],
)
def test_another_dimension_or_no_unit(word, unit, message):
    with pytest.raises(UnitError, match=message.replace("^", r"\^")):
        in_si(word, unit)


@pytest.mark.parametrize("word", ["", "um", "1,2", "fast", "1..2", "0x10"])
def test_what_is_no_number(word):
    with pytest.raises(ValueError):
        in_si(word, "m")


def test_numbers_in_messages_read_well():
    text = "gap = 0.0004 m is not above 0 m and below 1.5e-05 m, 3 m/s, 2 of 5 and x = -0.005 T"
    shown = "gap = 400 um is not above 0 m and below 15 um, 3 m/s, 2 of 5 and x = -5 mT"
    assert in_readable_units(text) == shown


@pytest.mark.parametrize("power", range(-9, 7))
@pytest.mark.parametrize("size", [1.0, 2.0, 5.0])
def test_scale_bars_are_as_long_as_fits_whatever_the_rounding(size, power):
    whole = size * 10.0**power
    for limit in (whole, math.nextafter(whole, 0), math.nextafter(whole, math.inf), 1.9 * whole):
        assert round_below(limit) == pytest.approx(whole, rel=1e-12)
    assert round_below(0.99 * whole) < 0.99 * whole


@pytest.mark.parametrize(
    ("value", "unit", "word"),
    [(20e-6, "m", "20um"), (1.5, "-", "1.5"), (2e8, "Pa", "200MPa")],
)
def test_an_exact_word_is_read_as_the_same_number(value, unit, word):
    assert in_si(exact(value, unit), unit) == value
    assert exact(value, unit) == word
