"""The tumbler's implicit time stepping in space: the paper's statements, and mechanics that hold step by step."""

from typing import Any

import jax
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from diffmicro.devices.tumbler import published_design, published_setting
from diffmicro.devices.tumbler.implicit import (
    Start,
    respond_implicit,
    simulate_implicit,
    usual_steps,
)
from diffmicro.devices.tumbler.spatial import LINE_ARM
from diffmicro.parameters import as_arrays
from diffmicro.results import from_code, word

STEPS = 12000
IMPROVED = dict(mass=6.94e-8, magnetic_volume=3.2e-11, magnetization=51835.0, offset_angle=0.0)
ALUMINUM: dict[str, Any] = dict(electrostatic_force=0.0, friction=0.5359, adhesion=26.1771)
MASS, LENGTH, WIDTH, THICKNESS = 1.6071e-7, 8e-4, 4e-4, 1e-4
INERTIA = (
    MASS / 12 * np.array([LENGTH**2 + THICKNESS**2, WIDTH**2 + THICKNESS**2, LENGTH**2 + WIDTH**2])
)


def given(design=None, **setting):
    return as_arrays((published_design(**(design or {})), published_setting(**setting)))


def respond(design=None, steps=STEPS, settle=3, window=3, **setting):
    made, surface = given(design, **setting)
    return respond_implicit(made, surface, steps, settle=settle, window=window)


def status(response):
    return word(from_code(response.result_code))


def simulate(turns=2, start=None, heading=0.0, steering=0.0, steps=STEPS, **setting):
    design, setting = given(**setting)
    path = simulate_implicit(
        design, setting, steps, turns=turns, start=start, heading=heading, steering=steering
    )
    return jax.tree.map(np.asarray, path)


def frames(path):
    return Rotation.from_quat(path.attitude, scalar_first=True).as_matrix()


@pytest.fixture(scope="module")
def straight():
    return respond(field_frequency=10.0)


@pytest.fixture(scope="module")
def yawed():
    return simulate(field_frequency=10.0, start_yaw=0.2)


# Event-located values: mean speeds of the reference points, 10 and 15 Hz on paper, 10 Hz at 15 degrees.
@pytest.mark.parametrize(
    ("expected", "setting"),
    [
        (0.018471628882449923, dict(field_frequency=10.0)),
        (0.009, dict(field_frequency=5.0)),
        (0.0266398, dict(field_frequency=15.0)),
        (0.014891839090517636, dict(field_frequency=10.0, incline=0.2617993877991494)),
    ],
)
def test_speed_is_that_of_the_event_method(expected, setting):
    response = respond(**setting)
    assert status(response) == "ok"
    np.testing.assert_allclose(response.speed, expected, rtol=3e-3)
    assert response.max_penetration < 1e-9
    assert response.max_residual < 1e-10
    assert abs(response.yaw) < 1e-4


@pytest.mark.slow
def test_the_error_falls_with_the_step(straight):
    exact = 0.018471628882449923
    coarse = respond(steps=2500, field_frequency=10.0).speed
    assert abs(coarse - exact) > 2.5 * abs(straight.speed - exact)


def test_a_start_yaw_aligns(straight):
    """Reference: speed changes by less than 0.14 %, drift stays below 0.07 mm/s."""
    response = respond(field_frequency=10.0, start_yaw=0.2)
    assert status(response) == "ok"
    assert abs(response.yaw) < 0.01
    assert abs(response.speed / straight.speed - 1) < 1.4e-3
    assert abs(response.lateral_drift) < 0.07e-3


@pytest.mark.parametrize("offset", [0.0, -1.1])
def test_the_offset_of_the_magnetization_does_not_matter(straight, offset):
    """While the robot rolls straight, turning its magnet about the axis of rolling only shifts time."""
    response = respond(dict(offset_angle=offset), field_frequency=10.0)
    assert status(response) == "ok"
    np.testing.assert_allclose(response.speed, straight.speed, rtol=1e-3)


def test_slip_is_what_rolling_leaves(straight):
    np.testing.assert_allclose(straight.speed, 0.018 + straight.slip, rtol=1e-3)


@pytest.mark.parametrize(("degrees", "climbs"), [(45, 1), (60, 0)])
def test_climbs_45_degrees_on_paper_and_fails_60(degrees, climbs):
    response = respond(incline=np.radians(degrees))
    assert response.climbs == climbs
    assert status(response) == ("ok" if climbs else "runaway")
    if climbs:
        np.testing.assert_allclose(response.speed, 1.675986e-3, rtol=1e-2)
        np.testing.assert_allclose(response.max_adhesion, 1.188736e-6, rtol=1e-6)
    else:
        assert np.isnan(response.speed)


