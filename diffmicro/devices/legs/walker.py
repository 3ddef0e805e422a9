"""A robot that walks on two feet in its plane: body, pitch, driven legs, pads that yield, dry friction.

Ryou 2014 leaves several feet on the ground to future work; this is a model of ours, of the size of its quadruped,
seen from the side. `device("diffmicro.devices.legs.walker:WALKER")`, as `WALKER` here.

A foot i (fore, hind) is at the height y_i = z +- L theta + l_i(t) and at the place x_i. Its leg lifts it by
l_i = A cos(w t + phi_i) and swings it by s_i = S cos(w t + phi_i + psi), through a spring and a damper:

    T_i = k_t (x - x_i + s_i) + c_t (x' - x_i' + s_i'),   m x_i'' = T_i + R_i,   M x'' = - T_f - T_h,
    M z'' = N_f + N_h - M g,   J theta'' = L (N_f - N_h) + H (T_f + T_h),   |R_i| <= mu N_i,
    N_i = k d_i exp(- y_i' / v), d_i = max(-y_i, 0).

The pad's force has no jump and never pulls, and its work over a contact is taken, never given. Feet stick and
slide by Coulomb's law with the pad's own force, so a gait moves the robot: the phases of the legs and of swing and
lift decide which way. The mirror image (swing turned around, feet exchanged) walks back at the same speed;
without friction, or without swing, it does not walk.

| here | meaning |
|---|---|
| z, x, theta | height, place and pitch of the body, in `fore`, `hind`, `reach`, `spread` below |
| phi_f = 0, phi_h | `gait`, phase of the hind leg after the fore leg |
| psi | `swing_phase`, phase of the swing after the lift |

Left out: modes of the body, mass of a foot in its height, roll and lateral motion, film and attraction.
"""

import math

import jax.numpy as jnp

from diffmicro import hybrid
from diffmicro.parameters import parameter

OURS = "ours"


class Design(hybrid.Design):
    """Body, legs and pads."""

    mass: float = parameter(
        2.7e-3, "mass of the body", "kg", symbol="M", source="quadruped", above=0
    )
    inertia: float = parameter(
        1e-7, "moment of inertia of the body in pitch", "kg m^2", symbol="J", source=OURS, above=0
    )
    half_length: float = parameter(
        8e-3, "distance of each foot from the middle", "m", symbol="L", source=OURS, above=0
    )
    height: float = parameter(
        1e-3, "height of the body's center over the feet", "m", symbol="H", source=OURS, low=0
    )
    foot_mass: float = parameter(
        2e-5, "mass of a foot that its leg swings", "kg", symbol="m", source=OURS, above=0
    )
    leg_stiffness: float = parameter(
        1500.0, "stiffness of a leg along the ground", "N/m", symbol="k_t", source=OURS, above=0
    )
    leg_damping: float = parameter(
        0.1, "share of the critical damping of a foot on its leg", "-", source=OURS, low=0, high=5
    )
    pad_stiffness: float = parameter(
        6000.0, "stiffness of foot and ground", "N/m", symbol="k", source=OURS, above=0
    )
    pad_speed: float = parameter(
        5e-3, "speed at which the pad's force is e times its spring's", "m/s", symbol="v",
        source=OURS, above=0,
    )  # fmt: skip


class Setting(hybrid.Setting):
    """Gait and ground."""

    frequency: float = parameter(200.0, "frequency of the drive", "Hz", source=OURS, above=0)
    lift: float = parameter(10e-6, "amplitude of lift", "m", symbol="A", source=OURS, low=0)
    swing: float = parameter(3e-6, "amplitude of swing", "m", symbol="S", source=OURS)
    gait: float = parameter(
        math.pi, "phase of the hind leg after the fore leg", "rad", symbol="phi_h", source=OURS
    )
    swing_phase: float = parameter(
        math.pi / 2, "phase of the swing after the lift", "rad", symbol="psi", source=OURS
    )
    friction: float = parameter(
        0.3, "friction of feet and ground", "-", symbol="mu", source=OURS, low=0
    )
    gravity: float = parameter(9.81, "gravitational acceleration", "m/s^2", symbol="g", above=0)


def pad_force(name: str):
    """N of a foot, of an instant [N]."""

    def force(now, design, setting=None):
        rate = getattr(now, f"{name}_rate")
        spring = getattr(now, f"{name}_pad") * design.pad_stiffness
        return spring * hybrid.exp(rate * (-1.0 / design.pad_speed))

    return force


