"""Rules of a process as constraints of a search: prices, contradictions, and what the command line says."""

import dataclasses
import json

import numpy as np
import pytest

from diffmicro import Tolerance
from diffmicro.command.app import run
from diffmicro.design import Constraint, Objective, device_problem, optimize_design, robust_problem
from diffmicro.devices import device
from diffmicro.drawing import read_shapes
from diffmicro.fabrication import buildable
from diffmicro.process import (
    etch_tolerances,
    features,
    process_from,
    read_process,
)
from tests.process.comb import COMB


def comb_problem(rules, pitch=(4e-6, 40e-6), **changes):
    free = {"pitch": pitch, "finger": (1e-6, 20e-6)}
    process = process_from({"layers": {"silicon": rules}})
    return device_problem(COMB, free, Objective("density"), process=process, **changes)


def test_the_rules_that_bind_have_their_prices():
    problem = comb_problem({"minimum_width": "3um", "minimum_gap": "4um", "etch_bias": "0.1um"})
    result = optimize_design(problem, method="sqp", budget=60, progress=False)
    assert result.status == "ok"
    assert result.variables["pitch"] == pytest.approx(7e-6, rel=1e-6)
    for name, rule in (
        ("width(finger) >= 3e-06", "minimum_width"),
        ("gap(between_fingers) >= 4e-06", "minimum_gap"),
    ):
        bound = result.constraints[name]
        assert bound["binds"] and (bound["rule"], bound["layer"]) == (rule, "silicon")
        assert bound["multiplier"] == pytest.approx(1 / 7e-6**2, rel=1e-4)
        assert bound["per_um"] == pytest.approx(1e-6 / 7e-6**2, rel=1e-4)


@pytest.mark.slow
def test_robust_designs_keep_rules():
    """The worst of parts whose pitch deviates by up to 1 um keeps them."""
    problem = comb_problem({"minimum_width": "3um", "minimum_gap": "4um"})
    deviates = [Tolerance("pitch", 1e-6, False, "interval")]
    result = optimize_design(
        robust_problem(problem, deviates, "worst"), method="sqp", budget=60, progress=False
    )
    assert result.feasible
    assert 7.9e-6 < result.variables["pitch"] < 8.01e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("allowed", "pitch", "rules_bind"), [(1.4e5, 7.26e-6, False), (1.6e5, 7e-6, True)]
)
def test_a_yield_is_searched_within_rules(allowed, pitch, rules_bind):
    """The pitch deviates by 1 %, so its limit keeps a reserve of 1.64 to 2 %; rules are about the drawing and keep
    none. The etch changes fingers, of which no limit is."""
    rules = {"minimum_width": "3um", "minimum_gap": "4um", "etch_scatter": "0.1um"}
    process = process_from({"layers": {"silicon": rules}})
    problem = comb_problem(rules, constraints=[Constraint("density", "<=", allowed)])

    def deviating(design):
        return (Tolerance("pitch", 0.01), *etch_tolerances(COMB, process, design))

    found = buildable(
        problem, 0.95, deviating, method="sqp", lanes=1, budget=40, parts=2000, progress=False
    )
    assert found.status == "ok" and found.parts.low >= 0.95
    assert found.result.variables["pitch"] == pytest.approx(
        pitch, rel=5e-3 if not rules_bind else 1e-6
    )
    assert [str(limit) for limit in found.limits] == [f"density <= {allowed:g}"]
    bounds = found.result.constraints
    for name in ("width(finger) >= 3e-06", "gap(between_fingers) >= 4e-06"):
        assert bounds[name]["binds"] == rules_bind and bounds[name]["rule"]
    assert found.result.problem.about["rules"] == process.plain()


@pytest.mark.parametrize(
    ("rules", "words", "said"),
    [
        (
            {"minimum_width": "6um", "minimum_gap": "7um"},
            dict(pitch=(4e-6, 12e-6), design=COMB.Design(pitch=12e-6)),
            ("width(finger) >= 6 um (minimum_width of silicon; it is 5.538 um)",)
            + ("gap(between_fingers) >= 7 um (minimum_gap of silicon; it is 6.462 um) together",)
            + ("Widen pitch (4 um to 12 um), finger (1 um to 20 um)",),
        ),
        (
            {"minimum_gap": "50um"},
            {},
            ("gap(between_fingers) >= 50 um (minimum_gap of silicon; it is 39 um); this is",),
        ),
        (
            {"minimum_width": "60um"},
            {},
            ("cannot keep width(reach) >= 60 um", "it is 50 um", "nothing that is free changes it"),
        ),
    ],
)
def test_rules_that_cannot_be_met_are_named(rules, words, said):
    with pytest.raises(ValueError) as told:
        comb_problem(rules, **words)
    for text in said:
        assert text in str(told.value)


