"""Worn and rough probes under a vibrating load: plain springs, identities, a rough line that is a sphere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import value_and_gradient, verdict_word
from diffmicro.devices import tribometer
from diffmicro.devices.tribometer.lumped import longest, moduli
from diffmicro.mechanics.profiles import roughness_coefficient
from diffmicro.parameters import as_arrays
from diffmicro.results import word, words
from diffmicro.shapes import Plate
from tests.oracles import vibrated_probe

RADIUS, LENGTH = 3.5e-3, 383e-6
WORN = dict(tip_radius=60e-6)
ROUGH = dict(roughness=0.2e-6, hurst=0.9)
BOTH = dict(tip_radius=30e-6, roughness=0.2e-6)


def _respond(design=None, numerics=None, **setting):
    return tribometer.respond(
        tribometer.published_design(**(design or {})),
        tribometer.published_setting(law="mdr", **setting),
        **(numerics or {}),
    )


def _line(tip_radius=0.0, roughness=0.0, hurst=1.7):
    """g and its integral, in NumPy, by eqs. 3.9, 2.78 and 3.12."""
    wave = 2 * (hurst + 1) / (1.9412 * LENGTH)
    rough = wave ** (hurst + 1) * (hurst + 1) * LENGTH / (2 * hurst) * roughness

    def beyond(x):
        return np.sqrt(np.maximum(x**2 - tip_radius**2, 0))

    def shape(x):
        return x * beyond(x) / RADIUS + rough * x**hurst

    def area(x):
        return beyond(x) ** 3 / (3 * RADIUS) + rough * x ** (hurst + 1) / (hurst + 1)

    return shape, area


SLOW = pytest.mark.slow
EACH = [
    pytest.param(WORN, id="worn"),
    pytest.param(ROUGH, id="rough", marks=SLOW),
    pytest.param(BOTH, id="both", marks=SLOW),
]


@pytest.mark.parametrize("drag", [0.6, pytest.param(0.85, marks=SLOW)])
@pytest.mark.parametrize("design", EACH)
def test_equals_springs_from_rest(design, drag):
    """Equally spaced springs in SI units, cut off at both bounds, stepped from rest until they repeat."""
    modulus, shear = (float(m) for m in moduli(tribometer.published_design()))
    shape, area = _line(**design)
    expected = vibrated_probe.shaped_velocity(
        shape, area, design.get("tip_radius", 0.0), drag, 0.5, 2.1e-3, 9.5, modulus, shear, 0.4, 30e3,
        springs=1000, steps=600, periods=30,
    )  # fmt: skip
    response = _respond(design, drag_ratio=drag)
    assert word(response.result) == "ok"
    assert float(response.sliding_velocity) == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("ratio", [pytest.param(0.5, marks=SLOW), 1.0])
def test_a_rough_line_of_second_order_is_a_sphere(ratio):
    """H = 2: x^2/R + Q x^2 is a sphere of radius 1 / (1/R + Q), by another path through the code."""
    q = roughness_coefficient(2.0, 1e-6, LENGTH)
    rough = _respond(dict(roughness=1e-6, hurst=2.0), force_ratio=ratio, drag_ratio=0.8)
    sphere = _respond(dict(radius=1 / (1 / RADIUS + q)), force_ratio=ratio, drag_ratio=0.8)
    for name in ("sliding_velocity", "critical_velocity"):
        assert float(getattr(rough, name)) == pytest.approx(float(getattr(sphere, name)), rel=1e-12)
    plain = _respond(force_ratio=ratio, drag_ratio=0.8)
    assert float(plain.sliding_velocity) < 0.9 * float(sphere.sliding_velocity)


@SLOW
def test_its_gradient_is_that_of_the_sphere():
    """The same identity differentiated: dv/dQ = -R_e^2 dv/dR_e, and dv/dh_rms = dv/dQ Q / h_rms."""
    setting = as_arrays(tribometer.published_setting(law="mdr", drag_ratio=0.8))

    def rough(height):
        design = tribometer.Design(roughness=height, hurst=2.0)
        return tribometer.respond(design, setting, steps=256).sliding_velocity

    def sphere(radius):
        return tribometer.respond(
            tribometer.Design(radius=radius), setting, steps=256
        ).sliding_velocity

    q = roughness_coefficient(2.0, 1e-6, LENGTH)
    radius = 1 / (1 / RADIUS + q)
    expected = -(radius**2) * float(jax.grad(sphere)(radius)) * q / 1e-6
    assert float(jax.grad(rough)(1e-6)) == pytest.approx(expected, rel=1e-9)


@SLOW
def test_a_small_tip_changes_nothing():
    worn, sphere = (_respond(d, drag_ratio=0.8) for d in (dict(tip_radius=1e-7), {}))
    ratio = float(worn.sliding_velocity) / float(sphere.sliding_velocity)
    assert ratio == pytest.approx(1, abs=1e-6)


@SLOW
@pytest.mark.parametrize("design", EACH)
def test_elasticities_fulfill_dimensional_analysis(design):
    """Lengths, masses and times may be scaled: three identities between all elasticities of the velocity."""
    full = {k: v for k, v in vars(tribometer.Design(**design)).items() if v is not None}
    setting = dict(normal_force=9.5, frequency=30e3)

    def velocity(logs):
        (of_design, of_setting) = jax.tree.map(jnp.exp, logs)
        moved = tribometer.Design(**of_design)
        driven = tribometer.Setting(drag_ratio=0.8, law="mdr", **of_setting)
        return jnp.log(tribometer.respond(moved, driven, steps=256).sliding_velocity)

    by_design, by = jax.grad(velocity)(jax.tree.map(jnp.log, (full, setting)))
    by = {name: float(x) for name, x in (by_design | by).items()}
    lengths = sum(by.get(n, 0.0) for n in ("radius", "tip_radius", "roughness", "roughness_length"))
    assert lengths + 2 * by["normal_force"] + by["probe_mass"] == pytest.approx(1, abs=1e-9)
    assert by["normal_force"] + by["young"] + by["probe_mass"] == pytest.approx(0, abs=1e-9)
    assert by["frequency"] - 2 * by["probe_mass"] == pytest.approx(1, abs=1e-9)
    for name in set(design) & {"tip_radius", "roughness"}:
        assert abs(by[name]) > 0.01


@SLOW
@pytest.mark.parametrize("design", EACH[:2])
def test_certified_and_inverse(design):
    wrt = tuple(design)
    body = tribometer.published_design(**design)

    def judged(of, **given):
        gradient_of = value_and_gradient(tribometer.DEVICE, wrt, of)
        return gradient_of(body, tribometer.published_setting(law="mdr", **given))

    value, by_drag, certificate, _ = judged("sliding_velocity", drag_ratio=0.8)
    assert verdict_word(certificate) == "certified"
    ratio, by_speed, other, _ = judged("friction_ratio", sliding_velocity=float(value))
    assert verdict_word(other) == "certified"
    assert float(ratio) == pytest.approx(0.8, rel=1e-8)
    quotients = [float(by_speed[name] / by_drag[name]) for name in wrt]
    assert quotients == pytest.approx([quotients[0]] * len(wrt), rel=1e-6)


def test_the_stiffness_follows_the_tip():
    """A flat punch of radius b has the stiffness 2 E* b, by which eq. 4.23 makes the force ratio."""
    design = tribometer.published_design(tip_radius=1.5e-3)
    setting = tribometer.published_setting(law="mdr", vibration_length=1e-8, stiffness_factor=1.0)
    punch = 9.5 / (2 * float(moduli(design)[0]) * 1.5e-3)
    assert float(longest(design, setting)) == pytest.approx(punch, rel=1e-5)


@SLOW
def test_motion_critical_velocity_and_statuses():
    """The path has the mean velocity; beyond the critical one nothing is reduced; bad lanes stay alone."""
    design = tribometer.published_design(**WORN)
    response = _respond(WORN, drag_ratio=0.8)
    path = tribometer.simulate(design, tribometer.published_setting(law="mdr", drag_ratio=0.8))
    assert float(path.position[-1]) * 30e3 == pytest.approx(
        float(response.sliding_velocity), rel=1e-6
    )
    critical = float(response.critical_velocity)
    below, above = (_respond(WORN, sliding_velocity=f * critical) for f in (0.97, 1.03))
    assert 0.9 < float(below.friction_ratio) < 1 == float(above.friction_ratio)

    def lane(tip):
        setting = tribometer.published_setting(law="mdr", drag_ratio=0.8)
        return tribometer.respond(tribometer.Design(tip_radius=tip), setting, throw=False)

    found = jax.jit(jax.vmap(lane))(jnp.array([60e-6, 2e-3]))
    assert [str(w) for w in words(found.result)] == ["ok", "out_of_range"]
    assert float(found.sliding_velocity[0]) == pytest.approx(float(response.sliding_velocity))


def test_only_springs_know_the_shape():
    with pytest.raises(ValueError, match="which law = coulomb does not know"):
        tribometer.respond(tribometer.published_design(**WORN), tribometer.published_setting())


@SLOW
def test_single_precision():
    single = jax.tree.map(jnp.float32, tribometer.published_design(**BOTH))
    setting = jax.tree.map(jnp.float32, tribometer.published_setting(law="mdr", drag_ratio=0.8))
    found = tribometer.respond(single, setting, steps=128)
    assert found.sliding_velocity.dtype == jnp.float32
    double = _respond(BOTH, dict(steps=128), drag_ratio=0.8)
    assert float(found.sliding_velocity) == pytest.approx(float(double.sliding_velocity), rel=1e-3)


def test_a_worn_probe_is_drawn_flat_under_any_law():
    """The carrier sits lower by what is worn off, R - sqrt(R^2 - b^2)."""

    def carrier(tip):
        *_, plate = tribometer.geometry(
            tribometer.Design(tip_radius=tip), tribometer.Layout()
        ).bodies
        assert isinstance(plate, Plate)
        return float(plate.bottom)

    expected = RADIUS - np.sqrt(RADIUS**2 - 600e-6**2)
    assert carrier(None) - carrier(600e-6) == pytest.approx(expected, rel=1e-9)
