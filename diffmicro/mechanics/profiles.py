"""Axisymmetric contact in one dimension: equivalent profiles and their normal contact.

The method of dimensionality reduction (MDR thesis, section 2.3) replaces a body of shape h(r) by the line

    g(x) = |x| int_0^|x| h'(r) / sqrt(x^2 - r^2) dr                          (eq. 2.59)

pressed into independent springs of stiffness E* dx (normal) and G* dx (tangential). Up to the contact
radius a it gives exactly

    d = g(a),   F_n = 2 E* (a g(a) - int_0^a g dx),   dF_n/dd = 2 E* a,
    p(r) = E*/pi int_r^a g'(x) / sqrt(x^2 - r^2) dx                          (eq. 2.62 corrected)

| thesis | here | unit |
|---|---|---|
| g, g' | `depth`, `slope` | m, - |
| int_0^x g | `area` | m^2 |
| b | `tip_radius` | m |
| Q_1D, H, L, h_rms | `roughness_coefficient`, `hurst`, `length`, `roughness` | m^(1-H), -, m, m |

Correction to the thesis: eq. 2.62 lacks -1/pi, its lower limit is r, and it integrates over x.

Every profile is elementwise in x, forward and reverse. Left out: adhesion, bodies without symmetry.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Lanes
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.parameters import as_arrays

NODES = 48
"""Gauss-Legendre nodes of the integrals over smooth functions."""

ITERATIONS = 60
"""Newton steps at most for the contact radius; on the doubly logarithmic curve about five are needed."""


class Profile(eqx.Module):
    """An equivalent line: how deep it is pressed when the contact reaches out to x."""

    @abc.abstractmethod
    def depth(self, x: Lanes | float) -> Lanes:
        """g(x) for x not negative [m]; the indentation of a contact of radius x."""

    @abc.abstractmethod
    def slope(self, x: Lanes | float) -> Lanes:
        """g'(x) [-]."""

    @abc.abstractmethod
    def area(self, x: Lanes | float) -> Lanes:
        """int_0^x g [m^2]."""

    def start(self) -> Array | float:
        """Contact radius at vanishing force [m]: that of a flat tip."""
        return 0.0


class Sphere(Profile):
    """g = x^2 / R, of h = r^2 / 2R. radius: R [m]."""

    radius: Array | float

    def depth(self, x: Lanes | float) -> Lanes:
        return jnp.asarray(x) ** 2 / self.radius

    def slope(self, x: Lanes | float) -> Lanes:
        return 2 * jnp.asarray(x) / self.radius

    def area(self, x: Lanes | float) -> Lanes:
        return jnp.asarray(x) ** 3 / (3 * self.radius)


class FlattenedSphere(Profile):
    """g = x sqrt(x^2 - b^2) / R beyond a flat tip (eq. 3.9). radius: R [m]. tip_radius: b [m]."""

    radius: Array | float
    tip_radius: Array | float

    def _beyond(self, x: Lanes | float) -> tuple[Array, Array]:
        outside = jnp.asarray(x > self.tip_radius)
        squared = jnp.where(outside, x**2 - self.tip_radius**2, 1.0)
        return outside, jnp.sqrt(squared)

    def depth(self, x: Lanes | float) -> Lanes:
        outside, beyond = self._beyond(x)
        return jnp.where(outside, x * beyond, 0.0) / self.radius

    def slope(self, x: Lanes | float) -> Lanes:
        outside, beyond = self._beyond(x)
        return jnp.where(outside, beyond + x**2 / beyond, 0.0) / self.radius

    def area(self, x: Lanes | float) -> Lanes:
        outside, beyond = self._beyond(x)
        return jnp.where(outside, beyond**3, 0.0) / (3 * self.radius)

    def start(self) -> Array:
        return jnp.asarray(self.tip_radius, jnp.result_type(self.tip_radius, float))


class PowerLine(Profile):
    """g = c x^n, given directly as a line. coefficient: c [m^(1-n)]. exponent: n [-]."""

    coefficient: Array | float
    exponent: Array | float

    def depth(self, x: Lanes | float) -> Lanes:
        return self.coefficient * _power(x, self.exponent)

    def slope(self, x: Lanes | float) -> Lanes:
        return self.coefficient * self.exponent * _power(x, self.exponent - 1)

    def area(self, x: Lanes | float) -> Lanes:
        return self.coefficient * _power(x, self.exponent + 1) / (self.exponent + 1)


class Together(Profile):
    """Profiles on top of each other: their lines add."""

    parts: tuple[Profile, ...]

    def depth(self, x: Lanes | float) -> Lanes:
        return sum((part.depth(x) for part in self.parts), start=jnp.zeros_like(x))

    def slope(self, x: Lanes | float) -> Lanes:
        return sum((part.slope(x) for part in self.parts), start=jnp.zeros_like(x))

    def area(self, x: Lanes | float) -> Lanes:
        return sum((part.area(x) for part in self.parts), start=jnp.zeros_like(x))

    def start(self) -> Array | float:
        radii = [part.start() for part in self.parts]
        lowest = radii[0]
        for radius in radii[1:]:
            lowest = jnp.minimum(lowest, radius)
        return lowest


def gauss(leading: int, count: int = NODES) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [-1, 1], with so many axes of size one before."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    shape = (1,) * leading + (count,)
    return nodes.reshape(shape), weights.reshape(shape)