def test_rules_that_a_constraint_contradicts_end_the_search_without_a_design():
    rules = {"minimum_width": "3um", "minimum_gap": "4um"}
    problem = comb_problem(rules, constraints=[Constraint("density", ">=", 2e5)])
    result = optimize_design(problem, budget=40, progress=False)
    assert result.status == "not_converged" and not result.feasible


def test_a_device_without_features_is_refused(rules):
    bare = dataclasses.replace(device("wrmma"), features=None)
    with pytest.raises(ValueError, match="wrmma does not say what of it the rules"):
        features(bare)
    with pytest.raises(ValueError, match="tribometer does not say how etching"):
        etch_tolerances("tribometer", read_process(rules))
    with pytest.raises(TypeError, match="give geometry and Layout too"):
        dataclasses.replace(bare, geometry=None, Layout=None)


def test_the_command_says_which_rule_binds(rules, tmp_path, capsys):
    rules.write_text('[layers.silicon]\nminimum_width="3um"\nminimum_gap="4um"\n')
    out, comb = tmp_path / "run", "tests/process/comb.py:COMB"
    words = ["optimize", comb, "--maximize", "density", "--free", "pitch=4um:40um", "reach=60um"]
    options = ["--free", "finger=1um:20um", "--rules", str(rules), "--method", "sqp"]
    assert run([*words, *options, "--no-surroundings", "--out", str(out)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rule minimum_width of silicon binds: width(finger) is 3 um, allowed 3 um" in said
    assert "1 um of the rule is worth 20408.2 1/m of density" in said
    kept = json.loads((out / "result.json").read_text())["constraints"]
    assert kept["width(finger) >= 3e-06"]["per_um"] == pytest.approx(1e-6 / 49e-12, rel=1e-4)


@pytest.mark.slow
def test_a_run_has_its_rules_in_mask_and_report(rules, tmp_path, capsys):
    pytest.importorskip("gdstk")
    out, page = tmp_path / "run", tmp_path / "report.html"
    words = ["optimize", "wrmma", "--maximize", "eta", "--free", "rest_gap=8um:40um", "pad=12um"]
    options = ["--rules", str(rules), "--no-surroundings", "--method", "sqp", "--budget", "30"]
    assert run([*words, *options, "--out", str(out)]) == 0
    capsys.readouterr()
    assert run(["draw", str(out), "--out", str(tmp_path / "m.gds")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "every edge outward by 500 nm on nickel, 200 nm on gold" in said
    shapes = {s.name: np.asarray(s.contour.points) for s in read_shapes(tmp_path / "m.gds")}
    gap = json.loads((out / "result.json").read_text())["optimized"]["variables"]["rest_gap"]
    drawn = shapes["hammer"][:, 0].min() - shapes["body"][:, 0].max()
    assert drawn == pytest.approx(gap - 1e-6, abs=2e-10)
    pad = shapes["upper pad of the body"]
    assert np.ptp(pad, axis=0) == pytest.approx([12.4e-6] * 2, abs=2e-10)
    assert run(["report", str(out), "--out", str(page)]) == 0
    text = page.read_text()
    assert "keep the rules of nickel on gold" in text and "[layers.&quot;nickel&quot;]" in text
    assert "slack of gap(rest_gap)" in (tmp_path / "report.json").read_text()
    assert run(["verify", str(tmp_path / "report.json")]) == 0


def test_rules_of_a_layer_that_is_not_there_are_refused(rules, tmp_path, capsys):
    """A misspelled layer would leave the true one without its bias."""
    mask = tmp_path / "a.gds"
    commands = (
        ["draw", "wrmma", "--out", str(mask)],
        ["optimize", "wrmma", "--maximize", "eta", "--free", "rest_gap=8um:40um"],
        ["tolerances", "wrmma", "--subject", "velocity>2mm/s"],
    )
    rules.write_text('[layers.nickle]\netch_bias="0.5um"\n[layers.gold]\netch_scatter="0.2um"\n')
    for words in commands:
        assert run([*words, "--rules", str(rules)]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "wrmma has no layer nickle; its layers are nickel, gold" in said
    assert not mask.exists()


def test_layers_without_rules_are_said(rules, capsys):
    rules.write_text('[layers.nickel]\nminimum_gap="50um"\n')
    words = ["optimize", "wrmma", "--maximize", "eta", "--free", "rest_gap=8um:40um"]
    assert run([*words, "--rules", str(rules)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no rules for gold" in said
    assert "gap(rest_gap) >= 50 um (minimum_gap of nickel; it is 40 um)" in said
