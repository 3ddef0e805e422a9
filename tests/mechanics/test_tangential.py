"""Tangential contact: springs against the exact law, closed forms, memory, single-state laws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.mechanics.elastic import (
    contact_stiffness,
    effective_modulus,
    effective_shear_modulus,
    hertz_contact_radius,
    hertz_indentation,
    presliding,
)
from diffmicro.mechanics.loading import Outline, outline_loading, sphere_loading
from diffmicro.mechanics.masing import Masing
from diffmicro.mechanics.presliding import SINGLE_STATE_LAWS, single_state
from diffmicro.mechanics.tangential import Springs, midpoints, press
from diffmicro.reference import cattaneo
from tests.oracles.closed_forms import cattaneo_force, hertz_force

SPHERE = Outline(jnp.asarray(0.0), jnp.asarray(1.0), jnp.asarray(1.7))
WORN = Outline(jnp.asarray(0.6), jnp.asarray(1.0), jnp.asarray(1.7))
ROUGH = Outline(jnp.asarray(0.2), jnp.asarray(0.7), jnp.asarray(0.9))


def springs(outline, count=20000):
    limits = 1 - outline.depth(midpoints(count, jnp.float64))
    return Springs(limits, jnp.full_like(limits, 1 / count))


def masing(outline, memory=64):
    one = jnp.asarray(1.0)
    return Masing(outline_loading, outline, one, one, memory)


@jax.jit
def follow(law, path):
    """Forces along a path of displacements, from rest."""

    def go(at, target):
        state, here = at
        state = law.move(state, jnp.stack([target - here]), jnp.ones(1))
        return (state, target), (law.force(state, jnp.asarray(1.0)), law.overflowed(state))

    start = (law.rest(), jnp.asarray(0.0))
    return jax.lax.scan(go, start, path)[1]


@pytest.fixture
def path(rng):
    """Reversals of all sizes, with loops inside loops and full sliding in between."""
    sizes = np.concatenate(
        [rng.uniform(0, 3, 40), rng.uniform(0, 0.5, 40), np.geomspace(2, 0.01, 30)]
    )
    signs = np.where(np.arange(sizes.size) % 2, 1, -1)
    return jnp.asarray(np.cumsum(signs * sizes) * 0.6)


@pytest.mark.parametrize("outline", [SPHERE, WORN, ROUGH], ids=["sphere", "worn", "rough"])
def test_masing_is_the_limit_of_many_springs(outline, path):
    exact, full = follow(masing(outline), path)
    discrete, _ = follow(springs(outline), path)
    assert not full.any()
    np.testing.assert_allclose(discrete, exact, atol=2e-7)


def test_first_loading_is_cattaneo_and_mindlin():
    reach = jnp.linspace(0, 0.999, 50)
    expected = cattaneo_force(reach, 1.0, 2 / 3)
    np.testing.assert_allclose(
        jax.vmap(lambda r: outline_loading(r, SPHERE))(reach), expected, atol=1e-14
    )
    np.testing.assert_allclose(jax.vmap(sphere_loading)(reach), expected, atol=1e-14)


def test_stiffness_of_first_loading_is_the_core_that_sticks():
    slope = jax.vmap(jax.grad(lambda r: outline_loading(r, WORN)))(jnp.array([0.0, 0.3, 0.9]))
    core = jax.vmap(lambda r: WORN.radius(1 - r))(jnp.array([0.0, 0.3, 0.9]))
    np.testing.assert_allclose(slope, core, rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(WORN.depth)(core), [1.0, 0.7, 0.1], atol=1e-14)


@pytest.mark.parametrize("amplitude", [0.1, 0.5, 0.9, 1.7])
def test_closed_loops_dissipate_what_mindlin_says(amplitude):
    turn = amplitude * jnp.cos(jnp.linspace(0, 2 * jnp.pi, 4001))
    forces, _ = follow(masing(SPHERE), jnp.concatenate([turn, turn]))
    forces = forces[4001:]
    work = jnp.sum((forces[1:] + forces[:-1]) / 2 * jnp.diff(turn))
    expected = cattaneo.dissipation(jnp.asarray(amplitude), 1.0, 2 / 3)
    np.testing.assert_allclose(work, expected, rtol=2e-5)


def test_dissipation_at_small_amplitudes_is_cubic():
    small = cattaneo.small_dissipation(jnp.asarray(1e-3), 1.0, 1.0)
    np.testing.assert_allclose(cattaneo.dissipation(jnp.asarray(1e-3), 1.0, 1.0), small, rtol=1e-3)


def test_clipping_is_two_sided():
    """A path far to one side and back ends with the opposite friction force, not with none."""
    forces, _ = follow(springs(SPHERE, 100), jnp.array([5.0, 0.0]))
    np.testing.assert_allclose(forces, [2 / 3, -2 / 3], rtol=1e-4)


def test_memory_overflows_with_a_flag_and_not_in_silence():
    shrinking = jnp.asarray(np.array([(-1) ** k * (1 - k / 50) for k in range(30)]))
    _, full = follow(masing(SPHERE, memory=8), shrinking)
    assert not full[7] and full[-1]
    assert not follow(masing(SPHERE, memory=32), shrinking)[1].any()


def test_closed_loops_free_their_memory():
    many = jnp.asarray(np.tile([0.5, 0.4], 50))
    forces, full = follow(masing(SPHERE, memory=4), many)
    assert not full.any()
    np.testing.assert_allclose(forces[-2], forces[0], rtol=1e-14)


def test_springs_with_a_smaller_dynamic_friction_drop_and_stick_again():
    law = Springs(jnp.array([1.0]), jnp.array([1.0]), jnp.asarray(0.5))
    forces, _ = follow(law, jnp.array([0.9, 1.1, 1.3, -1.0]))
    np.testing.assert_allclose(forces, [0.9, 0.5, 0.7, -0.5], rtol=1e-15)


def test_pressing_less_relaxes_springs():
    np.testing.assert_array_equal(press(jnp.array([0.5, -0.5]), jnp.array([0.2, 0.0])), [0.2, 0.0])


def test_hertz_and_presliding_of_the_thesis():
    """Contact radii 3.558 and 5.647 um (quoted as 3.5 and 5.9), presliding 42.8 and 27.0 nm."""
    moduli = (210e9, 0.3, 370e9, 0.3)
    modulus, shear = effective_modulus(*moduli), effective_shear_modulus(*moduli)
    lower = 0.1 / 8**0.5
    radii = [hertz_contact_radius(lower, R, modulus) for R in (0.25e-3, 1e-3)]
    np.testing.assert_allclose(radii, [3.558e-6, 5.647e-6], rtol=2e-4)
    depths = jnp.array(
        [hertz_indentation(0.25 / root, 0.5e-3, modulus) for root in (2**0.5, 8**0.5)]
    )
    np.testing.assert_allclose(
        presliding(depths, 0.3, modulus, shear), [42.8e-9, 27.0e-9], rtol=2e-3
    )
    np.testing.assert_allclose(hertz_force(depths[0], 0.5e-3, modulus), 0.25 / 2**0.5, rtol=1e-14)
    # Coulomb's force is 2/3 of stiffness times presliding, for any sphere
    stiff = contact_stiffness(jnp.sqrt(0.5e-3 * depths[0]), shear)
    limit = 0.3 * 0.25 / 2**0.5
    np.testing.assert_allclose(
        limit, 2 / 3 * stiff * presliding(depths[0], 0.3, modulus, shear), rtol=1e-13
    )


def make(law, **numbers):
    one = jnp.asarray(1.0)
    return single_state(law, stiffness=one, static=one, **numbers)


@pytest.mark.parametrize("law", SINGLE_STATE_LAWS)
def test_single_state_laws_approach_coulomb_and_dahl_is_exact(law):
    way = jnp.linspace(0, 20, 400)
    forces, _ = follow(make(law), way)
    np.testing.assert_allclose(forces[-1], 1.0, atol=1e-6)
    assert (jnp.diff(forces) >= -1e-12).all()
    if law in ("dahl", "lugre"):
        np.testing.assert_allclose(forces, 1 - jnp.exp(-way), atol=1e-13)
    else:
        elastic = way < (0.7 if law == "elastoplastic" else 0.5)
        np.testing.assert_allclose(forces[elastic], way[elastic], atol=1e-13)


@pytest.mark.parametrize("law", ["elastoplastic", "ceim"])
def test_elastoplastic_laws_do_not_creep_where_dahl_does(law):
    """Small oscillations under a load: the elasto-plastic laws come back to where they were."""
    loads = jnp.asarray(np.tile([0.3, 0.2], 100))
    for name, creeps in ((law, False), ("dahl", True)):
        forces, _ = follow(make(name), loads)
        assert (abs(forces[-2] - forces[0]) > 1e-3) == creeps


def test_elastoplastic_steps_do_not_matter_much():
    fine, _ = follow(make("elastoplastic"), jnp.linspace(0, 3, 3001))
    coarse, _ = follow(make("elastoplastic"), jnp.linspace(0, 3, 31))
    np.testing.assert_allclose(coarse, fine[::100], atol=2e-4)


def test_lugre_falls_with_velocity_and_is_viscous():
    law = make("lugre", dynamic=0.6, stribeck=2.0, viscous=0.1, elastic_damping=0.05)
    slow, fast = law.steady(jnp.asarray(1e-6)), law.steady(jnp.asarray(20.0))
    np.testing.assert_allclose([slow, fast], [1.0, 0.6], rtol=1e-9)
    # at the steady displacement only the viscous force is added
    np.testing.assert_allclose(law.force(fast, jnp.asarray(20.0)), 0.6 + 2.0, rtol=1e-9)


def test_unknown_law():
    with pytest.raises(ValueError, match="is not one of dahl"):
        make("stribeck")


@pytest.mark.parametrize("law", ["elastoplastic", "ceim"])
def test_plastic_flow_begins_without_a_loss_of_digits(law):
    """A hair beyond the elastic limit alpha and what it takes away vanish as a power of the way."""
    knee = 0.7 if law == "elastoplastic" else 0.5

    def end(limit, way):
        contact = single_state(law, stiffness=jnp.ones(()), static=limit)
        return contact.move(jnp.zeros(()), (knee + way)[None], jnp.ones(1))

    for way in (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4):
        taken = 10 * way**2
        value, slopes = jax.value_and_grad(end, argnums=(0, 1))(jnp.ones(()), jnp.asarray(way))
        assert value == pytest.approx(knee + way, abs=taken * way + 1e-15)
        np.testing.assert_allclose(slopes, [0, 1], atol=4 * taken + 1e-14)