@pytest.mark.slow
def test_adhesion_takes_three_values_over_time():
    """Figure 6: 1.189e-6 N on the long face, 1.486e-7 N on the short one, none on an edge."""
    path = simulate(incline=np.pi / 4)
    levels = np.unique(np.round(path.adhesion, 11))
    np.testing.assert_allclose(levels, [0, 1.486e-7, 1.189e-6], rtol=1e-3)


@pytest.mark.slow
def test_a_smooth_outline_rolls_its_perimeter():
    ellipse = IMPROVED | dict(outline="superellipse", length=1.15e-3, thickness=0.2e-3)
    response = respond(ellipse, field_frequency=10.0, **ALUMINUM)
    np.testing.assert_allclose(response.speed, 0.023924937130964347, rtol=2e-4)
    assert response.max_adhesion == 0


def test_a_weak_field_stalls():
    response = respond(field_frequency=10.0, field=3e-3)
    assert status(response) == "stalled"
    assert response.climbs == 0


def test_steps_that_miss_the_alignment_are_an_error():
    with pytest.raises(ValueError, match=r"At least 29\d\d\d steps"):
        respond(IMPROVED, **ALUMINUM)
    design, setting = given(IMPROVED, **ALUMINUM)
    assert usual_steps(design, setting) > 1e5
    traced = jax.eval_shape(lambda s: respond_implicit(design, s, 1000), setting)
    assert traced.speed.shape == ()


def test_no_corner_is_below_the_ground_in_any_step(yawed):
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = corners * np.array([WIDTH, LENGTH, THICKNESS]) / 2
    heights = yawed.position[:, None, 2] + (frames(yawed)[:, 2] @ corners.T)
    assert heights.min() > -1e-9
    np.testing.assert_allclose(heights.min(axis=1), yawed.gap, atol=1e-15)


def test_momentum_balances_in_every_step(yawed):
    force = np.stack(
        [yawed.friction_force[:, 0], yawed.friction_force[:, 1], yawed.normal_force], axis=1
    )
    applied = force.copy()
    applied[:, 2] -= MASS * 9.81 + 3.2022e-6 + yawed.adhesion
    dt = yawed.time[1] - yawed.time[0]
    change = MASS * np.diff(yawed.velocity, axis=0) / dt
    size = np.abs(force).max()
    np.testing.assert_allclose(change, applied[1:], atol=1e-9 * size)


def test_angular_momentum_balances_in_every_step(yawed):
    """Contact moments change the spin; without them it follows the midpoint rule in body axes."""
    frame = frames(yawed)
    dt = yawed.time[1] - yawed.time[0]
    force = np.stack(
        [yawed.friction_force[:, 0], yawed.friction_force[:, 1], yawed.normal_force], axis=1
    )
    moment = np.cross(yawed.contact_point, force)
    moment[:, 2] += yawed.friction_moment

    def in_body(vector, frame):
        return np.einsum("tji,tj->ti", frame, vector)

    start, end = frame[:-1], frame[1:]
    before, after = in_body(yawed.spin[:-1], start), in_body(yawed.spin[1:], end)
    free = after - dt * in_body(moment[1:], start) / INERTIA
    magnet = 2.9e-11 * 15e3 * np.array([0, np.cos(np.radians(27)), np.sin(np.radians(27))])
    torque = np.cross(np.broadcast_to(magnet, before.shape), in_body(yawed.field[1:], start))
    middle = (before + free) / 2
    left = INERTIA * (free - before) / dt + np.cross(middle, INERTIA * middle)
    size = np.abs(moment).max()
    np.testing.assert_allclose(left, torque, atol=1e-9 * size)


def test_friction_stays_in_its_ellipsoid_and_never_drives(yawed):
    arm = LINE_ARM * WIDTH
    pull = np.hypot(np.linalg.norm(yawed.friction_force, axis=1), yawed.friction_moment / arm)
    assert np.all(pull <= 0.3 * yawed.normal_force * (1 + 1e-9) + 1e-16)
    power = np.sum(yawed.friction_force * yawed.slip[:, :2], axis=1)
    power = power + yawed.friction_moment * yawed.slip[:, 2]
    assert power.max() < 1e-9 * np.abs(power).max()
    slides = np.linalg.norm(yawed.slip[:, :2], axis=1) > 1e-6
    slides &= yawed.normal_force > 0
    assert slides.sum() > 100
    np.testing.assert_allclose(pull[slides], 0.3 * yawed.normal_force[slides], rtol=1e-9)


