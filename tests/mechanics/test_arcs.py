"""Circular arcs: small loads against the unit-load integral, the exact arc against an ODE solver."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from diffmicro.mechanics import arcs

ANGLE = np.deg2rad(300.0)
LOAD = np.array([0.08, -0.05, 0.06])  # three times what closes the gripper
SOFT = np.array([2e-3, 5e-3])


@pytest.fixture(scope="module")
def ends():
    """Pose and Jacobian of both beams, compiled once each."""
    rigid = jax.jit(lambda load, angle: arcs.pose_and_compliance(load, angle))
    soft = jax.jit(lambda load, angle: arcs.pose_and_compliance(load, angle, jnp.asarray(SOFT)))
    return {"inextensible": rigid, "extensible": soft}


def _integrated(load, angle, softness):
    def rate(_, z):
        c, s = np.cos(z[2]), np.sin(z[2])
        along, across = load[0] * c + load[1] * s, -load[0] * s + load[1] * c
        stretch, shear = 1 + softness[0] * along, softness[1] * across
        curvature = 1 + load[2] - z[0] * load[1] + z[1] * load[0]
        return [stretch * c - shear * s, stretch * s + shear * c, curvature]

    return solve_ivp(rate, (0, angle), [0, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


@pytest.mark.parametrize("angle", [0.3, np.pi, ANGLE, np.deg2rad(340)])
def test_equation_2_is_the_integral_of_the_unit_loads(angle):
    """Bending energy of moments m_k(s) of unit loads at the end, in the axes of the end's section."""
    end = np.array([np.sin(angle), 1 - np.cos(angle)])
    tangent, normal = (
        np.array([np.cos(angle), np.sin(angle)]),
        np.array([-np.sin(angle), np.cos(angle)]),
    )

    def moment(k, s):
        arm = end - np.array([np.sin(s), 1 - np.cos(s)])
        if k == 2:
            return 1.0
        force = (tangent, normal)[k]
        return arm[0] * force[1] - arm[1] * force[0]

    expected = [
        [quad(lambda s, j=j, k=k: moment(j, s) * moment(k, s), 0, angle)[0] for k in range(3)]
        for j in range(3)
    ]
    np.testing.assert_allclose(
        arcs.compliance(jnp.asarray(angle)), expected, rtol=1e-10, atol=1e-13
    )


@pytest.mark.parametrize("beam", ["inextensible", "extensible"])
def test_exact_arc_equals_an_ode_solver(ends, beam):
    softness = SOFT if beam == "extensible" else np.zeros(2)
    pose, jacobian = ends[beam](LOAD, ANGLE)
    np.testing.assert_allclose(pose, _integrated(LOAD, ANGLE, softness), atol=2e-9)
    step = 1e-2
    for k, unit in enumerate(np.eye(3)):
        values = [
            _integrated(LOAD + n * step * unit, ANGLE, softness) for n in (-3, -2, -1, 1, 2, 3)
        ]
        slope = np.array([-1, 9, -45, 45, -9, 1]) @ np.array(values) / (60 * step)
        np.testing.assert_allclose(jacobian[:, k], slope, atol=3e-6)


def test_no_load_gives_equation_2(ends):
    pose, jacobian = ends["inextensible"](np.zeros(3), ANGLE)
    stiffness = arcs.end_stiffness(jnp.zeros(3), pose, jnp.linalg.inv(jacobian))
    np.testing.assert_allclose(
        stiffness, arcs.stiffness_at_start(jnp.asarray(ANGLE)), rtol=1e-8, atol=1e-9
    )


@pytest.mark.parametrize("beam", ["inextensible", "extensible"])
def test_stiffness_under_load_is_symmetric(ends, beam):
    """The arc has an energy."""
    pose, jacobian = ends[beam](LOAD, ANGLE)
    stiffness = arcs.end_stiffness(jnp.asarray(LOAD), pose, jnp.linalg.inv(jacobian))
    np.testing.assert_allclose(stiffness, stiffness.T, atol=1e-8)


def test_trace_ends_where_the_arc_ends(ends):
    pose, _ = ends["inextensible"](LOAD, ANGLE)
    path = arcs.trace(jnp.asarray(LOAD), jnp.asarray(ANGLE), None, 32)
    np.testing.assert_allclose([path.x[-1], path.y[-1], path.phi[-1]], pose, atol=1e-8)
    np.testing.assert_allclose(path.c**2 + path.s**2, 1.0, rtol=1e-14)


def test_load_for_a_pose_is_the_inverse_in_every_derivative(ends):
    """d load/d pose inverts d pose/d load; the pose at fixed load moves with the angle along the arc."""
    pose, jacobian = ends["inextensible"](LOAD, ANGLE)
    near, angle = jnp.asarray(LOAD), jnp.asarray(ANGLE)

    def load(pose, angle):
        return arcs.load_for(pose, near, angle, None)

    by_pose, by_angle = jax.jit(jax.jacfwd(load, argnums=(0, 1)))(pose, angle)
    np.testing.assert_allclose(by_pose @ jacobian, np.eye(3), atol=1e-10)
    curvature = 1 + LOAD[2] - pose[0] * LOAD[1] + pose[1] * LOAD[0]
    along = np.array([np.cos(pose[2]), np.sin(pose[2]), curvature])
    np.testing.assert_allclose(jacobian @ by_angle, -along, atol=1e-9)


def test_stiff_section_is_inextensible(ends):
    pose, _ = ends["inextensible"](LOAD, ANGLE)
    soft = arcs.softness_of(jnp.asarray(5e-6), jnp.asarray(2e-4), jnp.asarray(0.25))
    assert np.asarray(soft) == pytest.approx([5.2083e-5, 1.5625e-4], rel=1e-4)
    flexible = arcs.end_pose(jnp.asarray(LOAD), jnp.asarray(ANGLE), soft)
    assert 1e-7 < float(jnp.max(jnp.abs(flexible - pose))) < 1e-4
