"""The event-driven WRMMA oracle against limiting cases and another independent program."""

import math

import numpy as np
import pytest

from tests.oracles import wrmma as oracle
from tests.oracles.wrmma_forces import Motion, lump, spans_of
from tests.oracles.wrmma_period import run_period

# Velocities [m/s] of an independent event-driven program (not of this repository), to 1e-9.
SLIDING = {"mass_ratio": 0.77, "field": 0.0026, "load_factor": 21.0, "frequency_ratio": 1.09}
CLAMPED = {
    "mass_ratio": 1.23, "field": 0.0041, "load_factor": 13.0, "frequency_ratio": 1.47,
    "clamp_force": 1.0, "clamp_phase": 0.9,
}  # fmt: skip
IMPACT = {"load_factor": 32.0, "frequency_ratio": 1.58}
GIVEN = [
    (SLIDING, 0.0003155674056007716, ["reversal", "reversal"]),
    (CLAMPED, -0.00824885923949574, ["stick", "clamp stop"]),
    (IMPACT, 0.03445560945814741, ["impact", "reversal"]),
]
# The same program's derivatives [m/s per unit] on the impact orbit.
IMPACT_GRADIENT = {"mass_ratio": 0.038901953597815, "field": 30.54373951606976,
                   "frequency_ratio": -0.112477375233435}  # fmt: skip

FREE = {"field": 0.0, "load_factor": 0.0, "damping": 0.0}  # nothing acts but the spring


def orbit_of(params, warmup=60, clamp="stop"):
    start = oracle.simulate(params, oracle.rest(params), warmup, clamp)
    return oracle.orbit(params, start, clamp)


@pytest.fixture(scope="module")
def impact_orbit():
    return orbit_of(IMPACT)


@pytest.mark.parametrize("params, velocity, events", GIVEN)
def test_velocities_of_the_other_program(params, velocity, events):
    found = orbit_of(params)
    assert found.converged and found.multiplier < 1
    assert found.velocity == pytest.approx(velocity, rel=3e-9)  # two values of mu_0: 1e-9
    assert [event.kind for event in found.period.events] == events


def test_derivative_of_the_other_program(impact_orbit):
    """One direction through three parameters, on the orbit with impact."""
    direction = {"mass_ratio": 0.4, "field": -1.0, "frequency_ratio": 0.7}
    full = {**oracle.PUBLISHED, **IMPACT}
    expected = sum(IMPACT_GRADIENT[k] * full[k] * share for k, share in direction.items())
    found = oracle.derivative(IMPACT, impact_orbit.state, direction)
    assert found.converged and found.error < 1e-8 * abs(found.value)
    assert found.value == pytest.approx(expected, rel=2e-8)


def test_derivative_by_one_plain_difference(impact_orbit):
    """Richardson's table against a difference with a single small step."""
    step, ends = 1e-5, []
    for sign in (1, -1):
        moved = {**IMPACT, "restitution": 0.5 * (1 + sign * step)}
        ends.append(oracle.orbit(moved, impact_orbit.state).velocity)
    plain = (ends[0] - ends[1]) / (2 * step)
    found = oracle.derivative(IMPACT, impact_orbit.state, {"restitution": 1.0})
    assert found.value == pytest.approx(plain, rel=1e-6)


def test_nothing_moves_without_field():
    period = oracle.period_map({"field": 0.0}, oracle.rest({}))
    np.testing.assert_array_equal(period.state, oracle.rest({}))
    assert period.drift == 0 and not period.events


def test_free_oscillation_in_closed_form():
    """No friction: the gap swings at sqrt(1 + alpha) times the tethered frequency."""
    alpha, ratio, start = 1.5, 0.83, 3e-6
    params = {**FREE, "mass_ratio": alpha, "frequency_ratio": ratio}
    period = oracle.period_map(params, (20e-6 + start, 0.0, 0.0))
    angle = 2 * math.pi * math.sqrt(1 + alpha) / ratio
    speed = start * angle * ratio * 2300
    assert period.state[0] - 20e-6 == pytest.approx(start * math.cos(angle), rel=1e-10)
    assert period.state[2] == pytest.approx(-speed * math.sin(angle), rel=1e-10)
    # The center of mass stays, so the body moves by minus its share of the gap's change.
    share = alpha / (1 + alpha)
    assert period.drift == pytest.approx(share * start * (1 - math.cos(angle)), rel=1e-10)


