"""Accepted orbits are where the simulation goes, and most periodic motions are accepted.

The judge simulates 1000 periods from rest and looks at the last ones: period 1 when the state returns within
1e-6, and then its displacement is the velocity. Wrong means different by more than 1e-3 of it (or 1 um/s).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from diffmicro.devices import wrmma
from diffmicro.parameters import as_arrays
from diffmicro.results import words
from tests.physics.gradient_truth import build, random_parameters

PERIODS, RETURNS = 1000, 1e-6


@jax.jit
def _judge(design, setting):
    """Whether the motion is of period 1 after `PERIODS`, and its velocity then [m/s]."""
    parameters, unravel = ravel_pytree(wrmma.lump(design, setting))
    period_map = wrmma.period_map(unravel, 12)
    tolerance = jnp.asarray(1e-9)
    rest = jnp.array([1.0, 0.0, 0.0])
    late, _ = period_map(parameters, rest, jnp.int32(PERIODS), tolerance, look=False)
    later, seen = period_map(parameters, late, jnp.int32(1), tolerance, look=False)
    speed = design.rest_gap / wrmma.drive_period(design, setting)
    return jnp.max(jnp.abs(later - late)) < RETURNS, seen[0] * speed


def _shares(count, seed):
    """Numbers of: period-1 motions, those accepted, all accepted, accepted with a wrong velocity."""
    once = kept = accepted = wrong = 0
    for i in range(count):
        design, setting = build(random_parameters(np.random.default_rng((seed, i))))
        response = wrmma.respond(*as_arrays((design, setting)), window=0, throw=False)
        good = words(response.result).item() in ("ok", "stalled", "gap_collapsed")
        periodic, velocity = _judge(design, setting)
        once += bool(periodic)
        kept += bool(periodic) and good
        accepted += good
        error = abs(float(response.velocity) - float(velocity))
        if good and bool(periodic):
            wrong += error > max(1e-3 * abs(float(velocity)), 1e-6)
    print(
        f"{count} designs: period 1: {once}, of them accepted {kept}; accepted {accepted}, wrong {wrong}"
    )
    return once, kept, accepted, wrong


def _hold(count, seed):
    once, kept, accepted, wrong = _shares(count, seed)
    assert once >= count // 5, "too few periodic motions to say anything"
    assert kept >= 0.8 * once
    assert wrong <= accepted / 1000


@pytest.mark.slow
def test_thirty_designs():
    _hold(30, seed=40)


@pytest.mark.slow
def test_two_thousand_designs():
    _hold(2000, seed=41)
