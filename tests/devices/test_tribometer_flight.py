"""Loss of contact (force ratio above 1) and friction that falls with velocity, both off by default.

References: SciPy's quadrature and integration with events, limiting cases, the law at the coefficient meant.
"""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.devices import tribometer
from diffmicro.results import word

SCALE = 0.4 * 9.5 / (2.1e-3 * 2 * np.pi * 30e3)
"""mu_0 F_n,0 / (m omega) [m/s]."""


def respond(**setting):
    return tribometer.respond(
        tribometer.published_design(), tribometer.published_setting(**setting)
    )


def judged(names, of, **setting):
    given = tribometer.published_design(), tribometer.published_setting(**setting)
    value, gradient, certificate, _ = value_and_gradient(tribometer.DEVICE, names, of)(*given)
    verdicts = {name: verdict_word(entry) for name, entry in certificate.entries.items()}
    assert verdicts == dict.fromkeys(names, "certified")
    return float(value), {name: float(slope) for name, slope in gradient.items()}


def offset_of(ratio):
    """c of N = max(0, c + r cos t) with the mean 1, by quadrature."""

    def excess(c):
        edge = np.arccos(np.clip(-c / ratio, -1, 1))
        return quad(lambda t: c + ratio * np.cos(t), 0, edge)[0] / np.pi - 1

    return float(brentq(excess, -ratio, 1.0, xtol=1e-14))  # pyright: ignore[reportArgumentType]


def integrated(drag, ratio):
    """Mean velocity over SCALE by integration from where the slip begins to where it ends, and its duration."""
    c = offset_of(ratio)
    start = np.arccos((drag - c) / ratio)
    edge = np.arccos(-c / ratio)

    def rates(t, y):
        return [y[1], drag - max(c + ratio * np.cos(t), 0.0)]

    def stops(t, y):
        return y[1]

    stops.terminal, stops.direction = True, -1
    begin, state = start, np.zeros(2)
    for end in (edge, 2 * np.pi - edge, 2 * np.pi + start):
        events = stops if end > 2 * np.pi else None
        found = solve_ivp(
            rates, (begin, end), state, events=events, method="DOP853", rtol=1e-12, atol=1e-14
        )
        begin, state = found.t[-1], found.y[:, -1]
    return state[0] / (2 * np.pi), begin - start


@pytest.mark.parametrize("ratio", [1.001, 1.5, 4.0])
@pytest.mark.parametrize("drag", [0.05, 0.6, 0.98])
def test_flight_is_that_of_an_integration_with_events(ratio, drag):
    found = respond(force_ratio=ratio, drag_ratio=drag)
    assert word(found.result) == "ok"
    velocity, _ = integrated(drag, ratio)
    assert float(found.sliding_velocity) == pytest.approx(SCALE * velocity, rel=1e-8)
    edge = np.arccos(-offset_of(ratio) / ratio)
    assert float(found.flight_share) == pytest.approx(1 - edge / np.pi, rel=1e-8)
    again = respond(force_ratio=ratio, sliding_velocity=float(found.sliding_velocity))
    assert float(again.friction_ratio) == pytest.approx(drag, rel=1e-8)


@pytest.mark.slow
def test_flight_begins_without_a_jump_and_ends_at_the_critical_velocity():
    """Value and slope go through a ratio of 1; from the critical velocity on all friction is there."""
    at, beyond = (respond(force_ratio=r, drag_ratio=0.5) for r in (1.0, 1.0 + 1e-7))
    assert float(at.flight_share) == 0 < float(beyond.flight_share) < 1e-3
    assert float(beyond.sliding_velocity) == pytest.approx(float(at.sliding_velocity), rel=3e-6)
    slopes = [
        judged(("force_ratio",), "sliding_velocity", force_ratio=r, drag_ratio=0.5)[1]
        for r in (0.9999, 1.0001)
    ]
    assert slopes[1]["force_ratio"] == pytest.approx(slopes[0]["force_ratio"], rel=0.03)
    critical = float(respond(force_ratio=2.0, drag_ratio=0.5).critical_velocity)
    assert critical == pytest.approx(SCALE * integrated(1 - 1e-12, 2.0)[0], rel=1e-5)
    above = respond(force_ratio=2.0, sliding_velocity=1.01 * critical)
    below = respond(force_ratio=2.0, sliding_velocity=0.99 * critical)
    assert float(above.friction_ratio) == 1 > float(below.friction_ratio) > 0.9
    assert word(respond(force_ratio=2.0, drag_ratio=0.01).result) == "ok"
    assert word(tribometer.respond(
        tribometer.published_design(),
        tribometer.published_setting(force_ratio=2.0, drag_ratio=0.0), throw=False,
    ).result) == "stalled"  # fmt: skip


