"""Robust designs: measures against Monte Carlo, gradients, yield with a known answer."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.design import Constraint, Objective, Variable, function_problem, optimize_design
from diffmicro.design.robust import Tolerance, robust_problem, spread, yield_estimate

VARIABLES = (Variable("x", -2.0, 2.0, 0.7), Variable("y", 0.1, 3.0, 1.2))
TOLERANCES = (Tolerance("x", 0.1, relative=False), Tolerance("y", 0.05))
AT = {"x": 0.7, "y": 1.2}


def wavy(at):
    return {"gain": jnp.sin(2 * at["x"]) * at["y"] + 0.3 * at["y"] ** 2, "load": at["x"] + at["y"]}


@pytest.fixture(scope="module")
def problem():
    return function_problem(
        wavy, VARIABLES, Objective("gain", "maximize"), [Constraint("load", "<=", 2.5)]
    )


@pytest.fixture(scope="module")
def monte_carlo():
    """100,000 parts drawn by NumPy."""
    rng = np.random.default_rng(5)
    parts = {
        "x": AT["x"] + 0.1 * rng.standard_normal(100_000),
        "y": AT["y"] * (1 + 0.05 * rng.standard_normal(100_000)),
    }
    return {name: np.asarray(value) for name, value in wavy(parts).items()}


def test_the_mean_agrees_with_monte_carlo(problem, monte_carlo):
    robust = robust_problem(problem, TOLERANCES, "mean", nodes=4096)
    values, _ = robust.values({k: jnp.asarray(v) for k, v in AT.items()})
    gains = monte_carlo["gain"]
    assert abs(float(values[0]) - gains.mean()) < 1.96 * gains.std() / np.sqrt(len(gains))


def test_the_quantile_agrees_with_monte_carlo(problem, monte_carlo):
    robust = robust_problem(problem, TOLERANCES, "quantile", nodes=4096, quantile=0.1)
    values, _ = robust.values({k: jnp.asarray(v) for k, v in AT.items()})
    gains, count = np.sort(monte_carlo["gain"]), len(monte_carlo["gain"])
    half = 1.96 * np.sqrt(0.1 * 0.9 * count)
    assert gains[int(0.1 * count - half)] < float(values[0]) < gains[int(0.1 * count + half)]
    loads = np.sort(monte_carlo["load"])  # the constraint's bad side is the high one
    assert loads[int(0.9 * count - half)] < float(values[1]) < loads[int(0.9 * count + half)]


@pytest.mark.parametrize("measure", ["mean", "quantile", "worst"])
def test_gradients_of_the_measures(problem, measure):
    """Against complex-free central differences far above rounding: the measures are piecewise smooth."""
    robust = robust_problem(problem, TOLERANCES, measure, nodes=32)
    x = {k: jnp.asarray(v) for k, v in AT.items()}
    _, jacobian, usable, _ = robust.evaluate(x)
    assert usable
    for i, name in enumerate(("x", "y")):
        step = 1e-5
        ends = [robust.values({**x, name: x[name] + s * step})[0] for s in (1, -1)]
        np.testing.assert_allclose(jacobian[:, i], (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


def test_a_robust_optimum_gives_up_the_sharp_peak():
    """A sharp peak of height 2 beside a broad one of height 1: with 0.2 of scatter the broad one wins."""

    def peaks(at):
        x = at["x"]
        return {"gain": 2 * jnp.exp(-((x / 0.05) ** 2)) + jnp.exp(-((x - 1) ** 2))}

    sharp = function_problem(peaks, [Variable("x", -1.0, 2.0, 0.02)], Objective("gain"))
    assert optimize_design(sharp, method="sqp", budget=60, progress=False).variables["x"] == (
        pytest.approx(0.0, abs=0.02)
    )
    robust = robust_problem(sharp, [Tolerance("x", 0.2, relative=False)], "mean", nodes=64)
    found = optimize_design(robust, method="sqp", budget=120, lanes=3, progress=False)
    assert found.variables["x"] == pytest.approx(1.0, abs=0.1)
    assert found.optimized.response["gain"] < found.optimized.response["drawn gain"]


def test_linearization_agrees_where_the_response_is_straight():
    def straight(at):
        return {"gain": 3 * at["x"] - 2 * at["y"]}

    plain = function_problem(straight, VARIABLES, Objective("gain"))
    found = spread(plain, AT, TOLERANCES, nodes=4096)
    expected = np.hypot(3 * 0.1, 2 * 0.05 * 1.2)
    assert found.linear_deviation == pytest.approx(expected, rel=1e-12)
    assert found.deviation == pytest.approx(expected, rel=5e-3)
    assert found.disagreement < 5e-3
    assert found.shares["x"] == pytest.approx((0.3 / expected) ** 2, rel=1e-9)
    both = spread(plain, AT, TOLERANCES, nodes=4096, correlation=[[1, 0.8], [0.8, 1]])
    variance = 0.3**2 + 0.12**2 - 2 * 0.8 * 0.3 * 0.12
    assert both.deviation == pytest.approx(np.sqrt(variance), rel=2e-2)


def test_a_bent_response_is_told_by_the_disagreement(problem):
    wide = spread(problem, {"x": np.pi / 4, "y": 1.2}, [Tolerance("x", 0.5, relative=False)])
    assert wide.disagreement > 0.5


def test_yield_of_a_known_share(problem):
    """load = x + y <= 2.5 with a normal sum: its share is Phi((2.5 - 1.9) / sigma)."""
    sigma = np.hypot(0.3, 0.06)
    share = float(jax.scipy.stats.norm.cdf((2.5 - 1.9) / sigma))
    found = yield_estimate(
        problem, AT, [Tolerance("x", 0.3, relative=False), Tolerance("y", 0.05)], count=20_000
    )
    assert found.low < share < found.high
    assert found.high - found.low < 0.01


def test_tolerances_that_mean_nothing(problem):
    with pytest.raises(ValueError, match="above 0"):
        Tolerance("x", -0.1)
    with pytest.raises(ValueError, match="not a variable"):
        robust_problem(problem, [Tolerance("z", 0.1)])
    with pytest.raises(ValueError, match="is not mean"):
        robust_problem(problem, TOLERANCES, "median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="positive definite"):
        spread(problem, AT, TOLERANCES, correlation=[[1, 2], [2, 1]])
