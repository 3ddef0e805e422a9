"""Boundaries of motions that have closed forms: grazing, release, fold and period doubling, with derivatives."""

import dataclasses
import math

import jax
import numpy as np
import pytest

from diffmicro import boundaries, hybrid, margin, margin_of, parameter
from diffmicro.boundary.chart import Kind, chart
from diffmicro.boundary.find import span
from diffmicro.boundary.orbit import boundary_of, settled
from diffmicro.design import (
    Constraint,
    Objective,
    device_problem,
    optimize_design,
    random_search,
)
from diffmicro.dynamics.boundaries import walk
from diffmicro.parameters import as_arrays
from tests.hybrid.robots import BALL, BLOCK, Ball, Block, Setting


class Mass(hybrid.Design):
    mass: float = parameter(2e-6, "mass", "kg", above=0)
    stiffness: float = parameter(0.4, "spring", "N/m", above=0)
    damping: float = parameter(2e-4, "damper", "N s/m", low=0)
    gap: float = parameter(2e-5, "way to the stop", "m", low=0)
    weight: float = parameter(0.0, "steady force", "N")


class BeforeStop(hybrid.Motion):
    """A driven oscillator with a rigid stop."""

    place = hybrid.Coordinate("place of the mass", scale=1e-5)
    stop = hybrid.Impact("place", at=lambda d, s: d.gap, side="above", restitution=0.5)
    push = hybrid.Harmonic()

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        force = design.weight + setting.amplitude * now.push - design.stiffness * now.place
        return {"place": (force - design.damping * now.place_rate - now.stop) / design.mass}


OSCILLATOR = hybrid.device(
    "oscillator",
    "a driven mass before a stop",
    Mass,
    Setting,
    BeforeStop,
    source="closed form",
    responses={"peak": hybrid.largest("place"), "hits": hybrid.count("stop")},
)


def only(found, kind):
    (one,) = [b for b in found if b.kind == kind]
    return one


def grazing_force(d, frequency):
    """The force whose steady amplitude is the gap."""
    w = 2 * math.pi * frequency
    return d.gap * math.hypot(d.stiffness - d.mass * w**2, d.damping * w)


def test_grazing_of_an_oscillator():
    d, f = Mass(), 50.0
    place = grazing_force(d, f)
    found = boundaries(OSCILLATOR, d, Setting(f, 0.8 * place), along="amplitude", starts=False)
    b = only(found, "grazing")
    assert (b.side, b.certificate.verdict) == ("above", "certified")
    np.testing.assert_allclose(b.at, place, rtol=1e-9)
    w = 2 * math.pi * f
    square = (place / d.gap) ** 2
    elastic = d.stiffness - d.mass * w**2
    expected = {
        "gap": place / d.gap,
        "stiffness": place * elastic / square,
        "mass": -place * elastic * w**2 / square,
        "damping": place * d.damping * w**2 / square,
        "frequency": place * w / square * (d.damping**2 - 2 * d.mass * elastic) * 2 * math.pi,
    }
    assert b.grad.keys() == expected.keys()
    for name, slope in expected.items():
        np.testing.assert_allclose(b.grad[name], slope, rtol=1e-7, err_msg=name)


@pytest.mark.slow
def test_a_block_is_released():
    """A block that rests slips where force and bias together reach the bound of friction."""
    d = Block(2e-6, 3e-6, 5e-7)
    found = boundaries(BLOCK, d, Setting(50.0, 2e-6), along="amplitude", starts=False)
    b = only(found, "stick_onset")
    np.testing.assert_allclose(b.at, d.bound - d.bias, rtol=1e-9)
    np.testing.assert_allclose([b.grad["bound"], b.grad["bias"]], [1.0, -1.0], rtol=1e-7)
    np.testing.assert_allclose([b.grad["mass"], b.grad["frequency"]], 0, atol=1e-9)
    assert b.certificate.verdict == "certified"


def ball_at(gamma, e=0.6, frequency=50.0):
    d = Ball(9.81, e)
    return d, Setting(frequency, gamma * d.gravity / (2 * math.pi * frequency) ** 2)


