"""How a driven robot gets going: switched on at once, or with a drive that is brought in period by period.

Which of several motions a robot settles to belongs to its start. An `Approach` moves one parameter, linearly over
a number of drive periods, from a share of its value to all of it: the drive's amplitude from zero is a ramp, its
frequency from below or above is a sweep. The state that is reached carries no derivative: that of the motion does
not depend on how it was reached.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.dynamics.fixed_point import PeriodMap
from diffmicro.dynamics.orbits import COARSE_WARMUP
from diffmicro.parameters import DesignT, SettingT, Value, get, parameter, put


class Approach(NamedTuple):
    """A parameter that is brought in. share: of its value, where the robot begins [-]."""

    key: str
    share: float

    def at(
        self, design: DesignT, setting: SettingT, progress: Array | float
    ) -> tuple[DesignT, SettingT]:
        """Design and setting on the way; progress 1 is the end."""
        share = self.share + (1 - self.share) * progress
        return put(design, setting, {self.key: share * get(design, setting, self.key)})


def start_field(starts: Mapping[str, Approach], source: str = "") -> Value:
    """The field `start` of a Setting: the word for how the robot gets going."""
    ways = "; ".join(
        f"{word}: {way.key} from {way.share:g} of its value" for word, way in starts.items()
    )
    meaning = f"how it gets going: rest: all at once; {ways}"
    return parameter("rest", meaning, source=source, words=("rest", *starts))


def periods_field(periods: int = 100) -> Value:
    """The field `start_periods` of a Setting: how long the drive is brought in."""
    meaning = "drive periods over which it is brought in, unless it starts from rest"
    return parameter(periods, meaning, "-", low=1, high=10**5, whole=True)


def approached(
    period_map: PeriodMap,
    on_the_way: Callable[[Array], tuple[Array, Array]],
    state: Array,
    periods: int,
    tolerance: Array,
) -> Array:
    """The state [SI] after `periods` drive periods on the way, from `state` [SI].

    on_the_way: progress in (0, 1] -> parameters of `period_map`, and the units of its state.
    """
    one = jnp.ones((), jnp.int32)

    def advance(i: Array, state: Array) -> Array:
        parameters, units = on_the_way((i + 1.0) / periods)
        reached, _ = period_map(
            parameters, state / units, one, tolerance * COARSE_WARMUP, look=False
        )
        return reached * units

    return jax.lax.stop_gradient(loops.fori_loop(0, periods, advance, state))
