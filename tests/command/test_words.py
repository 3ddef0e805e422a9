"""Words become values, or a message that names key, value, range and the nearest known key."""

import dataclasses

import equinox as eqx
import numpy as np
import pytest

from diffmicro.command import words
from diffmicro.command.axes import is_range
from diffmicro.command.words import BadInput
from diffmicro.design import Objective, device_problem, parse_constraint
from diffmicro.devices import device
from diffmicro.parameters import parameter

gripper, stickslip, tribometer, wrmma = map(device, ("gripper", "stickslip", "tribometer", "wrmma"))


class Design(eqx.Module):
    """With a matrix."""

    hinge: tuple = parameter(
        ((0.0, 1.0), (2.0, 3.0)), "positions of two hinges", "m", low=-10, high=10
    )


MATRIX = dataclasses.replace(
    wrmma,
    Design=Design,
    published_design=Design,
    cautions={},
    rules=(),
    process=(),
    drive=(),
    aliases={},
)


def bad(**given):
    with pytest.raises(BadInput) as caught:
        words.point(wrmma, given)
    return caught.value


def test_words_become_fields_of_design_and_setting_and_numerics():
    point = words.point(wrmma, {"mass_ratio": "1.25", "field": 3e-3, "steps": "1e3"})
    assert (point.design.mass_ratio, point.setting.field) == (1.25, 3e-3)
    assert point.design.rest_gap == wrmma.Design().rest_gap
    assert point.numerics == {"steps": 1000}


@pytest.mark.parametrize("value", ["None", None])
def test_none_where_it_means_something(value):
    assert words.point(wrmma, {"demagnetization": value}).design.demagnetization is None
    assert "mass_ratio" in str(bad(mass_ratio=value))


def test_vectors_are_lists_with_commas():
    for value in ("1,2,3,4", [[1, 2], [3, 4]], [1, 2, 3, 4]):
        hinge = words.point(MATRIX, {"hinge": value}).design.hinge
        np.testing.assert_array_equal(hinge, [[1.0, 2.0], [3.0, 4.0]])
    for value, told in (
        ("1,2,3", "3 numbers"), ("1", "1 number"), ("1,2;3", "rows of unlike lengths")
    ):  # fmt: skip
        with pytest.raises(BadInput, match=f"has {told}; it needs 2 x 2"):
            words.point(MATRIX, {"hinge": value})


@pytest.mark.parametrize("value", ["1,2", [1.0, 2.0]])
def test_a_vector_where_a_number_belongs(value):
    problem = bad(mass_ratio=value)
    assert problem.status == "invalid_input"
    for part in ("mass_ratio", "one number, not a vector", "above 0", "1.5"):
        assert part in str(problem)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", float("nan")])
def test_numbers_that_are_not_finite(value):
    problem = bad(field=value)
    assert problem.status == "invalid_input"
    for part in ("field", str(value), "finite", "at least 0"):
        assert part in str(problem)


@pytest.mark.parametrize("value", ["twenty", "big", "", True, {}, 10**400])
def test_what_is_no_number(value):
    problem = bad(rest_gap=value)
    assert problem.status == "invalid_input"
    assert "rest_gap" in str(problem) and "one number in m" in str(problem)


@pytest.mark.parametrize(
    "key, value, allowed",
    [
        ("mass_ratio", -1, "above 0"),
        ("rest_gap", 0, "above 0"),
        ("restitution", 1.5, "at least 0 and at most 1"),
        ("frequency_ratio", "0", "above 0"),
    ],
)
def test_values_out_of_range(key, value, allowed):
    problem = bad(**{key: value})
    assert problem.status == "out_of_range"
    for part in (key, f"{float(value):g}", allowed, "the default is"):
        assert part in str(problem)


@pytest.mark.parametrize(
    "typo, meant", [("mass_ratoi", "mass_ratio"), ("Field", "field"), ("step", "steps")]
)
def test_unknown_keys_name_the_nearest(typo, meant):
    assert f"did you mean {meant}?" in str(bad(**{typo: 1}))