def on_its_way(d, s):
    """State at t = 0 of the ball that hits once a period: height above the table and its rate."""
    w, e, half = 2 * math.pi * s.frequency, d.restitution, d.gravity / s.frequency / 2
    # It hits at the phase in the last quarter where the table rises at half (1 - e) / (1 + e), and leaves at half.
    phase = 2 * math.pi - math.asin(half * (1 - e) / (1 + e) / (s.amplitude * w))
    left = (2 * math.pi - phase) / w
    height = s.amplitude * (math.cos(phase) - 1) + half * left - d.gravity * left**2 / 2
    return {"height": height, "height_rate": half - d.gravity * left}


@pytest.fixture(scope="module")
def bouncing():
    point = ball_at(1.15)
    start = on_its_way(*point)
    return boundaries(BALL, *point, along="amplitude", start=start, starts=False)


def test_fold_of_a_bouncing_ball(bouncing):
    """A ball hits once a period above A w^2 / g = pi (1 - e) / (1 + e) (exact for the table's true motion)."""
    d, s = ball_at(math.pi * 0.4 / 1.6)
    b = only(bouncing, "fold")
    assert (b.side, b.ends, b.certificate.verdict) == ("below", True, "certified")
    np.testing.assert_allclose(b.at, s.amplitude, rtol=1e-8)
    np.testing.assert_allclose(b.grad["gravity"], s.amplitude / d.gravity, rtol=1e-6)
    np.testing.assert_allclose(b.grad["frequency"], -2 * s.amplitude / s.frequency, rtol=1e-6)
    np.testing.assert_allclose(b.grad["restitution"], -2 * s.amplitude / (0.4 * 1.6), rtol=1e-6)


def doubling(e):
    """A w^2 / g where the multiplier of one hit a period is -1."""
    return math.hypot(math.pi * (1 - e) / (1 + e), 2 * (1 + e**2) / (1 + e) ** 2)


def test_period_doubling_of_a_bouncing_ball(bouncing):
    d, s = ball_at(doubling(0.6))
    b = only(bouncing, "period_doubling")
    assert (b.side, b.ends, b.certificate.verdict) == ("above", True, "certified")
    np.testing.assert_allclose(b.at, s.amplitude, rtol=1e-8)
    np.testing.assert_allclose(b.grad["gravity"], s.amplitude / d.gravity, rtol=1e-6)
    np.testing.assert_allclose(b.grad["frequency"], -2 * s.amplitude / s.frequency, rtol=1e-6)
    h = 1e-5
    slope = (doubling(0.6 + h) - doubling(0.6 - h)) / (2 * h) * s.amplitude / doubling(0.6)
    np.testing.assert_allclose(b.grad["restitution"], slope, rtol=1e-6)


def test_a_wrong_sign_is_found_out():
    """Each derivative that matters, its sign turned, costs the verdict."""
    d, s = as_arrays((Mass(), Setting(50.0, 0.8 * grazing_force(Mass(), 50.0))))
    low, high = span(OSCILLATOR, d, s, "amplitude", None)
    motion = settled(OSCILLATOR, d, s, "amplitude", low, high, None)
    change = next(c for c in walk(motion.course, motion.first) if c.kind == "grazing")
    names = ("damping", "frequency", "gap", "mass", "stiffness")
    assert boundary_of(motion, change, "above", names).certificate.verdict == "certified"
    assert change.covector is not None
    moves = np.abs(change.covector * np.asarray(motion.course.parameters(motion.here)[0]))
    for i in np.flatnonzero(moves > 1e-2 * np.max(moves)):
        turned = change.covector.copy()
        turned[i] = -turned[i]
        judged = boundary_of(motion, change._replace(covector=turned), "above", names).certificate
        assert judged.verdict == "uncertified" and judged.mismatch > 1e-2


