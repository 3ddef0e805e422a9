"""The WRMMA by the event method: reference points, limiting cases, identities, statuses."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.certificate import value_and_gradient, verdict_word
from diffmicro.devices import wrmma
from diffmicro.devices.wrmma.lumped import clamp_force, masses, rest_force
from diffmicro.parameters import as_arrays
from diffmicro.reasons import REASONS
from diffmicro.reference.wrmma import stiction_elongation, stiction_load
from diffmicro.results import RESULTS, word

# Independent event-driven integration, checked against a high-order ODE solver.
VELOCITIES = [
    (
        dict(mass_ratio=1.23),
        dict(field=4.1e-3, load_factor=13.0, frequency_ratio=1.47),
        0.03284204662501875,
    ),
    (
        dict(mass_ratio=1.23),
        dict(
            field=4.1e-3, load_factor=13.0, frequency_ratio=1.47, clamp_force=1.0, clamp_phase=0.9
        ),
        -0.00824885923949574,
    ),
    (
        dict(mass_ratio=0.77),
        dict(field=2.6e-3, load_factor=21.0, frequency_ratio=1.09),
        0.0003155674056007716,
    ),
    (dict(), dict(load_factor=32.0, frequency_ratio=1.58), 0.03445560945814741),
]


@pytest.fixture(scope="module")
def certified():
    return jax.jit(value_and_gradient(wrmma.respond, ("damping", "field"), "velocity"))


def _respond(design, setting, **numerics):
    return wrmma.respond(
        wrmma.published_design(**design), wrmma.published_setting(**setting), **numerics
    )


@pytest.mark.parametrize("design, setting, velocity", VELOCITIES)
def test_velocity_equals_event_driven_integration(design, setting, velocity):
    response = _respond(design, setting)
    assert word(response.result) == "ok"
    assert float(response.velocity) == pytest.approx(velocity, rel=5e-6)


@pytest.mark.parametrize("ratio, micrometers", [(0.5, 1756.9), (1.0, 1796.2)])
def test_chatter_at_the_printed_force(ratio, micrometers):
    """With `force_scale` 1 the hammer chatters to rest on the body; Moreau at T/64000 gives the number."""
    response = _respond(dict(force_scale=1.0), dict(frequency_ratio=ratio))
    assert float(response.velocity) * 1e6 == pytest.approx(micrometers, abs=0.6)


def test_units_do_not_matter():
    """All lengths of the spring-mass system twice as long, speeds in proportion: the same motion."""
    factor = 2.0
    design = dict(device_length=600e-6, width=260e-6, height=100e-6, rest_gap=40e-6)
    # Mass grows as L^3 and acceleration as L, so every force has to grow as L^4: the pull is area L^2
    # times B^2, so B ~ L; damping ~ L^3 at speeds ~ L; weight with gravity ~ L.
    scaled = _respond(
        design | dict(damping=1e-6 * factor**3),
        dict(field=5e-3 * factor, gravity=9.81 * factor, load_factor=32.0),
    )
    plain = _respond(dict(), dict(load_factor=32.0))
    assert float(scaled.velocity) == pytest.approx(factor * float(plain.velocity), rel=1e-9)


def test_no_drive_no_drift():
    response = _respond(dict(), dict(field=0.0))
    assert word(response.result) == "stalled"
    assert float(response.velocity) == 0.0
    assert float(response.min_gap) == pytest.approx(20e-6, rel=1e-9)


def test_heavy_load_holds_the_body():
    """Friction above any force of the spring and the field: the body never moves."""
    response = _respond(dict(), dict(load_factor=500.0, frequency_ratio=0.6))
    assert word(response.result) == "stalled"
    assert float(response.velocity) == 0.0
    assert float(response.stick_fraction) == pytest.approx(1.0)


@pytest.mark.parametrize("damping, ringing", [(1e-6, 0.0), (1e-7, 0.99)])
def test_a_body_at_rest_has_a_dead_gradient(certified, damping, ringing):
    """However slowly the hammer rings down: velocity and gradient are zero, and the reason says why."""
    point = as_arrays(
        (
            wrmma.published_design(damping=damping),
            wrmma.published_setting(load_factor=500.0, frequency_ratio=0.6),
        )
    )
    value, gradient, certificate, response = certified(*point)
    assert ringing < float(response.multiplier) < 1
    assert word(response.result) == "stalled"
    assert float(value) == float(gradient["damping"]) == float(gradient["field"]) == 0.0
    assert REASONS[int(certificate.reason)].name == "dead"


def test_eta_of_figure_6_follows_from_that_of_figure_7():
    """`force_scale` is set by the 14.79/beta printed at 5 mT; at 3 mT and load factor 32 the paper prints 0.17."""
    response = _respond(dict(), dict(field=3e-3, load_factor=32.0))
    assert round(float(response.eta), 2) == 0.17


def test_mechanisms_of_figure_7():
    """At f1: pure sliding at load factor 8, stick-slip at 48, both without impact."""
    sliding = _respond(dict(), dict(load_factor=8.0))
    sticking = _respond(dict(), dict(load_factor=48.0))
    assert float(sliding.stick_fraction) == 0.0
    assert float(sticking.stick_fraction) > 0.01
    assert float(sliding.impacts) == float(sticking.impacts) == 0.0


def test_clamp_phase_of_half_a_turn_reverses():
    """Phases of +-pi/2 give opposite velocities; the gap never closes."""
    forward, backward = (
        _respond(dict(), dict(frequency_ratio=1.58, clamp_force=1.0, clamp_phase=phase))
        for phase in (jnp.pi / 2, -jnp.pi / 2)
    )
    assert float(forward.velocity) == pytest.approx(-float(backward.velocity), rel=0.05)
    assert float(forward.velocity) > 0
    assert float(forward.min_gap) > 1e-6


def test_erratic_motion_has_a_spread():
    """Sensitive motion: a mean with its standard error, and no period."""
    response = _respond(
        dict(mass_ratio=1.4),
        dict(
            field=4.6e-3,
            load_factor=12.0,
            frequency_ratio=1.3,
            clamp_force=1.0,
            clamp_phase=-np.pi / 4,
        ),
    )
    assert word(response.result) == "erratic"
    assert float(response.velocity_spread) > 0
    assert int(response.period_multiple) == 0


@pytest.mark.parametrize(
    "design, setting, told",
    [
        (dict(mass_ratio=-1.0), dict(), "mass_ratio = -1.0"),
        (dict(rest_gap=0.0), dict(), "rest_gap"),
        (dict(rest_gap=4e-4), dict(), "below device_length"),
        (dict(), dict(field=float("nan")), "field"),
        (dict(), dict(field_rise=0.7), "at most 0.5"),
        (dict(), dict(waveform="triangle"), "one of square, sine"),
    ],
)
def test_bad_input_says_what_and_what_is_allowed(design, setting, told):
    with pytest.raises(ValueError, match=told):
        _respond(design, setting)


def test_too_many_steps_is_an_error():
    with pytest.raises(ValueError, match="steps = 1000000000"):
        _respond(dict(), dict(), steps=10**9)


def test_trajectory_returns_to_its_start():
    design, setting = wrmma.published_design(), wrmma.published_setting(load_factor=32.0)
    response = wrmma.respond(design, setting)
    path = wrmma.simulate(design, setting, start=response.state)
    drift = float(response.velocity) / (2300.0)
    assert float(path.gap[-1]) == pytest.approx(float(response.state.gap), rel=1e-8)
    assert float(path.body_position[-1]) == pytest.approx(drift, rel=1e-8)
    assert np.all(np.diff(path.time) >= 0)


@pytest.mark.parametrize(
    "result, residual, multiplier, reason",
    [
        ("no_orbit", 1e-9, 1.7, "unstable"),
        ("no_orbit", 1e-9, 0.995, "unstable"),
        ("no_orbit", 1e-3, 1.7, "agree"),  # none was found: the status says so
        ("erratic", 1e-9, 1.7, "agree"),
        ("successful", 1e-9, 0.5, "agree"),
        ("stalled", 1e-9, 0.5, "dead"),
        ("gap_collapsed", 1e-9, 0.5, "closed"),
    ],
)
def test_what_speaks_against_a_gradient(result, residual, multiplier, reason):
    """A motion that was found and is unstable is named as the reason for NaN; code 0 is no objection."""
    given: dict[str, Any] = {
        name: jnp.asarray(jnp.nan) for name in vars(wrmma.Response)["__annotations__"]
    }
    given |= dict(residual=jnp.asarray(residual), multiplier=jnp.asarray(multiplier))
    response = wrmma.Response(**given | {"result": getattr(RESULTS, result)})
    design, setting = wrmma.published_design(), wrmma.published_setting()
    found = wrmma.objection(response, design, setting, "velocity", "event")
    assert REASONS[int(found)].name == reason
    if reason == "unstable":
        assert REASONS[int(found)].verdict == "refused" and "unstable" in REASONS[int(found)].text


VOLTAGE = dict(
    clamp_voltage=300.0, substrate_thickness=50e-6, clamp_area=9e-8, substrate_permittivity=3.9
)
AT_VOLTAGE = dict(load_factor=8.0, frequency_ratio=1.2, clamp_phase=1.0)
BY_VOLTAGE = 3.9 * 8.8541878188e-12 * 9e-8 * (300.0 / 50e-6) ** 2 / 8
"""F_C0 of a plate capacitor [N]."""


def test_the_clamp_s_voltage_gives_its_force():
    """Eq. 14 as a plate capacitor: the force goes with V^2, A, eps and d^-2."""

    def force(values):
        return clamp_force(wrmma.published_setting(**values))

    value, gradient = jax.value_and_grad(force)({k: jnp.asarray(v) for k, v in VOLTAGE.items()})
    assert float(value) == pytest.approx(BY_VOLTAGE, rel=1e-9)
    for (name, size), power in zip(VOLTAGE.items(), (2, -2, 1, 1), strict=True):
        assert float(gradient[name]) * size == pytest.approx(power * BY_VOLTAGE, rel=1e-9)


@pytest.mark.slow
def test_gradients_by_the_clamp_s_voltage_are_certified():
    judged = value_and_gradient(wrmma.respond, tuple(VOLTAGE), "velocity")
    setting = wrmma.published_setting(**VOLTAGE, **AT_VOLTAGE)
    value, gradient, certificate, _ = judged(wrmma.published_design(), setting)
    plain = value_and_gradient(wrmma.respond, ("clamp_force",), "velocity")
    known, slope, _, _ = plain(
        wrmma.published_design(), wrmma.published_setting(clamp_force=BY_VOLTAGE, **AT_VOLTAGE)
    )
    assert float(value) == pytest.approx(float(known), rel=1e-9)
    by_force = float(slope["clamp_force"]) * BY_VOLTAGE
    assert abs(by_force) > 1e-3 * abs(float(value))
    for (name, size), power in zip(VOLTAGE.items(), (2, -2, 1, 1), strict=True):
        assert float(gradient[name]) * size == pytest.approx(power * by_force, rel=1e-5)
    assert verdict_word(certificate) == "certified"


@pytest.mark.slow
def test_the_linear_model_sticks_and_slides_as_its_closed_form_says():
    """Eq. 28: elongation of eq. 30 while the body sticks, which it does where eq. 32 holds."""
    case = dict(field=3e-3, load_factor=32.0, waveform="sine", magnetic_force="constant")

    def respond(ratio):
        setting = wrmma.published_setting(frequency_ratio=ratio, **case)
        return wrmma.respond(wrmma.published_design(), setting, throw=False)

    ratios = jnp.array([0.75, 0.79, 0.82, 1.40, 1.45])
    found = jax.jit(jax.vmap(respond))(ratios)
    design, setting = wrmma.published_design(), wrmma.published_setting(**case)
    eta = float(wrmma.eta(design, setting))
    for i, ratio in enumerate(np.asarray(ratios)):
        tau = jnp.linspace(0, 2 * np.pi / ratio, 2001)
        sticks = float(jnp.max(stiction_load(tau, ratio, eta))) < 1
        assert (word(jax.tree.map(lambda x, i=i: x[i], found.result)) == "stalled") == sticks
        if sticks and ratio < 1:
            _, hammer = masses(design)
            stiffness = hammer * (2 * np.pi * design.tethered_frequency) ** 2
            lowest = float(jnp.min(stiction_elongation(tau, ratio)))
            expected = design.rest_gap + float(rest_force(design, setting)) / stiffness * lowest
            assert float(found.min_gap[i]) == pytest.approx(expected, rel=1e-3)
