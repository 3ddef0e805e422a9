"""How far a motion is from a change of its sequence of modes: gathered step by step.

Two things count: by how much a guard misses its zero, or an event its turning back (`Step.margin`), and the
time between two landmarks, which are events and switches of the drive. Two switches in a row keep their
distance whatever the motion does.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.system import Step


class Margin(NamedTuple):
    """Of a motion so far.

    nearest: the margin [periods], at most 1. since: time since the last landmark [periods]. by_event: 1 if that
    was an event, 0 if a switch, or if there was none.
    """

    nearest: Array
    since: Array
    by_event: Array

    @classmethod
    def unknown(cls, like: Array) -> "Margin":
        """Of a motion that has not begun."""
        zero = jnp.zeros_like(like)
        return cls(zero + 1.0, zero + 1.0, zero)

    def after(self, step: Step) -> "Margin":
        """With one more step."""
        since = self.since + step.duration * step.length
        event = jnp.any(jnp.stack(step.fired))
        landmark = event | step.switched
        counts = landmark & (event | (self.by_event > 0)) & (since > 0)
        apart = jnp.where(counts, since, 1.0)
        return Margin(
            nearest=jnp.minimum(self.nearest, jnp.minimum(apart, step.margin())),
            since=jnp.where(landmark, 0.0, since),
            by_event=jnp.where(landmark, jnp.where(event, 1.0, 0.0), self.by_event),
        )
