"""What the page shows is what the library calculates, and what it copies gives the same."""

import io
import json
import shlex
from contextlib import redirect_stdout

import numpy as np
import pytest

from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.command import main
from diffmicro.devices import device
from diffmicro.explore.looks import coarse_to_fine
from diffmicro.results import word
from tests.explore.conftest import CAPSULE, MAGNET

WORDS = {
    "tribometer": {"normal_force": "8N", "friction": "0.35"},
    CAPSULE: {"gap": "9um", "frequency": "105"},
    "gripper": {"beam_radius[1]": "210um", "force": "20uN"},
    "wrmma": {"frequency": "2500", "load_factor": "32", "method": "moreau", "steps": "200"},
    MAGNET: {"contact": "area", "lean": "12deg"},
}
RESPONSE = {"tribometer": "sliding_velocity", CAPSULE: "velocity", "gripper": "closing_force"}
RESPONSE |= {"wrmma": "velocity", MAGNET: "velocity"}
EACH = [
    pytest.param(name, marks=[] if name == "tribometer" else pytest.mark.slow) for name in WORDS
]


def point(reference, **changed):
    known = device(reference)
    own = {k: v for k, v in changed.items() if k in known.parameters}
    design = {k: v for k, v in own.items() if k in vars(known.published_design())}
    setting = {k: v for k, v in own.items() if k not in design}
    return known.published_design(**design), known.published_setting(**setting)


def found(lines, key):
    return next(line[key] for line in lines if key in line)


def test_every_point_of_the_curve_is_what_respond_says(page):
    known = device("tribometer")
    words = WORDS["tribometer"]
    lines = page.ask(
        "curve", device="tribometer", words=words, response="sliding_velocity",
        along="frequency", low="20kHz", high="40kHz", count=9,
    )  # fmt: skip
    points = [line for line in lines if "x" in line]
    assert sorted(p["x"] for p in points) == pytest.approx(np.linspace(20e3, 40e3, 9))
    for p in points:
        there = point("tribometer", normal_force=8.0, friction=0.35, frequency=p["x"])
        response = known.respond(*there, throw=False)
        assert p["y"] == pytest.approx(float(response.sliding_velocity), rel=1e-9)
        assert p["status"] == word(response.result)
    here = found(lines, "here")
    response = known.respond(*point("tribometer", normal_force=8.0, friction=0.35))
    for name, told in here["table"].items():
        assert told["value"] == pytest.approx(float(getattr(response, name)), rel=1e-9)
    assert here["status"] == "ok" and lines[-1] == {"end": "whole"}


def test_a_curve_is_seen_coarse_to_fine():
    order = list(coarse_to_fine(65))
    assert sorted(order) == list(range(65))
    assert order[:5] == [0, 64, 32, 16, 48]
    assert sorted(coarse_to_fine(6)) == list(range(6))


