"""Floquet multipliers without an eigenvalue solver: the largest modulus, on any device, in batches."""

import jax.numpy as jnp
from jax import Array

SQUARINGS = 12


def spectral_radius(matrix: Array) -> Array:
    """Largest modulus of the eigenvalues, from the growth of repeated squares (no LAPACK, any device).

    With the Frobenius norm, 2^12 powers leave an error below log(n) / 2^12 relative.
    """
    power, log_size, weight = matrix, jnp.zeros((), matrix.dtype), 1.0
    tiny = jnp.finfo(matrix.dtype).tiny
    for _ in range(SQUARINGS):
        norm = jnp.maximum(jnp.sqrt(jnp.sum(power**2)), tiny)
        log_size = log_size + jnp.log(norm) * weight
        power = power / norm
        power = power @ power
        weight = weight / 2
    norm = jnp.maximum(jnp.sqrt(jnp.sum(power**2)), tiny)
    return jnp.exp(log_size + jnp.log(norm) * weight)
