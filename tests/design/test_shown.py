"""Texts and summaries of searches give limits, slacks and prices in units."""

import jax.numpy as jnp
import pytest

from diffmicro import margin
from diffmicro.design import (
    Constraint,
    Objective,
    Study,
    Variable,
    device_problem,
    function_problem,
    summary,
)
from diffmicro.design.shown import in_units, said_of, unit_in

LIMITS = [Constraint("min_gap", ">=", 1e-6), Constraint(margin("rest_gap"), ">=", 0.05)]


def problem():
    return device_problem("wrmma", {"rest_gap": (1e-5, 3e-5)}, Objective("velocity"), LIMITS)


def test_limits_in_a_text():
    text = "the others fail by min_gap >= 1e-06, margin(rest_gap) >= 0.05"
    assert in_units(problem(), text) == (
        "the others fail by min_gap >= 1 um, margin(rest_gap) >= 5 %"
    )
    one = function_problem(
        lambda at: {"loss": jnp.square(at["x"])}, [Variable("x", 0.0, 1.0, 0.5)], Objective("loss")
    )
    assert in_units(one, "misses loss >= 1e-06") == "misses loss >= 1e-06"
    assert (unit_in(one, "loss"), said_of(one, "loss", 0.25)) == ("-", "0.25")


@pytest.mark.parametrize(
    ("known", "line"),
    [
        (
            {"binds": True, "multiplier": 2.5, "slack": 0.0},
            "constraint min_gap >= 1 um: binds, multiplier 2.5 m/s / m",
        ),
        ({"binds": True, "slack": 0.0}, "constraint min_gap >= 1 um: binds"),
        ({"binds": False, "slack": 2e-6}, "constraint min_gap >= 1 um: slack 2 um"),
        ({"binds": False, "slack": None}, "constraint min_gap >= 1 um: slack unknown"),
    ],
)
def test_limits_of_a_study(known, line):
    sides = {"variables": {"rest_gap": 2e-5}, "response": {"velocity": 1e-3, "min_gap": 1e-6}}
    found = {
        "published": sides,
        "optimized": sides,
        "variables": ["rest_gap"],
        "objective": "velocity",
        "constraints": {str(LIMITS[0]): {"of": "min_gap", **known}},
        "certificate": None,
        "status": "stopped",
        "reason": "misses min_gap >= 1e-06",
        "optima": [],
        "evaluations": 4,
        "seconds": 1.0,
    }
    lines = summary(Study("gap", problem), found).splitlines()
    assert line in lines and "stopped: misses min_gap >= 1 um" in lines