@pytest.mark.slow
def test_slopes_of_flight_are_certified_and_those_of_the_integration():
    drag, ratio = 0.6, 2.5
    _, slopes = judged(
        ("force_ratio", "drag_ratio", "probe_mass", "friction"), "sliding_velocity",
        force_ratio=ratio, drag_ratio=drag,
    )  # fmt: skip
    for name, step in (("force_ratio", (0, 1e-3)), ("drag_ratio", (1e-3, 0))):
        there, back = (integrated(drag + s * step[0], ratio + s * step[1])[0] for s in (1, -1))
        assert slopes[name] == pytest.approx(SCALE * (there - back) / 2e-3, rel=1e-4)
    velocity = float(respond(force_ratio=ratio, drag_ratio=drag).sliding_velocity)
    assert slopes["friction"] * 0.4 == pytest.approx(velocity, rel=1e-9)
    assert slopes["probe_mass"] * 2.1e-3 == pytest.approx(-velocity, rel=1e-9)
    _, share = judged(("force_ratio",), "flight_share", force_ratio=ratio, drag_ratio=drag)
    edges = [np.arccos(-offset_of(r) / r) for r in (ratio + 1e-4, ratio - 1e-4)]
    expected = -(edges[0] - edges[1]) / np.pi / 2e-4
    assert share["force_ratio"] == pytest.approx(expected, rel=1e-6)
    _, friction = judged(
        ("force_ratio", "sliding_velocity"), "friction_ratio",
        force_ratio=ratio, sliding_velocity=velocity,
    )  # fmt: skip
    assert friction["sliding_velocity"] == pytest.approx(1 / slopes["drag_ratio"], rel=1e-8)


@pytest.mark.slow
def test_a_period_with_flight_adds_up():
    setting = dict(force_ratio=3.0, drag_ratio=0.4)
    path = tribometer.simulate(
        tribometer.published_design(), tribometer.published_setting(**setting), points=4000
    )
    time, load = np.asarray(path.time), np.asarray(path.normal_force)
    share, largest = 1 / (len(time) - 1), load.max()
    mean = [np.trapezoid(x, time) / time[-1] for x in (load, np.asarray(path.friction_force))]
    # A trapezoid is off by an eighth of a kink of the slope times the squared step, and by half a jump times the
    # step. The load has two kinks, steeper than none by at most 2 pi times its amplitude of three means.
    kinks = 2 * 2 * np.pi * 3.0 * 9.5 * share**2 / 8
    assert mean[0] == pytest.approx(9.5, abs=kinks)
    # Friction jumps once, where the probe comes to rest, by less than the largest friction.
    assert mean[1] == pytest.approx(0.4 * 0.4 * 9.5, abs=0.4 * (largest * share / 2 + kinks))
    response = respond(**setting)
    # Each end of the flight lies between two points.
    assert np.mean(load[:-1] == 0) == pytest.approx(float(response.flight_share), abs=share)
    # The way is summed from the velocity, of second order in the step.
    way = float(path.position[-1]) / time[-1]
    assert way == pytest.approx(float(response.sliding_velocity), rel=(2 * np.pi * share) ** 2)


WEAK = dict(friction=0.44, fast_friction=0.33, weakening_velocity=5e-3)
VELOCITY = 3e-3
CASES = [
    dict(law="coulomb"),
    dict(direction="ipp"),
    *(
        pytest.param(case, marks=pytest.mark.slow)
        for case in (
            dict(law="coulomb", force_ratio=2.0),
            dict(law="mdr"),
            dict(direction="ipi", track_angle=0.2),
            dict(direction="ipi", law="dynamic"),
        )
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_falling_friction_is_the_law_at_the_coefficient_of_its_velocity(case):
    here = 0.33 + 0.11 * np.exp(-((VELOCITY / 5e-3) ** 2))
    weak = respond(**case, **WEAK, sliding_velocity=VELOCITY)
    plain = respond(**case, friction=here, sliding_velocity=VELOCITY)
    assert float(weak.friction_ratio) * 0.44 == pytest.approx(
        float(plain.friction_ratio) * here, rel=1e-12
    )
    assert float(weak.critical_velocity) == pytest.approx(
        float(plain.critical_velocity), rel=1e-12, nan_ok=False
    )
    same = respond(**case, friction=0.44, fast_friction=0.44, sliding_velocity=VELOCITY)
    off = respond(**case, friction=0.44, sliding_velocity=VELOCITY)
    assert float(same.friction_ratio) == float(off.friction_ratio)


@pytest.mark.slow
def test_slopes_of_falling_friction_are_certified_and_add_up():
    """Without reduction the ratio is mu(V)/mu_slow itself; below, velocities scale together."""
    fast = 0.05
    names = ("sliding_velocity", "fast_friction", "weakening_velocity", "friction")
    value, slopes = judged(names, "friction_ratio", **WEAK, sliding_velocity=fast / 8)
    bell = np.exp(-((fast / 8 / 5e-3) ** 2))
    assert value == pytest.approx((0.33 + 0.11 * bell) / 0.44, rel=1e-12)
    assert slopes["fast_friction"] == pytest.approx((1 - bell) / 0.44, rel=1e-10)
    assert slopes["sliding_velocity"] < 0
    assert slopes["weakening_velocity"] * 5e-3 == pytest.approx(
        -slopes["sliding_velocity"] * fast / 8, rel=1e-10
    )
    value, slopes = judged(names, "friction_ratio", **WEAK, sliding_velocity=VELOCITY)
    assert slopes["sliding_velocity"] > 0  # vibration turns the slope round


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (dict(force_ratio=1.2, law="mdr"), "Take law=coulomb"),
        (dict(force_ratio=30.0), "at most 20"),
        (dict(fast_friction=0.3, drag_ratio=0.7), "needs sliding_velocity"),
    ],
)
def test_bad_input_is_named(setting, told):
    with pytest.raises(ValueError, match=told):
        respond(**setting)
