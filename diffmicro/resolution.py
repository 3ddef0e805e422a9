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


class Steps(eqx.Module):
    """A number of steps.

    most: what the program has.
    used: how many of them have a length, at most as many; None: all.
    """

    most: int = eqx.field(static=True)
    used: Scalar | None = None

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
    """`steps`, of which a share is taken, but `least` of them in any case; None: all."""
    used = None if share is None else jnp.maximum(jnp.floor(jnp.asarray(steps * share)), least)
    return Steps(steps, used)
