"""Optimization of functions with known optima: bounds, constraints, NaN, idle variables."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from diffmicro.design import (
    Constraint,
    Objective,
    Variable,
    device_problem,
    function_problem,
    optimize_design,
    parse_constraint,
    parse_free,
    random_search,
)
from diffmicro.devices import wrmma

XY = (Variable("x", -2.0, 2.0, -1.0), Variable("y", -2.0, 2.0, 0.5))


def quadratic(at):
    return {"loss": (at["x"] - 3.0) ** 2 + (at["y"] - 0.25) ** 2}


def rosenbrock(at):
    x, y = at["x"], at["y"]
    return {"loss": (1 - x) ** 2 + 100 * (y - x**2) ** 2, "radius": x**2 + y**2}


@pytest.mark.parametrize("optimizer", [None, optax.adam(0.1)], ids=["default", "adam"])
def test_quadratic_ends_at_its_active_bound(optimizer):
    problem = function_problem(quadratic, XY, Objective("loss", "minimize"))
    result = optimize_design(problem, optimizer, budget=400, progress=False)
    assert result.status == "ok"
    assert result.evaluations <= 400
    # A thousandth of the box; the flat direction a hundredth.
    assert result.variables["x"] == pytest.approx(2.0, abs=4e-3)
    assert result.variables["y"] == pytest.approx(0.25, abs=4e-2)
    for step in result.history:
        assert all(-2.0 <= value <= 2.0 for value in step.design.values())


def test_rosenbrock_in_a_disk_is_feasible_and_near_its_optimum():
    # Optimum on the circle x^2 + y^2 = 1: loss 0.04567 at (0.7864, 0.6177).
    problem = function_problem(
        rosenbrock, XY, Objective("loss", "minimize"), [Constraint("radius", "<=", 1.0)]
    )
    result = optimize_design(problem, budget=800, progress=False)
    assert result.status == "ok"
    assert result.constraints["radius <= 1"]["slack"] >= 0
    assert 0.0456 <= result.optimized.response["loss"] <= 0.0456 * 1.5


def test_nan_beyond_a_wall_is_never_where_a_lane_stands():
    def walled(at):
        return {"loss": jnp.where(at["x"] < 1.0, (at["x"] - 3.0) ** 2, jnp.nan) + at["y"] ** 2}

    problem = function_problem(walled, XY, Objective("loss", "minimize"))
    result = optimize_design(problem, budget=400, progress=False)
    assert result.status == "ok"
    assert np.isfinite([step.objective for step in result.history]).all()
    assert result.variables["x"] == pytest.approx(1.0, abs=0.05)


def test_an_objective_that_is_always_nan_is_not_converged():
    problem = function_problem(lambda at: {"loss": at["x"] * jnp.nan}, XY, Objective("loss"))
    with pytest.warns(UserWarning, match="x, y changed neither"):
        result = optimize_design(problem, budget=40, progress=False)
    assert result.status == "not_converged"
    assert "no start gave a finite value" in result.reason


def test_a_variable_that_does_not_matter_is_named():
    problem = function_problem(
        lambda at: {"loss": (at["x"] - 1) ** 2}, XY, Objective("loss", "minimize")
    )
    with pytest.warns(UserWarning, match="y changed neither"):
        result = optimize_design(problem, budget=60, progress=False)
    assert result.idle == ("y",)


def test_contradictory_constraints_are_not_converged():
    constraints = [Constraint("radius", "<=", 0.5), Constraint("radius", ">=", 1.0)]
    problem = function_problem(rosenbrock, XY, Objective("loss", "minimize"), constraints)
    result = optimize_design(problem, budget=60, progress=False)
    assert result.status == "not_converged"
    assert "relax a constraint" in result.reason


def test_a_target_is_met():
    problem = function_problem(
        lambda at: {"sum": at["x"] + at["y"] ** 3}, XY, Objective("sum", "target", 1.5)
    )
    result = optimize_design(problem, budget=300, progress=False)
    assert result.optimized.response["sum"] == pytest.approx(1.5, abs=1e-2)


def test_random_search_keeps_the_best_feasible():
    problem = function_problem(
        rosenbrock, XY, Objective("loss", "minimize"), [Constraint("radius", "<=", 1.0)]
    )
    found = random_search(problem, 600, progress=False)
    # The disk fills pi / 16 of the box.
    assert 70 < found.feasible < 170
    assert found.design is not None
    assert found.design["x"] ** 2 + found.design["y"] ** 2 <= 1.0


def test_logarithmic_variables_never_leave_their_bounds():
    variables = (Variable("x", 1e-6, 3e-3, 1e-5),)
    problem = function_problem(lambda at: {"loss": at["x"]}, variables, Objective("loss"))
    assert problem.named([0.0])["x"] >= 1e-6
    assert problem.named([1.0])["x"] <= 3e-3
    assert problem.named(problem.start)["x"] == pytest.approx(1e-5, rel=1e-12)


@pytest.mark.parametrize("bounds", [(2.0, 1.0, 1.5), (0.0, np.inf, 1.0), (0.0, 1.0, 2.0)])
def test_bad_bounds_are_refused(bounds):
    with pytest.raises(ValueError, match="free variable x"):
        Variable("x", *bounds)


def test_words_of_the_command_line():
    assert parse_free("mass_ratio=0.5:2.5") == ("mass_ratio", 0.5, 2.5)
    assert parse_constraint("max_stress<200e6") == Constraint("max_stress", "<=", 200e6)
    assert parse_constraint("min_gap >= 1e-6") == Constraint("min_gap", ">=", 1e-6)
    for bad in ("mass_ratio", "a=2:1", "a=x:1"):
        with pytest.raises(ValueError, match="--free"):
            parse_free(bad)
    for bad in ("stress", "stress<big", "a==1"):
        with pytest.raises(ValueError, match="--subject"):
            parse_constraint(bad)


def test_dimensions_with_fixed_fits_warn():
    """The fits of the magnetic force hold near the published section."""
    free = {"width": (100e-6, 200e-6), "mass_ratio": (0.5, 2.5)}
    with pytest.warns(UserWarning, match="width: .*fitted near the published geometry"):
        device_problem(wrmma, free, Objective("velocity"))
