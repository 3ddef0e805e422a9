"""The motion over time, for looking at."""

from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.devices.tribometer import steady as laws
from diffmicro.devices.tribometer.design import Design, Setting, law_of
from diffmicro.devices.tribometer.lumped import pressed
from diffmicro.devices.tribometer.path import path
from diffmicro.devices.tribometer.response import MOST_COARSE, STEPS, respond
from diffmicro.devices.tribometer.rules import RULES, check_law
from diffmicro.parameters import as_arrays, whole_number
from diffmicro.rules import check_point


class Trajectory(NamedTuple):
    """One period of steady sliding, SI units: arrays over time.

    Of the two contact points in plane, velocity and friction are those of the body.
    """

    time: Annotated[Array, "s"]
    position: Annotated[Array, "m"]
    velocity: Annotated[Array, "m/s"]
    normal_force: Annotated[Array, "N"]
    friction_force: Annotated[Array, "N"]
    stick_share: Array


def simulate(
    design: Design, setting: Setting, *, steps: int | None = None, points: int = 512
) -> Trajectory:
    """One period of steady sliding, from the smallest normal force on out of plane, from where the
    contact points stand still in plane.

    `steps`: as in `respond`, and with law mdr the number of points; `points`: of the other laws.
    """
    check_point("tribometer.simulate", RULES, design, setting)
    check_law("tribometer.simulate", design, setting)
    steps = whole_number("steps", steps, STEPS, MOST_COARSE, 2**16)
    points = whole_number("points", points, 512, 4, 10**6)
    design, setting = as_arrays((design, setting))
    response = respond(design, setting, steps=steps)
    slow = setting.friction
    setting = pressed(design, setting)
    drag = response.friction_ratio * (slow / setting.friction)
    law = law_of(setting)
    count = steps + steps % 2 if law == "mdr" else points
    shares = np.arange(count + 1) / count
    unit = laws.velocity_unit(law, design, setting)
    found = path(law, design, setting, drag, response.sliding_velocity / unit, shares)
    omega = 2 * np.pi * setting.frequency
    return Trajectory(
        time=jnp.asarray(shares) / setting.frequency,
        position=found.displacement * unit / omega,
        velocity=found.velocity * unit,
        normal_force=found.load * setting.normal_force,
        friction_force=found.friction * setting.friction * setting.normal_force,
        stick_share=found.sticking,
    )
