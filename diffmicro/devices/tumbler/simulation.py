"""The motion over time, for looking at."""

import jax.numpy as jnp
from jax import Array

from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.devices.tumbler.path import Trajectory, follow
from diffmicro.devices.tumbler.rules import RULES
from diffmicro.parameters import as_arrays, whole_number
from diffmicro.rules import check_point


def simulate(
    design: Design,
    setting: Setting,
    *,
    turns: float = 1.0,
    start: Array | None = None,
    steps: int = 400,
) -> Trajectory:
    """The planar motion over a number of half turns of the field from rest, or from a `Response.state`.

    `turns`: of the field, rounded to halves. `steps`: fewest points per turn; each event is one more. For
    motion in space see `implicit.simulate_implicit`. Not for use inside transformations.
    """
    check_point("tumbler.simulate", RULES, design, setting)
    try:
        halves = round(2 * turns)
    except (TypeError, ValueError, OverflowError):
        halves = turns  # no number: the check refuses it
    half_turns = whole_number("turns * 2", halves, 2, 1, 10**4)
    steps = whole_number("steps", steps, 400, 4, 10**5)
    design, setting, start = as_arrays((design, setting, start))
    if start is None:
        start = jnp.zeros(5, jnp.result_type(design.length))
    return follow(design, setting, half_turns, start, max(steps // 2, 2), 1e-10)
