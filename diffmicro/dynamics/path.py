"""Motions with all their advances kept: for looking at, and for derivatives in reverse.

A scan of known length goes on after the last period, where the motion stands still. A motion that the length
does not suffice for has no end: its state is NaN there, and so are its derivatives, which would otherwise be
those of a shorter motion.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops

Motion = TypeVar("Motion")
"""A NamedTuple of arrays, with `periods` and `state` among them."""


def path(
    onward: Callable[[Motion], Motion], start: Motion, periods: Array | int, advances: int
) -> tuple[Motion, Motion]:
    """The motion after `periods`, and after each advance (stacked)."""

    def body(motion, _):
        done = motion.periods >= periods
        motion = jax.tree.map(lambda old, new: jnp.where(done, old, new), motion, onward(motion))
        return motion, motion

    motion, steps = loops.scan(body, start, None, length=advances)
    # A factor, not a summand: reverse mode transposes what is linear and drops what is added.
    whole = jnp.where(motion.periods >= periods, 1.0, jnp.nan)
    end = jax.tree.map(lambda x: x * whole.astype(x.dtype), motion.state)
    states = jax.tree.map(lambda x, last: x.at[-1].set(last), steps.state, end)
    return motion._replace(state=end), steps._replace(state=states)
