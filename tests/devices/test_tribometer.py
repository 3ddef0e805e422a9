"""The tribometer: reference points, independent time stepping, limiting cases, identities, statuses."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import tribometer
from diffmicro.devices.tribometer.steady import dragged, velocity_unit
from diffmicro.parameters import as_arrays
from diffmicro.results import word
from tests.oracles import closed_forms, vibrated_probe

ANGLE = 0.26616271092913524
OOP = dict(normal_force=9.5, friction=0.4, frequency=30e3)

# Independent calculations: root finding, springs brought to the periodic state, quadrature, elliptic integral.
POINTS = [
    (dict(force_ratio=0.5, drag_ratio=0.55), "sliding_velocity", 3.5091238813027764e-05, 1e-8),
    (dict(force_ratio=0.5, drag_ratio=0.95), "sliding_velocity", 0.00363435512695826, 1e-8),
    (dict(law="mdr", drag_ratio=0.8), "sliding_velocity", 0.00873629836992062, 1e-4),
    (
        dict(law="mdr", force_ratio=1.0, drag_ratio=0.6),
        "sliding_velocity",
        0.019848990255795163,
        1e-4,
    ),
    (
        dict(law="mdr", force_ratio=0.75, drag_ratio=0.5),
        "sliding_velocity",
        0.006553476227205385,
        1e-4,
    ),
    (
        dict(direction="ipi", vibration_velocity=0.1, sliding_velocity=0.01, track_angle=ANGLE),
        "friction_ratio",
        0.061591631281,
        1e-8,
    ),
    (
        dict(direction="ipi", vibration_velocity=0.1, sliding_velocity=0.1, track_angle=ANGLE),
        "friction_ratio",
        0.764903566038,
        1e-8,
    ),
    (
        dict(direction="ipp", vibration_velocity=0.1, sliding_velocity=0.01),
        "friction_ratio",
        0.23441565423091,
        1e-9,
    ),
]


def _respond(design=None, **setting):
    return tribometer.respond(
        tribometer.published_design(**(design or {})),
        tribometer.published_setting(**(OOP | setting)),
    )


@pytest.mark.parametrize("setting, name, value, within", POINTS)
def test_reference_points(setting, name, value, within):
    response = _respond(**setting)
    assert word(response.result) == "ok"
    assert float(getattr(response, name)) == pytest.approx(value, rel=within)


@pytest.mark.parametrize("setting, name, value, within", POINTS)
def test_drag_and_velocity_are_inverse(setting, name, value, within):
    """Giving the answer back as what is imposed returns what was imposed."""
    first = _respond(**setting)
    given = {k: v for k, v in setting.items() if k not in ("drag_ratio", "sliding_velocity")}
    if "drag_ratio" in setting:
        again = _respond(**given, sliding_velocity=float(first.sliding_velocity))
        assert float(again.friction_ratio) == pytest.approx(setting["drag_ratio"], rel=1e-8)
    else:
        again = _respond(**given, drag_ratio=float(first.friction_ratio))
        expected = setting["sliding_velocity"]
        assert float(again.sliding_velocity) == pytest.approx(expected, rel=1e-8)


def test_coulomb_equals_root_finding():
    scale = 0.4 * 4.75 / (2.1e-3 * 2 * np.pi * 30e3)
    for share in (1e-3, 0.2, 0.7, 0.999):
        response = _respond(drag_ratio=0.5 + 0.5 * share)
        expected = scale * vibrated_probe.coulomb_velocity(share)
        assert float(response.sliding_velocity) == pytest.approx(expected, rel=1e-8)


MASSES = (2.1e-4, 2.1e-3, 2.1e-2)
"""kappa 1, 0.1 and 0.01: the lightest probe moves backward in part of each period."""


def test_mdr_equals_springs_from_rest():
    """Equally spaced springs cut off at both bounds, stepped from rest until they repeat."""
    drags = np.array([0.55, 0.7, 0.85])
    setting = tribometer.published_setting(**OOP)
    for mass in MASSES:
        design = tribometer.published_design(probe_mass=mass)
        numbers = dragged(design, setting, jnp.asarray(0.0), 2)
        stepped = vibrated_probe.spring_velocity(
            drags,
            np.full(3, 0.5),
            np.full(3, float(numbers.kappa)),
            springs=200,
            steps=500,
            periods=80,
        )
        unit = float(velocity_unit("mdr", design, setting))
        for drag, expected in zip(drags, stepped, strict=True):
            response = _respond(dict(probe_mass=mass), law="mdr", drag_ratio=drag)
            assert word(response.result) == "ok"
            velocity = float(response.sliding_velocity) / unit
            assert velocity == pytest.approx(expected, rel=2e-3)


def test_walking_probe_equals_small_steps():
    kappa = np.array([0.3, 1.0, 1.0, 3.0, 3.0, 1.5])
    drag = np.array([0.5, 0.2, 0.6, 0.1, 0.9, 0.35])
    stepped = np.asarray(vibrated_probe.walking_velocity(drag, kappa))
    for k, f, expected in zip(kappa, drag, stepped, strict=True):
        mass = 0.4 * 9 / (k * 2 * np.pi * 43e3 * 0.05)
        response = _respond(
            dict(probe_mass=mass), direction="ipi", law="dynamic", normal_force=9.0,
            frequency=43e3, vibration_velocity=0.05, drag_ratio=f,
        )  # fmt: skip
        assert float(response.sliding_velocity) / 0.05 == pytest.approx(expected, rel=2e-3)


def test_walking_probe_at_half_the_friction():
    """kappa 1, drag 1/2: an independent calculation gives <v> / v^ = 0.618761."""
    response = _respond(
        dict(probe_mass=0.00026649199773526663), direction="ipi", law="dynamic", normal_force=9.0,
        frequency=43e3, vibration_velocity=0.05, drag_ratio=0.5,
    )  # fmt: skip
    assert float(response.sliding_velocity) / 0.05 == pytest.approx(0.618761, rel=1e-4)


def test_walking_probe_without_inertia_is_quasistatic():
    """A heavy probe does not follow the contact points: (2/pi) arcsin(zeta), error of second order in kappa."""
    found = []
    for mass in (0.1, 1.0):
        response = _respond(
            dict(probe_mass=mass), direction="ipi", law="dynamic",
            vibration_velocity=0.05, sliding_velocity=0.02,
        )  # fmt: skip
        found.append(float(response.friction_ratio) - 2 / np.pi * np.arcsin(0.4))
    assert abs(found[1]) < 1e-6
    assert found[0] / found[1] == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("drag", [0.3, 0.5, 0.7])
def test_caterpillar(drag):
    """kappa 4: any drag between 1/4 and 3/4 gives 2/pi of the vibration's velocity."""
    mass = 0.4 * 9.5 / (4 * 2 * np.pi * 30e3 * 0.05)
    response = _respond(
        dict(probe_mass=mass), direction="ipi", law="dynamic",
        vibration_velocity=0.05, drag_ratio=drag,
    )  # fmt: skip
    expected = closed_forms.caterpillar_velocity() * 0.05
    assert float(response.sliding_velocity) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("law", ["coulomb", "mdr"])
