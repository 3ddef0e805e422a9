"""How finely something is calculated, as a number that one compiled program is given.

A program that is compiled has a fixed number of steps. Where only a share of them is taken, the others have no
length: so the same program serves two resolutions, and checking a gradient at the coarser one compiles nothing
more. The steps without length cost what the others do, so this is for a single point, of which compiling takes
nearly all of the time; batches compile each resolution for itself.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real, Scalar
from diffmicro.parameters import is_traced


class Steps(eqx.Module):
    """A number of steps.

    most: what the program has.
    used: how many of them have a length, at most as many; None: all.
    legal: whether the share that they are was one; where it was not, all are taken.
    """

    most: int = eqx.field(static=True)
    used: Scalar | None = None
    legal: Array | bool = True

    @property
    def number(self) -> Real:
        """How many have a length."""
        return self.most if self.used is None else self.used

    def fewer(self, ratio: int) -> "Steps":
        """One of `ratio`, one at least."""
        used = None if self.used is None else jnp.maximum(self.used // ratio, 1)
        return Steps(max(self.most // ratio, 1), used)

    def multiple_of(self, size: int) -> "Steps":
        """The next multiple."""
        used = None if self.used is None else jnp.ceil(self.used / size) * size
        return Steps(-(-self.most // size) * size, used)

    def length(self, index: Array, whole: Scalar) -> Array:
        """What step `index` of equal ones takes of the whole."""
        if self.used is None:
            return whole / self.most
        used = jnp.asarray(self.used, whole.dtype)
        return jnp.where(index < used, whole / used, 0)

    def before(self, index: Array, whole: Scalar) -> Array:
        """What equal steps before step `index` take of the whole."""
        if self.used is None:
            return index * whole / self.most
        return jnp.minimum(index / jnp.asarray(self.used, whole.dtype), 1) * whole


def taken(steps: int, share: Real | None, least: int) -> Steps:
    """`steps`, of which a share is taken, but `least` of them in any case; None: all.

    A share outside (0, 1] is a ValueError where it is known, and not `legal` where it is traced.
    """
    if share is None:
        return Steps(steps)
    legal = (jnp.asarray(share) > 0) & (jnp.asarray(share) <= 1)
    if not (is_traced(legal) or legal):
        raise ValueError(
            f"share = {share} is not allowed; it has to be above 0 and at most 1, the share of the {steps} steps "
            "that is taken. For more steps give a larger number of them; None takes all."
        )
    used = jnp.maximum(jnp.floor(jnp.asarray(steps * jnp.where(legal, share, 1.0))), least)
    return Steps(steps, used, legal)
