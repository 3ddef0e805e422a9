"""What lies around an optimum: ends along its parameters, yield, and whether it is fragile."""

import dataclasses
import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from diffmicro import Tolerance, device
from diffmicro.command.app import run
from diffmicro.command.surrounding import surroundings_of, surroundings_text
from diffmicro.design import (
    Constraint,
    Objective,
    Point,
    Study,
    Variable,
    optimize_design,
    points_problem,
    run_study,
)
from diffmicro.fabrication import surroundings
from diffmicro.plot.design import Panel, before_after, mark_fragile

TRIBOMETER = device("tribometer")
POINT = TRIBOMETER.published_design(), TRIBOMETER.published_setting()


def test_a_sturdy_design_is_not_fragile():
    found = surroundings(TRIBOMETER, *POINT, ["probe_mass"], parts=200)
    assert found.fragile == () and found.parts and found.parts.share == 1
    assert [end.key for end in found.ends] == ["probe_mass", *TRIBOMETER.drive]
    assert found.ends[0].tolerance == pytest.approx(0.02)  # two standard deviations of 1 %


def test_a_limit_that_parts_miss_makes_it_fragile():
    limit = Constraint("sliding_velocity", ">=", 0.96e-3)
    found = surroundings(TRIBOMETER, *POINT, ["probe_mass"], [limit], parts=200)
    (why,) = found.fragile
    assert "sliding_velocity >= 0.00096" in why and found.parts and found.parts.share < 0.7


def test_a_near_end_makes_it_fragile():
    """Below its critical velocity less than 5 % away the contact sticks; parts deviate by 10 %."""
    setting = TRIBOMETER.published_setting(sliding_velocity=4.6e-3, drag_ratio=None)
    point = TRIBOMETER.published_design(), setting
    own = [Tolerance("sliding_velocity", 0.1, kind="interval")]
    found = surroundings(TRIBOMETER, *point, ["sliding_velocity"], deviating=own, parts=50)
    end = found.ends[0]
    assert end.kind and end.margin is not None and end.margin < 0.1
    assert any("sliding_velocity" in why and end.kind in why for why in found.fragile)


@pytest.mark.slow
def test_a_motion_with_more_events_than_are_watched_is_said():
    """Five periods with chatter: it was followed in steps of nothing for minutes, and its end was made up."""
    wrmma = device("wrmma")
    point = wrmma.published_design(rest_gap=15.024638e-6), wrmma.published_setting()
    (end,) = surroundings(wrmma, *point, ["rest_gap"], deviating=()).ends[:1]
    assert end.margin is None and "48 or more events a round (5 drive periods)" in end.why


@pytest.mark.slow
def test_the_fastest_wrmma_from_rest_is_fragile():
    """The motion from rest is lost 0.2 % above its drive frequency; about half of the parts are good."""
    wrmma = device("wrmma")
    design = wrmma.published_design(
        mass_ratio=1.605457, rest_gap=33.61216e-6, tethered_frequency=1006.0008
    )
    setting = wrmma.published_setting(load_factor=8.0, frequency_ratio=0.904568)
    found = surroundings(wrmma, design, setting, ["rest_gap"], parts=300)
    assert found.start == "rest" and found.parts and found.parts.share < 0.7
    assert any("gap_collapsed" in why for why in found.fragile)


def test_the_command_prints_them(capsys):
    problem = "--maximize critical_velocity --free probe_mass=0.001:0.003 --budget 20".split()
    assert run(["optimize", "tribometer", *problem, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["surroundings"]
    lines = surroundings_text(found)
    assert lines[0].startswith("along probe_mass: no end within")
    assert any(line.startswith("good parts: 100 %") for line in lines)


def fast_probes(labels):
    """The fastest of one or two probes under a drag next to what friction can hold."""
    variables = [Variable("drag", 0.6, 0.999, 0.7)]
    points = [
        Point(TRIBOMETER, *POINT, lambda x: {"drag_ratio": x["drag"]}, label) for label in labels
    ]
    of = points[0].name("sliding_velocity")
    held = Constraint(points[-1].name("critical_velocity"), ">=", 1e-3)
    return points_problem(variables, points, Objective(of, "maximize"), [held])


def test_a_study_says_what_lies_around_its_optimum(tmp_path):
    """In words, and in its figure, which is higher by the line that says why it is fragile."""
    line = np.linspace(0.6, 1.0, 5)
    panels = [Panel("drag [-]", "speed [mm/s]", [(line, line, 0.7, 0.7), (line, line, 0.9, 0.9)])]

    def draw(result, path):
        seen.append(result)
        before_after(result, 2 * panels, path, 1e3, "mm/s")

    seen: list = []
    study = Study(
        "fast_probe",
        lambda: fast_probes([""]),
        {"method": "sqp", "lanes": 1, "budget": 12},
        draw=draw,
    )
    found = run_study(study, out=tmp_path / "run", progress=False, around=surroundings_of)
    around = found["surroundings"]
    assert json.loads(json.dumps(found, allow_nan=False))["surroundings"] == around
    assert found["optimized"]["variables"]["drag"] == pytest.approx(0.999)
    assert (
        around["fragile"] == [] and around["parts"]["yield"] == 1
    )  # its process leaves the drag alone
    spoilt = dataclasses.replace(seen[0], surroundings={"fragile": ["it ends: runaway", "more"]})
    figure = Figure()
    mark_fragile(figure, spoilt)
    assert figure.get_supxlabel() == "fragile: it ends: runaway (and 1 more)"


def test_each_of_several_points_has_its_own():
    problem = fast_probes(["first", "second"])
    result = optimize_design(problem, method="sqp", lanes=1, budget=12, progress=False)
    own = [Tolerance("drag_ratio", 0.02)]
    found = surroundings_of(result, own)
    assert found is not None and list(found["points"]) == ["first", "second"]
    # Half of the parts of each run away, so each is fragile.
    assert len(found["fragile"]) >= 2 and found["fragile"][0].startswith("first: ")
    for one in found["points"].values():
        assert 0.4 < one["parts"]["yield"] < 0.6 and set(one["parts"]["causes"]) == {"runaway"}
    assert "second: along drag_ratio: runaway above, 0.1 % away" in " ".join(
        surroundings_text(found)
    )
    assert any(line.startswith("second: fragile: ") for line in surroundings_text(found))
