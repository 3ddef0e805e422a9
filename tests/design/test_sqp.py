"""The SQP transformation by itself: known optima, contradictions, failing samples, units, state, optax around
it."""

import io
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.optimize import nnls

from diffmicro.design.quadratic import ELASTIC, solve_quadratic
from diffmicro.design.sqp import CONVERGED, SEARCHING, STUCK, sqp

N, M = 5, 4
"""Variables and constraints of the random problems, which share one compilation."""

KINDS = ("convex", "nonconvex", "degenerate", "infeasible", "failing")


def random_problem(kind, rng):
    """f = q d + d Q d / 2 + wave (1 - cos 3 d)'s sum, c = s + A d - bend d^2 / 2 with d = u - optimum.

    The slopes q = A^T lambda - (bounds' multipliers) make the conditions of an optimum hold at d = 0.
    """
    optimum = rng.uniform(0.2, 0.8, N)
    at_bound = rng.random(N) < 0.3
    optimum[at_bound] = rng.integers(0, 2, at_bound.sum())
    pushed = np.where(at_bound, np.where(optimum == 0, 1.0, -1.0) * rng.uniform(0.5, 2, N), 0)
    a = rng.normal(size=(M, N))
    active = rng.random(M) < 0.5
    if kind == "degenerate":  # the same limit twice, and one that touches without holding
        a[1], active[:2] = a[0], True
    lam = np.where(active, rng.uniform(0.5, 2, M), 0)
    touches = np.zeros(M, bool)
    if kind == "degenerate":
        touches[2] = True
        lam[2] = 0
        active[2] = True
    slack = np.where(active, 0.0, rng.uniform(0.1, 1, M))
    root = rng.normal(size=(N, N))
    q = root @ root.T / N * 10 ** rng.uniform(-1, 1) + 0.5 * np.eye(N)
    slope = a.T @ lam + pushed
    wave = 0.3 if kind == "nonconvex" else 0.0
    bend = rng.uniform(0, 1, M) if kind in ("convex", "degenerate") else np.zeros(M)
    if kind == "infeasible":  # a[0] d >= 0.1 and a[0] d <= -0.1
        a[1], slack[0], slack[1] = -a[0], -0.1, -0.1
    wall = np.array([*a[0], 3.0]) if kind == "failing" else np.zeros(N + 1)
    scale = 10 ** rng.uniform(-6, 6)
    return dict(
        optimum=optimum, slope=slope * scale, q=q * scale, a=a, slack=slack, bend=bend,
        wave=wave * scale, wall=wall, start=rng.uniform(0, 1, N), scale=scale,
    )  # fmt: skip


def value_and_slacks(p, u):
    d = u - p["optimum"]
    f = p["slope"] @ d + d @ p["q"] @ d / 2 + p["wave"] * jnp.sum(1 - jnp.cos(3 * d))
    return f, p["slack"] + p["a"] @ d - p["bend"] * (d @ d) / 2


def evaluated(p, u):
    f, c = value_and_slacks(p, u)
    gradient, jacobian = jax.jacfwd(lambda v: value_and_slacks(p, v))(u)
    # Beyond a wall nothing can be evaluated; it stands away from the optimum.
    failed = (p["wall"][:N] @ (u - p["optimum"]) > p["wall"][N] / 4) & (p["wall"][N] > 0)
    return jnp.where(failed, jnp.nan, f), jnp.where(failed, jnp.nan, gradient), c, jacobian


@jax.jit
def searched(p, u):
    """The end of one search, and whether a trial ever left the box."""
    optimizer = sqp(M)

    def step(carry):
        u, state, out, count = carry
        f, gradient, c, jacobian = evaluated(p, u)
        moves, state = optimizer.update(gradient, state, u, value=f, slacks=c, jacobian=jacobian)
        out = out | jnp.any((u < 0) | (u > 1))
        return optax.apply_updates(u, moves), state, out, count + 1

    start = (u, optimizer.init(u), jnp.asarray(False), 0)
    busy = lambda carry: (carry[1].status == SEARCHING) & (carry[3] < 200)  # noqa: E731
    _, state, out, count = jax.lax.while_loop(busy, step, start)
    return state, out, count


