"""Batches do not wait for one slow lane: it leaves, and is calculated alone to the same numbers."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.command import words
from diffmicro.devices import device
from diffmicro.sweep.grids import Batch, batches
from diffmicro.sweep.lanes import calculate, cut, lane_function
from diffmicro.sweep.patience import ALWAYS, GAIN, KEEP, patient

LANES = 64
FOREVER = 10**12
"""Iterations that nobody waits for."""


def counted(count, start=0):
    """`count` iterations of a loop of ten operations or so, and how many there were."""

    def once(carry):
        done, x = carry
        for _ in range(8):
            x = jnp.sin(x)
        return done + 1, x

    return jax.lax.while_loop(lambda carry: carry[0] < count, once, (start, jnp.ones(())))[0]


def in_a_scan(count):
    return jax.lax.scan(lambda done, _: (done + counted(count), None), 0, None, length=3)[0]


def in_a_loop(count):
    return jax.lax.while_loop(lambda n: n < count, lambda n: counted(n + 50, n), 0)


def in_a_branch(count):
    return jax.lax.cond(count > 5, counted, lambda n: n, count)


@jax.custom_jvp
def in_a_rule(count):
    return counted(count)


@in_a_rule.defjvp  # type: ignore[arg-type]
def _without_derivative(counts, _):
    return in_a_rule(*counts), np.zeros((), jax.dtypes.float0)


def mapped(count):
    return jnp.max(jax.vmap(counted)(jnp.stack([count, count // 2])))


KINDS = {
    "plain": (counted, 1),
    "scan": (in_a_scan, 3),
    "loop": (in_a_loop, 1),
    "branch": (in_a_branch, 1),
    "rule": (in_a_rule, 1),
    "jit": (jax.jit(counted), 1),
    "checkpoint": (jax.checkpoint(counted), 1),
    "mapped": (mapped, 1),
}


def run(function, counts, counting=None):
    counting = np.ones(len(counts), bool) if counting is None else counting
    found, left = jax.jit(patient(function))(counting, np.asarray(counts))
    return np.asarray(found), np.asarray(left)


@pytest.mark.parametrize("kind", KINDS)
def test_a_slow_lane_leaves_and_the_others_end(kind):
    function, times = KINDS[kind]
    counts = np.arange(100, 100 + 50 * LANES, 50)
    counts[7] = FOREVER
    found, left = run(function, counts)
    assert left.tolist() == [lane == 7 for lane in range(LANES)]
    expected = np.asarray(jax.vmap(function)(counts[:7]))
    np.testing.assert_array_equal(found[:7], expected)
    np.testing.assert_array_equal(found[~left], times * counts[~left])
    # The others have waited for what is ALWAYS allowed, not for a share of all that it would have taken.
    assert found[7] < 4 * (ALWAYS / 8 + counts[-1])


def test_lanes_that_are_slow_together_stay():
    """Half of them: alone they would take longer."""
    counts = np.where(np.arange(LANES) % 2, 10, 10**6)
    found, left = run(counted, counts)
    assert not left.any() and np.array_equal(found, counts)


def test_the_others_wait_for_a_share_of_what_a_lane_takes_alone():
    """A lane somewhat slower than the others stays, since they do not wait for long."""
    long = int(20 * ALWAYS)
    counts = np.full(LANES, long)
    counts[3] = int(long * (1 + 0.5 * KEEP * GAIN / LANES))
    counts[4] = FOREVER
    found, left = run(counted, counts)
    assert np.flatnonzero(left).tolist() == [4]
    assert found[3] == counts[3]
    assert found[4] < long * (1 + 4 * KEEP * GAIN / LANES)


def test_a_filler_takes_part_in_no_loop():
    counts = np.full(LANES, 100)
    counts[-1] = FOREVER
    found, left = run(counted, counts, np.arange(LANES) < LANES - 1)
    assert not left.any() and found[-1] == 0


def test_chunks_are_even():
    """A batch of which most is filling costs as much as a full one."""
    assert [len(part) for part in cut(300)] == [150, 150]
    assert [len(part) for part in cut(257)] == [129, 128]
    assert [len(part) for part in cut(256)] == [1] * 256
    assert np.concatenate(cut(1000)).tolist() == list(range(1000))


def test_lanes_that_left_come_with_the_numbers_that_they_have_alone():
    def build(**_):
        return lambda count, _: {"done": counted(count), "result": jnp.zeros((), jnp.int32)}

    counts = np.full(99, 100)
    counts[[2, 98]] = 10**6
    batch = Batch(np.arange(99), counts, counts)
    few = {"few": 0, "chunk": 50, "quick": {}}
    pieces = list(calculate(build, batch, result_of=_successful, **few))
    lanes = np.concatenate([piece.lanes for piece in pieces])
    done = np.concatenate([piece.output["done"] for piece in pieces])
    assert sorted(lanes) == list(range(99))
    np.testing.assert_array_equal(done[np.argsort(lanes)], counts)
    assert [piece.lanes.tolist() for piece in pieces if len(piece.lanes) == 1] == [[2], [98]]


ERRATIC = {
    "field": 0.26, "width": 9.8e-6, "thickness": 1.61e-4, "mass": 8.47e-7, "length": 5.83e-4,
    "friction": 0.0183, "magnetization": 3.5e5, "gravity": 800.0, "incline": -1.0, "adhesion": 5.1,
}  # fmt: skip
"""A tumbler whose motion takes a thousand times as long to follow as that of the published one."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, of, key, first, others, slow",
    [
        ("tumbler", "speed", "friction", 0.3, {}, ERRATIC),
        ("stickslip", "force", "runner_mass", 3e-3, {}, {"runner_mass": 1e-4}),
        # One volt leaves the foot in the air; ten make it bounce for the whole window.
        ("legs", "mean_height", "restitution", 0.5, {"voltage": 1.0}, {}),
    ],
)
def test_299_fast_points_and_a_slow_one(name, of, key, first, others, slow):
    """At most 1.5 times as long as the fast ones and the slow one apart, each compiled already."""
    build = lane_function(device(name).respond)

    def answer(points):
        found = list(calculate(build, one_batch(name, points), quick={}))
        order = np.argsort(np.concatenate([piece.lanes for piece in found]))
        values = [np.atleast_1d(getattr(piece.output, of)) for piece in found]
        return np.concatenate(values)[order]

    several = [others | {key: first * (1 + 3e-4 * n)} for n in range(300)]
    mixed = [*several[:150], slow, *several[151:]]
    spent = {}
    for kind, points in (("fast", several), ("slow", [slow]), ("mixed", mixed)):
        answer(points)
        spent[kind], found = quickest(lambda points=points: answer(points))
        if kind == "slow":
            alone = found
    assert spent["mixed"] < 1.5 * (spent["fast"] + spent["slow"])
    np.testing.assert_array_equal(found[150], alone[0])


def one_batch(name, points):
    chosen = (words.point(device(name), point) for point in points)
    (batch,) = batches([(point.design, point.setting) for point in chosen])
    return batch


def quickest(call):
    """Shortest of three times, and what was returned."""
    times = []
    for _ in range(3):
        before = time.process_time()
        found = call()
        times.append(time.process_time() - before)
    return min(times), found


def _successful(output):
    from diffmicro.results import from_code

    return from_code(output["result"])
