"""The rocking magnet against SciPy's DOP853 with events, and what its contact changes.

The oracle writes both coordinates' equations out for each mode of friction; derivatives are extrapolated central
differences of orbits that it converges itself.
"""

import math
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

from diffmicro import device, value_and_gradient
from diffmicro.certificate import verdict_word
from diffmicro.parameters import as_arrays, get
from diffmicro.results import word

FILE = Path(__file__).parents[2] / "examples" / "magnet.py"
LENGTH = 5e-6


def period(p, state):
    """Angle, its rate, speed of the edge (over LENGTH) after one period [s], and the way; no slap of the face."""
    volume = p["length"] * p["width"] * p["height"]
    m, arm = p["density"] * volume, p["height"] / 2
    inertia = m * (p["length"] ** 2 + p["height"] ** 2) / 12
    bound = p["friction"] * (m * p["gravity"] + p["pressure"] * p["patch"] * p["width"])
    time, rise = 1 / p["frequency"], p["rise"] / p["frequency"]

    def torque(t, y):
        share = t / rise if t < rise else (time - t) / (time - rise)
        field = p["lean"] + p["swing"] * (2 * share - 1)
        driven = p["magnetization"] * volume * p["field"] * math.sin(field - y[0])
        return driven - m * p["gravity"] * p["length"] / 2 - p["drag"] * y[1]

    def holding(t, y):
        """The friction that keeps the edge at rest: friction / m + arm (torque + arm friction) / inertia = 0."""
        return -arm * torque(t, y) / inertia / (1 / m + arm**2 / inertia)

    def rates(t, y, slip):
        friction = -slip * bound if slip else holding(t, y)
        turn = (torque(t, y) + arm * friction) / inertia
        return [y[1], turn, (friction / m + arm * turn) / LENGTH if slip else 0.0, y[2]]

    def picked(t, y):
        force = holding(t, y)
        return 0 if abs(force) <= bound else -int(np.sign(force))

    def up(t, y, slip):
        return slip * y[2] if slip else bound + holding(t, y)

    def down(t, y, slip):
        return 1.0 if slip else bound - holding(t, y)

    for guard in (up, down):
        guard.terminal, guard.direction = True, -1
    t, y = 0.0, np.array([*state, 0.0])
    slip = int(np.sign(y[2])) if y[2] else picked(t, y)
    for end in (rise, time):
        while t < end:
            run = solve_ivp(
                rates, (t, end), y, "DOP853", args=(slip,), events=(up, down), rtol=1e-12, atol=1e-14,
                max_step=time / 200,
            )  # fmt: skip
            t, y = float(run.t[-1]), np.array(run.y[:, -1])
            assert y[0] > 0
            if run.status == 1 and slip:
                y[2], slip = 0.0, 0
                slip = picked(t, y)
            elif run.status == 1:
                slip = 1 if len(run.t_events[0]) else -1
        slip = slip or picked(t, y)  # the field's angle turns around
    return y


def velocity(p, guess):
    """Mean velocity of the orbit near a guess."""
    time = 1 / p["frequency"]
    scale = np.array([1.0, 1 / time, 1 / time])

    def defect(z):
        return (period(p, z * scale)[:3] - z * scale) / scale

    found = root(defect, guess / scale, tol=1e-13, options=dict(eps=1e-7))
    assert np.max(np.abs(defect(found.x))) < 1e-9
    return period(p, found.x * scale)[3] * LENGTH / time


@pytest.mark.slow
def test_velocity_and_gradient_equal_scipys():
    magnet = device(f"{FILE}:MAGNET")
    design, setting = as_arrays((magnet.Design(), magnet.Setting()))
    free = ("height", "magnetization", "field", "swing", "friction", "rise")
    function = jax.jit(value_and_gradient(magnet, free, "velocity"))
    value, gradient, certificate, response = function(design, setting)
    assert word(response.result) == "ok" and verdict_word(certificate) == "certified"
    assert 0 < float(response.stick) < 1
    p = {n: float(get(design, setting, n)) for n in magnet.parameters if n != "contact"}
    names = ("angle", "angle_rate", "edge_rate")
    guess = np.array([float(response.state[name]) for name in names]) / [1, 1, LENGTH]
    np.testing.assert_allclose(value, velocity(p, guess), rtol=1e-7)
    for name in free:
        slopes = []
        for step in (4e-4, 2e-4):
            ends = [velocity(p | {name: p[name] * (1 + s * step)}, guess) for s in (1, -1)]
            slopes.append((ends[0] - ends[1]) / (2 * step * p[name]))
        expected = (4 * slopes[1] - slopes[0]) / 3
        floor = 1e-6 * abs(float(value) / p[name])
        np.testing.assert_allclose(gradient[name], expected, rtol=2e-5, atol=floor, err_msg=name)


@pytest.mark.slow
def test_a_face_that_adheres_sticks_longer_than_an_edge():
    magnet = device(f"{FILE}:MAGNET")
    edge, face = (
        magnet.respond(magnet.Design(contact=contact), magnet.Setting(), **magnet.lone)
        for contact in ("line", "area")
    )
    assert word(face.result) == "ok" and float(face.stick) > float(edge.stick) + 0.05
