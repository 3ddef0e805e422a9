"""Gradients of the tribometer: closed forms, exact identities between elasticities, certificates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipe, ellipk

from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.devices import tribometer
from diffmicro.mechanics import friction_control
from diffmicro.parameters import as_arrays
from diffmicro.results import words


def _judged(wrt, of, design=None, **setting):
    function = jax.jit(value_and_gradient(tribometer.respond, wrt, of))
    return function(
        tribometer.published_design(**(design or {})), tribometer.published_setting(**setting)
    )


def test_across_equals_the_derivative_of_the_elliptic_integral():
    speed, size = 0.05, 0.1
    value, gradient, certificate, _ = _judged(
        ("sliding_velocity", "vibration_velocity"), "friction_ratio",
        direction="ipp", vibration_velocity=size, sliding_velocity=speed,
    )  # fmt: skip
    zeta = speed / size
    m = 1 / (1 + zeta**2)
    front = 2 / np.pi * zeta / np.sqrt(1 + zeta**2)
    assert float(value) == pytest.approx(front * ellipk(m), rel=1e-13)
    by_m = (ellipe(m) - (1 - m) * ellipk(m)) / (2 * m * (1 - m))
    slope = 2 / np.pi * (1 + zeta**2) ** -1.5 * ellipk(m) - front * by_m * 2 * zeta * m**2
    assert float(gradient["sliding_velocity"]) == pytest.approx(slope / size, rel=1e-11)
    by_size = float(gradient["vibration_velocity"])
    assert by_size == pytest.approx(-slope * zeta / size, rel=1e-11)
    assert verdict_word(certificate) == "certified"


def test_in_line_equals_the_derivative_of_the_average():
    """Differences of an independent integral, with a step far above its error."""
    from scipy.integrate import quad

    def average(zeta, angle):
        def force(psi):
            along = zeta * np.cos(angle) - np.cos(psi)
            return along / np.hypot(along, zeta * np.sin(angle))

        turn = np.arccos(min(1.0, zeta * np.cos(angle)))
        return quad(force, 0, np.pi, points=[turn], epsabs=1e-13, limit=500)[0] / np.pi

    zeta, angle, step = 0.7, 0.2, 1e-4
    value, gradient, certificate, _ = _judged(
        ("sliding_velocity", "track_angle"), "friction_ratio",
        direction="ipi", vibration_velocity=0.1, sliding_velocity=0.1 * zeta, track_angle=angle,
    )  # fmt: skip
    assert float(value) == pytest.approx(average(zeta, angle), rel=1e-11)
    by_zeta = (average(zeta + step, angle) - average(zeta - step, angle)) / (2 * step)
    by_angle = (average(zeta, angle + step) - average(zeta, angle - step)) / (2 * step)
    assert float(gradient["sliding_velocity"]) == pytest.approx(by_zeta / 0.1, rel=1e-6)
    assert float(gradient["track_angle"]) == pytest.approx(by_angle, rel=1e-6)
    assert verdict_word(certificate) == "certified"


def test_coulomb_equals_the_derivative_by_the_duration():
    """d<x'>/df~ from both as functions of the slip's duration, differenced widely in the closed forms."""
    ratio, drag = 0.5, 0.8
    value, gradient, certificate, _ = _judged(
        ("drag_ratio", "probe_mass"), "sliding_velocity", force_ratio=ratio, drag_ratio=drag
    )
    share = (drag - (1 - ratio)) / ratio
    unit = 0.4 * ratio * 9.5 / (2.1e-3 * 2 * np.pi * 30e3)
    durations = np.linspace(0, 2 * np.pi, 200001)
    shares = np.asarray(friction_control.slip_share(jnp.asarray(durations)))
    at = np.interp(share, shares, durations)
    near = jnp.asarray([at - 1e-3, at + 1e-3])
    rise = np.diff(np.asarray(friction_control.slip_velocity(near)))
    run = np.diff(np.asarray(friction_control.slip_share(near)))
    expected = float(rise[0] / run[0]) * unit / ratio
    assert float(gradient["drag_ratio"]) == pytest.approx(expected, rel=1e-5)
    assert float(gradient["probe_mass"]) == pytest.approx(-float(value) / 2.1e-3, rel=1e-11)
    assert verdict_word(certificate) == "certified"


NAMES = ("drag_ratio", "friction", "normal_force", "frequency", "probe_mass", "radius", "young")


@pytest.fixture(scope="module")
def elastic():
    """Elasticities of the velocity with law mdr, by forward and by reverse mode, in one batch of drags."""
    design = as_arrays(tribometer.published_design())
    setting = as_arrays(tribometer.published_setting(law="mdr"))

    def velocity(logs, steps):
        drag, friction, force, frequency, mass, radius, young = jnp.exp(logs)
        moved = tribometer.Design(radius, mass, young, design.poisson)
        driven = tribometer.Setting(
            normal_force=force, friction=friction, frequency=frequency, drag_ratio=drag, law="mdr"
        )
        return jnp.log(tribometer.respond(moved, driven, steps=steps).sliding_velocity)

    def logs(drag):
        home = {**vars(design), **vars(setting), "drag_ratio": drag}
        return jnp.log(jnp.stack([jnp.asarray(home[name]) for name in NAMES]))

    points = jnp.stack([logs(0.6), logs(0.8)])
    forward = jax.jit(jax.vmap(lambda x: jax.jacfwd(velocity)(x, 256)))(points)
    backward = jax.jit(jax.vmap(lambda x: jax.grad(velocity)(x, 256)))(points)
    values = jax.jit(jax.vmap(lambda x: velocity(x, 256)))
    return forward, backward, values, points


def test_mdr_elasticities_fulfill_dimensional_analysis(elastic):
    """v = unit(mu, R, E, F_n, omega) V(f, r, kappa): all elasticities follow from the one by mass."""
    for row in elastic[0]:
        by = dict(zip(NAMES, np.asarray(row), strict=True))
        kappa = -by["probe_mass"]
        assert by["friction"] == pytest.approx(1, rel=1e-9)
        assert by["frequency"] == pytest.approx(1 - 2 * kappa, rel=1e-9)
        assert by["radius"] == pytest.approx((kappa - 1) / 3, rel=1e-9)
        assert by["young"] == pytest.approx(2 * (kappa - 1) / 3, rel=1e-9)
        assert by["normal_force"] == pytest.approx((2 + kappa) / 3, rel=1e-9)


def test_mdr_reverse_equals_forward_and_wide_differences(elastic):
    forward, backward, values, points = elastic
    np.testing.assert_allclose(backward, forward, rtol=1e-9)
    step = 2e-3
    for number, name in ((0, "drag_ratio"), (4, "probe_mass")):
        change = step * jax.nn.one_hot(number, points.shape[1])[None]
        difference = (values(points + change) - values(points - change)) / (2 * step)
        np.testing.assert_allclose(forward[:, number], difference, rtol=2e-3, err_msg=name)


@pytest.mark.slow
def test_mdr_gradients_converge_with_the_square_of_the_step():
    """Errors by resolution, against the finest: a quarter each time, because force has no jumps."""
    setting = as_arrays(tribometer.published_setting(law="mdr", drag_ratio=0.8))

    def slope(mass, steps):
        design = tribometer.Design(probe_mass=mass)
        return jax.jacfwd(
            lambda m: (
                tribometer.respond(
                    tribometer.Design(probe_mass=m), setting, steps=steps
                ).sliding_velocity
            )
        )(design.probe_mass)

    found = [float(slope(2.1e-3, steps)) for steps in (128, 256, 512, 2048)]
    errors = [abs(x / found[-1] - 1) for x in found[:-1]]
    assert errors[2] < 1e-4
    assert errors[0] > 2.5 * errors[1] > 6 * errors[2]


@pytest.mark.slow
def test_mdr_is_certified_and_inverse():
    _, by_drag, certificate, response = _judged(
        ("drag_ratio", "radius"), "sliding_velocity", law="mdr", drag_ratio=0.8
    )
    assert verdict_word(certificate) == "certified"
    speed = float(response.sliding_velocity)
    _, by_speed, other, _ = _judged(
        ("sliding_velocity", "radius"), "friction_ratio", law="mdr", sliding_velocity=speed
    )
    assert verdict_word(other) == "certified"
    slope = float(by_drag["drag_ratio"])
    assert float(by_speed["sliding_velocity"]) == pytest.approx(1 / slope, rel=1e-7)
    expected = -float(by_drag["radius"]) / slope
    assert float(by_speed["radius"]) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    "setting, verdict",
    [
        (dict(drag_ratio=0.4), "refused"),
        (dict(drag_ratio=0.50001), "uncertified"),
        (dict(drag_ratio=1.2), "refused"),
    ],
)
def test_verdicts_around_the_static_threshold(setting, verdict):
    """Below it a dead zone, near it a kink, above the mean friction no steady sliding."""
    _, gradient, certificate, _ = _judged(("drag_ratio",), "sliding_velocity", **setting)
    assert verdict_word(certificate) == verdict
    assert np.isfinite(float(gradient["drag_ratio"])) == (verdict != "refused")


def test_verdicts_around_the_kink_in_line():
    """At zeta = 1 a kink; beyond, where nothing is reduced, a slope of zero that says so."""
    wrt, setting = ("sliding_velocity",), dict(direction="ipi", vibration_velocity=0.1)
    _, _, at, _ = _judged(wrt, "friction_ratio", **setting, sliding_velocity=0.09995)
    _, _, beyond, _ = _judged(wrt, "friction_ratio", **setting, sliding_velocity=0.12)
    assert verdict_word(at) == verdict_word(beyond) == "uncertified"
    assert "kink" in reason_text(at)
    assert "dead" in reason_text(beyond)


def test_walking_probe_is_certified():
    """Elasticities of f(zeta, kappa): by velocity, vibration and mass they add up as dimensions demand."""
    design, speed, size = dict(probe_mass=2.6649e-4), 0.025, 0.05
    _, gradient, certificate, _ = _judged(
        ("sliding_velocity", "vibration_velocity", "probe_mass"), "friction_ratio", design,
        direction="ipi", law="dynamic", normal_force=9.0, frequency=43e3,
        vibration_velocity=size, sliding_velocity=speed,
    )  # fmt: skip
    assert verdict_word(certificate) == "certified"
    by_speed = float(gradient["sliding_velocity"]) * speed
    by_kappa = -float(gradient["probe_mass"]) * design["probe_mass"]
    assert float(gradient["vibration_velocity"]) * size == pytest.approx(
        -by_speed - by_kappa, rel=1e-9
    )


@pytest.mark.parametrize("law", ["coulomb", pytest.param("mdr", marks=pytest.mark.slow)])
def test_the_amplitude_of_the_vibration_gives_the_force_ratio(law):
    """Eq. 4.23 from the sphere's own laws, and the chain rule through it; eq. 4.24 at the end of its range."""
    design = tribometer.published_design()
    modulus = design.young / (2 * (1 - design.poisson**2))
    radius = np.cbrt(3 * 9.5 * design.radius / (4 * modulus))
    stiffness = 2.64 * 2 * modulus * radius
    length = 0.6 * 9.5 / stiffness
    value, gradient, certificate, _ = _judged(
        ("vibration_length", "normal_force", "radius"), "sliding_velocity",
        law=law, vibration_length=length, drag_ratio=0.7,
    )  # fmt: skip
    plain, by_ratio, _, _ = _judged(
        ("force_ratio", "normal_force", "radius"), "sliding_velocity",
        law=law, force_ratio=0.6, drag_ratio=0.7,
    )  # fmt: skip
    assert float(value) == pytest.approx(float(plain), rel=1e-12)
    # the ratio goes with dl, F_n^(-2/3) and R^(1/3)
    of_ratio = float(by_ratio["force_ratio"]) * 0.6
    assert float(gradient["vibration_length"]) * length == pytest.approx(of_ratio, rel=1e-8)
    for name, power, size in (("normal_force", -2 / 3, 9.5), ("radius", 1 / 3, design.radius)):
        expected = float(by_ratio[name]) * size + power * of_ratio
        assert float(gradient[name]) * size == pytest.approx(expected, rel=1e-6)
    assert verdict_word(certificate) == "certified"
    at_lift_off = tribometer.published_setting(vibration_length=0.999999 * 9.5 / stiffness)
    assert float(tribometer.simulate(design, at_lift_off).normal_force.min()) < 1e-4


def test_a_vibration_that_lifts_the_probe_off_is_refused_by_springs_and_far_beyond():
    for law, length in (("mdr", 1e-6), ("coulomb", 1e-5)):
        setting = tribometer.published_setting(law=law, vibration_length=length)
        with pytest.raises(ValueError, match="where the probe lifts off"):
            tribometer.respond(tribometer.published_design(), setting)

    def respond(length):
        setting = tribometer.published_setting(vibration_length=length)
        return tribometer.respond(tribometer.published_design(), setting, throw=False)

    found = jax.jit(jax.vmap(respond))(jnp.array([1e-7, 1e-6, 1e-5]))
    assert [str(w) for w in words(found.result)] == ["ok", "ok", "out_of_range"]
    assert np.isfinite(found.sliding_velocity).tolist() == [True, True, False]
    assert (found.flight_share[:2] > 0).tolist() == [False, True]
