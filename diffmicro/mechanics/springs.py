"""Folded springs: the stiffness of a chain of straight beams, and the fold length or beam width of a wanted one.

A beam chain is clamped at its first point; its last point carries forces and a moment f = (F_x, F_y, M) and
moves by C f. At a point s of the chain the bending moment is a(s) . f, a(s) = (y(s) - y_e, x_e - x(s), 1), so

    C = sum over beams of  integral a a^T ds / (E I)  +  u u^T l / (E A),   I = t w^3 / 12,   A = t w

with u the beam's direction. The integrand is quadratic along a straight beam: Simpson's rule is exact. Where the
last point is guided (no turn, no travel across), the stiffness along x is the entry xx of C^-1. For n long folds
of length L it tends to E t w^3 / (n L^3), each fold being a beam between two guided ends; that is the start of
the search for L or w. Left out: shear, the turns' corners, torsion, deflections that are not small.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.nonsmooth.implicit import with_implicit_derivative

ITERATIONS = 30
"""Of the search: each halves the error or better; where connectors are short two are enough."""


def folded_path(folds: int, length: Real, pitch: Real, lift: Real) -> Array:
    """Center line of a folded spring from (0, 0) up, `folds` (even) times along y, and down to the same height.

    pitch: distance of neighboring folds along x. lift: how far the lower turns stay above the ends.
    """
    x = jnp.repeat(jnp.arange(folds), 2) * pitch
    top = length + lift
    y = [top if (k + 1) // 2 % 2 else lift for k in range(2 * folds)]
    y[0] = y[-1] = jnp.zeros_like(top)
    return jnp.stack([x, jnp.stack([jnp.asarray(height, float) for height in y])], axis=1)


def guided_stiffness(path: Array, young: Real, thickness: Real, width: Real) -> Array:
    """Stiffness along x of a chain whose ends neither turn nor travel across [N/m]; path: corners as rows."""
    start, steps = path[:-1], path[1:] - path[:-1]
    length = jnp.sqrt(jnp.sum(steps**2, axis=1))
    along = steps / length[:, None]
    end = path[-1]

    def moments(share: float) -> Array:
        x, y = (start + share * steps).T
        return jnp.stack([y - end[1], end[0] - x, jnp.ones_like(x)], axis=1)

    bent = sum(
        weight * jnp.einsum("i,ij,ik->jk", length, moments(at), moments(at))
        for at, weight in ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6))
    )
    pulled = jnp.einsum("i,ij,ik->jk", length, along, along)
    bending, area = young * thickness * width**3 / 12, thickness * width
    flexibility = jnp.asarray(bent / bending)
    flexibility = flexibility.at[:2, :2].add(pulled / (young * area))
    # Units of length make the matrix well scaled.
    scale = jnp.stack([jnp.ones(()), jnp.ones(()), 1 / jnp.max(length)])
    return jnp.linalg.inv(flexibility * scale[:, None] * scale[None, :])[0, 0]


def folded_stiffness(
    folds: int, length: Real, pitch: Real, lift: Real, young: Real, thickness: Real, width: Real
) -> Array:
    """Stiffness along x of one folded spring between guided ends [N/m]."""
    return guided_stiffness(folded_path(folds, length, pitch, lift), young, thickness, width)


@partial(jax.jit, static_argnums=1)
def length_for(
    stiffness: Real, folds: int, pitch: Real, lift: Real, young: Real, thickness: Real, width: Real
) -> Array:
    """The fold length that gives a stiffness [m]."""
    given = (stiffness, pitch, lift, young, thickness, width)
    first = width * (young * thickness / (folds * stiffness)) ** (1 / 3)
    return _solved(partial(_length_misses, folds), first, -3, given)


@partial(jax.jit, static_argnums=1)
def width_for(
    stiffness: Real, folds: int, pitch: Real, lift: Real, young: Real, thickness: Real, length: Real
) -> Array:
    """The beam width that gives a stiffness [m]."""
    given = (stiffness, pitch, lift, young, thickness, length)
    first = length * (folds * stiffness / (young * thickness)) ** (1 / 3)
    return _solved(partial(_width_misses, folds), first, 3, given)


def _length_misses(folds: int, unknown: Array, given: tuple) -> Array:
    """Logarithm of the stiffness over the wanted one, for logarithms of lengths."""
    wanted, pitch, lift, young, thickness, width = given
    found = folded_stiffness(folds, jnp.exp(unknown[0]), pitch, lift, young, thickness, width)
    return jnp.log(found / wanted)[None]


def _width_misses(folds: int, unknown: Array, given: tuple) -> Array:
    wanted, pitch, lift, young, thickness, length = given
    found = folded_stiffness(folds, length, pitch, lift, young, thickness, jnp.exp(unknown[0]))
    return jnp.log(found / wanted)[None]


def _solved(misses: Callable[..., Array], first: Real, power: int, given: tuple) -> Array:
    """The root near `first`; the stiffness goes about with this power of it."""
    given = jax.tree.map(lambda x: jnp.asarray(x, float), given)
    held = jax.lax.stop_gradient(given)
    begin = jnp.log(jax.lax.stop_gradient(jnp.asarray(first, float)))[None]

    def better(_: Array | int, unknown: Array) -> Array:
        return unknown - misses(unknown, held) / power

    root = jax.lax.fori_loop(0, ITERATIONS, better, begin)
    return jnp.exp(with_implicit_derivative(misses, root, given))[0]
