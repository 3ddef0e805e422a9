"""Optimization of functions with known optima: bounds, constraints, NaN, idle variables."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.optimize import root

from diffmicro.certificate import VERDICTS
from diffmicro.design import (
    Constraint,
    Objective,
    Tolerance,
    Variable,
    device_problem,
    function_problem,
    optimize_design,
    parse_constraint,
    parse_free,
    random_search,
    robust_problem,
)
from diffmicro.design.ending import OPTIMAL
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
    result = optimize_design(problem, optimizer, method="climb", budget=400, progress=False)
    assert result.status == "ok"
    assert result.evaluations <= 400
    # A thousandth of the box; the flat direction a hundredth.
    assert result.variables["x"] == pytest.approx(2.0, abs=4e-3)
    assert result.variables["y"] == pytest.approx(0.25, abs=4e-2)
    for step in result.history:
        assert all(-2.0 <= value <= 2.0 for value in step.design.values())


def test_who_watches_may_end_a_search_with_the_best_so_far():
    problem = function_problem(rosenbrock, XY, Objective("loss", "minimize"))
    seen = []

    def watch(used):
        seen.append(used)
        if used >= 20:
            raise KeyboardInterrupt

    result = optimize_design(problem, method="climb", budget=400, progress=False, watch=watch)
    assert result.status == "interrupted" and seen == sorted(seen) and 20 <= result.evaluations < 60
    start, found = (rosenbrock(x)["loss"] for x in (result.start, result.variables))
    assert found < start


def test_rosenbrock_in_a_disk_is_feasible_and_near_its_optimum():
    # Optimum on the circle x^2 + y^2 = 1: loss 0.04567 at (0.7864, 0.6177).
    problem = function_problem(
        rosenbrock, XY, Objective("loss", "minimize"), [Constraint("radius", "<=", 1.0)]
    )
    result = optimize_design(problem, method="climb", budget=800, progress=False)
    assert result.status == "stopped"  # near is not there
    assert result.constraints["radius <= 1"]["slack"] >= -1e-6
    assert 0.0456 <= result.optimized.response["loss"] <= 0.0456 * 1.5


@pytest.mark.parametrize("method", ["sqp", "slsqp"])
def test_conditions_of_an_optimum_hold_to_1e_6(method):
    """Solution and multipliers by an independent root finder: scipy on the Lagrange conditions."""
    problem = function_problem(
        rosenbrock, XY, Objective("loss", "minimize"), [Constraint("radius", "<=", 1.0)]
    )
    result = optimize_design(problem, method=method, budget=300, progress=False)
    x, y, price = root(
        lambda z: [
            -2 * (1 - z[0]) - 400 * z[0] * (z[1] - z[0] ** 2) + 2 * z[2] * z[0],
            200 * (z[1] - z[0] ** 2) + 2 * z[2] * z[1],
            z[0] ** 2 + z[1] ** 2 - 1,
        ],
        [0.79, 0.62, 0.1],
        tol=1e-14,
    ).x
    assert result.status == "ok"
    known = result.constraints["radius <= 1"]
    assert known["binds"]
    assert known["slack"] >= -1e-6
    assert known["multiplier"] == pytest.approx(price, rel=2e-3)
    assert result.optimized.response["loss"] == pytest.approx(
        (1 - x) ** 2 + 100 * (y - x**2) ** 2, abs=1e-6
    )


def test_active_bounds_of_a_quadratic_and_their_multipliers():
    problem = function_problem(quadratic, XY, Objective("loss", "minimize"))
    for method in ("sqp", "slsqp", "optax"):
        result = optimize_design(problem, method=method, budget=100, progress=False)
        assert result.variables["x"] == pytest.approx(2.0, abs=1e-6)
        assert result.variables["y"] == pytest.approx(0.25, abs=1e-6)
        assert result.bounds["x"]["side"] == "high"
        assert result.bounds["x"]["multiplier"] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e9])
def test_multipliers_of_a_constraint_in_any_unit(unit):
    """x <= 1 beside y at its bound: the gain is 2 (3 - 1) per x, whatever unit the limit is told in."""

    def losses(at):
        return {"loss": (at["x"] - 3.0) ** 2 + (at["y"] - 5.0) ** 2, "mass": unit * at["x"]}

    limit = Constraint("mass", "<=", unit)
    problem = function_problem(losses, XY, Objective("loss", "minimize"), [limit])
    result = optimize_design(problem, method="sqp", budget=60, progress=False)
    assert result.constraints[str(limit)]["multiplier"] * unit == pytest.approx(4.0, rel=1e-5)
    assert result.bounds["y"]["multiplier"] == pytest.approx(6.0, rel=1e-5)


def truss(at):
    """Two bars of half span 1 at height h with section a: stress and weight of a nonconvex problem.

    A load of two units at the apex puts sqrt(1 + h^2) / h on each bar.
    """
    length = jnp.sqrt(1 + at["h"] ** 2)
    force = length / at["h"]
    return {
        "weight": 2 * at["a"] * length,
        "stress": force / at["a"],
        "buckling": force * length**2 / at["a"] ** 2,
    }


@pytest.mark.parametrize("held_by", ["stress", "buckling"])
def test_a_two_bar_truss(held_by):
    """With stress alone the optimum is known: h = 1, a = sqrt 2, weight 4, and the price of stress is 4.

    With buckling (force length^2 <= a^2) weight^2 = 4 length^5 / h, least at h = 1/2.
    """
    variables = (Variable("h", 0.2, 3.0, 2.5), Variable("a", 0.1, 10.0, 8.0))
    other = {"stress": "buckling", "buckling": "stress"}[held_by]
    constraints = [Constraint(held_by, "<=", 1.0), Constraint(other, "<=", 1e9)]
    problem = function_problem(truss, variables, Objective("weight", "minimize"), constraints)
    result = optimize_design(problem, method="sqp", budget=120, progress=False)
    assert result.status == "ok"
    assert result.constraints[f"{held_by} <= 1"]["binds"]
    assert not result.constraints[f"{other} <= 1e+09"]["binds"]
    weight = result.optimized.response["weight"]
    if held_by == "stress":
        assert result.variables["h"] == pytest.approx(1.0, abs=1e-4)
        assert result.variables["a"] ** 2 == pytest.approx(2.0, rel=1e-5)
        assert weight == pytest.approx(4.0, rel=1e-6)
        assert result.constraints["stress <= 1"]["multiplier"] == pytest.approx(4.0, rel=1e-3)
    else:
        assert result.variables["h"] == pytest.approx(0.5, abs=1e-4)
        assert weight == pytest.approx((8 * 1.25**2.5) ** 0.5, rel=1e-6)


def test_starts_in_two_valleys_give_two_optima():
    def valleys(at):
        return {"loss": (at["x"] ** 2 - 1) ** 2 + 0.1 * at["x"] + at["y"] ** 2}

    problem = function_problem(valleys, XY, Objective("loss", "minimize"))
    result = optimize_design(problem, method="sqp", budget=300, lanes=8, progress=False)
    assert len(result.optima) == 2
    assert [round(o["variables"]["x"]) for o in result.optima] == [-1, 1]
    assert result.variables["x"] == pytest.approx(-1.0123, abs=1e-3)


def test_a_failed_lane_does_not_spoil_the_others():
    def half(at):
        return {"loss": jnp.where(at["x"] > 0.5, jnp.nan, (at["x"] + 0.3) ** 2 + at["y"] ** 2)}

    problem = function_problem(half, XY, Objective("loss", "minimize"))
    result = optimize_design(problem, method="sqp", budget=200, lanes=4, progress=False)
    assert result.variables["x"] == pytest.approx(-0.3, abs=1e-5)


@pytest.mark.parametrize(
    "verdict, method, why",
    [
        ("certified", "sqp", "sqp, as 4 of 4 gradients are certified"),
        ("uncertified", "climb", "climb, as only 0 of 4 gradients are certified"),
        ("refused", "cma", "cma, as 4 of 4 gradients were refused"),
    ],
)
def test_the_method_follows_from_the_certificates_and_is_told(verdict, method, why):
    plain = function_problem(quadratic, XY, Objective("loss", "minimize"))
    code = jnp.asarray(VERDICTS.index(verdict))
    problem = replace(plain, evaluate=lambda at: (*plain.evaluate(at)[:3], code))
    result = optimize_design(problem, budget=600, progress=False)
    assert (result.status, result.method) == ("ok", method)
    assert result.reason.startswith(why)
    assert result.variables["x"] == pytest.approx(2.0, abs=1e-2)


def test_variables_and_responses_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"list of Variable.*got dict"):
        function_problem(quadratic, {"x": (0.0, 1.0)}, Objective("loss"))  # type: ignore[arg-type]
    problem = function_problem(quadratic, XY, Objective("lost", "minimize"))
    with pytest.raises(ValueError, match="gives no lost, only loss"):
        optimize_design(problem, progress=False)


def test_one_variable_is_not_for_cma():
    """The package does not support it: it ended with its own error in the middle of the run."""
    problem = function_problem(
        lambda at: {"loss": (at["x"] - 2.0) ** 2}, XY[:1], Objective("loss", "minimize")
    )
    with pytest.raises(ValueError, match="two variables at least.*Choose climb"):
        optimize_design(problem, method="cma", progress=False)
    refused = replace(
        problem,
        evaluate=lambda at: (*problem.evaluate(at)[:3], jnp.asarray(VERDICTS.index("refused"))),
    )
    result = optimize_design(refused, budget=600, progress=False)
    assert result.method == "climb" and "CMA-ES needs two variables" in result.reason
    assert result.variables["x"] == pytest.approx(2.0, abs=1e-2)


def test_unknown_methods_and_small_budgets_are_refused():
    problem = function_problem(quadratic, XY, Objective("loss", "minimize"))
    with pytest.raises(ValueError, match="is not one of auto, sqp"):
        optimize_design(problem, method="newton")
    with pytest.raises(ValueError, match="lagrangian is gone. Use sqp.* or optax"):
        optimize_design(problem, method="lagrangian")
    with pytest.raises(ValueError, match="at least 8"):
        optimize_design(problem, budget=3)


def test_nan_beyond_a_wall_is_never_where_a_lane_stands():
    def walled(at):
        return {"loss": jnp.where(at["x"] < 1.0, (at["x"] - 3.0) ** 2, jnp.nan) + at["y"] ** 2}

    problem = function_problem(walled, XY, Objective("loss", "minimize"))
    result = optimize_design(problem, budget=400, progress=False)
    assert result.status == "stopped"  # the wall is no constraint that could balance the gradient
    assert np.isfinite([step.objective for step in result.history]).all()
    assert result.variables["x"] == pytest.approx(1.0, abs=0.05)


def test_an_objective_that_is_always_nan_is_not_converged():
    problem = function_problem(lambda at: {"loss": at["x"] * jnp.nan}, XY, Objective("loss"))
    with pytest.warns(UserWarning, match="x, y changed neither"):
        result = optimize_design(problem, budget=40, progress=False)
    assert result.status == "not_converged"
    assert "No start gave a finite value" in result.reason


def test_a_variable_that_does_not_matter_is_named():
    problem = function_problem(
        lambda at: {"loss": (at["x"] - 1) ** 2}, XY, Objective("loss", "minimize")
    )
    with pytest.warns(UserWarning, match="y changed neither"):
        result = optimize_design(problem, budget=60, progress=False)
    assert result.idle == ("y",)


@pytest.mark.parametrize("method", ["sqp", "slsqp", "optax", "climb", "cma"])
def test_a_budget_that_is_too_small_is_no_optimum(method):
    """All get nearer to the minimum of the banana in 12 evaluations; none arrives."""
    problem = function_problem(rosenbrock, XY, Objective("loss", "minimize"))
    result = optimize_design(problem, method=method, budget=12, progress=False)
    assert result.status == "stopped"
    assert result.reason.startswith("the budget of 8 evaluations is used")
    assert "the conditions of an optimum do not hold" in result.reason
    assert result.remainder > OPTIMAL
    assert result.optimized.response["loss"] < result.published.response["loss"]


def test_steps_that_cannot_get_shorter_are_no_optimum():
    """At a kink no step is an improvement, but the gradient is as large as anywhere."""
    problem = function_problem(
        lambda at: {"loss": jnp.abs(at["x"] - 0.3) + (at["y"] - 0.25) ** 2},
        XY,
        Objective("loss", "minimize"),
    )
    result = optimize_design(problem, method="sqp", budget=300, progress=False)
    assert result.status == "stopped"
    assert result.remainder > 0.1


@pytest.mark.filterwarnings("ignore:optimize_design")
@pytest.mark.parametrize("method", ["sqp", "climb", "cma"])
def test_a_dead_zone_is_no_optimum(method):
    """The objective is the same everywhere near the start: nothing better was found, and nothing is known."""
    problem = function_problem(
        lambda at: {"loss": 1.0 + 0 * at["x"]}, XY, Objective("loss", "minimize")
    )
    result = optimize_design(problem, method=method, budget=100, progress=False)
    assert result.status == "not_converged"
    assert result.variables == result.start
    assert "start elsewhere" in result.reason


def test_a_start_that_is_an_optimum_is_ok():
    variables = (Variable("x", -2.0, 2.0, 2.0), Variable("y", -2.0, 2.0, 0.25 + 1e-9))
    problem = function_problem(quadratic, variables, Objective("loss", "minimize"))
    result = optimize_design(problem, method="sqp", budget=40, progress=False)
    assert result.status == "ok"
    assert result.optimized.response["loss"] <= result.published.response["loss"]


@pytest.mark.parametrize("method", ["sqp", "climb", "cma"])
def test_no_result_is_worse_than_its_start(method):
    """The report, which evaluates in full, sees a ridge at the start that the search does not."""
    plain = function_problem(quadratic, XY, Objective("loss", "minimize"))

    def finish(at):
        found = plain.finish(at)
        return found._replace(response={"loss": 0.5}) if at["x"] == -1.0 else found

    problem = replace(plain, finish=finish)
    result = optimize_design(problem, method=method, budget=100, progress=False)
    assert result.status == "not_converged"
    assert result.variables == result.start == {"x": -1.0, "y": 0.5}
    assert "Nothing better than the start" in result.reason


def test_a_start_that_failed_does_not_count_and_is_remarked_upon():
    """Its number looks better than any, but its motion collapsed."""
    plain = function_problem(quadratic, XY, Objective("loss", "minimize"))

    def finish(at):
        found = plain.finish(at)
        failed = found._replace(status="gap_collapsed", response={"loss": -9.0})
        return failed if at["x"] == -1.0 else found

    problem = replace(plain, finish=finish)
    result = optimize_design(problem, method="sqp", budget=100, progress=False)
    assert result.status == "ok"
    assert result.variables["x"] == pytest.approx(2.0, abs=1e-6)
    assert "The start does not count: it ended gap_collapsed" in result.reason


def test_a_part_that_fails_is_a_robust_design_that_fails():
    """One node of sixteen beyond the wall: the drawn design is ok, the robust one is not."""
    plain = function_problem(quadratic, XY, Objective("loss", "minimize"))

    def finish(at):
        found = plain.finish(at)
        return found._replace(status="gap_collapsed") if at["x"] > 1.5 else found

    problem = robust_problem(replace(plain, finish=finish), [Tolerance("x", 0.2)], "quantile")
    assert problem.finish({"x": 0.5, "y": 0.5}).status == "ok"
    assert problem.finish({"x": 1.3, "y": 0.5}).status == "gap_collapsed"
    # A share of nothing is nothing, so at 0 the measured value is the drawn one.
    still = problem.finish({"x": 0.0, "y": 0.5}).response
    assert still["loss"] == pytest.approx(still["drawn loss"], rel=1e-12)


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
    with pytest.raises(ValueError, match=r"they are 8 and 0.244346, in SI.*give each its own"):
        parse_free("swing=8:14deg", lambda name: "rad")
    for bad in ("stress", "stress<big", "a==1"):
        with pytest.raises(ValueError, match="--subject"):
            parse_constraint(bad)


def test_dimensions_with_fixed_fits_warn():
    """The fits of the magnetic force hold near the published section."""
    free = {"width": (100e-6, 200e-6), "mass_ratio": (0.5, 2.5)}
    with pytest.warns(UserWarning, match="width: .*fitted near the published geometry"):
        device_problem(wrmma.DEVICE, free, Objective("velocity"))
