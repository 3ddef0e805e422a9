"""Closed forms that tests compare the laws of `diffmicro.mechanics` with; nothing in the library needs them."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import gammaln

from diffmicro._types import Lanes, Matrix, Vector
from diffmicro.mechanics.elliptic import MEANS, agm
from diffmicro.mechanics.films import squeeze_film
from diffmicro.mechanics.modes import frequency_response, propagator
from diffmicro.mechanics.profiles import PowerLine, Profile, gauss
from diffmicro.parameters import as_arrays

Real = Lanes | float


def hertz_force(indentation: Lanes | float, radius: Lanes | float, modulus: Lanes | float) -> Lanes:
    """Normal force of a sphere pressed to a depth [N]; `modulus` is E*."""
    return 4 / 3 * modulus * jnp.sqrt(radius * indentation) * indentation


def cattaneo_force(
    displacement: Lanes | float, presliding: Lanes | float, limit: Lanes | float
) -> Lanes:
    """Tangential force of a sphere on first loading [N]; `limit` is mu F_n. Odd in the displacement."""
    rest = jnp.maximum(1 - jnp.abs(displacement) / presliding, 0)
    # the power's derivative at zero, where sliding begins, would be 0 * inf without the exchange
    sliding = rest == 0
    slope_safe = jnp.where(sliding, 1, rest)
    return jnp.sign(displacement) * limit * jnp.where(sliding, 1, 1 - slope_safe**1.5)


def complete_first(parameter: Lanes | float) -> Lanes:
    """K(m) for m below one."""
    return jnp.pi / (2 * agm(1.0, jnp.sqrt(1 - jnp.asarray(parameter))))


def complete_second(parameter: Lanes | float) -> Lanes:
    """E(m) for m below one."""
    m = as_arrays(parameter)
    a, b = jnp.ones_like(m), jnp.sqrt(1 - m)
    # E / K = 1 - sum_n 2^(n-1) c_n^2 with c_0^2 = m and c_(n+1) = (a_n - b_n) / 2
    lost, weight = m / 2, 0.5
    for _ in range(MEANS):
        a, b, c = (a + b) / 2, jnp.sqrt(a * b), (a - b) / 2
        weight = 2 * weight
        lost = lost + weight * c**2
    return jnp.pi / (2 * a) * (1 - lost)


def adhesion_energy(height: Any, coefficient: Any, offset: Any) -> Any:
    """Energy of the adhesion, 0 far from the ground [J]: the force is minus its derivative by the height."""
    return -0.5 * coefficient / (height + offset) ** 2


def dissipated(height: Any, speed: Any, coefficient: Any, offset: Any) -> Any:
    """Power that the film turns into heat [W], never negative."""
    return -squeeze_film(height, speed, coefficient, offset) * speed


def slow_velocity(share: Real) -> Lanes:
    """Mean velocity for a small f~ (eq. 4.19 corrected)."""
    return 9 * jnp.asarray(share) ** 2 / (4 * jnp.pi)


def caterpillar_velocity() -> float:
    """Mean velocity over v^ while one contact point always rests (section 4.4.1): the jump of Fig. 4.16."""
    return 2 / jnp.pi


def amplification(gap_ratio: Real, gap_fit: Real, demagnetization: Real) -> Real:
    """Flux in the gap over applied flux, eq. 7; `gap_ratio` is gap over magnetic length [-]."""
    return (gap_fit / demagnetization + gap_ratio) / (gap_fit + gap_ratio)


def sine_response(
    frequency: Vector, damping: Vector, gain: Vector, drive: Array | float, time: Vector
) -> Matrix:
    """Each mode's displacement (times, modes) from rest under sin(drive t): exact."""
    w, zeta, t = frequency[None, :], damping[None, :], time[:, None]
    real, imaginary = frequency_response(w, zeta, drive)
    moved, _ = propagator(w, zeta, t)(-imaginary, -drive * real)
    return gain[None, :] * (moved + real * jnp.sin(drive * t) + imaginary * jnp.cos(drive * t))