@pytest.fixture(scope="module")
def two_hundred():
    rng = np.random.default_rng(15)
    problems = [random_problem(KINDS[i % len(KINDS)], rng) for i in range(200)]
    for p in problems:  # a start beyond the wall would have to begin elsewhere
        if p["wall"][N] and p["wall"][:N] @ (p["start"] - p["optimum"]) > p["wall"][N] / 4:
            p["start"] = np.clip(2 * p["optimum"] - p["start"], 0, 1)
    stacked = jax.tree.map(lambda *x: jnp.stack([jnp.asarray(v) for v in x]), *problems)
    found = jax.vmap(searched)(stacked, stacked["start"])
    return problems, jax.tree.map(np.asarray, found)


def remainder(p, best):
    """Share of the gradient that no nonnegative combination of binding limits balances."""
    u, size = best.u, np.linalg.norm(best.gradient)
    near = best.slacks <= 1e-6
    rows = np.concatenate([best.jacobian[near], np.eye(N)[u <= 1e-9], -np.eye(N)[u >= 1 - 1e-9]])
    if not len(rows):
        return size / np.linalg.norm(p["q"])
    return nnls(rows.T, best.gradient)[1] / max(size, 1e-9 * p["scale"])


def test_two_hundred_random_problems_end_in_the_right_status(two_hundred):
    problems, (states, out, count) = two_hundred
    assert not out.any()
    wrong, elsewhere = [], 0
    for i, p in enumerate(problems):
        kind = KINDS[i % len(KINDS)]
        state = jax.tree.map(lambda x, i=i: x[i], states)
        best = state.best
        if kind == "infeasible":
            # The least sum of violations, each in its own unit: 0.2 between two opposite limits.
            missed = np.maximum(0, -best.slacks).sum()
            if state.status != STUCK or missed > 0.2 * (1 + 1e-6):
                wrong.append((i, kind, int(state.status), missed))
            continue
        held = best.slacks.min() >= -1e-6
        optimal = remainder(p, best) < 1e-4
        if not (state.status == CONVERGED and held and optimal):
            wrong.append((i, kind, int(state.status), best.slacks.min(), remainder(p, best)))
        gap = float(best.value) / p["scale"]  # the known optimum has the value 0
        elsewhere += abs(gap) > 1e-5
    assert not wrong
    # Only the nonconvex ones may have other optima.
    assert elsewhere <= 5
    assert np.median(count) <= 20


def corner(u):
    """Rosenbrock's banana in the box, and a disk that cuts its minimum off."""
    x, y = 4 * u - 2
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2, jnp.stack([1 - x**2 - y**2])


def trials(function, start, count, optimizer=None, step=None) -> tuple[np.ndarray, Any]:
    """Points that a search evaluates."""
    optimizer = sqp(len(function(start)[1])) if optimizer is None else optimizer
    step = stepped(function, optimizer) if step is None else step
    u, state, seen = start, optimizer.init(start), []
    for _ in range(count):
        seen.append(u)
        u, state = step(u, state)
    return np.array(seen), state


def stepped(function, optimizer):
    @jax.jit
    def step(u, state):
        (f, c), (g, rows) = function(u), jax.jacfwd(function)(u)
        moves, state = optimizer.update(g, state, u, value=f, slacks=c, jacobian=rows)
        return optax.apply_updates(u, moves), state

    return step


START = np.array([0.25, 0.625])


def test_units_of_objective_limits_and_variables_change_nothing():
    """The trials are the same, to rounding, which grows from step to step."""
    known, _ = trials(corner, START, 12)

    def scaled(u):
        f, c = corner(u / np.array([1e3, 1e-3]))
        return 1e7 * f, 1e-5 * c

    box = np.array([1e3, 1e-3])
    optimizer = sqp(1, lower=0.0, upper=box)
    found, _ = trials(scaled, START * box, 12, optimizer)
    np.testing.assert_allclose(found / box, known, atol=1e-6)