def test_elastic_impacts_keep_energy_and_momentum():
    """Free masses with restitution one, several impacts a period."""
    alpha = 1.5
    params = {**FREE, "restitution": 1.0, "frequency_ratio": 0.4, "mass_ratio": alpha}
    state = np.array((25e-6, 0.11, -0.9))
    period = oracle.period_map(params, state)
    assert sum(event.kind == "impact" for event in period.events) >= 3

    def invariants(state):
        gap, body, rate = state
        hammer = body + rate
        spring = (2 * math.pi * 2300) ** 2 * (gap - 20e-6) ** 2  # over half the hammer's mass
        return hammer**2 + body**2 / alpha + spring, body + alpha * hammer

    np.testing.assert_allclose(invariants(period.state), invariants(state), rtol=1e-10)


def test_impact_takes_the_share_of_energy_it_should():
    """Energy before minus after equals (1 - e^2)/2 of the reduced mass times the rates squared."""
    params = {**FREE, "frequency_ratio": 0.7, "restitution": 0.5}
    n = lump(params)
    z = np.array((0.5, 0.3, -20.0))
    run = run_period(n, z)
    rates = np.array([e.rate for e in run.events if e.kind == "impact"])
    lost = np.sum(0.5 * (1 - 0.25) / (1 + n.alpha) * rates**2)

    def energy(gap, body, hammer):  # over the hammer's mass
        return 0.5 * hammer**2 + 0.5 * body**2 / n.alpha + 0.5 * n.stiffness * (gap - 1) ** 2

    assert len(rates) >= 2
    assert energy(*z) - energy(*run.y[:3]) == pytest.approx(lost, rel=1e-10)
    assert run.y[1] + n.alpha * run.y[2] == pytest.approx(z[1] + n.alpha * z[2], rel=1e-10)


def test_stuck_body_meets_the_linear_solution():
    """Eq. 29 with the square wave: a force so weak that it does not feel the change of the gap.

    While the field is on, delta = -4 + C cos(x - c) with x = 2 pi f_1 t, c = pi / (2 r) the middle
    of the half period. Off and on mirror each other about -2, so delta is -2 at the switches.
    """
    ratio, weak = 1.37, 1e-6
    params = {
        "damping": 0.0, "load_factor": 1e4, "frequency_ratio": ratio, "force_scale": weak,
    }  # fmt: skip
    n = lump(params)
    pull = n.magnet_derivatives(1.0)[0] / n.stiffness  # F_0 / (k g_0)
    slope = 2 * math.tan(math.pi / (2 * ratio))  # C sin(c)
    z = np.array((1 - 2 * pull, 0.0, pull * slope * 2 * math.pi / ratio))
    run = run_period(n, z)
    assert not run.events and run.stick_share == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(run.y[:3] - z, 0.0, atol=1e-5 * pull)


def test_friction_stops_a_sliding_mass_after_v_squared_over_2a():
    """A stiffness of almost nothing, no field: body and hammer slide apart from each other."""
    params = {"field": 0.0, "damping": 0.0, "frequency_ratio": 1e4, "load_factor": 1e8}
    n = lump(params)
    speed = math.sqrt(2 * n.bound * 0.01)  # stops after a hundredth of the gap
    run = run_period(n, np.array((5.0, speed, 0.0)))
    stop = next(e for e in run.events if e.kind == "stick")
    assert stop.time == pytest.approx(speed / n.bound, rel=1e-3)
    assert run.y[3] == pytest.approx(0.01, rel=1e-3)


def test_chatter_ends_in_contact():
    """Nominal force of the paper at the tethered resonance: many impacts, then contact.

    A Moreau scheme with T/64000 gives 1796.1 um/s (feasibility study of this project).
    """
    found = orbit_of({"force_scale": 1.0}, warmup=20)
    kinds = [event.kind for event in found.period.events]
    assert found.converged and kinds.count("impact") > 20
    assert "contact" in kinds and "separate" in kinds
    assert found.velocity == pytest.approx(1796.1e-6, rel=2e-4)
    rates = [abs(e.rate) for e in found.period.events if e.kind == "impact"]
    last = np.array(rates[-8:])  # each bounce returns half of the speed
    np.testing.assert_allclose(last[1:] / last[:-1], 0.5, rtol=1e-3)


