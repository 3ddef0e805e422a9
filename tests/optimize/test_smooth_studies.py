"""The smooth studies by SQP, one start each: evaluations to 0.1 % of what the search ends at, and the optima
known."""

from importlib import import_module

import numpy as np
import pytest

from diffmicro.design import Problem, run_study
from diffmicro.design.pareto import started
from diffmicro.design.run import Run
from diffmicro.design.searches import sqp
from optimize import gripper_grip, gripper_rotation

ENDS = {
    "gripper_rotation": np.radians(16.848),
    "gripper_workspace": 0.5188e-3,
    "gripper_grip": 21.269e-6,
    "stickslip_force": 0.8519,
    "tumbler_climb": np.radians(60.629),
    "tumbler_outline": 2.260e-3,
    "legs_height": 28.487e-6,
}
"""Where each ends from its own start: the best that is known, but for rotation and outline, which have better
optima."""

TOGETHER = 51
"""Evaluations that NLopt's SLSQP takes for the seven."""


def evaluations(problem: Problem, best: float) -> int | None:
    """Evaluations of one search until a feasible value is within 0.1 % of the best."""
    with Run(problem, 60) as run:
        sqp(run, np.random.default_rng(0), lanes=1)
    near = problem.objective.gain(best) - 1e-3 * abs(best)
    for count, sample in enumerate(run.samples, 1):
        if problem.feasible(sample) and float(sample.objective) >= near:
            return count
    return None


@pytest.mark.slow
def test_seven_studies_take_no_more_evaluations_together_than_slsqp():
    counts = {
        name: evaluations(import_module(f"optimize.{name}").STUDY.problem(), best)
        for name, best in ENDS.items()
    }
    assert None not in counts.values(), counts
    assert sum(filter(None, counts.values())) <= TOGETHER, counts


@pytest.mark.slow
@pytest.mark.xfail(reason="11 to 16 evaluations are needed; 12 is what is wanted", strict=True)
def test_the_grip_from_six_random_starts(rng):
    problem = gripper_grip.problem()
    starts = rng.random((6, len(problem.variables)))
    counts = [evaluations(started(problem, problem.named(u)), 21.269e-6) for u in starts]
    assert all(count is not None and count <= 12 for count in counts), counts


@pytest.mark.slow
def test_the_least_rotation_has_many_optima_and_the_best_is_found():
    found = run_study(gripper_rotation.STUDY, random_designs=0, progress=False)
    assert found["status"] == "ok" and found["certificate"]["verdict"] == "certified"
    assert np.degrees(found["optimized"]["response"]["closing_rotation"]) <= 14.57
    assert found["optimized"]["response"]["closing_clearance"] >= gripper_rotation.CLEARANCE
    optima = [optimum["objective"] for optimum in found["optima"]]
    assert len(optima) > 5 and optima == sorted(optima)
    assert found["starts"] == 12 and found["unseen"] > 0.1