def test_the_state_is_arrays_that_can_be_kept_and_gone_on_with():
    optimizer = sqp(1)
    step = stepped(corner, optimizer)
    whole, _ = trials(corner, START, 15, optimizer, step)
    u, state = START, optimizer.init(START)
    for _ in range(6):
        u, state = step(u, state)
    leaves, shape = jax.tree.flatten((u, state))
    file = io.BytesIO()
    np.savez(file, *leaves)
    file.seek(0)
    with np.load(file) as kept:
        u, state = jax.tree.unflatten(shape, [jnp.asarray(kept[name]) for name in kept.files])
    for expected in whole[6:]:
        np.testing.assert_array_equal(u, expected)
        u, state = step(u, state)


def test_a_lane_of_a_batch_goes_the_way_of_a_single_start():
    starts = np.array([[0.25, 0.625], [0.9, 0.1], [0.5, 0.5]])
    optimizer = sqp(1)
    step = stepped(corner, optimizer)
    u: Any = starts
    state: Any = jax.vmap(optimizer.init)(starts)
    for _ in range(60):
        u, state = jax.vmap(step)(u, state)
    for i, start in enumerate(starts):
        single, one = trials(corner, start, 60, optimizer, step)
        np.testing.assert_allclose(state.best.u[i], one.best.u, atol=1e-5)
    assert np.all(state.status == CONVERGED)


def wall(u):
    """The minimum lies near a wall behind which the motion is another one: a better value, a wrong slope."""
    f = jnp.sum((u - 0.7) ** 2)
    return jnp.where(u[0] > 0.72, f + 3.0, f), jnp.zeros(0)


@pytest.mark.parametrize("behind", ["jump", "nan", "not usable"])
def test_what_jumps_or_fails_is_a_rejected_trial(behind):
    optimizer = sqp(0)

    @jax.jit
    def step(u, state):
        f, g = jax.value_and_grad(lambda v: wall(v)[0])(u)
        over = u[0] > 0.72
        f = jnp.where(over & (behind == "nan"), jnp.nan, f)
        usable = ~over if behind == "not usable" else True
        moves, state = optimizer.update(20 * g, state, u, value=20 * f, usable=usable)
        return optax.apply_updates(u, moves), state

    u: Any = jnp.array([0.1, 0.9])
    state: Any = optimizer.init(u)
    for _ in range(40):
        u, state = step(u, state)
    assert int(state.status) == CONVERGED
    np.testing.assert_allclose(state.best.u, 0.7, atol=1e-6)


def test_optax_around_it():
    """A clipped gradient, a schedule, `apply_if_finite`: the steps differ, the optimum does not."""
    schedule = optax.piecewise_constant_schedule(0.5, {3: 2.0})
    around = (
        optax.chain(optax.clip_by_global_norm(1e6), sqp(1)),
        optax.chain(sqp(1), optax.scale_by_schedule(schedule)),
        optax.apply_if_finite(sqp(1), 3),
    )
    for optimizer in around:
        seen, _ = trials(corner, START, 60, optimizer)
        np.testing.assert_allclose(4 * seen[-1] - 2, [0.7864, 0.6177], atol=1e-4)


def test_a_part_of_a_tree_by_sqp_and_the_rest_by_adam():
    """`optax.partition`: the design within its limit, weights without."""
    target = jnp.array([0.2, 0.4])

    def loss(tree):
        return jnp.sum((tree["design"] - 0.9) ** 2) + jnp.sum((tree["weights"] - target) ** 2)

    def limit(tree):
        return jnp.stack([1.0 - jnp.sum(tree["design"])])

    parts: Any = {"design": sqp(1), "weights": optax.adam(0.05)}
    optimizer = optax.partition(parts, {"design": "design", "weights": "weights"})

    @jax.jit
    def step(tree, state):
        value, gradient = jax.value_and_grad(loss)(tree)
        rows = jax.jacrev(limit)(tree)["design"]  # of its own part: optax hands extras on whole
        extra = dict(value=value, slacks=limit(tree), jacobian=rows)
        moves, state = optimizer.update(gradient, state, tree, **extra)
        return optax.apply_updates(tree, moves), state

    tree = {"design": jnp.array([0.1, 0.3]), "weights": jnp.zeros(2)}
    state = optimizer.init(tree)
    for _ in range(200):
        tree, state = step(tree, state)
    np.testing.assert_allclose(tree["design"], 0.5, atol=1e-4)
    np.testing.assert_allclose(tree["weights"], target, atol=1e-3)