def test_turning_everything_about_the_normal_changes_nothing(yawed):
    angle = 0.9
    turned = Rotation.from_euler("z", angle)
    start = Start(
        position=np.array([0, 0, THICKNESS / 2]),
        attitude=Rotation.from_euler("z", angle + 0.2).as_quat(scalar_first=True),
        velocity=np.zeros(3),
        spin=np.zeros(3),
    )
    other = simulate(field_frequency=10.0, start=start, heading=angle)
    np.testing.assert_allclose(
        other.position, yawed.position @ turned.as_matrix().T, atol=1e-8 * LENGTH
    )
    np.testing.assert_allclose(other.normal_force, yawed.normal_force, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    ("spin", "roll"),
    [((3.0, 20.0, -10.0), 0.7), ((300.0, 200.0, -100.0), 0.7), ((30.0, -390.0, 100.0), 2.4)],
)
def test_without_a_field_nothing_gains_energy(spin, roll):
    """A robot is tossed, lands on a corner and comes to rest: not in one step does it gain more than rounding."""
    start = Start(
        position=np.array([0, 0, 6e-4]),
        attitude=Rotation.from_euler("zyx", [0.3, 0.2, roll]).as_quat(scalar_first=True),
        velocity=np.array([0.003, 0.01, 0]),
        spin=np.array(spin),
    )
    path = simulate(field=0.0, field_frequency=10.0, adhesion=0.0, start=start)
    spin_in_body = np.einsum("tji,tj->ti", frames(path), path.spin)
    energy = MASS / 2 * np.sum(path.velocity**2, axis=1)
    energy = energy + np.sum(INERTIA * spin_in_body**2, axis=1) / 2
    energy = energy + (MASS * 9.81 + 3.2022e-6) * path.position[:, 2]
    flies = (path.normal_force == 0)[1:]
    change = np.diff(energy) / energy[0]
    assert change[flies].max() < 0
    assert change.max() < 1e-11
    assert np.sum(change[change > 0]) < 1e-11
    assert energy[-1] < 0.5 * energy[0]
    assert flies.any() and not flies.all()
    assert path.gap.min() > -1e-12


def test_the_robot_follows_a_field_that_is_steered():
    quarter = simulate(field_frequency=10.0, steering=np.pi / 2 / 0.2)
    axis = frames(quarter)[-1, :, 0]  # the axis of rolling
    assert abs(np.arctan2(axis[1], axis[0]) - np.pi / 2) < 0.25
    moved = quarter.position[-1] - quarter.position[-2000]
    assert np.arctan2(-moved[0], moved[1]) > 1.0  # from y toward -x


@pytest.mark.slow
def test_derivatives_of_the_scheme_agree_forward_and_reverse():
    def speed(length):
        design, setting = given(dict(length=length), field_frequency=15.0)
        return respond_implicit(design, setting, 1000, settle=0, window=1).speed

    _, forward = jax.jvp(speed, (LENGTH,), (1.0,))
    assert np.isfinite(forward) and forward != 0
    np.testing.assert_allclose(jax.grad(speed)(LENGTH), forward, rtol=1e-9)


def test_the_printed_conditions_admit_a_body_inside_the_ground_and_the_solver_leaves_it():
    """Eqs. 13-14 at a tilted box whose corner is 10 um deep: the point where its side cuts the plane."""
    tilt, depth = np.radians(20), 1e-5
    frame = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
    half = np.array([LENGTH, THICKNESS]) / 2
    corner = frame @ -half  # the lower one of the two: the rear end of the bottom
    center = np.array([0, -depth - corner[1]])
    bottom, rear = (
        frame @ [0, -1],
        frame @ [-1, 0],
    )  # outer normals of the two faces that meet there
    up_the_rear = frame @ [0, 1]
    point = center + corner + up_the_rear * depth / up_the_rear[1]
    faces = np.array([bottom, rear, -bottom, -rear])
    f = faces @ (point - center) - np.array([half[1], half[0], half[1], half[0]])
    side = -bottom[0] / rear[0]  # l of the rear face; l of the bottom, face k, is zero
    cone = bottom + side * rear
    assert side > 0 and f[1] == pytest.approx(0, abs=1e-18)  # 0 <= l _|_ -f >= 0
    assert f.max() == pytest.approx(
        0, abs=1e-18
    )  # 0 <= lambda_n _|_ max f(a_2) >= 0, for any lambda_n
    assert point[1] == pytest.approx(0, abs=1e-18)  # a_2 = a_1 on the plane: l of the plane is free
    assert cone[0] == pytest.approx(0, abs=1e-15) and cone[1] < 0  # = -l n
    start = Start(
        position=np.array([0, *center]),
        attitude=Rotation.from_euler("x", tilt).as_quat(scalar_first=True),
        velocity=np.zeros(3),
        spin=np.zeros(3),
    )
    path = simulate(field_frequency=10.0, start=start)
    assert path.gap.min() > -1e-9
    assert path.gap[0] == pytest.approx(0, abs=1e-12)
