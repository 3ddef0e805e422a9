"""The tribometer's laws of friction behind one interface: drag to velocity, and velocity to drag.

Every law is written in its own natural units: drag over mu_0 F_n,0, velocity over `unit`. A `Law` states between
which drags something slides steadily and how the two follow from each other; `steady` does the rest, the same for
all: which of the two is given, what stalls, what runs away, what is not reduced.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._types import Scalar
from diffmicro.devices.tribometer import inplane, tip
from diffmicro.devices.tribometer import motion as springs
from diffmicro.devices.tribometer.design import Design, Setting
from diffmicro.devices.tribometer.lumped import indentation, moduli, profile_of
from diffmicro.mechanics import friction_control, lift_off
from diffmicro.nonsmooth.bracketed import rising_root


class Answer(NamedTuple):
    """The other number, and how good it is: residual, margin to the next regime, multiplier, whether found."""

    value: Scalar
    margin: Scalar
    residual: Scalar
    multiplier: Scalar
    converged: Array


class Law(NamedTuple):
    """A law in natural units.

    unit: of velocities [m/s]. least, most: drags between which it slides steadily. critical: velocity from which
    on the drag is `most`; infinite where it only gets near. scale: the critical velocity that is shown.
    velocity, drag: each from the other, inside these ranges.
    """

    unit: Scalar
    least: Scalar
    most: Scalar
    critical: Scalar
    scale: Scalar
    velocity: Callable[[Scalar], Answer]
    drag: Callable[[Scalar], Answer]


class Steady(NamedTuple):
    """Steady sliding in SI units, and what became of it."""

    drag: Scalar
    velocity: Scalar
    critical: Scalar
    stalled: Array
    runaway: Array
    converged: Array
    residual: Scalar
    margin: Scalar
    multiplier: Scalar


def velocity_unit(name: str, design: Design, setting: Setting) -> Scalar:
    """Natural unit of velocity of a law [m/s]."""
    if name == "coulomb":
        return _push(design, setting) * setting.force_ratio
    if name == "mdr":
        return presliding(design, setting) * _omega(setting)
    return jnp.asarray(setting.vibration_velocity)


def steady(name: str, design: Design, setting: Setting, steps: int, tolerance: Scalar) -> Steady:
    """Steady sliding under the law of that name."""
    law = _law(name, design, setting, steps, tolerance)
    yes, no = jnp.ones((), bool), jnp.zeros((), bool)
    if setting.drag_ratio is not None:
        drag = jnp.asarray(setting.drag_ratio)
        moves = (drag > law.least) & (drag < law.most)
        found = law.velocity(jnp.where(moves, drag, (law.least + law.most) / 2))
        at_most = (drag == law.most) & jnp.isfinite(law.critical)
        velocity = jnp.where(at_most, law.critical, found.value)
        stalled, runaway = drag <= law.least, ~(moves | at_most) & (drag > law.least)
        edge = jnp.minimum(jnp.abs(drag - law.least), jnp.abs(law.most - drag))
        edge = edge / (law.most - law.least)
    else:
        velocity = jnp.asarray(setting.sliding_velocity) / law.unit
        moves = (velocity > 0) & (velocity < law.critical)
        limit = jnp.where(jnp.isfinite(law.critical), law.critical, 1.0)
        found = law.drag(jnp.where(moves, velocity, limit / 2))
        drag = jnp.where(velocity > 0, law.most, law.least)
        drag = jnp.where(moves, found.value, drag)
        stalled, runaway = no, no
        edge = jnp.where(
            jnp.isfinite(law.critical), jnp.abs(velocity / limit - 1), jnp.ones_like(velocity)
        )
    return Steady(
        drag=drag,
        velocity=velocity * law.unit,
        critical=law.scale * law.unit,
        stalled=stalled,
        runaway=runaway,
        converged=jnp.where(moves, found.converged, yes),
        residual=jnp.where(moves, found.residual, 0.0),
        margin=jax.lax.stop_gradient(jnp.where(moves, jnp.minimum(found.margin, edge), edge)),
        multiplier=jnp.where(moves, found.multiplier, 0.0),
    )


def _law(name: str, design: Design, setting: Setting, steps: int, tolerance: Scalar) -> Law:
    if name == "coulomb":
        return _coulomb(design, setting)
    if name == "mdr":
        return _mdr(design, setting, steps, tolerance.astype(jnp.result_type(setting.friction)))
    if name == "dynamic":
        return _dynamic(design, setting)
    return _across(setting) if setting.direction == "ipp" else _in_line(setting, steps)


def _exact(value: Scalar, residual: Scalar, margin: Scalar | None = None) -> Answer:
    """An answer without iteration in time. `residual`: how far it misses its condition, relative."""
    one, zero = jnp.ones_like(value), jnp.zeros_like(value)
    residual = jax.lax.stop_gradient(jnp.abs(residual))
    good = residual < springs.tolerance_of(value.dtype)
    return Answer(value, one if margin is None else margin, residual, zero, good)


def _missed(velocity: Scalar, ratio: Scalar, drag: Scalar) -> Scalar:
    """How far the velocity misses its drag; all of it at the end of the range in which it was looked for, where
    the ratio is so flat that it would say nothing."""
    return jnp.where(velocity < 0.999 * inplane.FASTEST, ratio / drag - 1, 1.0)


def _omega(setting: Setting) -> Scalar:
    return 2 * np.pi * jnp.asarray(setting.frequency)


def _push(design: Design, setting: Setting) -> Scalar:
    """mu_0 F_n,0 / (m omega): the velocity that friction gives the probe within a radian [m/s]."""
    friction_force = setting.friction * setting.normal_force
    return friction_force / (design.probe_mass * _omega(setting))


def _coulomb(design: Design, setting: Setting) -> Law:
    """Slip by its duration, see `mechanics.friction_control`; with flight, `mechanics.lift_off`."""
    ratio = jnp.asarray(setting.force_ratio)
    one = jnp.ones_like(ratio)
    longest = 2 * jnp.pi * one
    flies = ratio > 1
    # lanes of either kind calculate both, each on numbers that make sense to it
    lifted = jnp.where(flies, ratio, 2.0)
    ratio = jnp.where(flies, 1.0, ratio)

    def velocity(drag: Scalar) -> Answer:
        flight = lift_off.slip(jnp.where(flies, drag, 0.5), lifted)
        return _either(flies, _exact(flight.mean() / lifted, flight.missed()), held_velocity(drag))

    def drag(velocity: Scalar) -> Answer:
        wanted = jnp.where(flies, velocity, 0.1)
        flight = lift_off.drag_at(wanted * lifted, lifted)
        missed = lift_off.mean_velocity(flight, lifted) / (wanted * lifted) - 1
        return _either(flies, _exact(flight, missed), held_drag(velocity))

    def held_velocity(drag: Scalar) -> Answer:
        share = jnp.where(flies, 0.5, (drag - (1 - ratio)) / ratio)
        duration = rising_root(_share, share, 0 * one, longest)
        missed = friction_control.slip_share(duration) / share - 1
        return _exact(friction_control.slip_velocity(duration), missed)

    def held_drag(velocity: Scalar) -> Answer:
        velocity = jnp.where(flies, 0.5, velocity)
        duration = rising_root(root_of_mean, velocity, 0 * one, longest)
        missed = friction_control.slip_velocity(duration) - velocity
        return _exact(1 - ratio + ratio * friction_control.slip_share(duration), missed)

    unit = velocity_unit("coulomb", design, setting)
    critical = jnp.where(flies, lift_off.critical_velocity(lifted) / lifted, one)
    return Law(unit, 1 - ratio, one, critical, critical, velocity, drag)


def _either(first: Array, one: Answer, other: Answer) -> Answer:
    return jax.tree.map(lambda a, b: jnp.where(first, a, b), one, other)


def flight_share(setting: Setting) -> Array:
    """Share of the period without contact."""
    ratio = jnp.asarray(setting.force_ratio)
    flies = (ratio > 1) & (setting.direction == "oop")
    half = lift_off.contact_half(jnp.where(flies, ratio, 2.0))
    return jnp.where(flies, 1 - half / jnp.pi, 0.0)


def _share(duration: Scalar, share: Scalar) -> Scalar:
    return jnp.sqrt(friction_control.slip_share(duration)) - jnp.sqrt(share)


def root_of_mean(duration: Scalar, velocity: Scalar) -> Scalar:
    """Zero where the slip of this duration has the mean velocity; nearly straight in the duration."""
    return jnp.sqrt(jnp.sqrt(friction_control.slip_velocity(duration))) - velocity**0.25


def presliding(design: Design, setting: Setting) -> Scalar:
    """Displacement at which the mean contact begins to slide: mu_0 E*/G* d_0 [m]."""
    modulus, shear = moduli(design)
    return setting.friction * modulus / shear * indentation(design, setting)


def dragged(design: Design, setting: Setting, drag: Scalar, steps: int) -> springs.Dragged:
    """The dimensionless numbers of the contact by springs, for so many time steps a period."""
    kappa = _push(design, setting) / (_omega(setting) * presliding(design, setting))
    line = None if profile_of(design) is None else tip.line(design, setting, steps)
    return springs.Dragged(drag, jnp.asarray(setting.force_ratio), kappa, line)


def critical_velocity(design: Design, setting: Setting, numbers: springs.Dragged) -> Scalar:
    """From where on the contact by springs slides all the time, in its unit of velocity."""
    if numbers.line is None:
        return springs.critical_velocity(numbers.force_ratio, numbers.kappa)
    edge, yielding = tip.edge_of(design, setting), 1 / numbers.line.stiffness
    return springs.critical_velocity(numbers.force_ratio, numbers.kappa, edge, yielding)


def _mdr(design: Design, setting: Setting, steps: int, tolerance: Scalar) -> Law:
    ratio = jnp.asarray(setting.force_ratio)
    one = jnp.ones_like(ratio)
    numbers = dragged(design, setting, one - ratio / 2, steps)
    critical = critical_velocity(design, setting, numbers)

    def answer(found: springs.Found, value: Scalar) -> Answer:
        return Answer(value, 1 - ratio, found.residual, found.multiplier, found.converged)

    def velocity(drag: Scalar) -> Answer:
        found = springs.dragged_velocity(numbers._replace(drag=drag), steps, tolerance)
        return answer(found, found.velocity)

    def drag(velocity: Scalar) -> Answer:
        share = jax.lax.stop_gradient(velocity / critical)
        start = numbers._replace(drag=1 - ratio * (1 - share))
        found = springs.drag_at(velocity, start, steps, tolerance)
        return answer(found, found.drag)

    unit = velocity_unit("mdr", design, setting)
    return Law(unit, 1 - ratio, one, critical, critical, velocity, drag)


def inertia(design: Design, setting: Setting) -> Scalar:
    """kappa in plane: friction over inertia of the vibrating mass [-]."""
    return _push(design, setting) / setting.vibration_velocity


def _dynamic(design: Design, setting: Setting) -> Law:
    kappa = inertia(design, setting)
    one = jnp.ones_like(kappa)

    def velocity(drag: Scalar) -> Answer:
        found = inplane.walk(drag, kappa)
        return _exact(found.velocity, found.residual, found.margin)

    def drag(velocity: Scalar) -> Answer:
        drag = inplane.walking_drag(velocity, kappa)
        found = inplane.walk(jax.lax.stop_gradient(drag), kappa)
        return _exact(drag, found.residual, found.margin)

    return Law(jnp.asarray(setting.vibration_velocity), 0 * one, one, one, one, velocity, drag)


def _in_line(setting: Setting, steps: int) -> Law:
    angle = jnp.asarray(setting.track_angle)
    nodes = steps // 4
    cosine = jnp.cos(angle)
    aligned = jnp.abs(angle) < inplane.ALIGNED
    critical = jnp.where(aligned, 1.0, jnp.inf)

    def margin(velocity: Scalar) -> Scalar:
        """Distance of the root in the average to the one at which both branches meet."""
        return jnp.hypot(velocity * cosine - 1, velocity * jnp.sin(angle))

    def velocity(drag: Scalar) -> Answer:
        found = inplane.parallel_velocity(drag, angle, nodes)
        missed = _missed(found, inplane.parallel_ratio(found, angle, nodes), drag)
        return _exact(found, missed, margin(found))

    def drag(velocity: Scalar) -> Answer:
        return _exact(
            inplane.parallel_ratio(velocity, angle, nodes), 0.0 * velocity, margin(velocity)
        )

    most = jnp.where(aligned, 1.0, cosine)
    unit = jnp.asarray(setting.vibration_velocity)
    return Law(unit, jnp.zeros_like(unit), most, critical, 1 / cosine, velocity, drag)


def _across(setting: Setting) -> Law:
    unit = jnp.asarray(setting.vibration_velocity)
    one = jnp.ones_like(unit)

    def velocity(drag: Scalar) -> Answer:
        found = inplane.perpendicular_velocity(drag)
        return _exact(found, _missed(found, friction_control.perpendicular_ratio(found), drag))

    def drag(velocity: Scalar) -> Answer:
        return _exact(friction_control.perpendicular_ratio(velocity), 0.0 * velocity)

    return Law(unit, 0 * one, one, jnp.inf * one, one, velocity, drag)
