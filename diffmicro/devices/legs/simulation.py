"""The motion over time, for looking at."""

from typing import Annotated, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro.devices.legs import ground, stepping
from diffmicro.devices.legs.design import COMPLIANT, Design, Setting
from diffmicro.devices.legs.lumped import lump, modes_of, scaled
from diffmicro.devices.legs.motion import MOST_STEPS
from diffmicro.devices.legs.rules import RULES
from diffmicro.devices.legs.state import MotionState
from diffmicro.devices.legs.steady import unpack
from diffmicro.parameters import as_arrays, is_traced, whole_number
from diffmicro.rules import check_point


class Trajectory(NamedTuple):
    """A motion on its own steps and events, SI units: arrays over time."""

    time: Annotated[Array, "s"]
    height: Annotated[Array, "m"]
    speed: Annotated[Array, "m/s"]
    displacement: Annotated[Array, "m"]
    modal_speed: Annotated[Array, "m/s"]
    voltage: Annotated[Array, "V"]
    in_contact: Array
    impacts: Array


def simulate(
    design: Design,
    setting: Setting,
    *,
    periods: int = 1,
    start: MotionState | None = None,
    steps: int = 200,
    advances: int | None = None,
) -> Trajectory:
    """The motion over `periods` drive periods from rest, or from `start`, differentiable in both modes.

    `steps`: fewest points per period. `advances`: tried steps in all, 1.5 times the steps and 400 a period if
    not given, and some contacts more on ground that yields. Points after the last period repeat it.
    `displacement` and `modal_speed` are (times, modes) of the contact foot; other points move by
    `displacement @ (mode_shape / mode_shape[0]).T`. First
    derivatives are right; second derivatives are NaN from the first impact on.
    """
    check_point("legs.simulate", RULES, design, setting)
    periods = whole_number("periods", periods, 1, 1, 10**5)
    steps = whole_number("steps", steps, 200, 10, MOST_STEPS)
    design, setting, start = as_arrays((design, setting, start))
    if advances is None:
        fastest = modes_of(design).frequency.max() / setting.drive_frequency
        advances = (
            10**4 if is_traced(fastest) else round(max(steps, 21 * float(fastest)) * 1.5) + 400
        )
        if setting.law == COMPLIANT:
            advances += 4 * round(ground.PER_CONTACT)
        advances *= periods
    advances = whole_number("advances", advances, None, 1)
    return _simulate(design, setting, start, periods=periods, steps=steps, advances=advances)


@eqx.filter_jit
def _simulate(design, setting, start, *, periods: int, steps: int, advances: int) -> Trajectory:
    system, units = lump(design, setting)
    count = system.steps(steps, 1e-9)
    origin = system.rest() if start is None else unpack(scaled(system, units, start))
    _, path = stepping.trace(system, origin, count, advances, periods)
    share = path.step / count + path.since
    steady, rate = system.steady(path.phase)
    speed = units.length / units.time
    return Trajectory(
        time=(path.periods + share) * units.time,
        height=path.foot.height * units.length,
        speed=path.foot.speed * speed,
        displacement=(jnp.stack(path.state.x, axis=1) + steady) * units.length,
        modal_speed=(jnp.stack(path.state.v, axis=1) + rate) * speed,
        voltage=setting.voltage * (path.phase.sign if system.square else path.phase.sine),
        in_contact=path.closed,
        impacts=path.record.impacts,
    )