@pytest.mark.parametrize("reference", EACH)
def test_the_copied_command_gives_the_number_of_the_page(page, reference, capsys):
    lines = page.ask(
        "curve", device=reference, words=WORDS[reference], response=RESPONSE[reference]
    )
    shown = found(lines, "here")["table"][RESPONSE[reference]]["value"]
    command = shlex.split(found(lines, "copy")["command"])
    capsys.readouterr()
    assert command[0] == "diffmicro" and main([*command[1:], "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["response"][RESPONSE[reference]] == pytest.approx(shown, rel=1e-9)


@pytest.mark.parametrize("reference", EACH)
def test_the_copied_python_gives_the_number_of_the_page(page, reference):
    lines = page.ask(
        "curve", device=reference, words=WORDS[reference], response=RESPONSE[reference]
    )
    shown = found(lines, "here")["table"][RESPONSE[reference]]["value"]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(found(lines, "copy")["python"], {})
    value, *_, status = printed.getvalue().split()
    assert float(value) == pytest.approx(shown, rel=1e-6) and status == "ok"


def test_bars_are_the_certified_elasticities(page):
    words = {"normal_force": "8N"}
    lines = page.ask("elasticities", device="tribometer", words=words, response="friction_ratio")
    bars = {line["key"]: line for line in lines if "key" in line}
    there = point("tribometer", normal_force=8.0)
    judge = value_and_gradient(device("tribometer"), tuple(bars), "friction_ratio")
    value, gradient, certificate, _ = judge(*there)
    for name, bar in bars.items():
        here = float(getattr(there[0], name, None) or getattr(there[1], name, 0.0))
        assert bar["elasticity"] == pytest.approx(
            float(gradient[name]) * here / float(value), rel=1e-6, abs=1e-12
        )
        assert bar["verdict"] == verdict_word(certificate.entries[name])
    assert lines[0].get("note") == "compiling" or "verdict" in lines[0]


def test_boundaries_are_those_of_the_physics(page):
    """Out of plane the probe stalls at a drag ratio of one less the force ratio, and runs away at one."""
    asked = dict(words={"force_ratio": "0.4"}, along="drag_ratio", low="0.3", high="1.2")
    lines = page.ask("boundaries", device="tribometer", **asked)
    marks = {line["kind"]: line["at"] for line in lines if "kind" in line}
    assert marks == pytest.approx({"stall": 0.6, "runaway": 1.0})
    assert lines[-2] == {"count": 2}


def test_a_search_ends_in_words_and_is_better(page, capsys):
    question = dict(
        device="tribometer", words={}, response="sliding_velocity", goal="maximize", budget=16,
        free={"drag_ratio": [0.3, 0.7], "radius": [3e-3, 4e-3]},
    )  # fmt: skip
    lines = page.ask("search", **question)
    result = next(line for line in lines if "status" in line)
    assert result["status"] in ("ok", "stopped") and result["reason"]
    assert "radius changed neither" in " ".join(result["notes"])  # a coulomb law knows no radius
    assert any("evaluations" in line and "budget" in line for line in lines)
    command = shlex.split(result["command"])
    capsys.readouterr()
    with pytest.warns(UserWarning, match="radius changed neither"):
        assert main([*command[1:], "--json", "--no-surroundings"]) == 0
    again = json.loads(capsys.readouterr().out)
    for variable in result["variables"]:
        assert again["optimized"]["variables"][variable["key"]] == pytest.approx(variable["value"])


def test_a_search_that_is_stopped_gives_what_it_has(page):
    question = dict(
        device="tribometer", words={}, response="sliding_velocity", goal="maximize", budget=200,
        free={"drag_ratio": [0.3, 0.9], "force_ratio": [0.3, 0.7]},
    )  # fmt: skip
    link = page.send("POST", "/answer/search", json.dumps(question).encode())
    lines, stopped = [], 0
    for text in link.getresponse():
        lines.append(json.loads(text))
        if "budget" in lines[-1] and not stopped:
            stopped = page.request("POST", "/end/search", b"{}")[0]
    link.close()
    assert stopped == 204 and lines[-1] == {"end": "replaced"}
    result = next(line for line in lines if "status" in line)
    assert result["status"] == "interrupted" and result["evaluations"] < 100


def test_the_motion_has_units_and_the_drawing_its_dimensions(page):
    lines = page.ask("motion", device="tribometer", words={})
    assert found(lines, "axis")["unit"] == "us"
    curves = {line["curve"]["name"]: line["curve"] for line in lines if "curve" in line}
    assert curves["normal_force"]["unit"] == "N" and len(curves["velocity"]["values"]) > 100
    drawn = page.ask("drawing", device="tribometer", words={"radius": "3mm"})
    assert "<svg" in found(drawn, "svg") and "radius 3 mm" in found(drawn, "text")


def test_a_device_without_geometry_says_so(page):
    (drawn,) = page.ask("drawing", device=CAPSULE, words={})
    assert "no geometry" in drawn["error"]


def test_what_is_not_ok_is_never_a_number_that_looks_fine(page):
    """The probe stands still at a drag ratio below 0.5, and runs away from 1 on."""
    asked = dict(words={}, response="sliding_velocity", along="drag_ratio", low="0.2", high="1.6")
    lines = page.ask("curve", device="tribometer", **asked, count=3)
    points = sorted((line for line in lines if "x" in line), key=lambda line: line["x"])
    assert [p["status"] for p in points] == ["stalled", "ok", "runaway"]
    assert points[0]["y"] == 0 and points[1]["y"] > 0 and points[2]["y"] is None
    here = found(page.ask("curve", device="tribometer", words={"drag_ratio": "1.2"}), "here")
    assert here["status"] == "runaway" and here["message"]
    assert here["table"]["sliding_velocity"] == {"value": None, "text": ""}


@pytest.mark.slow
def test_a_range_is_found_for_a_parameter_that_is_zero(page):
    lines = page.ask("reach", device="gripper", words={}, along="force", response="tip_x")
    ends = next(line for line in lines if "range" in line)
    assert ends["unit"] == "uN" and ends["range"]["low"] == -ends["range"]["high"]
    assert "power of ten" in ends["range"]["how"]
    *_, moved = page.ask("motion", device="gripper", words={})
    assert "force is 0" in moved["error"]


def test_the_catalog_has_a_range_or_a_reason_for_each_number(page):
    for reference in WORDS:
        catalog = found(page.ask("device", device=reference), "catalog")
        rows = [row for group in catalog["groups"] for row in group["rows"]]
        assert catalog["along"] in {row["key"] for row in rows}
        for row in rows:
            if row["range"] is None:
                assert row["kind"] != "number" or row["value"] in ("", "0")
                continue
            assert row["range"]["low"] <= float(row["value"]) <= row["range"]["high"]
            assert row["range"]["how"]
        assert all(row["meaning"] for row in rows)
