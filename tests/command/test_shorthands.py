"""Entries of vectors, aliases, cautions, and answers in units that read well."""

import csv
import re

import numpy as np
import pytest

from diffmicro.command import words
from diffmicro.command.app import run
from diffmicro.command.words import BadInput
from diffmicro.devices import device
from diffmicro.parameters import put
from diffmicro.units import in_si, readable

gripper, wrmma = map(device, ("gripper", "wrmma"))


def test_entries_are_single_numbers():
    given = {"beam_radius[2]": "0.21mm", "section_height": "4um,5um,6um,7um"}
    point = words.point(gripper, given | {"section_height[:]": "8um"})
    np.testing.assert_allclose(point.design.beam_radius, [2e-4, 2e-4, 2.1e-4, 2e-4])
    np.testing.assert_array_equal(point.design.section_height, np.full(4, 8e-6))
    both = words.point(gripper, {"beam_radius": "1e-4,1e-4,1e-4,1e-4", "beam_radius[0]": "3e-4"})
    np.testing.assert_allclose(both.design.beam_radius, [3e-4, 1e-4, 1e-4, 1e-4])
    design, _ = put(*point[:2], {"hinge[3]": 5.0})
    assert design.hinge[1, 1] == 5.0


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("beam_radius[4]", "has 4 entries, from 0 on"),
        ("beam_radius[-1]", "write name[number]"),
        ("young[0]", "of one of beam_radius"),
        ("model[0]", "write name[number]"),
        ("beam_radis[0]", "did you mean beam_radius"),
        ("beam_radius[1]", "it has to be above 0"),
    ],
)
def test_wrong_entries_are_said(key, said):
    with pytest.raises(BadInput) as caught:
        words.point(gripper, {key: "-1"})
    assert said in str(caught.value)


def test_sweeps_over_an_entry_and_over_all(tmp_path):
    out = tmp_path / "s.csv"
    assert run(["sweep", "gripper", "young[0]=1,2", "--out", str(out)]) == 2
    command = ["sweep", "gripper", "force=10uN", "beam_radius[2]=0.19mm:0.21mm:2"]
    assert run([*command, "--response", "tip_x", "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [float(row["beam_radius[2]"]) for row in rows] == [0.19e-3, 0.21e-3]
    expected = [
        gripper.respond(
            gripper.Design(beam_radius=np.array([2e-4, 2e-4, r, 2e-4])),
            gripper.Setting(force=10e-6),
        ).tip_x
        for r in (0.19e-3, 0.21e-3)
    ]
    found = [float(row["tip_x"]) for row in rows]
    np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-9)


def test_a_frequency_stands_for_its_ratio():
    point = words.point(wrmma, {"frequency": "2.1kHz", "tethered_frequency": "2000"})
    assert point.setting.frequency_ratio == pytest.approx(1.05, rel=1e-15)
    for given, said in (
        ({"frequency": "2kHz", "frequency_ratio": "1"}, "give one"),
        ({"frequency": "2mm"}, "it has to be in Hz"),
        ({"frequency": "-2kHz"}, "frequency_ratio = -0.86"),
    ):
        with pytest.raises(BadInput) as caught:
            words.point(wrmma, given)
        assert said in str(caught.value)


def test_fitted_geometry_speaks_when_it_is_given_by_hand():
    assert not words.cautions(wrmma, words.point(wrmma, {"rest_gap": "21um", "width": "130um"}))
    (text,) = words.cautions(wrmma, words.point(wrmma, {"width": "120um", "height": "45um"}))
    assert text.startswith("width, height: ") and "fitted near the published geometry" in text
    (text,) = words.cautions(wrmma, words.point(wrmma, {}), ["device_length"])
    assert text.startswith("device_length: ")


def test_answers_read_well_and_cautions_go_to_standard_error(capsys):
    assert run(["evaluate", "tribometer", "law=coulomb"]) == 0
    shown = capsys.readouterr()
    assert re.search(r"sliding_velocity +966\.95\d* +um/s", shown.out)
    assert not shown.err
    assert run(["show", "wrmma"]) == 0
    page = capsys.readouterr().out
    assert (
        re.search(r"rest_gap +20 +um ", page) and "frequency [Hz]: frequency of the drive" in page
    )


@pytest.mark.parametrize("name", ["wrmma", "tumbler", "stickslip", "tribometer", "gripper", "legs"])
def test_readable_numbers_can_be_typed_again(name):
    for known in device(name).parameters.values():
        for value in np.ravel(known.default if known.differentiable else 0.0):
            if value is not None and "," not in known.unit:
                text = readable(float(value), known.unit, 17)
                assert in_si(text, known.unit) == pytest.approx(float(value), rel=1e-14)
