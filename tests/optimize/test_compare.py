"""The table that sets gradients beside CMA-ES, on a study whose answer is known."""

import pytest

from diffmicro.design import Constraint, Objective, Study, Variable, function_problem
from optimize.compare import compare, table


def study() -> Study:
    """The largest x + y in a disk of radius 1: sqrt 2, at its edge."""

    def values(at):
        return {"sum": at["x"] + at["y"], "radius": at["x"] ** 2 + at["y"] ** 2}

    variables = (Variable("x", -2.0, 2.0, 0.1), Variable("y", -2.0, 2.0, -0.1))
    limit = Constraint("radius", "<=", 1.0)
    return Study(
        "disk",
        lambda: function_problem(values, variables, Objective("sum"), [limit]),
        options={"method": "sqp", "budget": 60, "lanes": 1},
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
    head, _, line = table([row]).splitlines()
    assert head.count("|") == line.count("|") == 12


def test_a_start_that_the_other_route_does_not_pass_is_no_result(row):
    at_start = row._replace(gradient_evaluations=1, cma_evaluations=7)
    assert "nothing better" in table([at_start])
    assert f"{row.ratio:.1f}" in table([row])
