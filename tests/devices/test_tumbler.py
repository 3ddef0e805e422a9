"""The tumbler's event method: values, gradients and certificates, the paper's statements, what must stay true."""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.certificate import VERDICTS, value_and_gradient
from diffmicro.devices import tumbler
from diffmicro.devices.tumbler.body import lump, outline_of
from diffmicro.devices.tumbler.simulation import ROOM_FOR_EVENTS
from diffmicro.parameters import as_arrays
from diffmicro.reasons import REASONS
from diffmicro.results import word
from diffmicro.sweep.lanes import HASTY
from tests.oracles import tumbler as oracle

IMPROVED = dict(mass=6.94e-8, offset_angle=0.0, magnetic_volume=3.2e-11, magnetization=51835.0)
ALUMINUM = dict(friction=0.5359, adhesion=26.1771, electrostatic_force=0.0)

WRT = (
    "length width thickness mass field field_frequency incline friction adhesion electrostatic_force"
).split()
ODD = dict(length=0.73e-3, width=0.37e-3, thickness=0.13e-3)
"""A design away from the published one (and its setting below)."""

POINTS = {
    "10 Hz": ({}, dict(field_frequency=10.0)),
    "10 Hz, 15 deg": ({}, dict(field_frequency=10.0, incline=math.pi / 12)),
    "5 Hz": ({}, dict(field_frequency=5.0)),
    "1 Hz": ({}, {}),
    "odd": (
        ODD,
        dict(
            friction=0.41, adhesion=5.3, field=17e-3, field_frequency=3.7, incline=math.radians(11)
        ),
    ),
    "1 Hz, aluminum": (IMPROVED, ALUMINUM),
    "almost stalled": ({}, dict(field=5.5e-3)),
    "60 deg": ({}, dict(incline=math.radians(60))),
}
# Speed and derivatives of an independent event-driven study (float64, DOP853 between events).
KNOWN = {
    "10 Hz": (
        0.018471628882449923,
        dict(
            adhesion=0.000160328257522882,
            length=8.185500941097304,
            thickness=28.42625299515807,
            field_frequency=0.0013147788932167024,
            friction=-0.004967393817661364,
            field=0.35071351323227395,
        ),
    ),
    "10 Hz, 15 deg": (
        0.014891839090517636,
        dict(
            adhesion=-0.0001916960598353968,
            length=11.168536897417553,
            thickness=14.459796563996244,
            field_frequency=0.0009953069849529448,
            friction=0.01741595892733964,
            field=0.06647663866369649,
        ),
    ),
    "5 Hz": (0.009, dict(length=10.0, thickness=10.0, field_frequency=0.0018)),
    "1 Hz": (
        0.0017961517051069261,
        dict(
            adhesion=-6.5318750550952894e-06,
            length=1.1112240866103147,
            thickness=1.9667886399066248,
            field_frequency=0.0012866971556135809,
            friction=-4.149540530320708e-05,
            field=0.021575084324543248,
        ),
    ),
    "odd": (
        0.006385826647441809,
        dict(
            adhesion=4.1326692325982165e-05,
            length=10.110072379838561,
            thickness=9.575203819315686,
            field_frequency=0.002124857824410549,
            friction=-0.0005447157347007488,
            field=-0.07542338619759499,
        ),
    ),
}


def case(design=None, setting=None):
    """Design and setting as arrays."""
    return as_arrays(
        (
            tumbler.published_design(**(design or {})),
            tumbler.published_setting(**(setting or {})),
        )
    )


@pytest.fixture(scope="module")
def judged():
    """All points: value, gradient by all of WRT, certificate, response; compiled once."""
    function = value_and_gradient(tumbler.respond, WRT, "speed")
    function = jax.jit(function, compiler_options=HASTY)
    return {name: function(*case(*numbers)) for name, numbers in POINTS.items()}


