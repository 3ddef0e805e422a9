"""How far a motion is from a change of its sequence of modes: gathered step by step.

Two things count: by how much a guard misses its zero, or an event its turning back (`Step.margin`), and the
time between two landmarks, which are events and switches of the drive. Two switches in a row keep their
distance whatever the motion does. As the motion repeats, the first landmark follows on the last one, so it does
not matter where a period begins.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro.dynamics.system import Step


class Margin(NamedTuple):
    """Of a motion so far.

    nearest: the margin [periods], at most 1, but for the time over the period's end. since: time since the last
    landmark, or the beginning [periods]. by_event: 1 if that was an event, 0 if a switch, or if there was none.
    first, first_by_event: the same of the first landmark, from the beginning; infinite while there is none.
    """

    nearest: Array
    since: Array
    by_event: Array
    first: Array
    first_by_event: Array

    @classmethod
    def unknown(cls, like: Array) -> "Margin":
        """Of a motion that has not begun."""
        zero = jnp.zeros_like(like)
        return cls(zero + 1.0, zero, zero, zero + jnp.inf, zero)

    def after(self, step: Step) -> "Margin":
        """With one more step."""
        since = self.since + step.duration * step.length
        event = jnp.any(jnp.stack(step.fired))
        landmark = event | step.turned
        begun = jnp.isfinite(self.first)
        by_event = jnp.where(event, 1.0, 0.0)
        counts = landmark & begun & (event | (self.by_event > 0)) & (since > 0)
        apart = jnp.where(counts, since, 1.0)
        return Margin(
            nearest=jnp.minimum(self.nearest, jnp.minimum(apart, step.margin())),
            since=jnp.where(landmark, 0.0, since),
            by_event=jnp.where(landmark, by_event, self.by_event),
            first=jnp.where(landmark & ~begun, since, self.first),
            first_by_event=jnp.where(landmark & ~begun, by_event, self.first_by_event),
        )

    @property
    def whole(self) -> Array:
        """The margin of a motion that repeats what was gathered [periods]."""
        over = self.first + self.since
        counts = (self.by_event + self.first_by_event > 0) & (over > 0)
        return jnp.minimum(self.nearest, jnp.where(counts, over, 1.0))
