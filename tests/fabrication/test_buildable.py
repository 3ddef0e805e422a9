"""Yield as a constraint: reserves by closed forms, searches whose parts are counted, and the command."""

import json

import numpy as np
import pytest
from scipy.stats import norm

from diffmicro import Tolerance, device, tolerances
from diffmicro.command.app import run
from diffmicro.command.yielding import stated_limit
from diffmicro.design import Constraint, Objective, device_problem, robust_problem
from diffmicro.fabrication import buildable
from diffmicro.fabrication.reserves import fall

TRIBOMETER = device("tribometer")


def test_the_fall_of_a_linear_and_of_a_bent_function():
    way = np.array([3.0, -4.0])
    assert fall(lambda u: (float(1 + way @ u), way), 2, 1.5) == pytest.approx(7.5)
    # u0 + u1^2 / 10 is least at u0 = -2; the slope bends, and the iteration follows it.
    bent = fall(lambda u: (u[0] + 0.1 * u[1] ** 2, np.array([1.0, 0.2 * u[1]])), 2, 2.0)
    assert bent == pytest.approx(2.0)
    # What saturates, as an interval does, falls by less than its slope says.
    held = fall(lambda u: (np.tanh(u[0]), np.array([1 / np.cosh(u[0]) ** 2])), 1, 2.0)
    assert held == pytest.approx(np.tanh(2.0))
    assert fall(lambda u: (1.0, np.full(2, np.nan)), 2, 1.0) is None
    assert fall(lambda u: (1.0, np.zeros(2)), 2, 1.0) == 0


@pytest.fixture(scope="module")
def fast_probe():
    """The fastest probe under a drag that deviates by 2 %; at a ratio of 1 it runs away."""
    problem = device_problem(
        TRIBOMETER, {"drag_ratio": (0.6, 0.999)}, Objective("sliding_velocity", "maximize")
    )
    own = [Tolerance("drag_ratio", 0.02)]
    return buildable(problem, 0.95, own, progress=False, lanes=1, method="sqp", budget=20)


def test_a_cliff_that_no_limit_describes_is_kept_away_from(fast_probe):
    """Good are parts below a ratio of 1: the nominal one may be at 1 / (1 + 0.02 z)."""
    ratio = fast_probe.result.variables["drag_ratio"]
    bears = (1 / ratio - 1) / 0.02
    assert norm.ppf(0.95) < bears < norm.ppf(0.97)
    assert fast_probe.status == "ok" and fast_probe.parts.low >= 0.95
    assert [str(limit) for limit in fast_probe.limits] == ["margin(drag_ratio) >= 0"]
    assert fast_probe.rounds[0].counted.share < 0.7 and fast_probe.rounds[0].confirmed is None


def test_parts_that_nothing_has_seen_confirm_it(fast_probe):
    (place,) = fast_probe.result.problem.places(fast_probe.result.variables)
    own = [Tolerance("drag_ratio", 0.02)]
    found = tolerances(
        TRIBOMETER, own, design=place.design, setting=place.setting, parts=20000, seed=77
    )
    bears = (1 / fast_probe.result.variables["drag_ratio"] - 1) / 0.02
    assert found.low <= norm.cdf(bears) <= found.high
    assert found.share > 0.95


def test_what_cannot_be_reached_is_not_ok():
    problem = device_problem(
        TRIBOMETER,
        {"normal_force": (9.0, 10.0)},
        Objective("critical_velocity", "minimize"),
        [Constraint("sliding_velocity", ">=", 1e-3)],
    )
    found = buildable(problem, 0.95, progress=False, lanes=1, budget=12, rounds=2)
    assert found.status == "not_converged" and "95 % are certain to be good" in found.reason
    assert found.parts.low < 0.95


def test_what_no_yield_can_be_counted_for():
    problem = device_problem(
        TRIBOMETER, {"probe_mass": (1e-3, 3e-3)}, Objective("sliding_velocity")
    )
    with pytest.raises(ValueError, match="between 0 and 1"):
        buildable(problem, 95)
    robust = robust_problem(problem, [Tolerance("probe_mass", 0.01)])
    with pytest.raises(ValueError, match="without robust measures"):
        buildable(robust, 0.95)


WORDS = [
    "optimize",
    "tribometer",
    "--maximize",
    "sliding_velocity",
    "--free",
    "drag_ratio=0.6:0.999",
]


def test_a_limit_with_a_reserve_is_shown_as_it_was_stated():
    limits = ["velocity >= 0.06", "margin(gap) >= 0"]
    assert stated_limit("velocity >= 0.0703", limits) == "velocity >= 0.06"
    assert stated_limit("gap(rest_gap) >= 1e-05", limits) == "gap(rest_gap) >= 1e-05"


def test_the_command(capsys, tmp_path):
    more = ["--yield", "0.9", "--scatter", "drag_ratio=2%", "--lanes", "1", "--budget", "20"]
    assert run([*WORDS, *more, "--out", str(tmp_path / "run"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    made = found["yield"]
    assert found["status"] == "ok" and made["low"] >= 0.9 and made["round"] == len(made["rounds"])
    (kept,) = made["rounds"][-1]["reserves"].values()
    assert 0.02 < kept["reserve"] < 0.035 and "slopes of a runaway" in kept["by"]
    assert found["surroundings"]["parts"]["yield"] == made["yield"]
    turn = made["round"]
    assert f"round {turn}, where the start is the design of round {turn - 1}" in found["reason"]
    begun = json.loads((tmp_path / "run" / "round_1" / "result.json").read_text())
    assert found["published"] == begun["published"] != found["optimized"]
    assert run(["tolerances", str(tmp_path / "run" / "round_2"), "--scatter", "drag_ratio=2%"]) == 0
    assert "runaway" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--yield", "95"], "between 0 and 1"),
        (["--yield", "0.9", "--robust", "probe_mass=1%"], "without robust measures"),
        (["--yield", "0.9", "--scatter", "gap=1um"], "is not a parameter"),
    ],
)
def test_words_that_do_not_go_together(more, message, capsys):
    assert run([*WORDS, *more]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