FORE, HIND = pad_force("fore"), pad_force("hind")


def _sunk(design, setting):
    """Height at which a foot carries half of the weight [m]."""
    return -0.5 * design.mass * setting.gravity / design.pad_stiffness


def _small(design, setting):
    return -_sunk(design, setting) + setting.lift


def _reach(design, setting):
    return jnp.sqrt(jnp.square(setting.swing) + jnp.square(_sunk(design, setting)))


class Walk(hybrid.Motion):
    """The planar robot."""

    fore = hybrid.Coordinate("height of the fore foot", start=_sunk, scale=_small)
    hind = hybrid.Coordinate("height of the hind foot", start=_sunk, scale=_small)
    reach = hybrid.Coordinate("place of the body over the fore foot", scale=_reach)
    spread = hybrid.Coordinate("place of the fore foot over the hind foot", scale=_reach, order=1)
    walk = hybrid.Coordinate("place of the fore foot", scale=_reach, drifts=True)
    follow = hybrid.Coordinate("place of the hind foot", scale=_reach, drifts=True)
    fore_pad = hybrid.OneSidedSpring("fore")
    hind_pad = hybrid.OneSidedSpring("hind")
    fore_grip = hybrid.Coulomb("walk", bound=lambda n, d, s: FORE(n, d) * s.friction)
    hind_grip = hybrid.Coulomb("follow", bound=lambda n, d, s: HIND(n, d) * s.friction)
    fore_lift = hybrid.Harmonic()
    hind_lift = hybrid.Harmonic(phase=lambda d, s: s.gait)
    fore_swing = hybrid.Harmonic(phase=lambda d, s: s.swing_phase)
    hind_swing = hybrid.Harmonic(phase=lambda d, s: s.swing_phase + s.gait)
    fore_turn = hybrid.Harmonic(phase=lambda d, s: s.swing_phase + 0.5 * math.pi)
    hind_turn = hybrid.Harmonic(phase=lambda d, s: s.swing_phase + s.gait + 0.5 * math.pi)

    def period(self, design, setting):
        return 1 / setting.frequency

    def accelerations(self, now, design, setting):
        omega = 2 * math.pi * setting.frequency
        damping = 2 * design.leg_damping * (design.leg_stiffness * design.foot_mass) ** 0.5
        swing, turn = setting.swing, setting.swing * omega

        def leg(place, rate, harmonic, slope):
            spring = (place + harmonic * swing) * design.leg_stiffness
            return spring + (rate + slope * turn) * damping

        fore_leg = leg(now.reach, now.reach_rate, now.fore_swing, now.fore_turn)
        apart = now.walk_rate - now.follow_rate
        hind_leg = leg(
            now.reach + now.spread, now.reach_rate + apart, now.hind_swing, now.hind_turn
        )
        fore_pad, hind_pad = FORE(now, design), HIND(now, design)
        pulls = fore_leg + hind_leg
        rise = (fore_pad + hind_pad) * (1 / design.mass) - setting.gravity
        moment = (fore_pad - hind_pad) * design.half_length + pulls * design.height
        pitch = moment * (design.half_length / design.inertia)
        lifted = setting.lift * omega * omega
        walk = (fore_leg + now.fore_grip) * (1 / design.foot_mass)
        return {
            "fore": rise + pitch - now.fore_lift * lifted,
            "hind": rise - pitch - now.hind_lift * lifted,
            "reach": pulls * (-1 / design.mass) - walk,
            "spread": apart,
            "walk": walk,
            "follow": (hind_leg + now.hind_grip) * (1 / design.foot_mass),
        }


WALKER = hybrid.device(
    "legs_walker",
    "a robot that walks on two feet in its plane: driven legs, pads that yield, dry friction",
    Design,
    Setting,
    Walk,
    source="ours; several feet are future work in Ryou and Oldham 2014",
    animation="diffmicro.plot.walker:animation",
    responses={
        "velocity": hybrid.drift("walk"),
        "fore_contact": hybrid.share("fore_pad"),
        "hind_contact": hybrid.share("hind_pad"),
        "fore_stick": hybrid.share("fore_grip"),
        "hind_stick": hybrid.share("hind_grip"),
        "fore_highest": hybrid.largest("fore"),
        "hind_highest": hybrid.largest("hind"),
    },
)
