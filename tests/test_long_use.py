"""Long use: many evaluations in one process, by every door: memory stays as it is, nothing is compiled anew."""

import gc
import os
import resource
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.certificate import value_and_gradient
from diffmicro.command.evaluation import Request, answer_points
from diffmicro.command.files import file_points
from diffmicro.command.words import usual
from diffmicro.devices import device
from diffmicro.parameters import as_arrays
from diffmicro.results import word

WARM, COUNT = 500, 10_000
GROWTH = 1.05
"""Memory at the end over that after the warm-up."""

COMPILED = "/jax/core/compile/backend_compile_duration"

pytestmark = pytest.mark.slow


def memory() -> int:
    """Bytes of this process that are in the machine's memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.fixture
def compiled():
    """The compilations from here on, one entry each."""
    found = []

    def listen(event: str, duration_secs: float, **_: str | int) -> None:
        if event == COMPILED:
            found.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield found
    jax.monitoring.unregister_event_duration_listener(listen)


TRIBOMETER = device("tribometer")


def gradient():
    """A jitted gradient with its certificate."""
    call = jax.jit(value_and_gradient(TRIBOMETER, ("friction", "probe_mass"), "sliding_velocity"))

    def once(drag, folder):
        setting = TRIBOMETER.published_setting(drag_ratio=drag)
        value, _, _, _ = call(*as_arrays((TRIBOMETER.published_design(), setting)))
        return float(value)

    return once


def respond():
    """The plain function, not jitted by whoever calls it."""

    def once(drag, folder):
        setting = TRIBOMETER.published_setting(drag_ratio=drag)
        return float(TRIBOMETER.respond(TRIBOMETER.published_design(), setting).sliding_velocity)

    return once


def command():
    """`evaluate --points`, a file of one line each time."""

    def once(drag, folder):
        file = folder / "points.jsonl"
        file.write_text(f'{{"drag_ratio": {drag!r}}}\n')
        (answer,) = answer_points(Request(TRIBOMETER, usual(TRIBOMETER)), file_points(file))
        return answer.response["sliding_velocity"]

    return once


def motion():
    """A motion through events, jitted: stick, slip and impacts of the WRMMA."""
    wrmma = device("wrmma")
    call = jax.jit(lambda *point: wrmma.respond(*point, window=0, throw=False))

    def once(share, folder):
        setting = wrmma.published_setting(load_factor=jnp.asarray(8 + 24 * share))
        response = call(*as_arrays((wrmma.published_design(), setting)))
        return float(response.velocity) if word(response.result) == "ok" else 0.0

    return once


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux tells the memory so")
@pytest.mark.parametrize("door", [gradient, respond, command, motion], ids=lambda d: d.__name__)
def test_ten_thousand_evaluations(door, compiled, tmp_path, rng):
    once, values = door(), []
    for drag in rng.uniform(0.6, 0.95, WARM):
        once(float(drag), tmp_path)
    before, started = memory(), len(compiled)
    assert started > 0
    for drag in rng.uniform(0.6, 0.95, COUNT):
        values.append(once(float(drag), tmp_path))
    after, new = memory(), len(compiled) - started
    print(
        f"{door.__name__}: {before / 1e6:.0f} MB before, {after / 1e6:.0f} MB after, {new} compiled"
    )
    assert np.isfinite(values).all() and np.std(values) > 0
    assert new == 0
    assert after < GROWTH * before
