"""Box complementarity with one and two unknowns in closed form, elementwise on any batch.

One unknown: z = clip(-q/m, lower, upper).

Two unknowns: for given z2 the first line gives z1(z2) = clip(-(q1 + m12 z2)/m11, l1, u1). Put into
the second, w2(z2) = m22 z2 + q2 + m21 z1(z2) is a clip of three increasing lines (z1 at one bound,
free, at the other), because m11 > 0 and det > 0. Its root is the clip of their three roots, and

    z2 = clip(root, l2, u2),     z1 = z1(z2).

No enumeration, no branch, no iteration: about 25 operations a lane, made for contact solutions
inside a time loop. The Moreau step of two bodies (an impact z1 >= 0, a friction impulse |z2| <= b)
is one case, `normal_and_friction`. Derivatives are those at the fixed active set, by JAX through
the selected terms; at exact ties JAX averages both sides.

Holds for P-matrices (m11 > 0, m22 > 0, m11 m22 > m12 m21), such as inverse masses. For others the
number may be wrong: `solve_closed_form` rejects it by its residual, the elementwise functions
cannot.
"""

import jax.numpy as jnp
from jaxtyping import Array

from diffmicro._types import Lanes
from diffmicro.nonsmooth.exact import default_tolerance, finish
from diffmicro.nonsmooth.problems import Complementarity, Solution, as_box

Entry = Lanes | float


def one_unknown(m: Entry, q: Entry, lower: Entry, upper: Entry) -> Lanes:
    """z in [lower, upper] complementary to m z + q, for m > 0."""
    return jnp.clip(-q / m, lower, upper)


def two_unknowns(
    matrix: tuple[tuple[Entry, Entry], tuple[Entry, Entry]],
    vector: tuple[Entry, Entry],
    lower: tuple[Entry, Entry],
    upper: tuple[Entry, Entry],
) -> tuple[Lanes, Lanes]:
    """(z1, z2) in their boxes complementary to matrix z + vector, for a P-matrix, lane by lane."""
    (m11, m12), (m21, m22) = matrix
    q1, q2 = vector
    at_lower, at_upper = _product(m21, lower[0]), _product(m21, upper[0])
    inverse = 1 / jnp.asarray(m22)
    root_free = (m21 * q1 - m11 * q2) / (m11 * m22 - m12 * m21)
    root_first = -(q2 + jnp.minimum(at_lower, at_upper)) * inverse
    root_last = -(q2 + jnp.maximum(at_lower, at_upper)) * inverse
    root = jnp.minimum(root_first, jnp.maximum(root_last, root_free))
    z2 = jnp.clip(root, lower[1], upper[1])
    z1 = jnp.clip(-(q1 + m12 * z2) / m11, lower[0], upper[0])
    return z1, z2


def normal_and_friction(
    matrix: tuple[tuple[Entry, Entry], tuple[Entry, Entry]],
    vector: tuple[Entry, Entry],
    closed: Array | bool,
    bound: Entry,
) -> tuple[Lanes, Lanes]:
    """One normal impulse z1 >= 0, zero unless `closed`, and one friction impulse |z2| <= bound.

    The same as `two_unknowns` with z1 in [0, inf) and z2 in [-bound, bound]. An open contact (z1 =
    0) leaves the friction alone: z2 = clip(-q2/m22).
    """
    (m11, m12), (m21, m22) = matrix
    q1, q2 = vector
    root_open = -q2 / m22
    root_free = (m21 * q1 - m11 * q2) / (m11 * m22 - m12 * m21)
    # z1 >= 0 pushes w2 to the side of m21, so the root lies on the other side of the open one
    root_pushed = jnp.where(
        m21 > 0, jnp.minimum(root_open, root_free), jnp.maximum(root_open, root_free)
    )
    z2 = jnp.clip(jnp.where(closed, root_pushed, root_open), -bound, bound)
    z1 = jnp.where(closed, jnp.maximum(-(q1 + m12 * z2) / m11, 0), 0)
    return z1, z2


def solve_closed_form(problem: Complementarity, tolerance: float | None = None) -> Solution:
    """Solve a problem with one or two unknowns, with residual, margin and status."""
    box = as_box(problem)
    n = box.vector.shape[-1]
    if n == 1:
        z = one_unknown(box.matrix[0], box.vector, box.lower, box.upper)
    elif n == 2:
        (m1, m2), q, lower, upper = box.matrix, box.vector, box.lower, box.upper
        z = jnp.stack(
            two_unknowns(
                ((m1[0], m1[1]), (m2[0], m2[1])),
                (q[0], q[1]),
                (lower[0], lower[1]),
                (upper[0], upper[1]),
            )
        )
    else:
        raise ValueError(
            f"solve_closed_form: one or two unknowns, got {n}. Use solve_newton instead."
        )
    if tolerance is None:
        tolerance = default_tolerance(z.dtype)
    return finish(box, z, jnp.asarray(0), tolerance)


def _product(slope, bound):
    """slope * bound, zero where the slope is zero and the bound infinite; no NaN in derivatives."""
    finite = jnp.isfinite(bound)
    product = slope * jnp.where(finite, bound, 0)
    infinite = jnp.where(slope == 0, 0, jnp.sign(slope) * jnp.sign(bound) * jnp.inf)
    return jnp.where(finite, product, infinite)
