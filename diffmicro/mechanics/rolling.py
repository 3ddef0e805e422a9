"""A contact that rolls: springs that go with the surface through the contact area.

Where a sphere is moved, its contact area goes with it. Where it turns about its center instead (MDR thesis,
section 3.4.6) the area stays and the surface goes through it: a spring at the place X of the surface (in contact
radii) is, after a way w, at x = X + roll w, and may be deflected by

    limit(x) = u_1 (1 - g(x)/d) inside the contact, 0 outside.

A spring that leaves is relaxed, one that arrives starts so. The line is whole here, as the two sides differ, and
limits are means over a spring's length, so that their sum does not depend on where springs meet the edge. The
thesis plots the result of its model of rotation, and does not print the model: this one is ours. At a steady creep
it is Carter's contact of a driven wheel in the manner of the MDR. Left out: spin; that the slip area of a rolling
sphere is no circle; that a point on a circle rises by w^2/2R, which is 1e-5 of the indentation here.
"""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Scalar
from diffmicro.mechanics.loading import Outline
from diffmicro.mechanics.tangential import Springs


class RollingSprings(eqx.Module):
    """One contact, of unit stiffness.

    ends: places on the surface where springs begin and end, over the contact radius. stiffness: of each.
    outline: shape. presliding: u_1. roll: contact radii that the surface goes on per displacement.
    """

    ends: Array
    stiffness: Array
    outline: Outline
    presliding: Scalar
    roll: Scalar

    jumps: ClassVar[bool] = False
    """Whether force jumps where the rate does."""

    def at(self, way: Scalar) -> Springs:
        """The springs after the surface has gone a way."""
        x = jnp.clip(self.ends + self.roll * way, -1, 1)
        up_to = x - jnp.sign(x) * self.outline.area(jnp.abs(x))
        mean = jnp.diff(up_to) / jnp.diff(self.ends)
        return Springs(self.presliding * mean, self.stiffness)

    def rest(self) -> Array:
        """Deflections without load."""
        return jnp.zeros_like(self.stiffness)

    def force(self, deflections: Array, rate: Array) -> Array:
        """Tangential force of the contact."""
        del rate
        return jnp.einsum("...i,...i->...", self.stiffness, deflections)

    def overflowed(self, deflections: Array) -> Array:
        """Whether memory ran out: springs have all that they need."""
        return jnp.zeros(deflections.shape[:-1], bool)


def rolling_springs(
    outline: Outline, presliding: Scalar, roll: Scalar, farthest: Scalar, count: int
) -> RollingSprings:
    """`count` springs on half of the line that is in contact at some of the ways up to `farthest`."""
    width = 1 + jnp.abs(roll) * farthest
    shares = jnp.arange(2 * count + 1, dtype=width.dtype) / count - 1
    stiffness = jnp.broadcast_to(width / (2 * count), (2 * count,))
    return RollingSprings(shares * width, stiffness, outline, presliding, roll)