def _power(x: Lanes | float, exponent: Array | float) -> Array:
    """x^n for x not negative, with a derivative by n at zero."""
    inside = jnp.asarray(x > 0)
    return jnp.where(
        inside, jnp.where(inside, x, 1.0) ** exponent, jnp.where(exponent == 0, 1.0, 0.0)
    )


def roughness_coefficient(
    hurst: Array | float, roughness: Array | float, length: Array | float
) -> Array | float:
    """Q_1D of the line Q_1D x^H that stands for a fractal surface (eq. 2.78) [m^(1-H)].

    hurst: Hurst exponent, from 0 to 2. roughness: rms of the heights [m]. length: of the surface [m].
    """
    wave = 2 * (hurst + 1) / (1.9412 * length)
    return wave ** (hurst + 1) * (hurst + 1) * length / (2 * hurst) * roughness


def rough_sphere(
    radius: Array | float,
    hurst: Array | float,
    roughness: Array | float,
    length: Array | float,
    tip_radius: Array | float | None = None,
) -> Together:
    """A sphere on a fractal rough surface (eq. 3.12), with a flattened tip if one is given."""
    smooth = Sphere(radius) if tip_radius is None else FlattenedSphere(radius, tip_radius)
    return Together((smooth, PowerLine(roughness_coefficient(hurst, roughness, length), hurst)))


def normal_force(profile: Profile, contact_radius: Lanes | float, modulus: Array | float) -> Lanes:
    """Force at a contact radius [N] (eq. 2.60); `modulus` is E*."""
    a = contact_radius
    return 2 * modulus * (a * profile.depth(a) - profile.area(a))


def contact_radius(profile: Profile, force: Array | float, modulus: Array | float) -> Array:
    """Contact radius of one contact at a force [m], with the derivative of the condition. Zero force: NaN."""
    force, modulus = jnp.asarray(force), jnp.asarray(modulus)
    inputs = (profile, force, modulus)
    start = jax.lax.stop_gradient(profile.start())
    held = jax.lax.stop_gradient(inputs)
    # Unknown is log(s), a^2 = b^2 + s^2: log F over log s is nearly straight for every profile.
    size = jnp.cbrt(jax.lax.stop_gradient(force / modulus))

    def again(state: tuple[Array, Array, Array]) -> Array:
        _, change, count = state
        return (jnp.abs(change) > 4 * jnp.finfo(change.dtype).eps) & (count < ITERATIONS)

    def improve(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        z, before, count = state
        defect, steepness = jax.jvp(
            lambda z: _mismatch(_radius(z, start), held), (z,), (jnp.ones_like(z),)
        )
        newton = jnp.clip(-defect / steepness, -4.0, 4.0)
        # Within a flat tip without roughness there is no force yet: half of the way back.
        change = jnp.where(jnp.isfinite(defect), newton, jnp.abs(before) / 2)
        return z + change, change, count + 1

    dtype = jnp.result_type(*jax.tree.leaves(held), float)
    first = (
        jnp.log(jnp.maximum(size, 1e-15)).astype(dtype),
        jnp.ones((), dtype),
        jnp.zeros((), jnp.int32),
    )
    z, _, _ = loops.while_loop(again, improve, first)
    return with_implicit_derivative(_condition, _radius(z, start)[None], inputs)[0]


def _radius(z: Array, start: Array | float) -> Array:
    return jnp.sqrt(start**2 + jnp.exp(2 * z))


def _mismatch(a: Array, inputs: tuple[Profile, Array, Array]) -> Array:
    profile, force, modulus = inputs
    return jnp.log(normal_force(profile, a, modulus) / force)


def _condition(root: Array, inputs: tuple[Profile, Array, Array]) -> Array:
    return _mismatch(root[0], inputs)[None]


def pressure(
    profile: Profile, radius: Lanes, contact_radius: Array | float, modulus: Array | float
) -> Array:
    """Pressure at distances `radius` from the axis [Pa] (eq. 2.62 corrected); zero outside.

    The profile's slope is taken as smooth between the flat tip's edge and the contact's. At a radius
    that is exactly the edge of a flat tip the pressure is infinite in theory and not resolved.
    """
    if isinstance(profile, Together):  # linear in the profile at a given contact radius
        parts = [pressure(part, radius, contact_radius, modulus) for part in profile.parts]
        return sum(parts[1:], start=parts[0])
    r, a = as_arrays((radius, contact_radius))
    inside = r < a
    low = jnp.clip(r, profile.start(), a)
    # x^2 = r^2 + t^2: from x = max(r, b) to a; t from `near` in, squared spacing where g' starts as a root
    near = jnp.sqrt(jnp.maximum(low**2 - r**2, 0.0))
    far = jnp.sqrt(jnp.where(inside, a**2 - r**2, 1.0))
    nodes, weights = gauss(r.ndim)
    share = (1 + nodes) / 2
    t = near[..., None] + (far - near)[..., None] * share**2
    x = jnp.sqrt(r[..., None] ** 2 + t**2)
    density = profile.slope(x) / jnp.where(x > 0, x, 1.0) * share * weights
    integral = (far - near) * jnp.sum(density, axis=-1)
    return jnp.where(inside, modulus / jnp.pi * integral, 0.0)
