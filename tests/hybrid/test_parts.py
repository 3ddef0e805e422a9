"""The ready-made contacts against motions in closed form: values, multipliers and gradients.

The searches start in the closed form's state, so that the library's derivative is taken in the orbit itself (from
elsewhere it stops at a residual of 1e-7, and its derivative is as accurate).

Truth is algebra, or a root of algebra (brentq, to rounding), differentiated with steps far above rounding and
extrapolated; nothing here shares a time step with the library.
"""

import math

import jax
import numpy as np
import pytest
from scipy.optimize import brentq as scipy_brentq
from scipy.optimize import root

from diffmicro.parameters import as_arrays, put
from diffmicro.results import word
from tests.hybrid import robots


def brentq(*given, **options) -> float:
    return scipy_brentq(*given, **options)  # pyright: ignore[reportReturnType]


def slope(function, given, name, step=3e-4):
    """Derivative by central differences at three steps, extrapolated twice."""
    rows = []
    for h in (step, step / 2, step / 4):
        ends = [function(given | {name: given[name] * (1 + s * h)}) for s in (1, -1)]
        rows.append((np.asarray(ends[0]) - np.asarray(ends[1])) / (2 * h * given[name]))
    first, second = (4 * rows[1] - rows[0]) / 3, (4 * rows[2] - rows[1]) / 3
    return (16 * second - first) / 15


def found(device, overrides, names, responses, start):
    """The response from a state nearby, and the derivatives of `responses` by `names`."""
    design, setting = as_arrays(put(device.Design(), device.Setting(), overrides))

    def values(x):
        response = device.respond(
            *put(design, setting, x), start=start, near=True, tolerance=1e-13, window=0, throw=False
        )
        return {name: getattr(response, name) for name in responses}, response

    x = {name: getattr(design if hasattr(design, name) else setting, name) for name in names}
    return jax.jit(jax.jacfwd(values, has_aux=True))(x)


def compare(device, overrides, names, truth, start, rtol=1e-9):
    """Values and gradients of a device against a function of all its parameters."""
    given = vars(device.Design()) | vars(device.Setting()) | overrides
    expected = truth(given)
    slopes, response = found(device, overrides, names, tuple(expected), start)
    assert word(response.result) == "ok"
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(response, name), value, rtol=rtol, err_msg=name)
        for by in names:
            true = slope(lambda p, name=name: truth(p)[name], given, by)
            floor = rtol * abs(value / given[by])
            message = f"d {name} / d {by}"
            np.testing.assert_allclose(
                slopes[name][by], true, rtol=10 * rtol, atol=floor, err_msg=message
            )
    return response


def bouncing(p):
    """The period-1 bounce: take-off g T / 2 upward, table velocity at the impact (1-e)/(1+e) g T / 2."""
    g, e, amplitude = p["gravity"], p["restitution"], p["amplitude"]
    period, rate = 1 / p["frequency"], 2 * math.pi * p["frequency"]
    fall = g * period / 2
    table = fall * (1 - e) / (1 + e)
    angle = 2 * math.pi - math.asin(table / (amplitude * rate))  # the table rises above its middle

    def height(t):  # of the ball over the table, t after the impact
        flight = amplitude * math.cos(angle) + fall * t - g * t**2 / 2
        return flight - amplitude * math.cos(angle + rate * t)

    def climb(t):
        return fall - g * t + amplitude * rate * math.sin(angle + rate * t)

    top = brentq(climb, 0.05 * period, 0.95 * period, xtol=1e-17)
    state = [f(period - angle / rate) for f in (height, climb)]
    return {"leaves": fall - table, "lands": -fall - table, "peak": height(top)}, state, angle


def test_a_ball_on_a_driven_table():
    overrides = {"amplitude": 8e-5}  # a little above the least that keeps the ball up: stable
    given = vars(robots.Ball()) | vars(robots.Setting()) | overrides
    _, (height, climb), angle = bouncing(given)
    start = {"height": height, "height_rate": climb}
    names = ("gravity", "restitution", "amplitude", "frequency")
    response = compare(robots.BALL, overrides, names, lambda p: bouncing(p)[0], start)
    assert float(response.hits) == 1
    np.testing.assert_allclose(response.state["height"], height, rtol=1e-9)
    # The exact map of bounces (time, speed), linearized.
    g, e, period = given["gravity"], given["restitution"], 1 / given["frequency"]
    rate = 2 * math.pi * given["frequency"]
    table = g * period / 2 * (1 - e) / (1 + e)
    bend = -given["amplitude"] * rate**2 * math.cos(angle)
    later = period / (g * period / 2 + table)
    bounce = [[1, later], [(1 + e) * bend, -e + e * g * later + (1 + e) * bend * later]]
    multiplier = np.max(np.abs(np.linalg.eigvals(bounce)))
    np.testing.assert_allclose(response.multiplier, multiplier, rtol=1e-3)


