"""Drag of an ellipsoid that moves slowly through a viscous fluid (Stokes flow), exact.

With semi-axes a_i, D = sqrt((a_1^2 + s)(a_2^2 + s)(a_3^2 + s)) and

    chi = a_1 a_2 a_3 int_0^oo ds / D,    alpha_i = a_1 a_2 a_3 int_0^oo ds / ((a_i^2 + s) D),

a fluid of viscosity eta resists a velocity v along axis i and a spin w about it with

    F_i = 16 pi eta a_1 a_2 a_3 v / (chi + a_i^2 alpha_i),
    T_i = 16 pi eta a_1 a_2 a_3 (a_j^2 + a_k^2) w / (3 (a_j^2 alpha_j + a_k^2 alpha_k))

(Oberbeck 1876, Edwardes 1892; Happel and Brenner, section 5.11). A sphere has 6 pi eta r and 8 pi eta r^3. The
integrals are Carlson's R_F and R_D, by his duplication theorem, which has derivatives of every order.

Left out: inertia of the fluid (Reynolds number above one), walls nearby, which raise the drag.
"""

import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Lanes
from diffmicro.parameters import as_arrays

DUPLICATIONS = 26
"""Each brings three numbers four times nearer to their mean: below rounding for axes up to 1:1e4."""


def carlson_rf(x: Lanes | float, y: Lanes | float, z: Lanes | float) -> Lanes:
    """R_F = 1/2 int_0^oo ds / sqrt((x + s)(y + s)(z + s)), symmetric."""
    near = loops.fori_loop(
        0, DUPLICATIONS, lambda _, three: _nearer(three)[0], as_arrays((x, y, z))
    )
    return 1 / jnp.sqrt(sum(near) / 3)


def carlson_rd(x: Lanes | float, y: Lanes | float, z: Lanes | float) -> Lanes:
    """R_D = 3/2 int_0^oo ds / ((z + s) sqrt((x + s)(y + s)(z + s)))."""
    three = as_arrays((x, y, z))

    def duplicate(_: Array | int, carry: tuple) -> tuple:
        three, total, share = carry
        nearer, mixed = _nearer(three)
        total = total + share / (jnp.sqrt(three[2]) * (three[2] + mixed))
        return nearer, total, share / 4

    nothing = jnp.zeros_like(three[2])
    carry = (three, nothing, nothing + 1)
    (x, y, z), total, share = loops.fori_loop(0, DUPLICATIONS, duplicate, carry)
    mean = (x + y + 3 * z) / 5
    return 3 * total + share / (mean * jnp.sqrt(mean))


def _nearer(three: tuple[Lanes, Lanes, Lanes]) -> tuple[tuple[Lanes, Lanes, Lanes], Lanes]:
    """The duplicated numbers, and what was added to them. Loops, as unrolled they take minutes to compile."""
    a, b, c = (jnp.sqrt(x) for x in three)
    mixed = a * b + b * c + c * a
    x, y, z = three
    return ((x + mixed) / 4, (y + mixed) / 4, (z + mixed) / 4), mixed


def ellipsoid_drag(axes: tuple[Lanes, Lanes, Lanes]) -> tuple[Lanes, Lanes]:
    """Force over viscosity and velocity [m], moment over viscosity and spin [m^3], along the last axis of each."""
    scale = (axes[0] * axes[1] * axes[2]) ** (1 / 3)
    a, b, c = (
        axis / scale for axis in axes
    )  # of product one, so that no power under- or overflows
    squares = (a**2, b**2, c**2)
    chi = 2 * carlson_rf(*squares)
    alpha = [
        2 / 3 * carlson_rd(squares[(i + 1) % 3], squares[(i + 2) % 3], squares[i]) for i in range(3)
    ]
    parts = [square * own for square, own in zip(squares, alpha, strict=True)]
    force = [16 * jnp.pi / (chi + part) for part in parts]
    moment = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        moment.append(16 * jnp.pi * (squares[j] + squares[k]) / (3 * (parts[j] + parts[k])))
    return jnp.stack(force, axis=-1) * scale[..., None], jnp.stack(moment, axis=-1) * scale[
        ..., None
    ] ** 3
