"""Event-located stepping on problems with closed forms: saltation, Zeno, limits, grazing."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.dynamics.hybrid import outcome, run, trace
from diffmicro.dynamics.system import Numerics
from diffmicro.results import from_code, word
from tests.dynamics.systems import Ball, Block, Moving, Pair, TwoBalls

HEIGHT = 1.0
# Gravity in height per period squared: from no bounce to sixteen within one period.
GRAVITY = np.array([1.5, 3.0, 20.0, 60.0, 150.0, 1500.0])
RESTITUTION = np.array([0.8, 1.0, 0.9, 1.0, 0.95, 0.97])


def ball(gravity, restitution=1.0, settles=0.0):
    return Ball(*(jnp.asarray(x, float) for x in (gravity, restitution, settles)))


def block(push, bound, rise=0.0):
    zero = jnp.zeros(())
    push, rise, bound = (jnp.asarray(x, float) for x in (push, rise, bound))
    return Block(push, rise, bound, zero, zero, zero)


def fall(height, gravity, restitution):
    state = Moving(height, 0.0 * height)
    return run(ball(gravity, restitution), state, 1, Numerics(), observe=True)


def bounced(height, gravity, restitution, time=1.0):
    """Place, d(place)/d(height) and number of bounces of a ball dropped from rest."""
    first = np.sqrt(2 * height / gravity)
    n, factor = 0, 0.0
    while first * (factor + (2 * restitution**n if n else 1.0)) < time:
        factor += 2 * restitution**n if n else 1.0
        n += 1
    if n == 0:
        return height - gravity * time**2 / 2, 1.0, 0
    after = time - first * factor
    speed = restitution**n * np.sqrt(2 * gravity * height)
    place = speed * after - gravity * after**2 / 2
    rate = speed / (2 * height) * after - (speed - gravity * after) * first * factor / (2 * height)
    return place, rate, n


@pytest.fixture(scope="module")
def expected():
    return np.array([bounced(HEIGHT, g, e) for g, e in zip(GRAVITY, RESTITUTION, strict=True)]).T


@pytest.fixture(scope="module")
def lanes():
    """Motion and forward derivative of the place by the height, all lanes at once."""
    heights = jnp.full(len(GRAVITY), HEIGHT)

    def place(h, g, e):
        motion = fall(h, g, e)
        return motion.state.place, motion

    both = jax.jit(jax.vmap(jax.jacfwd(place, has_aux=True)))
    return both(heights, jnp.asarray(GRAVITY), jnp.asarray(RESTITUTION))


def test_bouncing_ball_lands_where_the_closed_form_says(lanes, expected):
    _, motion = lanes
    assert len(set(expected[2])) == len(GRAVITY) and expected[2].max() >= 10
    np.testing.assert_array_equal(motion.record.events, expected[2])
    np.testing.assert_allclose(motion.state.place, expected[0], atol=1e-11 * HEIGHT)


def test_forward_derivative_through_any_number_of_bounces(lanes, expected):
    np.testing.assert_allclose(lanes[0], expected[1], rtol=1e-9)
    # Without saltation the derivative would be +1 however often the ball bounced.
    assert np.all(np.abs(lanes[0][1:] - 1) > 0.1)


def test_reverse_derivative_equals_the_forward_one(lanes):
    def place(h, g, e):
        end, _ = trace(ball(g, e), Moving(h, 0.0 * h), 1, Numerics(), advances=80)
        return end.state.place, end.periods

    reverse = jax.jit(jax.vmap(jax.grad(place, has_aux=True)))
    rates, periods = reverse(
        jnp.full(len(GRAVITY), HEIGHT), jnp.asarray(GRAVITY), jnp.asarray(RESTITUTION)
    )
    assert np.all(np.asarray(periods) == 1)
    np.testing.assert_allclose(rates, lanes[0], rtol=1e-11)


def test_second_derivative_through_bounces():
    def place(h):
        return fall(h, jnp.asarray(20.0), jnp.asarray(0.9)).state.place

    found = jax.jit(jax.jacfwd(jax.jacfwd(place)))(jnp.asarray(HEIGHT))
    step = 1e-5 * HEIGHT
    ends = [bounced(HEIGHT + s, 20.0, 0.9)[1] for s in (-step, step)]
    np.testing.assert_allclose(found, (ends[1] - ends[0]) / (2 * step), rtol=1e-8)


def test_lanes_of_a_batch_equal_single_lanes(lanes):
    single = jax.jit(fall)
    for i, (g, e) in enumerate(zip(GRAVITY, RESTITUTION, strict=True)):
        motion = single(jnp.asarray(HEIGHT), jnp.asarray(g), jnp.asarray(e))
        alone = [motion.state.place, motion.state.speed, motion.advances]
        batch = [x[i] for x in (lanes[1].state.place, lanes[1].state.speed, lanes[1].advances)]
        np.testing.assert_allclose(batch, alone, rtol=0, atol=1e-13 * np.sqrt(2 * g * HEIGHT))


def test_infinitely_many_bounces_end_at_rest():
    """Bounces come to rest at the closed time sum t1 (1 + e) / (1 - e), so here before t = 1."""
    gravity, restitution = 60.0, 0.6
    assert np.sqrt(2 * HEIGHT / gravity) * (1 + restitution) / (1 - restitution) < 1

    @jax.jit
    def drop(h):
        system = ball(gravity, restitution, 1e-6 * np.sqrt(2 * gravity * HEIGHT))
        return run(system, Moving(h, 0.0 * h), 1, Numerics(), observe=True)

    motion = drop(jnp.asarray(HEIGHT))
    assert int(motion.periods) == 1 and bool(motion.mode.rest)
    assert float(motion.state.place) == 0 and float(motion.state.speed) == 0
    # The rebound falls below the limit after this many bounces.
    assert int(motion.record.events) == int(np.ceil(np.log(1e-6) / np.log(restitution)))
    assert float(jax.jacfwd(lambda h: drop(h).state.place)(jnp.asarray(HEIGHT))) == 0


def test_too_many_events_are_a_status():
    """Without an end to the bounces: the limit on advances, told as such."""

    @jax.jit
    def drop(limit):
        del limit
        state = Moving(jnp.asarray(HEIGHT), jnp.asarray(0.0))
        return run(ball(60.0, 0.6), state, 1, Numerics(limit=40))

    motion = drop(0)
    assert int(motion.periods) == 0
    assert word(from_code(outcome(motion, 1))) == "event_limit"


def test_a_path_that_is_cut_short_has_no_end():
    """Too few advances for three bounces: a gradient of what there is would be another motion's."""

    @partial(jax.jit, static_argnums=1)
    def drop(height, advances):
        def place(height):
            end, path = trace(
                ball(20.0, 0.6), Moving(height, 0.0), 1, Numerics(), advances=advances
            )
            return end.state.place, (end, path.state.place)

        forward, reverse = (
            mode(place, has_aux=True)(height)[0] for mode in (jax.jacfwd, jax.jacrev)
        )
        return jnp.stack([forward, reverse]), *place(height)[1]

    for advances, word_of_it in ((24, "ok"), (10, "event_limit")):
        slopes, end, places = drop(jnp.asarray(HEIGHT), advances)
        whole = word_of_it == "ok"
        assert word(from_code(outcome(end, 1))) == word_of_it
        np.testing.assert_array_equal(np.isfinite([*slopes, end.state.place, places[-1]]), whole)
        assert np.all(np.isfinite(places[:-1]))


