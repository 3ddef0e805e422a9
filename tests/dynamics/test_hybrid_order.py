"""Event-located stepping against SciPy's DOP853 and in its order of convergence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from diffmicro.dynamics.hybrid import Numerics, run
from tests.dynamics.systems import Block, Moving, Pendulum

# push, rise, bound, stiffness, damping, amplitude: sticks, slips and reverses several times a period.
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


def stick_slip_truth(p):
    """Place, speed and number of mode changes, from DOP853 with events, segment by segment."""
    bound = p[2]
    (x, v), events = START, 0
    for k in range(2 * PERIODS):
        begin, end = k / 2, (k + 1) / 2
        # The ramp and what follows are two segments.
        cuts = [begin, begin + p[1], end] if k % 2 == 0 else [begin, end]
        for a, b in zip(cuts[:-1], cuts[1:], strict=True):
            t = a
            # Just inside the segment: its own branch of the switched force.
            inside = (lambda t, a=a, b=b: min(max(t, a + 1e-14), b - 1e-14))

            def pull(t, x, v, inside=inside):
                return force(p, inside(t), x, v)

            slip = np.sign(v)
            if v == 0 and abs(pull(t, x, v)) > bound:
                slip = np.sign(pull(t, x, v))
            while t < b - 1e-15:
                if slip == 0:
                    def release(t, z, pull=pull):
                        return bound - abs(pull(t, z[0], 0.0))
                    event, rate = release, (lambda t, z: [0.0, 0.0])
                else:
                    def event(t, z, slip=slip):
                        return z[1] * slip + (1e-3 if t == t0 else 0.0)
                    def rate(t, z, slip=slip, pull=pull):
                        return [z[1], pull(t, z[0], z[1]) - slip * bound]
                t0 = t
                event.terminal, event.direction = True, -1
                found = solve_ivp(rate, (t, b), [x, v], "DOP853", events=event,
                                  rtol=1e-13, atol=1e-15, max_step=0.02)
                t, (x, v) = found.t[-1], found.y[:, -1]
                if found.status == 1:
                    events += 1
                    v = 0.0
                    demand = pull(t, x, v)
                    if slip == 0:
                        slip = np.sign(demand)
                    else:
                        slip = np.sign(demand) if abs(demand) > bound else 0.0
    return np.array([x, v]), events


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
        f: jax.jit(jax.jacfwd(lambda p, tolerance, steps, f=f: (
            (out := f(p, tolerance, steps))[0], out), has_aux=True), static_argnums=2)
        for f in (stick_slip, pendulum)
    }


def test_stick_slip_equals_dop853(compiled):
    truth, events = stick_slip_truth(STICK_SLIP)
    rates, (state, counted) = compiled[stick_slip](jnp.asarray(STICK_SLIP), 1e-12, 12)
    assert int(counted) == events >= 6
    scale = np.array([np.max(np.abs(truth)), np.max(np.abs(truth))])
    np.testing.assert_allclose(state, truth, rtol=0, atol=1e-10 * scale[0])
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
