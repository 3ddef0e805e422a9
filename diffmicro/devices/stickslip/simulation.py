"""The motion over time, for looking at."""

from typing import Annotated, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro.devices.stickslip.design import Design, Setting
from diffmicro.devices.stickslip.lumped import COUNTS, lump, motion, statics
from diffmicro.devices.stickslip.motion import Run, State
from diffmicro.devices.stickslip.response import FEWEST_STEPS, STEPS
from diffmicro.devices.stickslip.rules import RULES
from diffmicro.mechanics.tangential import Springs
from diffmicro.parameters import as_arrays, whole_number
from diffmicro.rules import check_point


class Trajectory(NamedTuple):
    """A motion from rest, SI units: arrays over time; pairs in the second axis.

    sliding: force of each spring over its friction limit, from the middle of the contact outwards, with its sign
    (time, 2, springs); None unless the law is mdr, without rolling.
    """

    time: Annotated[Array, "s"]
    position: Annotated[Array, "m"]
    velocity: Annotated[Array, "m/s"]
    drive: Annotated[Array, "m"]
    sensor_force: Annotated[Array, "N"]
    contact_force: Annotated[Array, "N"]
    sliding: Array | None


def simulate(
    design: Design, setting: Setting, *, periods: int = 3, steps: int | None = None
) -> Trajectory:
    """The motion from rest over some periods of the drive. `steps`: in the slow phase of a period, 2000."""
    check_point("stickslip.simulate", RULES, design, setting)
    periods = whole_number("periods", periods, 3, 1, 10**4)
    count = whole_number("steps", steps, STEPS, FEWEST_STEPS, 10**6)
    design, setting = as_arrays((design, setting))
    return _simulate(design, setting, periods=periods, steps=count)


@eqx.filter_jit
def _simulate(design: Design, setting: Setting, *, periods: int, steps: int) -> Trajectory:
    contacts = statics(design, setting)
    lumped = lump(design, setting, contacts)
    system = motion(lumped, setting, steps)
    length, rate = contacts.presliding[0], lumped.turns / setting.period

    def look(run: Run) -> tuple[Array, ...]:
        seen = [run.position, run.velocity, jnp.stack(run.forces)]
        if setting.law == "mdr" and setting.rolling is None:
            pairs = zip(run.contacts, system.laws, strict=True)
            springs = [(contact, law) for contact, law in pairs if isinstance(law, Springs)]
            seen.append(jnp.stack([contact / law.limits for contact, law in springs]))
        return tuple(seen)

    def period(at: tuple[State, Array], _: None) -> tuple[tuple[State, Array], PyTree]:
        state, place = at
        end, path = system.path(state, place, look)
        after = State(end.velocity, end.lag, end.contacts)
        return (after, place + end.position), (place + path[0], *path[1:])

    begin = (system.rest(), jnp.zeros_like(length))
    _, seen = loops.scan(period, begin, None, length=periods)
    position, velocity, forces, *sliding = (x.reshape(-1, *x.shape[2:]) for x in seen)
    # moves of the drive within a period add up to none
    drive = jnp.tile(jnp.cumsum(system.drive.moves, axis=0), (periods, 1))
    time = jnp.cumsum(jnp.tile(system.drive.durations, periods))
    return Trajectory(
        time=time / rate,
        position=position * length,
        velocity=velocity * length * rate,
        drive=drive * length,
        sensor_force=design.sensor_stiffness * position * length,
        contact_force=-forces * (contacts.stiffness * jnp.asarray(COUNTS) * length)[None, :],
        sliding=sliding[0] if sliding else None,
    )
