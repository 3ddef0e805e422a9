"""Steps of the stick-slip drive: the course of slip, the runner's exact motion, springs that slide on the way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from diffmicro.devices.stickslip.oscillator import oscillator
from diffmicro.devices.stickslip.slip import Past, at_rest, fitted, followed, going_on
from diffmicro.mechanics.loading import sphere_loading
from diffmicro.mechanics.masing import Masing
from diffmicro.mechanics.tangential import Springs

STEP = jnp.asarray(0.2)


def number(value):
    return jnp.asarray(value, float)


def since(course, start, instant):
    return number(course(start) - course(instant)), number(start - instant)


def test_a_cubic_is_fitted_exactly_through_three_steps_of_any_length():
    def course(t):
        return 0.3 * t - 0.7 * t**2 + 1.1 * t**3

    past = Past(since(course, 0.5, 0.4), since(course, 0.5, 0.33), number(2))
    slid = number(course(0.7) - course(0.5))
    b, c = fitted(past, slid, STEP)
    share = np.linspace(0, 1, 7)
    expected = [course(0.5 + 0.2 * s) - course(0.5) for s in share]
    np.testing.assert_allclose(
        slid * share + (b + c * share) * share * (1 - share), expected, atol=1e-14
    )


def test_after_a_reversal_slip_starts_from_rest():
    def course(t):
        return 2.0 * t**2 - 0.9 * t**3

    past = at_rest(number(course(0.07)), number(0.07))
    first = number(course(0.27) - course(0.07))
    b, c = fitted(past, first, STEP)
    assert float(c) == 0  # the parabola from rest, wrong by the cubic's share
    middle = course(0.17) - course(0.07)
    assert float(first / 2 + b / 4) == pytest.approx(middle, abs=0.9 * 0.27**3)
    past = followed(past, first, STEP)
    second = number(course(0.47) - course(0.27))
    b, c = fitted(past, second, STEP)
    share = np.linspace(0, 1, 7)
    expected = [course(0.27 + 0.2 * s) - course(0.27) for s in share]
    np.testing.assert_allclose(
        second * share + (b + c * share) * share * (1 - share), expected, atol=1e-14
    )
    third = followed(past, second, STEP)
    assert float(third.count) == 2
    np.testing.assert_allclose(third.far, since(course, 0.47, 0.0), atol=1e-15)


def test_slip_goes_on_as_a_parabola():
    past = Past(
        (number(0.19), number(0.1)), (number(0.36), number(0.2)), number(2)
    )  # 2 t - t^2 up to 0
    slip, bend = going_on(past, STEP)
    # 1.9 per time, less every step: s = 1.8 t - ... through -0.1 and -0.2
    rate, curve = np.linalg.solve([[0.1, -0.01], [0.2, -0.04]], [0.19, 0.36])
    assert float(slip) == pytest.approx(rate * 0.2 + curve * 0.04)
    assert float(bend) == pytest.approx(-curve * 0.04)


@pytest.mark.parametrize("h", [0.003, 0.3, 1.2])
def test_the_runner_follows_a_bend_exactly(h):
    stiffness, damping = 1.01, 0.07
    exact = oscillator(number(stiffness), number(damping), jnp.asarray([h]))

    def rates(t, y, power):
        push = (t / h) ** power * (1 - t / h)
        return [y[1], push - 2 * damping * y[1] - stiffness * y[0]]

    for i in (0, 1):
        end = solve_ivp(rates, (0, h), [0, 0], args=(i + 1,), rtol=1e-12, atol=1e-16).y[:, -1]
        assert float(exact.position_bends[i][0]) == pytest.approx(end[0], rel=1e-9)
        assert float(exact.velocity_bends[i][0]) == pytest.approx(end[1], rel=1e-9)


def test_mean_force_of_springs_that_begin_to_slide():
    law = Springs(jnp.linspace(0.05, 1.0, 20), jnp.full(20, 0.05))
    begin = law.move(law.rest(), jnp.asarray([0.8, -0.5]), jnp.zeros(2))

    def mean(change):
        return law.force_and_mean(begin, law.move(begin, change[None], change[None]), change)[1]

    for change in (0.9, -0.9, 0.0):
        ways = change * (np.arange(20000) + 0.5) / 20000
        forces = jax.vmap(lambda w: law.force(law.move(begin, w[None], w[None]), w))(
            jnp.asarray(ways)
        )
        assert float(mean(number(change))) == pytest.approx(float(jnp.mean(forces)), abs=1e-7)
    # its derivative sees springs that begin to slide in between, as far as they matter
    slope = (mean(number(0.9 + 1e-4)) - mean(number(0.9 - 1e-4))) / 2e-4
    assert float(jax.grad(mean)(number(0.9))) == pytest.approx(float(slope), rel=1e-3)


TURNS = (0.8, -0.5, 0.4, -0.3)
"""Changes of the displacement that leave loops behind: three close on the way on, and then all slides."""


@pytest.mark.parametrize("change", [0.2, 0.3, 1.5, 4.0])
def test_mean_force_of_a_contact_whose_loops_close(change):
    law = Masing(sphere_loading, None, number(1.3), number(0.9), 16)
    begin = law.move(law.rest(), jnp.asarray([*TURNS, 0.05]), jnp.zeros(5))

    @jax.jit
    def mean(change):
        end = law.move(begin, change[None], change[None])
        return *law.mean(begin, end), law.breaks(begin, end)

    ways = change * (np.arange(20000) + 0.5) / 20000
    forces = jax.vmap(lambda w: law.force(law.move(begin, w[None], w[None]), w))(jnp.asarray(ways))
    found, known, breaks = mean(number(change))
    assert known and bool(breaks) == (change > 0.25)
    # two points a branch, of which the longest is twice the presliding displacement
    assert float(found) == pytest.approx(float(jnp.mean(forces)), rel=1e-2)
    slope = (mean(number(change + 1e-4))[0] - mean(number(change - 1e-4))[0]) / 2e-4
    found = jax.jit(jax.grad(lambda c: mean(c)[0]))(number(change))
    assert float(found) == pytest.approx(float(slope), rel=1e-5)


def test_mean_force_is_exact_as_a_step_gets_short():
    """Halving a way with a closing loop in its middle: the error goes with its third power or better."""
    law = Masing(sphere_loading, None, number(1.0), number(1.0), 16)
    loaded = law.move(law.rest(), jnp.asarray([0.8, -0.5]), jnp.zeros(2))

    def error(way):
        begin = law.move(loaded, jnp.asarray([0.5 - way / 2]), jnp.zeros(1))
        ends = way * (np.arange(4000) + 0.5) / 4000
        forces = jax.vmap(lambda w: law.force(law.move(begin, w[None], w[None]), w))(
            jnp.asarray(ends)
        )
        return abs(
            float(law.mean(begin, law.move(begin, number(way)[None], number(way)[None]))[0])
            - float(jnp.mean(forces))
        )

    assert error(0.2) < 2e-5 and error(0.1) < error(0.2) / 7


def test_more_loops_than_are_watched_are_said():
    law = Masing(sphere_loading, None, number(1.0), number(1.0), 32)
    shrinking = jnp.asarray([(-1) ** k * (1.5 - 0.1 * k) for k in range(10)])
    begin = law.move(law.rest(), shrinking, shrinking)
    begin = law.move(begin, jnp.asarray([0.01]), jnp.asarray([0.01]))
    far = law.move(begin, jnp.asarray([1.0]), jnp.asarray([1.0]))
    assert law.breaks(begin, far) and not law.mean(begin, far)[1]
    # and a way back has no mean of its own
    back = law.move(begin, jnp.asarray([-0.5]), jnp.asarray([-0.5]))
    assert not law.breaks(begin, back)
