"""A robot with several feet on the ground at once: modes, and one complementarity problem per step for all
impacts.

Ryou 2014 leaves this to future work. Displacements of points are x = Phi q; modes move exactly between steps,
and at the end of a step all feet that reached the ground get the impulses of `restitution.feet_impulses`
together (Delassus' matrix Phi Phi^T / eta^2). Steps are fixed, so impacts come up to one step late: first
order in the step, and gradients through it are those of the scheme, not of the motion. For one foot use `legs`.

The quadruped has the frequencies of Table 1 and its mass of 2.7 g; its mode shapes, damping and drive are assumed
(heave, pitch, roll, all legs bending, legs twisting; feet fore left, fore right, hind left, hind right, and
the body).

Left out: small-scale forces, friction.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Real
from diffmicro.mechanics.modes import frequency_response, propagator
from diffmicro.mechanics.restitution import delassus, feet_impulses
from diffmicro.parameters import as_arrays, parameter, whole_number


class Robot(eqx.Module):
    """A structure on modes with several feet."""

    frequency: Array | float = parameter(
        (15.0, 86.0, 181.0, 724.0, 893.0),
        "natural frequencies",
        "Hz",
        symbol="omega_k",
        source="Table 1, quadruped",
        shapes=(("modes",),),
    )
    damping: Array | float = parameter(
        (0.05, 0.05, 0.05, 0.05, 0.05),
        "damping ratios",
        "-",
        symbol="zeta_k",
        source="assumed",
        shapes=(("modes",),),
    )
    mode_shape: Array | float = parameter(
        (
            (1.0, 1.0, 1.0, 1.0, 1.0),
            (1.0, 1.0, -1.0, 1.0, -1.0),
            (1.0, -1.0, 1.0, 1.0, -1.0),
            (1.0, -1.0, -1.0, 1.0, 1.0),
            (1.0, 0.0, 0.0, -0.5, 0.0),
        ),
        "displacement of points (rows) in the modes",
        "-",
        symbol="Phi",
        source="assumed",
        shapes=(("points", "modes"),),
    )
    modal_mass: Array | float = parameter(
        2.7e-3,
        "eta^2, mass of each mode",
        "kg",
        symbol="eta_0^2",
        source="mass of the robot",
        above=0,
    )
    drive: Array | float = parameter(
        (2e-7, 2e-7, 1e-7, 2e-7, 1e-7),
        "static modal displacement per volt",
        "m/V",
        symbol="B_k / omega_k^2",
        source="assumed",
        shapes=(("modes",),),
    )
    gap: Array | float = parameter(
        (5e-6, 5e-6, 5e-6, 5e-6, 1.0),
        "height of each point above the ground at rest; a large one keeps a point in the air",
        "m",
        symbol="d",
        source="assumed",
        shapes=(("points",),),
    )
    restitution: Array | float = parameter(
        0.51,
        "coefficient of restitution of all feet",
        "-",
        symbol="-alpha",
        source="section 3.3",
        low=0,
        high=1,
    )


HEXAPOD_SHAPES = (
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    (1.0, 1.0, -1.0, -0.8, 0.6, -0.05),
    (1.0, 0.1, 1.0, -0.6, -1.0, 0.03),
    (1.0, 0.1, -1.0, 0.6, -0.8, 0.02),
    (1.0, -0.9, 1.0, 0.4, 0.7, -0.02),
    (1.0, -0.9, -1.0, -0.4, 0.5, -0.03),
)
"""Assumed shapes of the hexapod's six modes, over the contact foot (first row): heave, pitch, roll, two
bending shapes, and the contact foot alone in mode 6, see section 3.3. The paper does not print any.
Rows: fore left and right, middle left and right, hind left and right."""


class FeetPath(NamedTuple):
    """Arrays over time: heights (times, points) [m], impulses (times, points) [N s], kinetic energy lost in
    impacts [J]."""

    time: Array
    height: Array
    impulse: Array
    loss: Array


def simulate_feet(
    robot: Robot, voltage: Real, drive_frequency: Real, *, periods: int = 10, steps: int = 1000
) -> FeetPath:
    """The motion of all points from rest under voltage sin(2 pi f t), `steps` per drive period."""
    periods = whole_number("periods", periods, 10, 1, 10**5)
    steps = whole_number("steps", steps, 1000, 10, 10**6)
    robot, voltage, drive_frequency = as_arrays((robot, voltage, drive_frequency))
    return _simulate(robot, voltage, drive_frequency, periods=periods, steps=steps)


@eqx.filter_jit
def _simulate(robot, voltage, drive_frequency, *, periods: int, steps: int) -> FeetPath:
    shape, mass = jnp.asarray(robot.mode_shape), robot.modal_mass
    w, omega = 2 * jnp.pi * robot.frequency, 2 * jnp.pi * drive_frequency
    step = 1.0 / (steps * drive_frequency)
    move = propagator(w, robot.damping, step)
    real, imaginary = frequency_response(w, robot.damping, omega)
    real, imaginary = robot.drive * voltage * real, robot.drive * voltage * imaginary
    matrix = delassus(shape, mass)

    def one(state: tuple[Array, Array], k: Array) -> tuple[tuple[Array, Array], tuple]:
        q, rate = move(*state)
        angle = 2 * jnp.pi * ((k + 1) % steps) / steps
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        height = robot.gap + shape @ (q + real * sine + imaginary * cosine)
        modal = rate + omega * (real * cosine - imaginary * sine)
        speed = shape @ modal
        touching = (height <= 0) & (speed < 0)
        impulse = jax.lax.cond(
            jnp.any(touching),
            lambda: feet_impulses(matrix, speed, height <= 0, robot.restitution).z,
            lambda: jnp.zeros_like(speed),
        )
        kick = shape.T @ impulse / mass
        loss = -mass * jnp.sum(kick * (modal + 0.5 * kick))
        return (q, rate + kick), (height, impulse, loss)

    start = (-imaginary, -omega * real)
    _, (height, impulse, loss) = loops.scan(one, start, jnp.arange(periods * steps))
    time = step * (1 + jnp.arange(periods * steps))
    return FeetPath(time, height, impulse, loss)
