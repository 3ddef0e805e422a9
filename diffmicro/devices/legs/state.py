"""The state at the start of a drive period."""

import equinox as eqx
from jax import Array


class MotionState(eqx.Module):
    """State at the start of a drive period.

    displacement: displacement of the foot by each mode [m].
    speed: its rate [m/s].
    """

    displacement: Array
    speed: Array
