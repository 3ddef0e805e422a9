"""Complementarity problems as plain data, and the one residual that judges every solver.

Box complementarity: find z with lower <= z <= upper and w = M z + q such that in each component

    z = lower and w >= 0,   or   lower < z < upper and w = 0,   or   z = upper and w <= 0.

Infinite bounds are allowed. The linear complementarity problem (w >= 0, z >= 0, z.w = 0) is the box
lower = 0, upper = inf, so every solver reads `matrix, vector, lower, upper` and nothing else. In
contact, z are impulses, w relative velocities after, q those before, M the inverse mass seen by the
contacts; an open contact is the box [0, 0], friction with a given bound b the box [-b, b]. The
residual is explained at `residual`.

Left out: nonlinear problems and cones (friction cones are boxes only when the bound is given).
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from diffmicro._types import Count, PerUnknown, Scalar, Square
from diffmicro.results import RESULTS


class BoxComplementarity(eqx.Module):
    """lower <= z <= upper complementary to w = matrix z + vector."""

    matrix: Square
    vector: PerUnknown
    lower: PerUnknown
    upper: PerUnknown

    def __check_init__(self):
        _check_shapes(self)


class LinearComplementarity(eqx.Module):
    """w = matrix z + vector >= 0, z >= 0, z.w = 0: the box from zero to infinity."""

    matrix: Square
    vector: PerUnknown

    def __check_init__(self):
        _check_shapes(self)

    @property
    def lower(self) -> PerUnknown:
        return jnp.zeros_like(self.vector)

    @property
    def upper(self) -> PerUnknown:
        return jnp.full_like(self.vector, jnp.inf)


Complementarity = BoxComplementarity | LinearComplementarity


class Solution(eqx.Module):
    """What a solver found, and how far to trust it. `z` and `w` are NaN unless `result` is ok."""

    z: PerUnknown
    w: PerUnknown
    residual: Scalar
    """Distance from the problem, see `residual`."""
    margin: Scalar
    """Distance to a change of the active set, see `margin`. At zero the derivative is one-sided."""
    result: RESULTS
    iterations: Count


class Units(eqx.Module):
    """Units that make a problem nondimensional: unit diagonal, data of order one."""

    z: PerUnknown
    w: PerUnknown


def as_box(problem: Complementarity) -> BoxComplementarity:
    """The problem as a box of arrays of one floating-point type."""
    fields = (problem.matrix, problem.vector, problem.lower, problem.upper)
    dtype = jnp.result_type(*fields, float)
    return BoxComplementarity(*(jnp.asarray(field, dtype) for field in fields))


def impossible(problem: Complementarity) -> Array:
    """True where the data is not finite or no z lies between the bounds."""
    finite = jnp.isfinite(problem.matrix).all() & jnp.isfinite(problem.vector).all()
    ordered = (problem.lower <= problem.upper) & (problem.lower < jnp.inf)
    return ~(finite & jnp.all(ordered & (problem.upper > -jnp.inf)))


def natural_units(problem: Complementarity) -> Units:
    """Units of z and w in which diag(M) is one and the starting point has size one.

    The starting point is the admissible z closest to zero. Its size, the largest of |z| and |w|
    with M scaled to unit diagonal, is in contact the square root of twice an energy. Rows without
    diagonal use their largest entry. Changing the units of z and w (any factor per contact whose
    product with that of its w is common to all) changes the units here and nothing else.
    """
    diagonal = jnp.abs(jnp.diagonal(problem.matrix))
    largest = jnp.maximum(
        jnp.max(jnp.abs(problem.matrix), axis=0), jnp.max(jnp.abs(problem.matrix), axis=1)
    )
    slope = jnp.where(diagonal > 0, diagonal, jnp.where(largest > 0, largest, 1))
    root = jnp.sqrt(slope)
    start = jnp.clip(jnp.zeros_like(problem.vector), problem.lower, problem.upper)
    gap = problem.matrix @ start + problem.vector
    size = jnp.max(jnp.maximum(jnp.abs(gap) / root, jnp.abs(start) * root))
    size = jnp.where(size > 0, size, 1)
    return Units(z=size / root, w=size * root)


def nondimensional(problem: Complementarity, units: Units) -> BoxComplementarity:
    """The problem in the given units."""
    return BoxComplementarity(
        problem.matrix * (units.z[None, :] / units.w[:, None]),
        problem.vector / units.w,
        problem.lower / units.z,
        problem.upper / units.z,
    )


def residual(problem: Complementarity, z: PerUnknown) -> Scalar:
    """How far z is from solving the problem, as a share of the problem's own size.

    In natural units (`natural_units`) it is the largest distance that a component would have to
    move for its own law to hold while w follows with slope one: the natural map |z - clip(z - w,
    lower, upper)|. A residual of 1e-6 means: in contact, velocities after miss sign or zero by at
    most 1e-6 of the velocities before, or impulses their bounds by 1e-6 of the impulses that stop
    those velocities. It is never below the
    rounding of z and w, eps (|z| + |M| |z|): a huge z in which the data drowns is no solution.
    """
    units = natural_units(problem)
    scaled = nondimensional(problem, units)
    z = z / units.z
    target = z - (scaled.matrix @ z + scaled.vector)
    terms = jnp.abs(z) + jnp.abs(scaled.matrix) @ jnp.abs(z)
    rounding = jnp.finfo(z.dtype).eps * jnp.max(terms)
    settled = jnp.clip(target, scaled.lower, scaled.upper)
    return jnp.maximum(jnp.max(jnp.abs(z - settled)), rounding)


def margin(problem: Complementarity, z: PerUnknown) -> Scalar:
    """Smallest gap of strict complementarity, in natural units: how far the active set is from
    changing. A component at a bound counts |w|, one inside its distance to the nearer bound."""
    units = natural_units(problem)
    scaled = nondimensional(problem, units)
    z = z / units.z
    w = scaled.matrix @ z + scaled.vector
    return jnp.min(jnp.maximum(jnp.abs(w), jnp.minimum(z - scaled.lower, scaled.upper - z)))


def _check_shapes(problem):
    n = jnp.shape(problem.vector)[-1] if jnp.ndim(problem.vector) else 0
    kind = type(problem).__name__
    if n == 0 or jnp.shape(problem.matrix)[-2:] != (n, n):
        raise ValueError(
            f"{kind}: matrix must be (n, n) for a vector of n >= 1 entries, got matrix "
            f"{jnp.shape(problem.matrix)} and vector {jnp.shape(problem.vector)}."
        )
    if isinstance(problem, BoxComplementarity):
        for name in ("lower", "upper"):
            shape = jnp.shape(getattr(problem, name))
            if shape != jnp.shape(problem.vector):
                raise ValueError(
                    f"{kind}: {name} must have the vector's shape "
                    f"{jnp.shape(problem.vector)}, got {shape}. Infinite bounds are allowed."
                )