def test_margin_is_a_function_of_jax():
    """(F* - F) / F for the force F* at which the mass meets the stop."""
    d, s = as_arrays((Mass(), Setting(50.0, 0.8 * grazing_force(Mass(), 50.0))))
    left = margin_of(OSCILLATOR, "amplitude")
    assert float(jax.jit(left)(d, s)) == pytest.approx(0.25, rel=1e-8)
    by_design, by_setting = jax.grad(left, argnums=(0, 1))(d, s)
    assert float(by_design.gap) == pytest.approx(1.25 / float(d.gap), rel=1e-7)
    assert float(by_setting.amplitude) == pytest.approx(-1.25 / float(s.amplitude), rel=1e-7)
    # A parameter that is zero counts: a steady force shifts the mass towards the stop.
    nearer = -1.25 / float(d.gap) / float(d.stiffness)
    assert float(by_design.weight) == pytest.approx(nearer, rel=1e-7)
    both = jax.vmap(lambda gap: left(dataclasses.replace(d, gap=gap), s))(
        d.gap * np.array([1, 1.1])
    )
    np.testing.assert_allclose(both, [0.25, 0.375], rtol=1e-8)
    # What is not calculated is not zero.
    second = jax.jacfwd(jax.grad(lambda gap: left(dataclasses.replace(d, gap=gap), s)))(d.gap)
    assert np.isnan(second)


def test_margin_as_a_constraint():
    """The largest swing with 5 % of force left is the gap over 1.05."""
    force = grazing_force(Mass(), 50.0)
    problem = device_problem(
        OSCILLATOR,
        # Near the force of grazing the start leads to the impacting motion, with a margin of its own.
        {"amplitude": (0.5 * force, 0.98 * force)},
        Objective("peak"),
        [Constraint(margin("amplitude"), ">=", 0.05)],
        setting=Setting(50.0, 0.6 * force),
    )
    result = optimize_design(problem, method="sqp", budget=60, lanes=1)
    assert result.status == "ok"
    assert result.variables["amplitude"] == pytest.approx(force / 1.05, rel=1e-5)
    assert result.optimized.response["margin(amplitude)"] == pytest.approx(0.05, rel=1e-4)


@pytest.mark.slow
def test_margin_as_a_constraint_without_gradients():
    """Random designs and CMA-ES have values from one compiled program: its margins are found on the host.

    A probe under a drag stalls below a drag ratio of 1 - force ratio, and runs away above 1.
    """
    problem = device_problem(
        "tribometer",
        {"drag_ratio": (0.6, 0.98), "force_ratio": (0.45, 0.6)},
        Objective("sliding_velocity"),
        [Constraint(margin("drag_ratio"), ">=", 0.1)],
    )
    drawn = random_search(problem, 16, progress=False)
    assert drawn.design and drawn.design["drag_ratio"] <= 1 / 1.1
    assert drawn.feasible < 16
    result = optimize_design(problem, method="cma", budget=40, progress=False)
    assert result.status != "not_converged"
    found, x = result.optimized.response, result.variables
    left = min(1 - x["drag_ratio"], x["drag_ratio"] - (1 - x["force_ratio"])) / x["drag_ratio"]
    assert found["margin(drag_ratio)"] == pytest.approx(left, rel=1e-6) and left >= 0.1
    assert found["sliding_velocity"] > 1.1 * result.published.response["sliding_velocity"]


@pytest.mark.slow
def test_map_of_an_oscillator():
    """In the plane of force and frequency the free motion ends on the resonance curve of the gap."""
    force = grazing_force(Mass(), 50.0)
    ranges = {"amplitude": (0.3 * force, 1.3 * force), "frequency": (48.0, 58.0)}
    found = chart(OSCILLATOR, Mass(), Setting(50.0, force), ranges=ranges, rows=2, starts=1)
    number = found.stretches[0].curves[1]
    assert number is not None
    curve = found.curves[number]
    assert set(curve.kinds) == {"grazing"} and curve.ends == ("bound", "bound")
    expected = [grazing_force(Mass(), f) for f in curve.places[:, 1]]
    inside = slice(1, -1)  # the ends are cut to the bounds on a straight line
    np.testing.assert_allclose(curve.places[inside, 0], expected[inside], rtol=1e-8)
    for f in (49.0, 53.0, 57.0):
        at = grazing_force(Mass(), f)
        assert Kind(1, 0) in found.motions_at(0.99 * at, f)
        assert Kind(1, 0) not in found.motions_at(1.01 * at, f)
