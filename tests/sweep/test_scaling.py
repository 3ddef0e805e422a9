"""What a sweep costs as it grows: time a point, memory, and no second compilation."""

import time
import tracemalloc

import jax
import numpy as np
import pytest

from diffmicro.sweep import join, sweep
from diffmicro.sweep.run import BYTES
from tests.sweep import toy


@pytest.fixture
def compiled():
    """Counts the programs that XLA compiles while the test runs; what was read from a cache counts too."""
    counts = []

    def listen(event, duration_secs, **_):
        if "backend_compile" in event:
            counts.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield counts
    jax.monitoring.unregister_event_duration_listener(listen)


@pytest.mark.parametrize(
    ("count", "asked"),
    [
        (20, {}),
        (300, {}),
        (20, {"wrt": ["length"]}),
        (300, {"wrt": ["length"]}),
        (20, {"carry": "up"}),
    ],
)
def test_a_second_sweep_of_the_same_shape_compiles_nothing(compiled, count, asked):
    program = {"offset": 100.0 + count + len(asked)}  # one that no other test has compiled
    for first in (0.1, 0.2):
        before = len(compiled)
        axes = {"drive": np.linspace(first, 1.9, count)}
        table = join(list(sweep(toy.TOY, axes, **asked, **program)))
        assert len(table) == count
        assert (len(compiled) > before) == (first == 0.1)


@pytest.mark.slow
def test_a_point_costs_the_same_from_a_thousand_to_a_hundred_thousand():
    """Seconds of the processor, so that other programs do not count. Sweeps of 20,000 points and more."""

    def axes(count):
        return {
            "friction": np.linspace(0.1, 0.9, count // 10),
            "force_ratio": np.linspace(0.3, 0.9, 10),
        }

    def spent(count):
        start = time.process_time()
        for _ in range(max(1, 20_000 // count)):
            assert sum(map(len, sweep("tribometer", axes(count)))) == count
        return (time.process_time() - start) / max(count, 20_000)

    counts = (1_000, 10_000, 100_000)
    for count in counts:
        parts = sweep("tribometer", axes(count))
        next(parts)  # compiles
        parts.close()
    # In turns, and the least of each: what else the machine does slows whatever runs at the time.
    rounds = [[spent(count) for count in counts] for _ in range(3)]
    cost = np.min(rounds, axis=0)
    assert cost.max() < 1.2 * cost.min(), rounds


@pytest.mark.slow
def test_memory_grows_with_the_table_alone():
    axes = {"drive": np.linspace(0.1, 1.9, 3_000), "length": np.linspace(1.0, 2.0, 10)}
    list(sweep(toy.TOY, {"drive": [0.1], "length": np.linspace(1.0, 2.0, 300)}))
    tracemalloc.start()
    table = join(list(sweep(toy.TOY, axes)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(table) == 30_000
    assert most < BYTES * len(table)
