"""Impacts of modal structures: one coefficient of restitution at the foot, three ways to share the impulse.

The foot's velocity v (the sum of its modes' velocities there) changes by dv = (alpha - 1) v, alpha = -e. The law
distributes the change over the modes: mode j takes the share s_j, and the shares sum to one.

| law | s_j | source |
|---|---|---|
| full | mu_j / sum(mu) | an impulse at the foot acts on every mode by its mobility mu_j = Phi_cj^2 / eta^2 |
| dominant | 1 for mode k, else 0 | Ryou 2014, eq. 28: R = I + (alpha - 1) phi_k e_c^T / phi_kc |
| point | Phi_cj (Phi^-1)_jc | eq. 5: the velocity of the foot alone changes, of no other point |

The measured coefficient, -0.51 +- 0.11, is the paper's alpha of eqs. 6 and 19-28; its eq. 10 carries one minus too
many. The kinetic energy changes by  dE = sum_j [s_j dv V_j / mu_j + (s_j dv)^2 / (2 mu_j)]  with the modes'
velocities V_j. `full` never adds energy: dE = -(1 - e^2) v^2 / (2 sum mu). `dominant` does when the rest of
the velocity, rho = v - V_k, has rho/v > (1 - e)/2. `point` is `full` for a structure whose mass matrix is
diagonal at the foot.

Several feet at once: the feet that touch and close get impulses p >= 0 with  v+ + e v- >= 0  and  p (v+ + e
v-) = 0, v+ = v- + D p, D = Phi Phi^T / eta^2 (Newton's law with Delassus' matrix; no energy is added, Glocker
2001, for equal e).
"""

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from diffmicro._types import PerMode, Real
from diffmicro.nonsmooth import BoxComplementarity, Solution, solve_newton

LAWS = ("full", "dominant", "point")

NEARLY_CRITICAL = 1e-6
"""Distance of a damping ratio from one within which a series is good to rounding."""


def shares(
    law: str,
    mobility: PerMode,
    dominant: Array | int | None = None,
    mode_shape: Array | np.ndarray | None = None,
) -> Array:
    """Share of each mode in a change of the foot's velocity [-].

    `dominant`: number of the dominant mode; None: the one of largest mobility. `mode_shape` (points, modes) is
    square with the foot in its first row; without it `point` has no other points and is `full`.
    """
    if law == "dominant":
        k = jnp.argmax(mobility) if dominant is None else dominant
        return (jnp.arange(mobility.shape[0]) == k).astype(mobility.dtype)
    if law == "point" and mode_shape is not None:
        return mode_shape[0] * jnp.linalg.inv(mode_shape)[:, 0]
    return mobility / jnp.sum(mobility)


def energy_change(share: PerMode, mobility: PerMode, velocity: PerMode, restitution: Real) -> Array:
    """Change of kinetic energy in an impact of modes with these velocities at the foot [J]."""
    kick = -(1.0 + restitution) * jnp.sum(velocity) * share
    return jnp.sum(kick * (velocity + 0.5 * kick) / mobility)


def rebound(damping_ratio: Real) -> Array:
    """Restitution of a mass on a spring and damper that only push, at any speed [-].

    With zeta = cos b the force ends after the time 2 b / (omega sin b), and e = exp(-2 b / tan b); above one b is
    imaginary (Schwager and Poeschel 2007). damping_ratio: zeta >= 0, of the critical damping 2 sqrt(k m).
    """
    zeta = jnp.asarray(damping_ratio, float)
    near = jnp.abs(zeta - 1.0) < NEARLY_CRITICAL
    below = (zeta < 1.0) & ~near
    under, over = jnp.where(below, zeta, 0.0), jnp.where(below | near, 2.0, zeta)
    b, h = jnp.arccos(under), jnp.arccosh(over)
    # Next to zeta = 1, b^2 = 2 (1 - zeta) + ..., and b / tan b = 1 - b^2 / 3.
    critical = 1.0 + 2.0 * (zeta - 1.0) / 3.0
    exponent = jnp.where(near, critical, jnp.where(below, b / jnp.tan(b), h / jnp.tanh(h)))
    return jnp.exp(-2.0 * exponent)


def delassus(mode_shape: Float[Array, "feet modes"], mass: Real) -> Float[Array, "feet feet"]:
    """D = Phi Phi^T / eta^2 [1/kg]: velocities of the feet from impulses on the feet; mass: eta^2."""
    return mode_shape @ mode_shape.T / mass


def feet_impulses(
    matrix: Float[Array, "feet feet"],
    velocity: Float[Array, "feet"],
    touching: Array,
    restitution: Real,
) -> Solution:
    """Impulses z on several feet at once [N s], see the module docstring; 0 on feet that do not touch."""
    none = jnp.zeros_like(velocity)
    most = jnp.where(touching, jnp.inf, 0.0)
    return solve_newton(BoxComplementarity(matrix, (1.0 + restitution) * velocity, none, most))
