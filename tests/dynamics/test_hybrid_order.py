"""Event-located stepping against SciPy's DOP853 and in its order of convergence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from diffmicro.dynamics.hybrid import run
from diffmicro.dynamics.system import Numerics
from tests.dynamics.systems import Block, Moving, Pendulum

# push, rise, bound, stiffness, damping, amplitude: it sticks, slips and reverses.
STICK_SLIP = np.array([3.0, 0.1, 4.0, 30.0, 0.5, 9.0])
PENDULUM = np.array([60.0, 0.3, 25.0])
START = np.array([0.05, 0.0])
PERIODS = 3
ORDER = 7
UNBOUNDED = 1e30
"""Tolerance with which `steps` alone sets the step."""

FINE = 1e-14
"""Tolerance of the reference for orders of convergence."""


def force(p, t, x, v):
    push, rise, _, stiffness, damping, amplitude = p
    t = t % 1.0
    if t < rise:
        switched = push * (2 * t / rise - 1)
    else:
        switched = push if t < 0.5 else -push
    return switched + amplitude * np.cos(2 * np.pi * t) - stiffness * x - damping * v


def mode_after(p, t, z):
    """Direction of motion that a block at rest takes up, 0 if it sticks."""
    demand = force(p, t, *z)
    return np.sign(demand) if abs(demand) > p[2] else 0.0


def next_event(p, span, z, slip):
    """DOP853 through one mode: time, state, and whether the mode ended before the segment did."""

    def rate(t, z):
        return [z[1], force(p, t, *z) - slip * p[2]] if slip else [0.0, 0.0]

    def ends(t, z):
        if slip:
            # A block that starts from rest has not reversed yet.
            return z[1] * slip + (1.0 if t == span[0] else 0.0)
        return p[2] - abs(force(p, t, z[0], 0.0))

    ends.terminal, ends.direction = True, -1
    found = solve_ivp(rate, span, z, "DOP853", events=ends, rtol=1e-13, atol=1e-15, max_step=0.02)
    return found.t[-1], found.y[:, -1], found.status == 1


def stick_slip_truth(p):
    """Place, speed and number of mode changes, segment by segment of the drive."""
    z, events = START, 0
    cuts = np.add.outer(np.arange(PERIODS), [0.0, p[1], 0.5]).ravel()
    for begin, end in zip(cuts, [*cuts[1:], PERIODS], strict=True):
        # Inside the segment, so that its own piece of the switched force acts.
        t, end = begin + 1e-14, end - 1e-14
        slip = np.sign(z[1]) or mode_after(p, t, z)
        while True:
            t, z, changed = next_event(p, (t, end), z, slip)
            if not changed:
                break
            events += 1
            z[1] = 0.0
            slip = mode_after(p, t, z) if slip else np.sign(force(p, t, *z))
    return z, events


def stick_slip(parameters, tolerance, steps):
    system = Block(*parameters)
    numerics = Numerics(steps=steps, order=ORDER, tolerance=tolerance)
    motion = run(system, Moving(*jnp.asarray(START)), PERIODS, numerics, observe=True)
    return jnp.stack(motion.state), motion.record.events


def pendulum(parameters, tolerance, steps):
    numerics = Numerics(steps=steps, order=ORDER, tolerance=tolerance)
    system = Pendulum(*parameters)
    return jnp.stack(run(system, Moving(*jnp.asarray(START)), PERIODS, numerics).state), 0


@pytest.fixture(scope="module")
def compiled():
    """Both systems with their derivatives by all parameters; `steps` is part of the program."""
    return {
        f: jax.jit(
            jax.jacfwd(
                lambda p, tolerance, steps, f=f: ((out := f(p, tolerance, steps))[0], out),
                has_aux=True,
            ),
            static_argnums=2,
        )
        for f in (stick_slip, pendulum)
    }


def test_stick_slip_equals_dop853(compiled):
    truth, events = stick_slip_truth(STICK_SLIP)
    scale = np.max(np.abs(truth))
    rates, (state, counted) = compiled[stick_slip](jnp.asarray(STICK_SLIP), 1e-12, 12)
    assert int(counted) == events >= 6
    np.testing.assert_allclose(state, truth, rtol=0, atol=1e-10 * scale)
    for i, p in enumerate(STICK_SLIP):
        step = 1e-4 * p * np.eye(len(STICK_SLIP))[i]
        ends = [stick_slip_truth(STICK_SLIP + s)[0] for s in (-step, step)]
        wide = [stick_slip_truth(STICK_SLIP + s)[0] for s in (-2 * step, 2 * step)]
        near, far = (ends[1] - ends[0]) / 2e-4, (wide[1] - wide[0]) / 4e-4
        slope = (4 * near - far) / 3
        np.testing.assert_allclose(
            rates[:, i] * p, slope, rtol=0, atol=1e-6 * np.max(np.abs(slope))
        )


@pytest.mark.parametrize("system, parameters", [(pendulum, PENDULUM), (stick_slip, STICK_SLIP)])
def test_order_of_convergence(compiled, system, parameters):
    """Error of the end state over the number of steps: seventh order, with and without events."""
    parameters = jnp.asarray(parameters)
    steps = np.array([12, 24, 48])
    exact_rates, (exact, _) = compiled[system](parameters, FINE, 12)
    errors, rate_errors = [], []
    for n in steps:
        rates, (state, _) = compiled[system](parameters, UNBOUNDED, int(n))
        errors.append(np.max(np.abs(state - exact)))
        rate_errors.append(np.max(np.abs(rates - exact_rates)))
    for error in (errors, rate_errors):
        slope = -np.polyfit(np.log(steps), np.log(error), 1)[0]
        assert slope > ORDER - 0.7, (slope, error)


@pytest.mark.parametrize("steps", [6, 8, 12])
def test_a_switch_at_which_nothing_changes_has_no_derivative(steps):
    """Without a switched force the end of its rise means nothing. Here the block sticks then; the derivative of
    the series, which ends with the step, would say up to 1e-6."""

    def place(rise):
        p = jnp.asarray(STICK_SLIP).at[0].set(0.0).at[1].set(rise)
        numerics = Numerics(steps=steps, tolerance=UNBOUNDED)
        start = Moving(*jnp.asarray(START))
        motion = run(Block(*p), start, 1, numerics, observe=True)
        return motion.state.place, motion.record.events

    by_rise, events = jax.jit(jax.jacfwd(place, has_aux=True))(jnp.asarray(0.21))
    assert events >= 3
    assert abs(float(by_rise)) < 1e-15