def square_response(
    frequency: Vector, damping: Vector, gain: Vector, drive: Array | float, time: Vector
) -> Matrix:
    """Each mode's displacement (times, modes) from rest under the sign of sin(drive t): exact.

    A sum over all switches before each time, so its error does not grow with their number.
    """
    half = jnp.pi / drive
    switches = int(jnp.max(time) / half) + 1
    number = jnp.arange(switches)[None, :]
    since = time[:, None] - number * half
    rise = jnp.where(number == 0, 1.0, 2.0) * jnp.where(number % 2 == 0, 1.0, -1.0)
    rise = jnp.where(since >= 0, rise, 0.0)
    keep = propagator(
        frequency[None, None, :], damping[None, None, :], jnp.maximum(since, 0.0)[:, :, None]
    ).keep
    return gain[None, :] * jnp.sum(rise[:, :, None] * (1.0 - keep), axis=1)


def matrices(
    mode_shape: Matrix, frequency: Vector, damping: Vector, mass: Array | float
) -> tuple[Matrix, Matrix, Matrix]:
    """M, C, K [kg, kg/s, N/m] from square mode shapes [-], frequencies [rad/s], ratios, and eta^2 [kg]."""
    inverse = jnp.linalg.inv(mode_shape)

    def congruent(diagonal: Array) -> Array:
        return mass * inverse.T @ (diagonal[:, None] * inverse)

    return (
        congruent(jnp.ones_like(frequency)),
        congruent(2 * damping * frequency),
        congruent(frequency**2),
    )


def modal_data(
    mass_matrix: Matrix, damping_matrix: Matrix, stiffness: Matrix, mass: Array | float
) -> tuple[Matrix, Vector, Vector]:
    """Mode shapes with M = mass Phi^-T Phi^-1, frequencies [rad/s] upward and damping ratios, from M, C, K."""
    root = jnp.linalg.cholesky(mass_matrix)
    inverse = jnp.linalg.inv(root)
    squares, vectors = jnp.linalg.eigh(inverse @ stiffness @ inverse.T)
    shapes = inverse.T @ vectors
    frequency = jnp.sqrt(squares)
    damping = jnp.diagonal(shapes.T @ damping_matrix @ shapes) / (2 * frequency)
    return shapes * jnp.sqrt(mass), frequency, damping


class Revolved(Profile):
    """Any shape of revolution, given by its inclination h'(r), through the integral of eq. 2.59.

    inclination: h' as a function of r, elementwise and smooth between the `edges`.
    edges: radii where h' jumps or bends [m], ascending.
    """

    inclination: Callable[[Array], Array] = eqx.field(static=True)
    edges: tuple[float, ...] = eqx.field(static=True, default=())

    def depth(self, x: Lanes | float) -> Lanes:
        at = jnp.asarray(x)
        # r = x sin(t) takes the singularity away
        return at * self._over_angles(at, lambda t: self.inclination(at[..., None] * jnp.sin(t)))

    def slope(self, x: Lanes | float) -> Lanes:
        return jax.jvp(self.depth, (x,), (jnp.ones_like(x),))[1]

    def area(self, x: Lanes | float) -> Lanes:
        # int_0^x g = int_0^x h'(r) sqrt(x^2 - r^2) dr by exchanging the integrals
        at = jnp.asarray(x)

        def integrand(t: Array) -> Array:
            return self.inclination(at[..., None] * jnp.sin(t)) * jnp.cos(t) ** 2

        return at**2 * self._over_angles(at, integrand)

    def _over_angles(self, x: Array, integrand: Callable[[Array], Array]) -> Array:
        """Integral over the angle from 0 to pi/2, piece by piece between the edges."""
        safe = jnp.where(x > 0, x, 1.0)
        bounds = [jnp.zeros_like(x)]
        for edge in self.edges:
            inside = edge < x
            bounds.append(
                jnp.where(inside, jnp.arcsin(jnp.where(inside, edge / safe, 0)), np.pi / 2)
            )
        bounds.append(jnp.full_like(x, np.pi / 2))
        total = jnp.zeros_like(x)
        for low, high in zip(bounds[:-1], bounds[1:], strict=True):
            nodes, weights = gauss(x.ndim)
            half = (high - low)[..., None] / 2
            angles = low[..., None] + half * (1 + nodes)
            total = total + jnp.sum(integrand(angles) * half * weights, axis=-1)
        return total


def power_law(coefficient: Array | float, exponent: Array | float) -> PowerLine:
    """The line of a body h = c r^n (eqs. 2.56 and 2.57): longer by kappa_n."""
    n = as_arrays(exponent)
    kappa = jnp.sqrt(jnp.pi) / 2 * n * jnp.exp(gammaln(n / 2) - gammaln(n / 2 + 0.5))
    return PowerLine(kappa * coefficient, exponent)
