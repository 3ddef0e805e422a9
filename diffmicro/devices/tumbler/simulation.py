"""The motion over time, for looking at."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.devices.tumbler.path import Trajectory, count_advances, follow
from diffmicro.devices.tumbler.rules import RULES
from diffmicro.parameters import as_arrays, is_traced, whole_number
from diffmicro.rules import check_point


def simulate(
    design: Design,
    setting: Setting,
    *,
    turns: float = 1.0,
    start: Array | None = None,
    steps: int = 400,
    advances: int | None = None,
) -> Trajectory:
    """The planar motion over a number of half turns of the field from rest, or from a `Response.state`.

    `turns`: of the field, rounded to halves. `steps`: fewest points per turn; each event is one more. `advances`:
    points in all; if not given as many as it takes where the values are known, else half the steps and
    `ROOM_FOR_EVENTS` for each half turn. Points after the last half turn repeat it; where they do not suffice for
    all, the last one is NaN. For motion in space see `implicit.simulate_implicit`.
    """
    check_point("tumbler.simulate", RULES, design, setting)
    try:
        halves = round(2 * turns)
    except (TypeError, ValueError, OverflowError):
        halves = turns  # no number: the check refuses it
    half_turns = whole_number("turns * 2", halves, 2, 1, 10**4)
    steps = max(whole_number("steps", steps, 400, 4, 10**5) // 2, 2)
    design, setting, start = as_arrays((design, setting, start))
    if start is None:
        start = jnp.zeros(5, jnp.result_type(design.length))
    given = (design, setting, start)
    if advances is None and not is_traced(*jax.tree.leaves(given)):
        advances = max(int(count_advances(*given, half_turns, steps)), 1)
        # A few sizes for all motions, so that little is compiled twice.
        path = follow(*given, half_turns, steps, 1 << advances.bit_length())
        return jax.tree.map(lambda x: np.asarray(x)[:advances], path)
    room = half_turns * (steps + ROOM_FOR_EVENTS)
    return follow(*given, half_turns, steps, whole_number("advances", advances, room, 1))


ROOM_FOR_EVENTS = 1000
"""Points per half turn beside the steps where the motion is not known. Of 180 robots on paper and aluminum one
needed more, the median 90."""
