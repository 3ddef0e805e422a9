"""What of a tumbler's design and setting its motion depends on: outline, body, and numbers in natural units."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.devices.tumbler.motion import TumblerMotion
from diffmicro.mechanics import outlines
from diffmicro.mechanics.outlines import Outline
from diffmicro.mechanics.viscous_drag import ellipsoid_drag


def outline_of(design: Design) -> Outline:
    """The hull and the section of a design, in its precision."""
    dtype = jnp.result_type(float, design.length, design.thickness)
    found = _outline_of(design)
    return jax.tree.map(
        lambda x: x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x, found
    )


def _outline_of(design: Design) -> Outline:
    length, thickness = design.length, design.thickness
    if design.outline == "box":
        return outlines.box(length, thickness)
    if design.outline == "superellipse":
        return outlines.superellipse(length, thickness, design.exponent)
    if design.outline == "support":
        return outlines.from_radii(length, thickness, jnp.asarray(design.outline_radii))
    core_length, core_thickness, top = core_of(design)
    return outlines.spiked(
        length,
        top,
        core_length,
        core_thickness,
        design.spike_base,
        middle=design.outline == "spiked",
    )


def body_outline(design: Design) -> tuple[Real, Real]:
    """Corners of the body's own section, spikes and all; of arcs points along them [m]."""
    if design.outline.startswith("spiked"):
        core_length, core_thickness, top = core_of(design)
        middle = design.outline == "spiked"
        corners = outlines.spiked_corners(
            design.length, top, core_length, core_thickness, design.spike_base, middle=middle
        )
        return corners
    return outline_of(design).vertices()


def core_of(design: Design) -> tuple[Real, Real, Real]:
    """Length and thickness of a spiked body's core, and its overall thickness."""
    spikes = 2 * design.spike_height
    length = design.length if design.core_length is None else design.core_length
    if design.core_thickness is None:
        return length, design.thickness - spikes, design.thickness
    return length, design.core_thickness, design.core_thickness + spikes


class Body(NamedTuple):
    """Mass [kg], moment of inertia about the axis of rolling [kg m^2], magnetic moment [N m/T]."""

    mass: Real
    inertia: Real
    moment: Real


def body_of(design: Design, outline: Outline) -> Body:
    """What of a design moves, and what the field takes hold of."""
    volume = outline.area * design.width
    mass = design.mass if design.density is None else design.density * volume
    magnetic = design.magnetic_volume
    if design.magnetic_share is not None:
        magnetic = design.magnetic_share * volume
    inertia = design.inertia
    if inertia is None:
        inertia = mass * outline.inertia(design.width)[1]
    return Body(mass, inertia, magnetic * design.magnetization)


def weight_of(design: Design, setting: Setting, outline: Outline, body: Body) -> Real:
    """Weight less the buoyancy of what the body displaces [N]."""
    if setting.fluid_density is None:
        return body.mass * setting.gravity
    return (body.mass - setting.fluid_density * outline.area * design.width) * setting.gravity


def drag_of(design: Design, setting: Setting, outline: Outline) -> tuple[Array, Array] | None:
    """Drag over velocity [N s/m] and over spin [N m s] along the body's axes: depth, length, thickness.

    That of an ellipsoid with the hull's volume and the proportions of its extents (`mechanics.viscous_drag`).
    In the plane of rolling the drag of a translation is the mean over half a turn of the body, the same for both
    axes. Walls raise it and are left out, as is the inertia of the fluid.
    """
    if setting.fluid_viscosity is None:
        return None
    depth, (length, thickness) = jnp.asarray(design.width), outline.extents()
    swell = jnp.cbrt(6 / jnp.pi * outline.hull_area() / (length * thickness)) / 2
    force, moment = ellipsoid_drag((swell * depth, swell * length, swell * thickness))
    mean = (force[1] + force[2]) / 2
    force = jnp.stack([force[0], mean, mean])
    return setting.fluid_viscosity * force, setting.fluid_viscosity * moment


LATE = 0.9
"""Share of the angle between field and magnetization that lifts the lying robot."""


class Units(NamedTuple):
    """Natural units of the motion: length [m], time [s] and velocity [m/s]."""

    length: Real
    time: Real
    velocity: Real


def lump(design: Design, setting: Setting) -> tuple[TumblerMotion, Units]:
    """The numbers that the motion depends on, in natural units, and these."""
    outline = outline_of(design)
    body = body_of(design, outline)
    length = outline.perimeter() / (2 * jnp.pi)
    time = 0.5 / setting.field_frequency
    # The pace of alignment with the field, or of falling, or of the field itself.
    pace = setting.field * body.moment / body.inertia + setting.gravity / length
    pace = jax.lax.stop_gradient(jnp.sqrt(pace))
    rate = pace * time + jnp.pi
    velocity = length * rate / time
    acceleration = velocity * rate / time
    force = body.mass * acceleration
    sine, cosine = jnp.sin(outline.normal), jnp.cos(outline.normal)
    weight = weight_of(design, setting, outline, body)
    n = outline.normal.size
    last = jnp.arange(n) == outline.count - 1
    end = jnp.where(last, outline.normal[0] + 2 * jnp.pi, jnp.roll(outline.normal, -1))
    face = setting.adhesion * outline.flat * design.width / force
    line = setting.adhesion * setting.edge_band * design.width / force
    face = jnp.where(outline.flat > 0, face, 2 * line)
    pulls = setting.adhesion_law == "force"
    numbers = dict(
        ahead=(outline.x * cosine + outline.z * sine) / length,
        below=(outline.x * sine - outline.z * cosine) / length,
        radius=outline.radius / length,
        normal=outline.normal,
        span=end - outline.normal,
        edge=outline.edge / length,
        face_pull=face * pulls,
        face_load=face * (not pulls),
        line_pull=line * pulls,
        line_load=line * (not pulls),
        inertia=body.inertia / (body.mass * length**2),
        press=(weight * jnp.cos(setting.incline) + setting.electrostatic_force) / force,
        slope=weight * jnp.sin(setting.incline) / force,
        torque=body.moment * setting.field / (force * length),
        friction=setting.friction,
        rate=rate,
    )
    drag = drag_of(design, setting, outline)
    if drag is not None:
        numbers["drag"] = drag[0][1] * velocity / force
        numbers["brake"] = drag[1][0] * rate / (time * force * length)
    dtype = jnp.result_type(float, *numbers.values())
    numbers = {name: jnp.asarray(number, dtype) for name, number in numbers.items()}
    motion = TumblerMotion(**numbers, count=outline.count, phase=jnp.zeros((), dtype))
    # Which instant a period starts at does not matter to it, so that has no derivative here.
    motion = replace(motion, phase=jax.lax.stop_gradient(first_phase(motion)))
    return motion, Units(length, time, velocity)


def first_phase(motion: TumblerMotion) -> Array:
    """Angle from the magnetization of the lying robot to the field at the time zero.

    The motion is looked at just before the lying robot is lifted: that late it has come to rest.
    """
    hold = motion.ahead[0] * (motion.press + motion.face_pull[0])
    hold = hold + (motion.below[0] + motion.radius[0]) * motion.slope
    lifts = (hold < motion.torque) & (hold > 0)
    angle = jnp.arcsin(jnp.where(lifts, hold / jnp.where(lifts, motion.torque, 1.0), 0.0))
    return LATE * jnp.where(lifts, angle, jnp.where(hold > 0, 0.5 * jnp.pi, 0.0))