def test_from_the_critical_velocity_on_nothing_is_reduced(law):
    critical = float(_respond(law=law, drag_ratio=0.8).critical_velocity)
    below = _respond(law=law, sliding_velocity=0.97 * critical)
    above = _respond(law=law, sliding_velocity=1.03 * critical)
    assert 0.9 < float(below.friction_ratio) < 1
    assert float(above.friction_ratio) == 1.0
    assert word(above.result) == "ok"


@pytest.mark.parametrize("law", ["coulomb", "mdr"])
@pytest.mark.parametrize("ratio", [0.25, 0.75])
def test_static_threshold(law, ratio):
    """Eq. 4.15: nothing slides below 1 - dF_n / F_n,0, and just above it does."""
    below = _respond(law=law, force_ratio=ratio, drag_ratio=0.999 * (1 - ratio))
    above = _respond(law=law, force_ratio=ratio, drag_ratio=1 - ratio + 0.03 * ratio)
    assert word(below.result) == "stalled"
    assert float(below.sliding_velocity) == 0.0
    assert word(above.result) == "ok"
    assert float(above.sliding_velocity) > 0.0


@pytest.mark.parametrize(
    "setting",
    [
        dict(drag_ratio=1.01),
        dict(law="mdr", drag_ratio=1.01),
        dict(direction="ipp", drag_ratio=1.0),
        dict(direction="ipi", track_angle=ANGLE, drag_ratio=0.98),
    ],
)
def test_more_drag_than_friction_runs_away(setting):
    response = _respond(**setting)
    assert word(response.result) == "runaway"
    assert np.isnan(float(response.sliding_velocity))


@pytest.mark.parametrize("law", ["coulomb", "mdr"])
def test_velocity_is_proportional_to_friction_at_a_drag_ratio(law):
    """Friction coefficient and velocity enter as one ratio."""
    one = _respond(law=law, drag_ratio=0.8)
    two = _respond(law=law, drag_ratio=0.8, friction=0.4 * 1.7)
    expected = 1.7 * float(one.sliding_velocity)
    assert float(two.sliding_velocity) == pytest.approx(expected, rel=1e-9)