def sticking(p):
    """A block that slides up, sticks, slides down, sticks: start of each slide from the force, end from a root."""
    w = 2 * math.pi * p["frequency"]
    way, stick, fastest = 0.0, 1.0, 0.0
    for sign in (1, -1):
        # From the force F cos + bias = sign * bound on; the block's speed is the integral of the difference.
        share = (p["bound"] - sign * p["bias"]) / p["amplitude"]
        begin, turn = -math.acos(share), math.acos(share)

        def speed(angle, begin=begin, share=share):
            return math.sin(angle) - math.sin(begin) - share * (angle - begin)

        end = brentq(speed, turn, begin + 2 * math.pi, xtol=1e-16)
        size = p["amplitude"] / p["mass"] / w
        way += sign * size / w * (
            math.cos(begin) - math.cos(end) - math.sin(begin) * (end - begin) - share * (end - begin) ** 2 / 2
        )  # fmt: skip
        stick -= (end - begin) / (2 * math.pi)
        if sign > 0:
            fastest = size * speed(turn)
    return {"velocity": way * p["frequency"], "stick": stick, "fastest": fastest}


def test_a_block_that_sticks_and_slips():
    """The drive starts at its peak, so the block slides at the start of the period."""
    overrides = {"amplitude": 4e-6}
    given = vars(robots.Block()) | vars(robots.Setting()) | overrides
    w = 2 * math.pi * given["frequency"]
    share = (given["bound"] - given["bias"]) / given["amplitude"]
    begin = -math.acos(share)
    speed = given["amplitude"] / given["mass"] / w * (-math.sin(begin) + share * begin)
    names = ("mass", "bound", "bias", "amplitude", "frequency")
    response = compare(robots.BLOCK, overrides, names, sticking, {"place_rate": speed})
    assert float(response.turns) == 4  # two releases, two stops
    np.testing.assert_allclose(response.state["place_rate"], speed, rtol=1e-9)


def hitting(p, guess):
    """One impact a period (Shaw and Holmes 1983): free oscillation between impacts, and two equations."""
    m, k, c, e = (p[n] for n in ("mass", "stiffness", "damping", "restitution"))
    w, period = 2 * math.pi * p["frequency"], 1 / p["frequency"]
    answer = p["amplitude"] / complex(k - m * w**2, c * w)
    free = complex(-c / (2 * m), math.sqrt(k / m - (c / (2 * m)) ** 2))

    def motion(t, angle, after):
        """Place and rate, t after an impact at this angle of the drive from which it leaves with rate `after`."""

        turning = answer * np.exp(1j * angle)
        place, rate = p["gap"] - turning.real, after - (1j * w * turning).real
        factor = place - 1j * (rate - free.real * place) / free.imag
        rest = factor * np.exp(free * t)
        turning = turning * np.exp(1j * w * t)
        return (turning + rest).real, (1j * w * turning + free * rest).real

    def defect(z):
        place, rate = motion(period, z[0], z[1])
        return [(place - p["gap"]) / p["gap"], (z[1] + e * rate) / (p["gap"] * w)]

    angle, after = root(defect, guess, tol=1e-14).x
    assert np.max(np.abs(defect([angle, after]))) < 1e-13
    lowest = brentq(lambda t: motion(t, angle, after)[1], 0.02 * period, 0.7 * period, xtol=1e-18)
    return {"swing": motion(lowest, angle, after)[0]}, motion, (angle, after)


@pytest.fixture(scope="module")
def impact():
    """An oscillator driven above its resonance, so that it hits once a period."""
    given = (
        vars(robots.Oscillator()) | vars(robots.Setting()) | {"frequency": 110.0, "amplitude": 0.15}
    )
    return given, hitting(given, [0.3, -0.4])[2]


def test_an_oscillator_against_a_stop(impact):
    given, guess = impact
    _, motion, (angle, after) = hitting(given, guess)
    period = 1 / given["frequency"]
    state = motion((-angle / (2 * math.pi)) % 1 * period, angle, after)
    overrides = {"frequency": given["frequency"], "amplitude": given["amplitude"]}
    names = ("stiffness", "mass", "gap", "restitution", "frequency")
    start = {"x": state[0], "x_rate": state[1]}
    response = compare(
        robots.OSCILLATOR, overrides, names, lambda p: hitting(p, guess)[0], start, rtol=1e-8
    )
    assert float(response.hits) == 1


def pulled(p):
    """Held until F cos exceeds weight + hold; then a flight, whose landing sticks."""
    w = 2 * math.pi * p["frequency"]
    share = (p["weight"] + p["hold"]) / p["amplitude"]
    leaves, size = -math.acos(share), p["amplitude"] / p["mass"] / w**2
    weight = p["weight"] / p["amplitude"]

    def height(a):
        since = a - leaves
        return size * (
            math.cos(leaves) - math.cos(a) - math.sin(leaves) * since - weight * since**2 / 2
        )

    def climb(a):
        return math.sin(a) - math.sin(leaves) - weight * (a - leaves)

    top = brentq(climb, math.acos(weight), leaves + 2 * math.pi)
    lands = brentq(height, top, leaves + 2 * math.pi, xtol=1e-16)
    start = height(0.0), size * w * climb(0.0)
    return {"held": 1 - (lands - leaves) / (2 * math.pi), "peak": height(top)}, start


def test_a_mass_on_an_adhesive_pad():
    overrides = {"amplitude": 1e-5}
    given = vars(robots.Gripped()) | vars(robots.Setting()) | overrides
    truth, (height, climb) = pulled(given)
    assert 0.05 < truth["held"] < 0.95
    names = ("mass", "hold", "weight", "amplitude")
    start = {"lift": height, "lift_rate": climb}
    compare(robots.PAD, overrides, names, lambda p: pulled(p)[0], start)
