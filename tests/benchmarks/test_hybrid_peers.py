"""The truth that tools are compared with, beside SciPy's event-driven solutions; and our own motions beside it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.hybrid_peers import differences, forward
from benchmarks.peers import ours, problems, stepper

BY_NAME = {problem.name: problem for problem in problems.PROBLEMS}


def until(field, start, state, end, guard, longest=0.02):
    """SciPy's motion until the guard falls below zero, or the end. Guards are looked at between steps only."""
    guard.terminal, guard.direction = True, -1
    solved = solve_ivp(
        field, (start, end), state, "DOP853", events=guard, rtol=1e-12, atol=1e-13, max_step=longest
    )
    return solved.t[-1], solved.y[:, -1], solved.status == 1


def simulated(name, point):
    """The value of a problem by SciPy."""
    if name == "ball":
        (height, e), end = point, problems.BALL_END
        clock, state, hit = 0.0, [height, 0.0], True
        while hit:
            clock, (x, v), hit = until(
                lambda t, y: [y[1], -1.0], clock, state, end, lambda t, y: y[0]
            )
            state = [0.0, -e * v]
        return x
    if name in ("impact", "graze"):
        gap, push, rate = point
        clock, state, hit = 0.0, problems.lowest_point(), True
        while hit:
            clock, (x, v), hit = until(
                lambda t, y: [y[1], push * np.cos(rate * t) - problems.DAMPING * y[1] - y[0]],
                clock, state, 2 * np.pi / rate, lambda t, y: gap - y[0], 1e-3,
            )  # fmt: skip
            state = [gap, -problems.RESTITUTION * v]
        return v
    bound, belt, push, rate = point
    clock, state, slip, hit = 0.0, [0.0, 0.0], -1.0, True

    def demand(t, x):
        return push * np.cos(rate * t) - x - problems.BELT_DAMPING * belt

    while hit:

        def field(t, y, slip=slip):
            force = push * np.cos(rate * t) - y[0] - problems.BELT_DAMPING * y[1] - slip * bound
            return [y[1], force] if slip else [belt, 0.0]

        def guard(t, y, slip=slip):
            return slip * (y[1] - belt) if slip else bound**2 - demand(t, y[0]) ** 2

        end = problems.BELT_PERIODS * 2 * np.pi / rate
        clock, (x, v), hit = until(field, clock, state, end, guard)
        force, state = demand(clock, x), [x, belt]
        slip = 0.0 if slip and abs(force) <= bound else np.sign(force)
    return x


@pytest.mark.parametrize("name", BY_NAME)
def test_truth_is_what_an_event_driven_simulation_does(name):
    problem = BY_NAME[name]
    value, gradient = problem.answer()
    np.testing.assert_allclose(simulated(name, problem.point), value, rtol=1e-8, atol=1e-9)
    # A step below the distance to the grazing, above rounding.
    step = 1e-6
    for i, slope in enumerate(gradient):
        ends = [
            np.array(problem.point) + sign * step * np.eye(len(gradient))[i] for sign in (1, -1)
        ]
        high, low = (problem.truth(end.astype(complex)).real for end in ends)
        np.testing.assert_allclose((high - low) / (2 * step), slope, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name, error", [("ball", 1e-12), ("graze", 1e-4), ("reversal", 1e-8)])
def test_our_gradients_are_right_and_those_of_time_steps_are_not(name, error):
    problem = BY_NAME[name]
    point, (value, gradient) = jnp.array(problem.point), problem.answer()
    size = np.linalg.norm(gradient)
    found, slopes = jax.jit(forward(ours.cases(1e-9)[name]))(point)
    assert np.linalg.norm(slopes - gradient) < error * size
    np.testing.assert_allclose(found, value, atol=error)
    # The derivative at fixed contacts, which differences of the same steps share.
    _, stepped = jax.jit(jax.value_and_grad(stepper.cases(1000)[name]))(point)
    assert np.linalg.norm(stepped - gradient) > 0.1 * size
    same = differences(stepper.cases(1000)["impact"], 1e-7)(jnp.array(BY_NAME["impact"].point))[1]
    assert np.linalg.norm(same - BY_NAME["impact"].answer()[1]) > 0.1
