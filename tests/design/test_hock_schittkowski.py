"""The transformation beside SLSQP on Hock and Schittkowski's problems: as many solved, in no more evaluations."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.optimize import minimize

from diffmicro.design.sqp import SEARCHING, sqp
from tests.design.hock_schittkowski import PROBLEMS

CLOSE, HELD = 1e-6, 1e-6
"""Share of the best value that may be missed, and violation that a solution may have."""

QUICK = (12, 43, 76)
"""Numbers that the fast tests solve."""


def evaluation(given):
    """Value, gradient, slacks and their Jacobian, compiled."""

    def slacks(x):
        return jnp.stack(list(given.c(x))) if given.c else jnp.zeros(0)

    return jax.jit(lambda x: (given.f(x), jax.grad(given.f)(x), slacks(x), jax.jacfwd(slacks)(x)))


def solved_after(trace, best):
    """Evaluations until a feasible value within `CLOSE` of the best; None if there was none."""
    for count, (value, slacks) in enumerate(trace, 1):
        if value <= best + CLOSE * max(abs(best), 1.0) and np.min(slacks, initial=0) >= -HELD:
            return count
    return None


def by_sqp(given, evaluate, most=200):
    x = jnp.asarray(given.start)
    optimizer = sqp(len(evaluate(x)[2]), lower=given.lower, upper=given.upper, tolerance=1e-9)
    state: Any = optimizer.init(x)
    trace: list = []

    @jax.jit
    def step(gradient, state, x, value, slacks, jacobian):
        known = dict(value=value, slacks=slacks, jacobian=jacobian)
        steps, state = optimizer.update(gradient, state, x, **known)
        return optax.apply_updates(x, steps), state

    while state.status == SEARCHING and len(trace) < most:
        value, gradient, slacks, jacobian = evaluate(x)
        trace.append((float(value), np.asarray(slacks)))
        assert np.all(x >= given.lower) and np.all(x <= given.upper)
        x, state = step(gradient, state, x, value, slacks, jacobian)
    return trace


def by_slsqp(given, evaluate, start):
    trace, known = [], {}

    def at(x):
        if x.tobytes() not in known:
            known[x.tobytes()] = [np.asarray(part) for part in evaluate(x)]
            trace.append((float(known[x.tobytes()][0]), known[x.tobytes()][2]))
        return known[x.tobytes()]

    limits = {"type": "ineq", "fun": lambda x: at(x)[2], "jac": lambda x: at(x)[3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        minimize(
            lambda x: float(at(x)[0]), start, jac=lambda x: at(x)[1], method="SLSQP",
            bounds=list(zip(given.lower, given.upper, strict=True)),
            constraints=[limits] if given.c else [], options={"ftol": 1e-12, "maxiter": 200},
        )  # fmt: skip
    return trace


def counts(number):
    given = PROBLEMS[number]
    evaluate = evaluation(given)
    traces = by_sqp(given, evaluate), by_slsqp(given, evaluate, given.start)
    return [solved_after(trace, given.best) for trace in traces]


@pytest.mark.parametrize("number", QUICK)
def test_a_few_are_solved(number):
    ours, theirs = counts(number)
    assert ours is not None and theirs is not None and ours <= theirs + 2


@pytest.mark.slow
def test_as_many_are_solved_as_by_slsqp_and_in_no_more_evaluations():
    found = np.array([[np.nan if n is None else n for n in counts(number)] for number in PROBLEMS])
    solved = np.isfinite(found)
    assert len(PROBLEMS) >= 40
    assert solved[:, 0].sum() >= solved[:, 1].sum() >= 45
    both = found[solved.all(axis=1)]
    assert np.median(both[:, 0]) <= np.median(both[:, 1])


@pytest.mark.slow
@pytest.mark.parametrize("number", PROBLEMS)
def test_the_published_value_is_the_best_that_slsqp_finds(number, rng):
    """From many starts, none ends below it, and one ends at it: the formula is typed as it was published."""
    given = PROBLEMS[number]
    evaluate, best = evaluation(given), np.inf
    low = np.where(np.isfinite(given.lower), given.lower, given.start - 5 - np.abs(given.start))
    high = np.where(np.isfinite(given.upper), given.upper, given.start + 5 + np.abs(given.start))
    starts = [given.start, *(low + (high - low) * rng.random((20, len(low))) ** 2)]
    for start in starts:
        for value, slacks in by_slsqp(given, evaluate, start):
            if np.min(slacks, initial=0) >= -1e-9:
                best = min(best, value)
    # Problem 13 has no multipliers at its solution: it is reached to some digits only.
    digits = 1e-2 if number == 13 else 2e-5
    assert abs(best - given.best) <= digits * max(abs(given.best), 1.0)
