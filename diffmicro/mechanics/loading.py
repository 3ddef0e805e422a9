"""Force of a contact that is displaced for the first time, of any outline (Cattaneo-Mindlin, Jaeger).

Displacements are in units of the presliding displacement, forces in units of initial stiffness times it.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Lanes, Scalar


class Outline(eqx.Module):
    """Shape of a contact over its radius: g(x)/g(a) = smooth s(x/a) + (1 - smooth) (x/a)^hurst.

    flat: radius of the flat tip over contact radius; s is a flattened sphere's.
    smooth: share of the sphere in the indentation.
    hurst: exponent of the rough rest.
    """

    flat: Lanes
    smooth: Lanes
    hurst: Lanes

    def depth(self, x: Array) -> Array:
        """g(x a)/g(a) for x from 0 to 1."""
        beyond = (x - self.flat) * (x + self.flat)
        root = jnp.sqrt(jnp.where(beyond > 0, beyond, 1))
        sphere = jnp.where(beyond > 0, x * root, 0) / jnp.sqrt(1 - self.flat**2)
        return self.smooth * sphere + (1 - self.smooth) * _power(x, self.hurst)

    def area(self, x: Array) -> Array:
        """Integral of depth from 0 to x."""
        beyond = (x - self.flat) * (x + self.flat)
        sphere = jnp.where(beyond > 0, jnp.where(beyond > 0, beyond, 1) ** 1.5, 0)
        sphere = sphere / (3 * jnp.sqrt(1 - self.flat**2))
        return self.smooth * sphere + (1 - self.smooth) * _power(x, self.hurst + 1) / (
            self.hurst + 1
        )

    def radius(self, depth: Array) -> Array:
        """The x where depth(x) has a value from 0 to 1, without derivative."""
        flat, smooth, hurst, depth = jax.lax.stop_gradient(
            (self.flat, self.smooth, self.hurst, depth)
        )
        held = Outline(flat, smooth, hurst)
        # exact without roughness: x^2 (x^2 - flat^2) = depth^2 (1 - flat^2)
        square = 4 * depth**2 * (1 - flat**2)
        start = jnp.sqrt((flat**2 + jnp.sqrt(flat**4 + square)) / 2)
        eps = 8 * jnp.finfo(depth.dtype).eps

        def off(at: tuple) -> Array:
            low, high, x = at
            return (jnp.abs(held.depth(x) - depth) > eps) & (high - low > eps)

        def improve(at: tuple) -> tuple:
            low, high, x = at
            value, slope = jax.jvp(held.depth, (x,), (jnp.ones_like(x),))
            low, high = jnp.where(value < depth, x, low), jnp.where(value < depth, high, x)
            newton = x - (value - depth) / jnp.where(slope > 0, slope, 1)
            inside = (slope > 0) & (newton > low) & (newton < high)
            return low, high, jnp.where(inside, newton, (low + high) / 2)

        begin = (jnp.zeros_like(start), jnp.ones_like(start), start)
        return loops.while_loop(off, improve, begin)[2]


def _power(x: Array, exponent: Array) -> Array:
    return jnp.where(x > 0, jnp.where(x > 0, x, 1) ** exponent, 0)


def outline_loading(reach: Scalar, shape: Outline) -> Scalar:
    """First loading of any outline: the core that sticks, and the limits of the ring that slides.

    The core's radius makes the force an extremum, so that the derivative needs none of it.
    """
    core = shape.radius(1 - reach)
    return reach * core + (1 - core) - (shape.area(jnp.ones_like(core)) - shape.area(core))


def sphere_loading(reach: Scalar, shape: None = None) -> Scalar:
    """First loading of a sphere (Cattaneo-Mindlin), reach from 0 to 1."""
    del shape
    rest = 1 - reach
    return jnp.where(rest > 0, 2 / 3 * (1 - jnp.where(rest > 0, rest, 1) ** 1.5), 2 / 3)