def conditions_missed(found, b, g, c, a, low, high):
    """How far the conditions of the elastic program are from holding, in its own units."""
    half, d, lam = (high - low) / 2, np.asarray(found.step), np.asarray(found.multipliers)
    tilt = half * (g + b @ (high + low) / 2)
    unit = max(np.abs(tilt).max(), np.abs(half[:, None] * b * half).max())
    reach = np.abs(a * half).sum(axis=1)
    rest = (b @ d + g - a.T @ lam) * half / unit
    free = np.abs(np.clip((d - rest * half), low, high) - d) / half
    slack, lam = (c + a @ d) / reach, lam * reach / unit
    held = np.minimum(np.abs(slack), np.where(slack > 0, lam, 1 - lam / ELASTIC))
    return max(free.max(), held.max())


def test_quadratic_programs_meet_their_conditions(rng):
    """Well and badly scaled ones, with limits that repeat and that contradict each other."""
    solve = jax.jit(solve_quadratic)
    for number in range(200):
        root = rng.normal(size=(6, 6))
        b = root @ root.T * 10 ** rng.uniform(-3, 3)
        g = rng.normal(size=6) * 10 ** rng.uniform(-6, 6)
        a, c = rng.normal(size=(5, 6)), rng.normal(size=5) * 10 ** rng.uniform(-2, 0.5)
        if number % 4 == 1:
            a[1], c[1] = a[0], c[0]
        if number % 4 == 2:
            a[1], c[1] = -a[0], -c[0] - 1
        low, high = -rng.uniform(0, 1, 6) * (rng.random(6) < 0.7), rng.uniform(0.01, 1, 6)
        found = solve(b, g, c, a, low, high)
        assert found.ok
        assert np.all(found.step >= low) and np.all(found.step <= high)
        assert conditions_missed(found, b, g, c, a, low, high) < 1e-5


def test_a_step_that_a_bound_stops_meets_it_to_the_last_bit():
    low, high = jnp.array([-0.1, -0.3]), jnp.array([0.7, 0.1])
    found = solve_quadratic(
        jnp.eye(2), jnp.array([5.0, -5.0]), jnp.zeros(0), jnp.zeros((0, 2)), low, high
    )
    assert float(found.step[0]) == low[0] and float(found.step[1]) == high[1]


def test_no_rounding_leads_over_a_bound(rng):
    """Bounds that binary fractions miss, from many places: u + step stays inside, and next to the bound."""
    low, high = jnp.array([0.1, -0.7, 1e3]), jnp.array([0.3, 0.1, 1.1e3])
    optimizer = sqp(0, lower=low, upper=high)
    slope = jnp.array([1.0, -1.0, 1.0]) / (high - low)

    @jax.jit
    @jax.vmap
    def landed(u):
        steps, _ = optimizer.update(slope, optimizer.init(u), u, value=0.0)
        return optax.apply_updates(u, steps)

    ends = landed(low[None, :] + (high - low)[None, :] * rng.random((1000, 3)))
    ends, low, high = np.asarray(ends), np.array(low)[None, :], np.array(high)[None, :]
    assert np.all(ends >= low) and np.all(ends <= high)
    near = np.minimum(np.abs(ends - low), np.abs(ends - high)) / np.abs(high)
    assert near.max() < 1e-14


def test_single_precision_is_enough_for_a_layer():
    program = (jnp.eye(3), jnp.array([1.0, -2, 0.5]), jnp.array([0.2]), jnp.ones((1, 3)))
    sides = (-jnp.ones(3), jnp.ones(3))
    single = solve_quadratic(*(x.astype(jnp.float32) for x in (*program, *sides)))
    double = solve_quadratic(*program, *sides)
    assert single.step.dtype == jnp.float32
    np.testing.assert_allclose(single.step, double.step, atol=1e-4)