def test_bounds_of_a_free_variable_are_said_with_their_unit():
    with pytest.raises(ValueError, match="start 20 um is outside its bounds 8 m to 40 m.*in SI"):
        device_problem(wrmma, {"rest_gap": (8.0, 40.0)}, Objective("velocity"))


@pytest.mark.parametrize(
    "key, value, told",
    [
        ("rest_gap", "15", "= 15 m .*below device_length = 300 um.* write rest_gap=15um."),
        ("rest_gap", "400um", "= 400 um .*below device_length = 300 um.*longer\\.$"),
        ("spring_width", "3um", "dimension of the drawing.*`draw` takes it"),
        ("beam_radius", "3um", "wrmma has no such parameter, gripper has it"),
        ("start", "fast", "did you mean rest. It has to be one of rest, ramp"),
        ("feild", "5mT", "did you mean field. `diffmicro show wrmma` lists all keys"),
        ("frequency", "-5Hz", "frequency_ratio.*above 0.*frequency=-5Hz was given"),
        ("rest_gap", "0,015mm", "decimal point"),
    ],
)
def test_messages_name_the_remedy(key, value, told):
    with pytest.raises(BadInput, match=told):
        words.point(wrmma, {key: value})


def test_an_unknown_key_like_none_lists_all():
    text = str(bad(zzzz=1))
    assert "mass_ratio" in text and "clamp_phase" in text


def test_words_of_fields():
    assert words.point(wrmma, {"waveform": "sine"}).setting.waveform == "sine"
    assert "did you mean square?" in str(bad(waveform="sqaure"))


@pytest.mark.parametrize("value", ["1.5", "many", None, True, float("inf")])
def test_steps_are_whole_numbers(value):
    assert "steps" in str(bad(steps=value))


def test_numerics_that_a_device_does_not_have():
    with pytest.raises(BadInput, match="gripper has no method to choose"):
        words.point(gripper, {"method": "event"})


def test_method_is_a_word():
    assert "method" in str(bad(method=["event"]))


@pytest.mark.parametrize("pair", ["mass_ratio", "=1", "mass_ratio=", "1.5"])
def test_words_without_key_or_value(pair):
    with pytest.raises(BadInput, match="key=value"):
        words.split([pair])


def test_a_key_twice():
    with pytest.raises(BadInput, match="given twice, as 1 and as 2"):
        words.split(["field=1", "field=2"])


def test_axes():
    np.testing.assert_array_equal(words.axis(wrmma, "field", "1:2:3"), [1.0, 1.5, 2.0])
    np.testing.assert_array_equal(words.axis(wrmma, "field", "1,3"), [1.0, 3.0])
    assert words.axis(wrmma, "waveform", "sine,square") == ["sine", "square"]
    assert words.axis(wrmma, "demagnetization", "None,0.1") == [None, 0.1]


@pytest.mark.parametrize(
    "key, text, told",
    [
        ("field", "1:2", "start:stop:count"),
        ("field", "1:2:0", "whole number from 1"),
        ("field", "1:2:1e9", "whole number from 1"),
        ("field", "a:2:3", "one number in T"),
        ("waveform", "1:2:3", "start:stop:count"),
        ("feild", "1:2:3", "did you mean field?"),
    ],
)
def test_bad_axes(key, text, told):
    with pytest.raises(BadInput, match=told.replace("?", r"\?")):
        words.axis(wrmma, key, text)


def test_names_of_responses_and_gradients():
    known = words.responses(wrmma)
    assert "velocity" in known and "result" not in known and "state" not in known
    assert words.names("velocity, min_gap,velocity", known, "response") == ("velocity", "min_gap")
    assert words.names(None, known, "response") == ()
    with pytest.raises(BadInput, match="did you mean velocity"):
        words.names("velocty", known, "response")
    with pytest.raises(BadInput, match="waveform takes words"):
        words.free_names("waveform", wrmma)