@pytest.mark.parametrize("name", KNOWN)
def test_speed_and_gradient_are_those_of_the_motion(judged, name):
    speed, slopes = KNOWN[name]
    value, gradient, certificate, response = judged[name]
    assert word(response.result) == "ok"
    assert VERDICTS[int(certificate.verdict)] == "certified"
    assert int(response.period_multiple) == 1
    np.testing.assert_allclose(value, speed, rtol=1e-8)
    _, setting = case(*POINTS[name])
    design = case(*POINTS[name])[0]
    for key, slope in slopes.items():
        parameter: Any = getattr(design, key, getattr(setting, key, None))
        floor = 1e-3 * speed / float(parameter)
        assert abs(float(gradient[key]) - slope) < 1e-5 * max(abs(slope), floor), key


@pytest.mark.parametrize("name", KNOWN)
def test_scaling_identities(judged, name):
    """Force and time can be measured in any unit: two sums of logarithmic derivatives are fixed."""
    value, gradient, _, _ = judged[name]
    design, setting = case(*POINTS[name])
    log = {k: float(g * getattr(design, k, getattr(setting, k, 0.0))) for k, g in gradient.items()}
    speed = float(value)
    force = log["mass"] + log["electrostatic_force"] + log["adhesion"] + log["field"]
    assert abs(force) < 1e-6 * speed
    lengths = log["length"] + log["thickness"] + log["width"]
    rest = speed - lengths - log["field"] + 2 * log["adhesion"]
    assert abs(log["field_frequency"] + 2 * rest - speed) < 1e-6 * speed


@pytest.mark.parametrize(
    ("name", "verdict", "reason"),
    [
        ("almost stalled", "uncertified", "boundary"),
        ("60 deg", "refused", "no_motion"),
    ],
)
def test_gradients_that_are_not_certified(judged, name, verdict, reason):
    _, gradient, certificate, _ = judged[name]
    assert VERDICTS[int(certificate.verdict)] == verdict
    assert REASONS[int(certificate.reason)].name == reason
    assert np.isnan(float(gradient["length"])) == (verdict == "refused")


def test_between_jumps_the_reach_is_short(judged):
    """On aluminum the speed jumps at a designer's step; the derivative between two jumps is right, and short."""
    _, _, certificate, _ = judged["1 Hz, aluminum"]
    assert VERDICTS[int(certificate.verdict)] == "certified"
    assert 1e-5 <= float(certificate.reach) < 1e-3
    assert float(judged["5 Hz"][2].reach) >= 1e-3  # rolls without slip: the perimeter's speed


@pytest.mark.parametrize(
    "setting",
    [
        dict(field_frequency=15.0),
        dict(field_frequency=2.0, incline=0.3),
        dict(field_frequency=8.0, friction=0.2, adhesion=6.0, field=15e-3),
    ],
)
def test_equals_an_independent_event_driven_solution(setting):
    design, setting = tumbler.published_design(), tumbler.published_setting(**setting)
    distance, end = oracle.half_turn(oracle.cuboid(design, setting), phase=0.1)
    assert np.all(end[3:] == 0)  # at rest on the long face: the half turn is the periodic motion
    expected = 2e-3 * distance * setting.field_frequency
    np.testing.assert_allclose(float(tumbler.respond(design, setting).speed), expected, rtol=1e-8)


STATEMENTS = [
    # design, setting, status, speed [m/s], climbs
    ({}, dict(field_frequency=15.0), "ok", 0.0266398, 1),
    (IMPROVED, ALUMINUM, "ok", 0.00244457, 1),
    (IMPROVED, dict(ALUMINUM, field_frequency=5.0), "ok", 0.01135135, 1),
    ({}, dict(incline=math.radians(45)), "ok", 0.001675986, 1),
    ({}, dict(incline=math.radians(60)), "runaway", None, 0),
    (IMPROVED, dict(ALUMINUM, incline=math.radians(30)), "runaway", None, 0),
    (IMPROVED, dict(ALUMINUM, incline=math.radians(30), edge_band=50e-6), "ok", None, 1),
    (IMPROVED, dict(ALUMINUM, incline=math.radians(45), edge_band=50e-6), "runaway", None, 0),
    ({}, dict(field=5.4e-3), "stalled", 0.0, 0),
    ({}, dict(field=0.0), "stalled", 0.0, 0),
]