@pytest.mark.parametrize(
    "params, clamp",
    [
        # A hammer that chatters on a clamped body, with the field on and with the field off.
        ({"mass_ratio": 0.5637, "field": 0.003807, "load_factor": 8.475, "frequency_ratio": 2.0369,
          "clamp_phase": -1.09654}, "stop"),
        ({"mass_ratio": 0.9344, "field": 0.005076, "load_factor": 8.718, "frequency_ratio": 1.2574,
          "clamp_phase": -1.16986}, "stop"),
        # The parts chatter and part again: the body slides and stops after each impact.
        ({"mass_ratio": 0.53021, "field": 0.0032692, "load_factor": 10.6444,
          "frequency_ratio": 1.126726, "clamp_phase": -0.309977}, "force"),
    ],
)  # fmt: skip
def test_chatter_on_a_clamped_body_comes_to_an_end(params, clamp):
    state = oracle.simulate({**params, "clamp_force": 1.0}, oracle.rest({}), 30, clamp)
    assert np.all(np.isfinite(state)) and state[0] >= 0


def test_finite_clamp_approaches_the_stop():
    """The distance that the clamp needs to stop the body falls with its force."""
    stop = orbit_of(CLAMPED).velocity
    gaps = []
    for force in (1.0, 10.0):
        finite = orbit_of({**CLAMPED, "clamp_force": force}, clamp="force").velocity
        gaps.append(abs(finite - stop))
    assert 0 < gaps[0] < 1e-5 * abs(stop)
    assert gaps[1] == pytest.approx(gaps[0] / 10, rel=0.02)


@pytest.mark.parametrize("mode", [0, 1, -1])
def test_guards_know_their_derivatives(mode):
    """Rates and curvatures of all guards against differences along the motion."""
    n = lump({**SLIDING, "field_rise": 0.2, "damping": 1e-5})
    span = next(s for s in spans_of(n) if s.slope != 0)
    motion = Motion(n, span, mode)
    t, y = 0.5 * (span.start + span.end), np.array((0.9, 0.4 * mode, -0.7, 0.0))
    h = 1e-4

    def along(s):  # one step of the classical Runge-Kutta method
        k1 = motion.rhs(t, y)
        k2 = motion.rhs(t + s / 2, y + s / 2 * k1)
        k3 = motion.rhs(t + s / 2, y + s / 2 * k2)
        k4 = motion.rhs(t + s, y + s * k3)
        return motion.guards(t + s, y + s / 6 * (k1 + 2 * k2 + 2 * k3 + k4))

    ahead, here, behind = along(h), motion.guards(t, y), along(-h)
    for name, (value, rate, curvature) in here.items():
        slope = (ahead[name][0] - behind[name][0]) / (2 * h)
        bend = (ahead[name][1] - behind[name][1]) / (2 * h)
        assert rate == pytest.approx(slope, rel=1e-6, abs=1e-6 * abs(value))
        assert curvature == pytest.approx(bend, rel=1e-5, abs=1e-5 * abs(rate)), name


def test_trapezoid_tends_to_the_square_wave():
    square = orbit_of(SLIDING).velocity
    gaps = [abs(orbit_of({**SLIDING, "field_rise": r}).velocity - square) for r in (2e-3, 1e-3)]
    assert gaps[1] < 0.6 * gaps[0] < 0.1 * abs(square)


def test_margin_predicts_where_the_events_change():
    """A body that sticks for a moment: the margin is how long, and vanishes where it slides on."""
    base = {"frequency_ratio": 1.0}  # stick-slip at load factor 48, pure sliding at 32
    found = {load: orbit_of({**base, "load_factor": load}) for load in (48.0, 47.8, 47.0)}
    kinds = {load: [e.kind for e in orbit.period.events] for load, orbit in found.items()}
    assert kinds[48.0] == kinds[47.8] == ["stick", "release", "stick", "release"]
    assert kinds[47.0] == ["stick", "release", "reversal"]
    short, shorter = (found[load].period for load in (48.0, 47.8))
    assert shorter.margin < short.margin < 0.01
    duration = short.events[3].time - short.events[2].time
    assert short.margin == pytest.approx(duration, rel=1e-2)  # predicted from one end
    # It falls in proportion to the load; where the line meets zero the second stick is lost.
    end = 48.0 - 0.2 * short.margin / (short.margin - shorter.margin)
    assert end == pytest.approx(47.48, abs=0.02)
    assert len(orbit_of({**base, "load_factor": end + 0.03}).period.events) == 4
    assert len(orbit_of({**base, "load_factor": end - 0.03}).period.events) == 3


@pytest.mark.parametrize("bad", [{"mass": 1.0}, {"frequency": 1.0}])
def test_unknown_parameters_are_refused(bad):
    with pytest.raises(ValueError, match="unknown parameters"):
        oracle.period_map(bad, oracle.rest({}))
