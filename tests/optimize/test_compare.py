"""The table that sets gradients beside CMA-ES, on a study whose answer is known."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.design import Constraint, Objective, Study, Variable, function_problem
from optimize.compare import compare, compare_fit, table


def study() -> Study:
    """The largest x + y in a disk of radius 1: sqrt 2, at its edge."""

    def values(at):
        return {"sum": at["x"] + at["y"], "radius": at["x"] ** 2 + at["y"] ** 2}

    variables = (Variable("x", -2.0, 2.0, 0.1), Variable("y", -2.0, 2.0, -0.1))
    limit = Constraint("radius", "<=", 1.0)
    return Study(
        "disk",
        lambda: function_problem(values, variables, Objective("sum"), [limit]),
        options={"method": "sqp", "budget": 150},
        random_designs=0,
        draw=lambda result, path: None,
        show={},
    )


@pytest.fixture(scope="module")
def row():
    return compare(study())


def test_both_routes_find_the_edge_and_the_gradient_needs_less(row):
    assert row.published == pytest.approx(0.0, abs=1e-12)
    assert row.by_gradients == pytest.approx(2**0.5, rel=1e-5)
    assert row.by_cma == pytest.approx(2**0.5, rel=1e-2)
    assert row.slack == pytest.approx(0.0, abs=1e-5)
    assert row.ratio is not None and row.ratio > 1
    assert row.status == "ok"
    head, _, line = table([row]).splitlines()
    assert head.count("|") == line.count("|") == 13


def test_a_search_that_was_cut_short_is_no_optimum():
    found = study()
    cut = replace(found, options={"method": "climb", "budget": 9})
    assert compare(cut).status == "stopped"


def test_a_start_that_the_other_route_does_not_pass_is_no_result(row):
    at_start = row._replace(gradient_evaluations=1, cma_evaluations=7)
    assert "nothing better" in table([at_start])
    assert f"{row.ratio:.1f}" in table([row])


def test_a_fit_is_counted_by_its_steps():
    """Decay and size of a curve with noise of 1 %: 5 and 2, from 20 % beside."""
    time = jnp.linspace(0.0, 1.0, 50)
    noise = np.random.default_rng(0).normal(size=50)
    data = 2.0 * jnp.exp(-5.0 * time) + 0.01 * noise

    def residual(p):
        return (p["size"] * jnp.exp(-p["decay"] * time) - data) / 0.01

    found = compare_fit("curve", residual, {"size": 1.7, "decay": 6.0}, positive=("decay",))
    assert found.published is not None and found.published > 5
    assert found.by_gradients == pytest.approx(1.0, abs=0.15)
    assert found.by_gradients is not None and found.by_cma is not None
    assert found.by_cma >= found.by_gradients * (1 - 1e-6)
    assert found.ratio is not None and found.ratio > 3
    assert found.evaluations <= 30