@pytest.mark.parametrize(("design", "setting", "status", "speed", "climbs"), STATEMENTS)
def test_what_climbs_and_what_does_not(design, setting, status, speed, climbs):
    response = tumbler.respond(*case(design, setting), throw=False)
    assert word(response.result) == status
    assert int(response.climbs) == climbs
    if status == "runaway":
        assert np.isnan(response.speed)
    if speed is not None:
        np.testing.assert_allclose(response.speed, speed, rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize(("frequency", "period"), [(5.0, 1), (16.5, 1), (17.0, 3), (21.5, 0)])
def test_period_on_aluminum(frequency, period):
    response = tumbler.respond(*case(IMPROVED, dict(ALUMINUM, field_frequency=frequency)))
    assert int(response.period_multiple) == period
    assert word(response.result) == ("ok" if period else "erratic")
    assert (float(response.speed_spread) > 0) == (period == 0)


def test_stall_field_is_the_balance_of_moments():
    for numbers, expected in (({}, 5.487357e-3), ((IMPROVED, ALUMINUM), 2.184211e-3)):
        design, setting = case(*numbers) if numbers else case()
        found = tumbler.stall_field(design, setting)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    # Up a slope the weight along it helps to hold the robot down: its arm is half the thickness.
    design, setting = case(setting=dict(incline=0.3))
    weight = 1.6071e-7 * 9.81
    press = weight * math.cos(0.3) + 3.2022e-6 + 3.7148 * 0.8e-3 * 0.4e-3
    moment = press * 0.4e-3 + weight * math.sin(0.3) * 0.05e-3
    np.testing.assert_allclose(
        tumbler.stall_field(design, setting), moment / (2.9e-11 * 15e3), rtol=1e-12
    )


@pytest.fixture(scope="module")
def path():
    design, setting = case(setting=dict(field_frequency=10.0))
    path = tumbler.simulate(design, setting, turns=1.0, steps=4000)
    return path, tumbler.respond(design, setting)


def test_path_and_response_keep_the_same_books(path):
    path, response = path
    assert path.time[-1] == pytest.approx(0.1, rel=1e-12)
    np.testing.assert_allclose(path.position[-1] / 0.1, response.speed, rtol=1e-7)
    slid = np.sum(np.diff(path.time) * (path.slide[1:] + path.slide[:-1]) / 2)
    np.testing.assert_allclose(slid / 0.1, response.slip, rtol=1e-4)
    np.testing.assert_allclose(response.speed, response.no_slip_speed + response.slip, rtol=1e-12)
    assert set(np.round(path.adhesion, 12)) == {0.0, 1.188736e-06}


def test_a_path_has_a_known_length_where_values_are_not_known():
    """A motion that is traced has room for events; too little of it leaves a NaN, not a shorter motion."""

    def lane(field, **given):
        return tumbler.simulate(*case(setting=dict(field=field)), turns=0.5, steps=8, **given)

    fields = jnp.array([20e-3, 19e-3])
    shape = jax.eval_shape(jax.jit(jax.vmap(lane)), fields).time.shape
    assert shape == (2, 4 + ROOM_FOR_EVENTS)
    known, cut = lane(20e-3), lane(20e-3, advances=8)
    assert known.time[-1] == pytest.approx(0.5, rel=1e-12) and len(known.time) < shape[1]
    assert len(cut.time) == 8 and np.isnan(cut.height[-1])


def test_nothing_goes_through_the_ground(path):
    path, _ = path
    x, z = 0.4e-3, 0.05e-3
    corners = [(x, z), (x, -z), (-x, z), (-x, -z)]
    lowest = [path.height - a * np.sin(path.roll) + b * np.cos(path.roll) for a, b in corners]
    assert np.min(lowest) > -1e-15
    assert np.all(np.diff(path.time) >= 0)


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.6, 0.4, 0.0), (0.3, 0.05, 2.0, -0.5, 0.3)])
def test_without_field_and_adhesion_energy_only_falls(start):
    design, setting = case(IMPROVED, dict(field=0.0, adhesion=0.0, electrostatic_force=0.0))
    path = tumbler.simulate(design, setting, turns=0.5, start=jnp.array(start))
    assert path.energy[-1] < 0.9 * path.energy[0]
    assert np.diff(path.energy).max() < 1e-10 * path.energy[0]


