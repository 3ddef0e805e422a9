"""Rotations of a rigid body by unit quaternions (w, x, y, z), from body to ground.

A rotation vector theta (axis times angle, ground axes) turns the body by
exp(theta) = (cos |theta|/2, sin(|theta|/2) theta/|theta|); q' = exp(theta) q. The free rotation of a
body keeps its energy by the midpoint rule,

    I (w' - w) = tau - m x I m,   m = (w + w')/2,   in body axes,

solved by fixed-point iterations, whose error falls by |w' - w| per iteration; the energy is kept to
that. Left out: flexible bodies, frames that are not attached to the ground.
"""

import jax.numpy as jnp
from jax import Array

MIDPOINT_ITERATIONS = 4


def product(p: Array, q: Array) -> Array:
    """The rotation q followed by p."""
    return jnp.stack(
        [
            p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
            p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
        ]
    )


def exponential(vector: Array) -> Array:
    """The quaternion of a rotation vector, exact at any angle and differentiable at zero."""
    square = jnp.sum(vector**2)
    small = square < jnp.finfo(vector.dtype).eps
    angle = jnp.sqrt(jnp.where(small, 1, square))
    cosine = jnp.where(small, 1 - square / 8, jnp.cos(angle / 2))
    share = jnp.where(small, 0.5 - square / 48, jnp.sin(angle / 2) / angle)
    return jnp.concatenate([cosine[None], share * vector])


def normalized(q: Array) -> Array:
    """The quaternion with length one: rounding adds up over many steps."""
    return q / jnp.sqrt(jnp.sum(q**2))


def matrix(q: Array) -> Array:
    """Rotation matrix whose columns are the body's axes in ground axes."""
    w, x, y, z = q
    return jnp.stack(
        [
            jnp.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]),
            jnp.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]),
            jnp.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]),
        ]
    )


def turned_freely(
    spin: Array, inertia: Array, inverse: Array, torque: Array, dt: Array | float
) -> Array:
    """Angular velocity after a step without contact, in body axes; `inverse` is that of `inertia`."""
    kicked = spin + dt * (inverse @ torque)
    after = kicked
    for _ in range(MIDPOINT_ITERATIONS):
        middle = (spin + after) / 2
        after = kicked - dt * (inverse @ jnp.cross(middle, inertia @ middle))
    return after
