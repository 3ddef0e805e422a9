"""The WRMMA in closed form (Nagy 2012, section II-B, eqs. 25-36).

Assumptions of the paper: no damping, no clamp, a magnetic force that does not depend on the gap,
and of the square wave only its first harmonic, so that the force on the body is F_0 f(tau) with

    f(tau) = (4/pi sin(r tau) + offset)^2
           = (offset^2 + 8/pi^2) + (8/pi) offset sin(r tau) - (8/pi^2) cos(2 r tau)

| paper        | here              | meaning                                             |
|--------------|-------------------|-----------------------------------------------------|
| tau = t/t_c  | time              | nondimensional time, t_c = 1 / (2 pi f_1)           |
| f tilde      | frequency_ratio r | drive frequency over tethered frequency f_1         |
| delta        | elongation        | (gap - rest gap) / d_c, d_c = F_0 / k               |
| alpha        | mass_ratio        | hammer over body                                    |
| eta          | eta               | magnetic force F_0 over friction bound mu F_G       |
| script B     | field_offset      | offset of the field over its amplitude              |

The paper rounds the amplitudes of eq. 30 to 0.81 and 2.55; here they are exact, and the phases of
its sines are written out. Left out: everything nonlinear; that is what the device is for.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp

from diffmicro._types import Lanes

Real = Lanes | float


class Scales(NamedTuple):
    """Characteristic parameters, eqs. 26-27."""

    time: Lanes  # t_c [s]
    elongation: Lanes  # d_c [m]
    travel: Lanes  # s_c [m]
    eta: Lanes  # [-]


def characteristic_scales(
    hammer_mass: Real, stiffness: Real, magnetic_force: Real, friction_bound: Real
) -> Scales:
    """Scales from m_H [kg], k [N/m], F_0 [N] at the rest gap and mu F_G [N] (eqs. 26-27)."""
    return Scales(
        time=jnp.sqrt(hammer_mass / stiffness),
        elongation=jnp.asarray(magnetic_force / stiffness),
        travel=jnp.asarray(friction_bound / stiffness),  # s_c = d_c / eta
        eta=jnp.asarray(magnetic_force / friction_bound),
    )


def force_harmonics(field_offset: Real = 1.0) -> tuple[Real, Real, Real]:
    """Mean and amplitudes of f(tau) at the drive frequency and at twice it (eqs. 19 and 30)."""
    double = 8 / math.pi**2
    return field_offset**2 + double, 8 / math.pi * field_offset, double


def magnetic_drive(time: Real, frequency_ratio: Real, field_offset: Real = 1.0) -> Lanes:
    """f(tau), the magnetic force over F_0 (eq. 19)."""
    return (4 / math.pi * jnp.sin(frequency_ratio * time) + field_offset) ** 2


def stiction_elongation(time: Real, frequency_ratio: Real, field_offset: Real = 1.0) -> Lanes:
    """Steady elongation while the body sticks: solves delta'' + delta = -f (eqs. 29-30)."""
    return _elongation(time, frequency_ratio, 1.0, field_offset)


def sliding_elongation(
    time: Real, frequency_ratio: Real, mass_ratio: Real, eta: Real, direction: Real
) -> Lanes:
    """Steady elongation while the body slides one way, for a field offset of one (eq. 35).

    Solves delta'' + (alpha + 1) delta - direction alpha / eta = -(alpha + 1) f; `direction` is
    the sign of the body's velocity. Real motion reverses, so this holds between reversals only
    as the particular solution.
    """
    shift = direction * mass_ratio / (eta * (1 + mass_ratio))
    return shift + _elongation(time, frequency_ratio, 1 + mass_ratio, 1.0)


def _elongation(time: Real, frequency_ratio: Real, squared: Real, field_offset: Real) -> Lanes:
    """Steady solution of delta'' + squared delta = -squared f."""
    mean, single, double = force_harmonics(field_offset)
    return (
        -mean
        - squared * single / (squared - frequency_ratio**2) * jnp.sin(frequency_ratio * time)
        + squared * double / (squared - 4 * frequency_ratio**2)
        * jnp.cos(2 * frequency_ratio * time)
    )  # fmt: skip


def stiction_load(time: Real, frequency_ratio: Real, eta: Real, field_offset: Real = 1.0) -> Lanes:
    """Friction force that stiction needs, over its bound: the body stays while below one.

    |delta + f| eta of eq. 31, with the steady solution of eq. 30 inserted (eq. 32). It is exact
    within the linear model, where eq. 34 keeps one harmonic only.
    """
    elongation = stiction_elongation(time, frequency_ratio, field_offset)
    return eta * jnp.abs(elongation + magnetic_drive(time, frequency_ratio, field_offset))


def stiction_limits(eta: Real, harmonic: int = 1, field_offset: Real = 1.0) -> tuple[Lanes, Lanes]:
    """Frequency ratios between which the body slides, near 1 / harmonic (eqs. 33-34).

    The lower limit is zero when friction is too weak to hold the body at any lower frequency.
    """
    if harmonic not in (1, 2):
        raise ValueError(
            f"stiction_limits: harmonic must be 1 or 2 (the force of eq. 19 has no others), "
            f"got {harmonic!r}"
        )
    share = eta * jnp.abs(jnp.asarray(force_harmonics(field_offset)[harmonic]))
    return jnp.sqrt(jnp.maximum(1 - share, 0)) / harmonic, jnp.sqrt(1 + share) / harmonic


def sliding_resonance(mass_ratio: Real) -> Lanes:
    """Frequency ratio at which both masses resonate while the body slides (eq. 36)."""
    return jnp.sqrt(1 + mass_ratio)