def test_motion_does_not_depend_on_units():
    """All forces ten times larger, or all times ten times longer: the same motion."""
    design, setting = case(setting=dict(field_frequency=10.0))
    speed = float(tumbler.respond(design, setting).speed)
    heavier = dataclasses.replace(
        design, mass=10 * design.mass, magnetic_volume=10 * design.magnetic_volume
    )
    stickier = dataclasses.replace(
        setting,
        adhesion=10 * setting.adhesion,
        electrostatic_force=10 * setting.electrostatic_force,
    )
    np.testing.assert_allclose(tumbler.respond(heavier, stickier).speed, speed, rtol=1e-9)
    slower = dataclasses.replace(
        setting,
        field_frequency=setting.field_frequency / 10,
        gravity=setting.gravity / 100,
        adhesion=setting.adhesion / 100,
        electrostatic_force=setting.electrostatic_force / 100,
        field=setting.field / 100,
    )
    np.testing.assert_allclose(tumbler.respond(design, slower).speed, speed / 10, rtol=1e-9)


def test_density_and_magnetic_share_make_mass_and_moment_follow_the_shape():
    design, setting = case(dict(density=5000.0, magnetic_share=0.9))
    motion, _ = lump(design, setting)
    volume = 0.8e-3 * 0.4e-3 * 0.1e-3
    plain, _ = lump(*case(dict(mass=5000.0 * volume, magnetic_volume=0.9 * volume)))
    np.testing.assert_allclose(motion.torque, plain.torque, rtol=1e-12)
    np.testing.assert_allclose(motion.press, plain.press, rtol=1e-12)


def test_adhesion_as_load_in_the_friction_bound_alone_does_not_press():
    response = tumbler.respond(*case(setting=dict(field_frequency=10.0, adhesion_law="friction")))
    forced = tumbler.respond(*case(setting=dict(field_frequency=10.0)))
    assert word(response.result) == "ok"
    assert abs(float(response.speed / forced.speed) - 1) > 1e-4


@pytest.mark.parametrize(
    ("design", "setting", "told"),
    [
        (dict(length=-1.0), {}, "Design.length"),
        (dict(outline="round"), {}, "outline"),
        (dict(outline="spiked_ends"), {}, "thickness"),
        (dict(outline="spiked", thickness=3e-4, spike_base=5e-4), {}, "spike bases"),
        (dict(outline="support", outline_radii=(1.0, -1.0)), {}, "outline_radii"),
        ({}, dict(incline=2.0), "Setting.incline"),
    ],
)
def test_bad_input_says_what_and_where(design, setting, told):
    with pytest.raises(ValueError, match=told):
        tumbler.respond(tumbler.published_design(**design), tumbler.published_setting(**setting))


def test_unknown_words_are_refused():
    with pytest.raises(ValueError, match="event, implicit"):
        tumbler.respond(*case(), method="euler")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="climb_margin, stall_field"):
        tumbler.respond(*case(), extra=("speed_of_light",))


def test_a_start_that_the_implicit_method_would_ignore_is_refused():
    with pytest.raises(ValueError, match="start belongs to the event method"):
        tumbler.respond(*case(), method="implicit", start=jnp.zeros(5))


def test_hull_of_a_design():
    outline = outline_of(tumbler.published_design(outline="spiked_ends", thickness=400e-6))
    assert int(outline.count) == 8
    assert float(outline.flat[0]) == 0.0  # between the tips of spikes is air
