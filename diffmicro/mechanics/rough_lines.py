"""Random rough lines: what stands for a fractally rough surface in one dimension (MDR thesis, eqs. 2.70 to 2.76).

A surface whose statistics stay when it is stretched by Phi and raised by Phi^H (eq. 2.72) has the power spectrum
C_2D ~ q^(-2H-2), and the line that stands for it C_1D = Lambda(H) q C_2D ~ q^(-2H-1) (eq. 2.74). A line of length
L with this spectrum is a sum of waves with random phases (eqs. 2.75 and 2.76),

    g(x) = sum_k B_k cos(q_k x + phi_k),    q_k = 2 pi k/L,    B_k ~ q_k^(-H-1/2).

Here its rms height is given instead of Lambda(H), which the thesis does not state, and waves shorter than the
spacing of two points are left out. Pressed into springs, the highest points of a line carry; what the mean of an
ensemble carries is the power of the depth that the symmetric line Q |x|^H of eqs. 2.77 and 2.78
(`profiles.rough_sphere`) has.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def rough_line(phases: Array, hurst: Array | float, roughness: Array | float, count: int) -> Array:
    """Heights of a line at `count` even points of its length, mean zero [m].

    phases: of its waves, longest first, fewer than half of the points [rad]. hurst: H, 0 to 2. roughness: rms
    height [m]. Differentiable in all three.
    """
    waves = phases.shape[-1]
    most = (count - 1) // 2
    if not 1 <= waves <= most:
        raise ValueError(
            f"rough_line: {waves} waves on {count} points are not allowed; there have to be 1 to {most}. Take "
            "more points or fewer waves."
        )
    order = jnp.arange(1, waves + 1, dtype=phases.dtype)
    amplitude = order ** (-hurst - 0.5)
    amplitude = amplitude * roughness * jnp.sqrt(2 / jnp.sum(amplitude**2))
    coefficients = amplitude * jnp.exp(1j * phases) * count / 2
    spectrum = jnp.zeros(count // 2 + 1, coefficients.dtype).at[1 : waves + 1].set(coefficients)
    return jnp.fft.irfft(spectrum, n=count)


def ensemble(
    seed: int, lines: int, waves: int, hurst: Array | float, roughness: Array | float, count: int
) -> Array:
    """Heights (lines, points) of lines with phases of their own [m]."""
    phases = np.random.default_rng(seed).uniform(0, 2 * np.pi, (lines, waves))
    return jax.vmap(lambda p: rough_line(p, hurst, roughness, count))(jnp.asarray(phases))


def pressed(line: Array, length: float, force: Array | float, modulus: Array | float) -> Array:
    """Depth at which springs of stiffness E* dx under a line carry a force, from its highest point on [m].

    The force is piecewise linear in the depth: sorted from the highest point down, the first n points carry
    E* dx (n d - sum of their distances below the highest).
    """
    below = jnp.max(line) - line
    below = jnp.sort(below)
    number = jnp.arange(1, line.shape[-1] + 1, dtype=line.dtype)
    share = force / (modulus * length / line.shape[-1])
    depth = (share + jnp.cumsum(below)) / number
    # right is the number of springs with which none that carries is pulled, and no other is pressed
    following = jnp.append(below[1:], jnp.inf)
    return jnp.min(jnp.where((depth >= below) & (depth <= following), depth, jnp.inf))
