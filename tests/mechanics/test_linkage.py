"""Linkages as data: a parallelogram stage of two arcs, invariance, energy, folds."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

from diffmicro.mechanics import arcs
from diffmicro.mechanics.equilibrium import Conditions, at_rest, attach, follow, travel
from diffmicro.mechanics.linkage import (
    GROUND,
    MODELS,
    Linkage,
    Push,
    assembled,
    flexures,
    linearize,
    tangent_parts,
    turn,
)
from diffmicro.results import from_code, word


def stage(model="exact", beam=None):
    """A stage that two half rings, one above the other, hold to the frame: a parallelogram."""
    two = jnp.ones(2)
    return Linkage(
        pairs=((GROUND, 0), (GROUND, 0)),
        centers=jnp.array([[0.0, 1.0]]),
        hinges=jnp.array([[-3.0, 0.0], [-3.0, 2.0]]),
        radius=two,
        angle=jnp.pi * two,
        start_angle=jnp.pi * two,
        bending=two,
        softness=beam,
        model=model,
    )


PUSH = Push(0, jnp.zeros(2), jnp.array([0.0, 1.0]))


def _conditions(force):
    force = jnp.asarray(force, float)
    return Conditions(jnp.zeros((1, 3)), jnp.eye(1), jnp.zeros((1, 1)), force[None])


@pytest.fixture(scope="module")
def solved():
    """States of the stage per model under a push upward."""

    def state(mechanism, force):
        rest = at_rest(mechanism, (PUSH,))
        found = follow(mechanism, (PUSH,), rest, _conditions(0.0), _conditions(force))
        return found._replace(state=attach(mechanism, (PUSH,), found.state, _conditions(force)))

    return {model: jax.jit(partial(state, stage(model))) for model in MODELS}


@pytest.mark.parametrize("model", MODELS)
def test_stage_is_twice_as_stiff_as_its_arcs_for_small_pushes(solved, model):
    """The rings' stiffnesses of eq. 2, brought to the stage's center, add up."""
    found = solved[model](1e-6)
    one = np.asarray(arcs.stiffness_at_start(jnp.asarray(jnp.pi)))
    # Start sections point down (-y), so the stage's axes are those of the start turned by -90 degrees.
    c, s = 0.0, -1.0
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    total = np.zeros((3, 3))
    for arm in ([-2.0, -1.0], [-2.0, 1.0]):
        to_center = np.array([[1, 0, -arm[1]], [0, 1, arm[0]], [0, 0, 1]])
        total += to_center.T @ rotation @ one @ rotation.T @ to_center
    expected = np.linalg.solve(total, [0, 1e-6, 0])
    np.testing.assert_allclose(np.asarray(found.state.q)[0], expected, rtol=2e-5, atol=1e-12)


def test_exact_stage_equals_shooting(solved):
    """Both arcs as elasticas by an ODE solver, closed by SciPy."""
    force = 0.25
    found = solved["exact"](force)
    assert word(from_code(found.outcome)) == "ok"

    def end(load):
        def rate(_, z):
            return [np.cos(z[2]), np.sin(z[2]), 1 + load[2] - z[0] * load[1] + z[1] * load[0]]

        return solve_ivp(rate, (0, np.pi), [0, 0, 0], rtol=1e-11, atol=1e-12).y[:, -1]

    def equations(z):
        q, loads, out, push = z[:3], z[3:].reshape(2, 3), [], np.array([0, -force, 0.0])
        ct, st = np.cos(q[2]), np.sin(q[2])
        for load, arm in zip(loads, ([-2.0, -1.0], [-2.0, 1.0]), strict=True):
            # From the start at (-4, y) along -y; its axes: x is -y of the ground, y is x of the ground.
            lever = np.array([ct * arm[0] - st * arm[1], st * arm[0] + ct * arm[1]])
            span = np.array([2.0, 0.0]) + q[:2] + lever - arm
            pose = np.array([-span[1], span[0], np.pi + q[2]])
            out.append(end(load) - pose)
            ground = np.array([load[1], -load[0]])
            moment = load[2] - pose[0] * load[1] + pose[1] * load[0]
            push[:2] += ground
            push[2] += moment + lever[0] * ground[1] - lever[1] * ground[0]
        return np.concatenate([*out, push])

    expected = root(equations, np.zeros(9), tol=1e-11).x
    np.testing.assert_allclose(np.asarray(found.state.q)[0], expected[:3], atol=1e-7)
    assert abs(expected[1]) > 0.3  # far from linear


@pytest.mark.parametrize("model", ["consistent", "exact"])
def test_models_with_an_energy_have_a_symmetric_tangent(solved, model):
    state = solved[model](0.25).state
    mechanism = stage(model)
    matrix = assembled(mechanism, linearize(mechanism, state.loads, state.q))
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_parts_add_up_to_the_tangent(solved, model):
    state = solved[model](0.25).state
    mechanism = stage(model)
    parts = jax.jit(lambda s: tangent_parts(mechanism, s.loads, s.q))(state)
    whole = assembled(mechanism, linearize(mechanism, state.loads, state.q))
    np.testing.assert_allclose(sum(parts), whole, atol=1e-8)
    assert np.abs(np.asarray(parts[1])).max() > 1e-3


def test_turned_mechanism_turns_the_answer(solved):
    """The same stage and push, seen from axes turned by 0.7: displacements turn, rotations stay."""
    angle = jnp.asarray(0.7)
    plain, base = stage(), solved["exact"](0.25)
    turned = dataclasses.replace(
        plain,
        centers=jax.vmap(lambda p: turn(angle, p))(plain.centers),
        hinges=jax.vmap(lambda p: turn(angle, p))(plain.hinges),
        start_angle=plain.start_angle + angle,
    )
    push = Push(0, jnp.zeros(2), turn(angle, PUSH.direction))
    rest = at_rest(turned, (push,))
    found = follow(turned, (push,), rest, _conditions(0.0), _conditions(0.25))
    expected = turn(angle, base.state.q[0, :2])
    np.testing.assert_allclose(found.state.q[0, :2], expected, atol=1e-10)
    np.testing.assert_allclose(found.state.q[0, 2], base.state.q[0, 2], atol=1e-10)


def test_units_do_not_matter(solved):
    """Lengths times 3 and stiffness times 7: forces over EI/r^2 are the same."""
    plain, base = stage(), solved["exact"](0.25)
    scaled = dataclasses.replace(
        plain,
        centers=3 * plain.centers,
        hinges=3 * plain.hinges,
        radius=3 * plain.radius,
        bending=7 * plain.bending,
    )
    rest = at_rest(scaled, (PUSH,))
    found = follow(scaled, (PUSH,), rest, _conditions(0.0), _conditions(0.25 * 7 / 9))
    np.testing.assert_allclose(found.state.q[0, :2] / 3, base.state.q[0, :2], atol=1e-9)


def test_displacement_instead_of_force(solved):
    """Prescribing the travel gives the force that gave the travel."""
    base = solved["exact"](0.25)
    lift = travel((PUSH,), base.state.q)
    goal = Conditions(jnp.zeros((1, 3)), jnp.zeros((1, 1)), jnp.eye(1), lift)
    mechanism = stage()
    found = follow(
        mechanism, (PUSH,), at_rest(mechanism, (PUSH,)), goal._replace(value=0 * lift), goal
    )
    assert float(found.state.forces[0]) == pytest.approx(0.25, rel=1e-9)


def test_ends_of_flexures_are_where_the_arcs_end():
    every = flexures(stage())
    np.testing.assert_allclose(every.span, [[2.0, 0.0], [2.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(every.start_arm, [[-4.0, 0.0], [-4.0, 2.0]], atol=1e-15)