def test_an_alias_is_an_axis_but_no_parameter_to_differentiate_by():
    np.testing.assert_array_equal(words.axis(wrmma, "frequency", "1kHz:3kHz:3"), [1e3, 2e3, 3e3])
    with pytest.raises(BadInput, match="it is frequency_ratio times tethered_frequency. Give freq"):
        words.free_names("frequency", wrmma)
    known = words.known(wrmma, "frequency")
    published = (
        wrmma.published_setting().frequency_ratio * wrmma.published_design().tethered_frequency
    )
    assert (known.unit, known.low, known.open_low) == ("Hz", 0, True)
    assert known.default == pytest.approx(published)
    with pytest.raises(
        BadInput, match="tethered_frequency, which varies here; give frequency_ratio"
    ):
        words.check_varied(wrmma, {"frequency": "2kHz"}, ["tethered_frequency"])


def test_devices_by_name():
    assert words.device("wrmma") is wrmma
    with pytest.raises(BadInput, match="did you mean wrmma"):
        words.device("wrma")


def test_whole_numbers_and_contradictions_of_a_device():
    assert words.point(stickslip, {"springs": "100"}).setting.springs == 100
    with pytest.raises(BadInput, match="whole number"):
        words.point(stickslip, {"springs": "100.5"})
    with pytest.raises(BadInput, match="whole number that sets the resolution"):
        words.free_names("springs", stickslip)
    with pytest.raises(BadInput, match="exactly one of"):
        words.point(tribometer, {"drag_ratio": 0.5, "sliding_velocity": 0.01})


def test_words_with_units():
    given = {"rest_gap": "18um", "field": "4 mT", "frequency_ratio": "95%", "density": "8.9g/cm^3"}
    found = words.point(wrmma, given)
    assert found.design.rest_gap == pytest.approx(18e-6, rel=1e-15)
    assert found.setting.field == pytest.approx(4e-3, rel=1e-15)
    assert found.setting.frequency_ratio == pytest.approx(0.95, rel=1e-15)
    assert found.design.density == pytest.approx(8900, rel=1e-15)
    np.testing.assert_allclose(words.axis(wrmma, "field", "1mT:3mT:3"), [1e-3, 2e-3, 3e-3])
    found = words.point(gripper, {"beam_angle": "297deg,318deg,333deg,4.5"})
    np.testing.assert_allclose(np.rad2deg(found.design.beam_angle[:3]), [297, 318, 333])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rest_gap": "18mT"}, "has to be in m"),
        ({"rest_gap": "18 furlongs"}, "'furlongs' is no unit"),
        ({"mass_ratio": "2kg"}, "has to be a pure number"),
    ],
)
def test_units_of_another_dimension_are_refused(given, message):
    with pytest.raises(words.BadInput, match=message):
        words.point(wrmma, given)


def test_all_entries_are_no_range():
    assert is_range("gap=1:2") and not is_range("beam_radius[:]=220um") and is_range("r[:]=1:2")


def test_a_unit_of_the_last_number_alone_is_refused():
    """It may be meant for all: 250 of them would be meters."""
    with pytest.raises(words.BadInput, match="only the last number has a unit; give each its own"):
        words.point(gripper, {"beam_radius": "250,250,250,250um"})
    found = words.point(gripper, {"tip": "0,1mm", "beam_radius[:]": "250um"}).design
    np.testing.assert_allclose(found.tip, [0, 1e-3])
    np.testing.assert_allclose(found.beam_radius, 250e-6)
    with pytest.raises(words.BadInput, match=r"beam_radius\[:\]=250um sets all alike"):
        words.point(gripper, {"beam_radius": "250um"})


@pytest.mark.parametrize("text", ["margin(frequency_ratio)>3%", "margin(frequency_ratio) >= 0.03"])
def test_a_margin_is_a_constraint(text):
    found = parse_constraint(text)
    assert (found.response, found.sense) == ("margin(frequency_ratio)", ">=")
    assert found.bound == pytest.approx(0.03)
