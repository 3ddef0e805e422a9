"""Fronts of two objectives with a known shape."""

import numpy as np
import pytest

from diffmicro.design import Objective, Variable, function_problem
from diffmicro.design.pareto import hypervolume, pareto_front, undominated

FIRST, SECOND = Objective("near", "minimize"), Objective("far", "minimize")


def distances(at):
    """Squared distances to (0, 0) and (1, 1): the front is the straight line between them."""
    x, y = at["x"], at["y"]
    return {"near": x**2 + y**2, "far": (x - 1) ** 2 + (y - 1) ** 2}


def made(objective, constraints):
    variables = (Variable("x", -1.0, 2.0, 1.7), Variable("y", -1.0, 2.0, -0.4))
    return function_problem(distances, variables, objective, constraints)


def test_the_front_is_the_known_one():
    front = pareto_front(made, FIRST, SECOND, points=9)
    near, far = front.values.T
    assert len(near) == 9
    assert np.all(np.diff(near) > 0) and np.all(np.diff(far) < 0)
    np.testing.assert_allclose(np.sqrt(near / 2) + np.sqrt(far / 2), 1.0, atol=1e-5)
    for design in front.designs[1:-1]:
        assert design["x"] == pytest.approx(design["y"], abs=1e-4)
    # near = 2 s^2, far = 2 (1 - s)^2: a unit of far costs s / (1 - s) of near.
    s = np.sqrt(near / 2)
    np.testing.assert_allclose(front.price[1:-1], (s / (1 - s))[1:-1], rtol=1e-3)
    # The area below 2 that the whole front covers is 4 - integral = 2 * 2 - 2/3.
    full = np.linspace(0, 1, 2001)
    best = hypervolume(np.stack([2 * full**2, 2 * (1 - full) ** 2], 1), (FIRST, SECOND), (2, 2))
    assert best == pytest.approx(4 - 2 / 3, rel=2e-3)
    assert hypervolume(front.values, (FIRST, SECOND), (2, 2)) > 0.87 * best


def test_a_front_over_two_valleys_is_no_worse_than_a_fine_grid():
    """The valley around x = -1 is the better one while `far` may be large, that around x = 1 later."""

    def valleys(at):
        x, y = at["x"], at["y"]
        near = (x**2 - 1) ** 2 + 0.2 * x + y**2
        return {"near": near, "far": (x - 1) ** 2 / 4 + (y - 1) ** 2}

    def problem(objective, constraints):
        variables = (Variable("x", -2.0, 2.0, -1.2), Variable("y", -1.0, 2.0, 0.1))
        return function_problem(valleys, variables, objective, constraints)

    front = pareto_front(problem, FIRST, SECOND, points=12)
    x, y = np.meshgrid(np.linspace(-2, 2, 801), np.linspace(-1, 2, 601))
    for far, near in zip(front.values[:, 1], front.values[:, 0], strict=True):
        every = valleys({"x": x, "y": y})
        best = every["near"][every["far"] <= far + 1e-9].min()
        assert near <= best + 1e-3
    sides = {design["x"] > 0 for design in front.designs}
    assert sides == {True, False}


def test_dominated_points_go():
    values = np.array([[1.0, 3.0], [2.0, 2.0], [2.5, 2.5], [3.0, 1.0], [1.0, 3.0]])
    assert undominated(values, (FIRST, SECOND)) == [0, 4, 1, 3]
    assert undominated(values, (Objective("a"), Objective("b"))) == [3, 2, 0, 4]


def test_what_is_no_front():
    with pytest.raises(ValueError, match="points = 2 .* at least 3"):
        pareto_front(made, FIRST, SECOND, points=2)