def test_mdr_depends_on_two_numbers():
    """Velocity over its unit at the same kappa: other mass, frequency and radius, the same motion."""
    one = _respond(law="mdr", drag_ratio=0.8)
    # kappa ~ R^(1/3) / (m omega^2), unit ~ R^(-1/3) omega
    two = _respond(
        dict(radius=8 * 3.5e-3, probe_mass=2.1e-3 * 2 / 9),
        law="mdr",
        drag_ratio=0.8,
        frequency=90e3,
    )
    expected = float(one.sliding_velocity) * 3 / 2
    assert float(two.sliding_velocity) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "setting", [p[0] for p in POINTS] + [dict(law="mdr", sliding_velocity=0.1)]
)
def test_path_has_the_mean_velocity_and_the_mean_friction(setting):
    setting = OOP | setting
    response = _respond(**setting)
    path = tribometer.simulate(
        tribometer.published_design(), tribometer.published_setting(**setting), points=4096
    )
    period = 1 / setting["frequency"]
    assert float(path.position[-1] / period) == pytest.approx(
        float(response.sliding_velocity), rel=1e-7
    )
    velocity = np.trapezoid(np.asarray(path.velocity), np.asarray(path.time)) / period
    assert velocity == pytest.approx(float(response.sliding_velocity), rel=1e-5)
    friction = np.trapezoid(np.asarray(path.friction_force), np.asarray(path.time)) / period
    mean = float(response.friction_ratio) * setting["friction"] * setting["normal_force"]
    assert friction == pytest.approx(mean, rel=5e-4)
    assert np.all(np.diff(np.asarray(path.time)) > 0)


@pytest.mark.parametrize(
    "design, setting, told",
    [
        ({}, dict(drag_ratio=0.5, sliding_velocity=0.1), "both are"),
        ({}, dict(drag_ratio=-0.1), "drag_ratio = -0.1"),
        ({}, dict(force_ratio=1.2, law="mdr"), "at most 1, where the probe lifts off"),
        ({}, dict(normal_force=0.0), "normal_force"),
        ({}, dict(direction="up"), "one of oop, ipi, ipp"),
        ({}, dict(direction="ipp", law="mdr"), "has to be one of quasistatic"),
        (dict(radius=-1e-3), {}, "radius"),
        (dict(poisson=float("nan")), {}, "poisson"),
    ],
)
def test_bad_input_says_what_and_what_is_allowed(design, setting, told):
    with pytest.raises(ValueError, match=told):
        _respond(design, **setting)


def test_one_of_drag_and_velocity_is_needed():
    with pytest.raises(ValueError, match="neither is"):
        tribometer.respond(tribometer.Design(), tribometer.Setting())


def test_batches_bad_lanes_and_single_precision():
    """Lanes are independent, bad ones are NaN alone, values and gradients; single precision is near."""
    design = as_arrays(tribometer.published_design())
    setting = as_arrays(tribometer.published_setting(law="mdr", drag_ratio=0.8))

    def velocity(drag):
        with_drag = eqx.tree_at(lambda s: s.drag_ratio, setting, drag)
        response = tribometer.respond(design, with_drag, steps=128, throw=False)
        return response.sliding_velocity, response.result

    drags = jnp.asarray([0.8, -0.1, 0.4, 0.7, jnp.nan, 1.2])
    slopes, results = jax.jit(jax.vmap(jax.grad(velocity, has_aux=True)))(drags)
    values, _ = jax.jit(jax.vmap(velocity))(drags)
    words = [word(jax.tree.map(lambda x, i=i: x[i], results)) for i in range(drags.size)]
    assert words == ["ok", "out_of_range", "stalled", "ok", "out_of_range", "runaway"]
    good = np.array([0, 3])
    assert np.isfinite(values[good]).all() and np.isfinite(slopes[good]).all()
    assert np.isnan(slopes[np.array([1, 2, 4, 5])]).all()
    assert float(values[2]) == 0.0 and np.isnan(values[np.array([1, 4, 5])]).all()
    alone = tribometer.respond(design, eqx.tree_at(lambda s: s.drag_ratio, setting, 0.7), steps=128)
    assert float(values[3]) == pytest.approx(float(alone.sliding_velocity), rel=1e-9)

    low = jax.tree.map(lambda x: x.astype(jnp.float32), (design, setting))
    single = tribometer.respond(*low, steps=128)
    assert single.sliding_velocity.dtype == jnp.float32
    assert word(single.result) == "ok"
    assert float(single.sliding_velocity) == pytest.approx(float(values[0]), rel=2e-4)
