"""By which causes parts deviate: those that were given, named by size; the device's own where none were."""

import importlib
import json

import pytest

from diffmicro import Tolerance, device, tolerances
from diffmicro.boundary import Boundary
from diffmicro.boundary.values import BoundaryCertificate
from diffmicro.command.app import run
from diffmicro.fabrication.deviations import Deviations, cause_text, causes_from, causes_plain
from diffmicro.fabrication.surroundings import places_text, surroundings

AROUND = importlib.import_module("diffmicro.fabrication.surroundings")
TRIBOMETER = device("tribometer")
POINT = TRIBOMETER.published_design(), TRIBOMETER.published_setting()
COMB = ["optimize", "tests/process/comb.py:COMB", "--maximize", "density", "reach=60um"]
COMB += ["--free", "pitch=4um:40um", "--free", "finger=1um:20um", "--method", "sqp"]
STIFFER = (("tethered_frequency", -1e9),)


def test_the_text_names_each_cause_with_its_size():
    given = Deviations(
        TRIBOMETER, (Tolerance("probe_mass", 0.01), Tolerance("normal_force", 0.02, False))
    )
    said = given.text(POINT[0])
    assert (
        "by the tolerances that were given: probe_mass 1 % (standard deviation); normal_force 20 mN"
        in said
    )
    own = Deviations(TRIBOMETER).text(POINT[0])
    assert "by the default tolerances of tribometer, as none were given: probe_mass 1 %" in own
    assert cause_text(device("wrmma"), Tolerance("etch", 5e-8, False, "normal", STIFFER), "m") == (
        "etch 50 nm (standard deviation; moves tethered_frequency)"
    )
    etch = Tolerance("etch", 1e-7, False, "interval", (("gap", 2.0), ("width", -2.0)))
    assert causes_from(json.loads(json.dumps(causes_plain([etch])))) == (etch,)


def test_rules_that_scatter_are_what_the_parts_of_an_optimum_and_of_its_report_deviate_by(
    tmp_path, capsys
):
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[layers.silicon]\nminimum_width="3um"\nminimum_gap="4um"\netch_scatter="0.1um"\n'
    )
    out, page = tmp_path / "run", tmp_path / "report.html"
    more = ["--rules", str(rules), "--scatter", "pitch=1%", "--out", str(out), "--json"]
    assert run([*COMB, *more]) == 0
    found = json.loads(capsys.readouterr().out)["surroundings"]
    assert [cause["variable"] for cause in found["tolerances"]] == ["pitch", "etch"]
    assert "pitch 1 % (standard deviation); etch 100 nm (standard deviation" in found["by"]
    assert found["parts"]["parts"] == 400
    assert run(["report", str(out), "--out", str(page)]) == 0
    text = page.read_text()
    assert found["by"] in text and "own process" not in text
    assert run(["verify", str(tmp_path / "report.json"), "--device", COMB[1]]) == 0


def boundary(kind, at, ends=False, beyond=""):
    judged = BoundaryCertificate("refused", "", 0.0, None, 0.0)
    side = "above" if at > 1 else "below"
    return Boundary("probe_mass", side, kind, at, 1.0, {}, ends, beyond, judged)


def test_the_loss_of_the_start_and_the_nearest_kink_are_shown(monkeypatch):
    """Only ends of the motion were shown: one that starts from rest stopped three times nearer."""
    found = [
        boundary("period_doubling", 0.827, ends=True),
        boundary("start_lost", 1.0536, beyond="erratic"),
        boundary("start_lost", 0.874, beyond="erratic"),
        boundary("stick_onset", 1.000012),
    ]
    monkeypatch.setattr(AROUND, "nearby", lambda *point: found)
    wide = [Tolerance("probe_mass", 0.03), Tolerance("probe_mass", 0.1, kind="interval")]
    got = surroundings(TRIBOMETER, *POINT, ["probe_mass"], deviating=wide[:1], parts=40)
    end = got.ends[0]
    assert (end.kind, end.side) == ("start_lost", "above")
    assert end.margin == pytest.approx(0.0536) and end.tolerance == pytest.approx(0.06)
    said = places_text(end.places)
    assert "start_lost above, where the start leads to: erratic, 5.36 % away" in said
    assert "the motion itself ends 17.3 % away: period_doubling below" in said
    assert "lies on a kink, 0.0012 % away, where the derivative jumps: stick_onset above" in said
    assert any("start_lost" in why for why in got.fragile)


def test_independent_deviations_add_by_their_squares():
    causes = [
        Tolerance("probe_mass", 0.03),
        Tolerance("etch", 0.04, moves=(("probe_mass", -1.0),)),
        Tolerance("heat", 0.01, kind="interval", moves=(("probe_mass", 2.0),)),
    ]
    assert AROUND._deviation(*POINT, "probe_mass", causes) == pytest.approx(2 * 0.05 + 0.02)


def test_parts_are_counted_while_they_are_calculated(capsys):
    """A count of parts ran for minutes without a line."""
    seen = []
    found = tolerances(TRIBOMETER, [Tolerance("probe_mass", 0.01)], parts=60, watch=seen.append)
    assert found.parts == 60 and sum(seen) == 61  # and the nominal one
    assert run(["tolerances", "tribometer", "--parts", "60"]) == 0
    assert "calculating parts" in capsys.readouterr().err
