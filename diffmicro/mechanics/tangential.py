"""Tangential contact as independent springs that slide (method of dimensionality reduction, MDR).

A contact of any axisymmetric shape is a row of springs (MDR thesis, section 2.3). Spring i follows the
tangential displacement u until its force reaches the friction limit, so its deflection z_i is

    z_i <- clip(z_i + du, -limit_i, limit_i),    F = sum_i stiffness_i z_i,    limit_i = mu E*/G* (d - g(x_i)).

The clipping is incremental and two-sided: the thesis' Fig. 3.12 clips on one side only and has no memory.
For a monotone change of u the update is exact whatever the size of du; only reversals have to be visited.
With a varying normal force the limits vary too, and a spring out of contact (limit 0) loses its deflection.

With a smaller friction coefficient while sliding (`dynamic` below 1) a spring that reaches its limit drops to
the share `dynamic` of it and sticks again. That law has no limit of small steps: forces scatter by 5-20 %.

Left out: torsion, sliding across the direction of u, coupling of springs.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import DTypeLike
from jaxtyping import Float

from diffmicro.mechanics.dots import dots


class Springs(eqx.Module):
    """One contact as springs. All contacts in one go: the same with leading axes.

    limits: deflection at which each spring slides [length].
    stiffness: of each spring [force/length].
    dynamic: dynamic over static friction coefficient [-]; None: they are equal.
    """

    limits: Float[Array, "... n"]
    stiffness: Float[Array, "... n"]
    dynamic: Array | None = None

    jumps: ClassVar[bool] = False
    """Whether force jumps where the rate does."""

    def rest(self) -> Float[Array, "... n"]:
        """Deflections without load."""
        return jnp.zeros_like(self.limits)

    def move(self, deflections: Array, changes: Array, rates: Array) -> Array:
        """Deflections after monotone changes of the displacement, one after the other; rates do not matter.

        changes: (pieces, ...) for contacts of shape (...).
        """
        del rates
        for change in changes:
            moved = deflections + change[..., None]
            if self.dynamic is None:
                deflections = _clipped(moved, self.limits)
            else:
                held = jnp.abs(moved) <= self.limits
                share = jnp.asarray(self.dynamic)[..., None]
                deflections = jnp.where(held, moved, share * jnp.sign(moved) * self.limits)
        return deflections

    def force(self, deflections: Array, rate: Array) -> Array:
        """Tangential force of the contact."""
        del rate
        (force,) = dots(self.stiffness, (deflections,))
        return force

    def force_and_mean(self, before: Array, after: Array, change: Array) -> tuple[Array, Array]:
        """Force after a monotone change of the displacement, and its mean over the way, for equal coefficients.

        The mean is exact also where springs begin to slide: one that follows for a share p of the way, from z_0 to
        z, has the mean z - p (z - z_0)/2, and p is (z - z_0)/change.
        """
        followed = after - before
        force, lack = dots(self.stiffness, (after, followed * followed))
        return force, force - lack / (2 * jnp.where(change == 0, 1.0, change))

    def overflowed(self, deflections: Array) -> Array:
        """Whether memory ran out: springs have all that they need."""
        return jnp.zeros(deflections.shape[:-1], bool)


@jax.custom_jvp
def _clipped(moved: Array, limits: Array) -> Array:
    """Within the limits on both sides. The derivative is a choice, which is cheaper than that of `clip`."""
    return jnp.clip(moved, -limits, limits)


@_clipped.defjvp
def _clipped_jvp(primals: tuple, tangents: tuple) -> tuple:
    moved, limits = primals
    slides = jnp.where(moved < -limits, -tangents[1], tangents[0])
    return _clipped(*primals), jnp.where(moved > limits, tangents[1], slides)


def press(deflections: Array, limits: Array) -> Array:
    """Deflections after the normal force changed, so that each spring has a new limit.

    A spring that leaves the contact (limit 0) is relaxed; one that arrives starts so.
    """
    return jnp.clip(deflections, -limits, limits)


def midpoints(count: int, dtype: DTypeLike) -> Array:
    """Positions of springs on half a contact, over its radius: midpoints of equal parts."""
    return (jnp.arange(count, dtype=dtype) + 0.5) / count