@pytest.fixture(scope="module")
def thrown_against_a_force():
    """Speed at half time of a block that starts at v0 against a force, and its derivative by v0."""

    def speed(v0, force, bound):
        state = Moving(0.0 * v0, v0)
        after = trace(block(-force, bound), state, 1, Numerics(), advances=40)[1]
        return after.state.speed[jnp.argmax(after.segment == 2)]

    return jax.jit(jax.value_and_grad(speed))


@pytest.mark.parametrize("force, bound", [(10.0, 2.0), (10.0, 9.0), (3.0, 0.0)])
def test_reversal_under_dry_friction(thrown_against_a_force, force, bound):
    """The reversal multiplies d(speed)/d(v0) by (F - mu N) / (F + mu N)."""
    speed, rate = thrown_against_a_force(0.5, force, bound)
    reversal = 0.5 / (force + bound)
    np.testing.assert_allclose(speed, -(force - bound) * (0.5 - reversal), rtol=1e-12)
    np.testing.assert_allclose(rate, (force - bound) / (force + bound), rtol=1e-12)


def test_block_that_stops_and_sticks_forgets_its_speed(thrown_against_a_force):
    speed, rate = thrown_against_a_force(0.5, 3.0, 4.0)
    assert float(speed) == 0 and float(rate) == 0


def test_switch_of_no_length_keeps_its_derivative():
    """A ramp from -F to F during r leaves F (1/2 - r) at half time and -F r after a period."""

    @jax.jit
    @jax.jacfwd
    def rate(rise):
        state = Moving(jnp.zeros(()), jnp.zeros(()))
        return run(block(3.0, 0.0, rise), state, 1, Numerics()).state.speed

    np.testing.assert_allclose(rate(0.0), -3.0, rtol=1e-12)
    np.testing.assert_allclose(rate(0.1), -3.0, rtol=1e-12)


def test_simultaneous_events_all_happen():
    """Two equal balls bounce in the same instants, each like one alone, derivatives too."""

    @jax.jit
    def drop(h):
        system = TwoBalls(jnp.asarray(60.0), jnp.asarray(0.9))
        motion = run(system, Pair(h[0], 0.0, h[1], 0.0), 1, Numerics(), observe=True)
        return jnp.stack([motion.state.first, motion.state.second]), motion.record.events

    heights = jnp.full(2, HEIGHT)
    rates, events = jax.jacfwd(drop, has_aux=True)(heights)
    place, rate, bounces = bounced(HEIGHT, 60.0, 0.9)
    assert int(events) == 2 * bounces
    np.testing.assert_allclose(drop(heights)[0], [place, place], atol=1e-12 * HEIGHT)
    np.testing.assert_allclose(rates, rate * np.eye(2), atol=1e-9 * abs(rate))


@pytest.fixture(scope="module")
def thrown_at_the_floor():
    """A ball thrown down against a lift: its height is a parabola, lowest at t = v / lift."""

    @jax.jit
    def margin(height, lift, speed):
        state = Moving(height, -speed)
        motion = run(ball(-lift), state, 1, Numerics(), observe=True)
        return motion.record

    return margin


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_margin_of_a_near_miss(thrown_at_the_floor, gap):
    lift, speed = 10.0, 4.3
    seen = thrown_at_the_floor(speed**2 / (2 * lift) + gap, lift, speed)
    assert float(seen.events) == 0
    np.testing.assert_allclose(seen.margin, np.sqrt(2 * gap / lift), rtol=1e-6)


@pytest.mark.parametrize("impact", [0.1, 1e-2, 1e-3])
def test_margin_of_a_weak_impact(thrown_at_the_floor, impact):
    lift, speed = 10.0, 4.3
    seen = thrown_at_the_floor((speed**2 - impact**2) / (2 * lift), lift, speed)
    assert float(seen.events) == 1
    np.testing.assert_allclose(seen.margin, impact / lift, rtol=1e-6)
