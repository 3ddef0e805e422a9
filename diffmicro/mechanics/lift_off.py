"""Slip under a normal force that is lost for a part of each period: friction control out of plane, extended.

The MDR thesis ends where contact is lost ("this assures that no loss of contact takes place", section 4.3). A
probe on a contact of constant stiffness that is pressed by a constant force F_n,0 has beyond that, with F_n,0 as
unit and t the phase since the largest force,

    N(t) = max(0, c + r cos t),    mean N = 1:    sin h - h cos h = pi / r,    c = -r cos h,

in contact for |t| < h. r is the amplitude that the force would have if contact were never lost; at r = 1 h is pi.
Under a drag f (unit mu_0 F_n,0) the slip begins at t_1 = arccos((f - c) / r), goes on in flight, and ends at
2 pi + t_2 where the velocity f (t - t_1) - int N is zero again. With G(t) = c t + r sin t, whose whole is 2 pi,

    f (2 pi + t_2 - t_1) = 2 pi - G(t_1) + G(t_2),    -t_1 < t_2 < t_1.

Velocities are in units of mu_0 F_n,0 / (m omega). Left out: the probe's own motion in flight, impact where it
lands, and that the stiffness changes with the load.
"""

from typing import NamedTuple

import jax.numpy as jnp

from diffmicro._types import Scalar
from diffmicro.nonsmooth.bracketed import rising_root


class Slip(NamedTuple):
    """half: phases in contact are |t| < half. offset: c. start, end: t_1, t_2. drag: f. ratio: r."""

    half: Scalar
    offset: Scalar
    start: Scalar
    end: Scalar
    drag: Scalar
    ratio: Scalar

    def impulse(self, phase: Scalar) -> Scalar:
        """G: integral of the normal force from its largest value on, within contact."""
        return self.offset * phase + self.ratio * jnp.sin(phase)

    def speed(self, phase: Scalar) -> Scalar:
        """Velocity at a phase from `start` to `start` + 2 pi."""
        back = jnp.maximum(phase - 2 * jnp.pi, -self.half)
        pushed = self.impulse(jnp.minimum(phase, self.half)) - self.impulse(self.start)
        landed = self.impulse(back) + jnp.pi
        speed = self.drag * (phase - self.start) - pushed - landed
        return jnp.where(phase < 2 * jnp.pi + self.end, speed, 0.0)

    def missed(self) -> Scalar:
        """Velocity at the end, which is zero."""
        return -_excess(self.end, (self.start, self.offset, self.ratio))

    def mean(self) -> Scalar:
        """Mean velocity over a period: braking before flight, flight, and what is left of it on landing."""
        first, flight, last = (
            self.half - self.start,
            2 * (jnp.pi - self.half),
            self.end + self.half,
        )
        begun = self.impulse(self.start)
        way = self.drag * first**2 / 2 - self._area(self.start, self.half) + begun * first
        lost = self.drag * first - (jnp.pi - begun)
        way = way + lost * flight + self.drag * flight**2 / 2
        way = way + self.impulse(self.end) * last - self._area(-self.half, self.end)
        return (way - self.drag * last**2 / 2) / (2 * jnp.pi)

    def _area(self, begin: Scalar, end: Scalar) -> Scalar:
        bent = self.ratio * (jnp.cos(begin) - jnp.cos(end))
        return self.offset * (end - begin) * (end + begin) / 2 + bent


def contact_half(ratio: Scalar) -> Scalar:
    """Half of the phase in contact, for ratios above 1."""
    return rising_root(_balance, ratio, 0 * ratio, jnp.pi * jnp.ones_like(ratio))


def _balance(half: Scalar, ratio: Scalar) -> Scalar:
    return jnp.sin(half) - half * jnp.cos(half) - jnp.pi / ratio


def slip(drag: Scalar, ratio: Scalar) -> Slip:
    """The slip under a drag from 0 to 1, for ratios above 1."""
    half, offset, start = _begun(drag, ratio)
    end = rising_root(_excess, (start, offset, ratio), -start, start)
    return Slip(half, offset, start, end, drag, ratio)


def _begun(drag: Scalar, ratio: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    half = contact_half(ratio)
    offset = -ratio * jnp.cos(half)
    return half, offset, jnp.arccos((drag - offset) / ratio)


def _excess(end: Scalar, given: tuple[Scalar, Scalar, Scalar]) -> Scalar:
    """What the friction took more than the drag gave until `end`, the velocity lost."""
    start, offset, ratio = given
    drag = offset + ratio * jnp.cos(start)
    begun, ended = (offset * t + ratio * jnp.sin(t) for t in (start, end))
    return 2 * jnp.pi - begun + ended - drag * (2 * jnp.pi + end - start)


def mean_velocity(drag: Scalar, ratio: Scalar) -> Scalar:
    """Mean velocity under a drag from 0 to 1, both excluded."""
    return slip(drag, ratio).mean()


def critical_velocity(ratio: Scalar) -> Scalar:
    """Mean velocity of a slip that lasts the whole period, from where on nothing is reduced."""
    one = jnp.ones_like(ratio)
    half, offset, start = _begun(one, ratio)
    return Slip(half, offset, start, start, one, ratio).mean()


def drag_at(velocity: Scalar, ratio: Scalar) -> Scalar:
    """The drag at a mean velocity below the critical one."""
    return rising_root(_faster, (velocity, ratio), 0 * ratio, jnp.ones_like(ratio))


def _faster(drag: Scalar, given: tuple[Scalar, Scalar]) -> Scalar:
    velocity, ratio = given
    return mean_velocity(drag, ratio) - velocity
