"""A flexure that is a circular arc: its compliance for small loads, and the exact planar arc.

In units of the arc's radius r and bending stiffness EI an arc of angle theta starts at the origin along x and
curves toward y; its end rests at (sin theta, 1 - cos theta) with the tangent angle theta. Compliance of the end,
in the axes of the end's section (Verotti 2022, eq. 2):

    C = [[(6 t + sin 2t - 8 sin t)/4, (1 - cos t)^2/2, t - sin t], [., (2 t - sin 2t)/4, 1 - cos t], [., ., t]].

Exact arc (Reissner): with end force F (constant along the arc) and moment M0 at the start,

    phi' = 1 + M0 - x F_y + y F_x,     (x, y)' = (1 + a N) (cos phi, sin phi) + g Q (-sin phi, cos phi),

N and Q the components of F along and across the section. a and g are the stretch and shear flexibilities,
both zero for the inextensible beam. With cos phi and sin phi as unknowns the equations are polynomial, so the
arc is a few Taylor segments without any transcendental function, and its sensitivity to (F_x, F_y, M0) obeys
equations of the same kind, solved along with it.

Left out: contact of the arc with itself, rate dependence, a curvature that varies at rest.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Pair, Planar, PlanarMatrix, Scalar
from diffmicro.nonsmooth.elimination import solve
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.resolution import Steps

ORDER = 8
"""Order of the Taylor series of one segment."""

SEGMENTS = 32
"""Segments of an arc: 1e-10 of the radius where the arc turns by 20 degrees more or less."""

SHEAR_FACTOR = 5 / 6
"""Share of a rectangular section that carries shear."""


USUAL = Steps(SEGMENTS)


def compliance(angle: Scalar) -> PlanarMatrix:
    """Compliance of the end in the axes of its section, in units of radius and EI, eq. 2."""
    t, s, c = angle, jnp.sin(angle), jnp.cos(angle)
    double = 2 * s * c
    xx, xy, xm = (6 * t + double - 8 * s) / 4, (1 - c) ** 2 / 2, t - s
    yy, ym = (2 * t - double) / 4, 1 - c
    return _matrix([[xx, xy, xm], [xy, yy, ym], [xm, ym, t]])


def stiffness_at_start(angle: Scalar) -> PlanarMatrix:
    """Stiffness of the end for small loads, in the axes of the start's section."""
    s, c = jnp.sin(angle), jnp.cos(angle)
    zero, one = jnp.zeros_like(s), jnp.ones_like(s)
    turn = _matrix([[c, -s, zero], [s, c, zero], [zero, zero, one]])
    return turn @ solve(compliance(angle), turn.T)


def rest_pose(angle: Scalar) -> Planar:
    """Where the end rests: position and tangent angle, in the axes of the start's section."""
    return jnp.stack([jnp.sin(angle), 1 - jnp.cos(angle), angle])


class Arc(NamedTuple):
    """State along an arc: position, direction (cosine, sine), tangent angle, and their sensitivities.

    Sensitivities of the position and the angle are lists by F_x, F_y, M0; None where they are not wanted.
    """

    x: Array
    y: Array
    c: Array
    s: Array
    phi: Array
    slopes: tuple[tuple[Array, Array, Array], ...] | None


@partial(jax.jit, static_argnums=4)
def march(load: Planar, angle: Scalar, softness: Pair | None, segments: Steps, slopes: bool) -> Arc:
    """The arc's end under a load (F_x, F_y, M0). `softness` is (a, g), None for the inextensible beam."""

    def advance(index: Array, arc: Arc) -> Arc:
        return _advance(arc, load, segments.length(index, angle), softness)

    return loops.fori_loop(0, segments.most, advance, _start(load, slopes))


@partial(jax.jit, static_argnums=3)
def trace(load: Planar, angle: Scalar, softness: Pair | None, points: int) -> Arc:
    """Arcs at `points` + 1 equal distances from start to end, one along the leading axis."""
    step, start = angle / points, _start(load, False)

    def go(arc: Arc, _: None) -> tuple[Arc, Arc]:
        arc = _advance(arc, load, step, softness)
        return arc, arc

    _, path = loops.scan(go, start, None, length=points)
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), start, path)


def _start(load: Planar, slopes: bool) -> Arc:
    zero = jnp.zeros_like(load[0])
    none = (zero, zero, zero)
    return Arc(zero, zero, zero + 1, zero, zero, (none, none, none) if slopes else None)


def bending(load: Planar, x: Array, y: Array) -> Array:
    """Change of curvature where the arc passes (x, y), which is the bending moment there."""
    return load[2] - x * load[1] + y * load[0]


def _advance(arc: Arc, load: Planar, step: Scalar, softness: Pair | None) -> Arc:
    """One Taylor segment. Lists hold the coefficients of each unknown in powers of the arc length."""
    fx, fy = load[0], load[1]
    x, y, c, s, phi = [arc.x], [arc.y], [arc.c], [arc.s], [arc.phi]
    kappa = []
    pushed = [([u], [v], [w]) for u, v, w in arc.slopes] if arc.slopes is not None else []
    # Velocity (vx, vy), and what it changes by when the section turns, (tx, ty).
    vx, vy, tx, ty, products = [], [], [], [], []
    for n in range(ORDER):
        kappa.append(fx * y[n] - fy * x[n])
        if n == 0:
            kappa[0] = kappa[0] + 1 + load[2]
        if softness is None:
            vx, vy, tx, ty = c, s, [*tx, -s[n]], c
        else:
            products.append((_product(c, c, n), _product(c, s, n), _product(s, s, n)))
            v, t = _flexible(c[n], s[n], products[n], fx, fy, softness)
            vx.append(v[0])
            vy.append(v[1])
            tx.append(t[0])
            ty.append(t[1])
        for index, (px, py, turned) in enumerate(pushed):
            rate = fx * py[n] - fy * px[n]
            rate = rate + (y[n], -x[n], 1.0 if n == 0 else 0.0)[index]
            along_x, along_y = _product(tx, turned, n), _product(ty, turned, n)
            if softness is not None and index < 2:
                cc, cs, ss = products[n]
                a, g = softness[0], softness[1]
                cross = (a - g) * cs
                along_x = along_x + (a * cc + g * ss, cross)[index]
                along_y = along_y + (cross, a * ss + g * cc)[index]
            px.append(along_x / (n + 1))
            py.append(along_y / (n + 1))
            turned.append(rate / (n + 1))
        x.append(vx[n] / (n + 1))
        y.append(vy[n] / (n + 1))
        phi.append(kappa[n] / (n + 1))
        turn_c, turn_s = _product(kappa, s, n), _product(kappa, c, n)
        c.append(-turn_c / (n + 1))
        s.append(turn_s / (n + 1))
    x, y, c, s, phi = (_sum(series, step) for series in (x, y, c, s, phi))
    length = 1.5 - 0.5 * (c * c + s * s)  # one Newton step: the direction stays a unit vector
    moved = tuple((_sum(u, step), _sum(v, step), _sum(w, step)) for u, v, w in pushed)
    return Arc(x, y, c * length, s * length, phi, moved if arc.slopes is not None else None)


def _flexible(c, s, products, fx, fy, softness):
    """Coefficient of velocity and of its change by turning, for a beam that stretches and shears."""
    (cc, cs, ss), (a, g) = products, (softness[0], softness[1])
    vx = c + a * (fx * cc + fy * cs) + g * (fx * ss - fy * cs)
    vy = s + a * (fx * cs + fy * ss) + g * (fy * cc - fx * cs)
    tx = -s + (a - g) * (fy * (cc - ss) - 2 * fx * cs)
    ty = c + (a - g) * (fx * (cc - ss) + 2 * fy * cs)
    return (vx, vy), (tx, ty)


def _product(left: list[Array], right: list[Array], n: int) -> Array:
    """Coefficient n of the product of two series."""
    total = left[0] * right[n]
    for k in range(1, n + 1):
        total = total + left[k] * right[n - k]
    return total


def _sum(series: list[Array], step: Scalar) -> Array:
    total = series[-1]
    for coefficient in reversed(series[:-1]):
        total = coefficient + step * total
    return total


def pose_and_compliance(
    load: Planar, angle: Scalar, softness: Pair | None = None, segments: Steps = USUAL
) -> tuple[Planar, PlanarMatrix]:
    """Pose of the exact arc's end, and its Jacobian by (F_x, F_y, M0)."""
    arc = march(load, angle, softness, segments, True)
    assert arc.slopes is not None
    columns = list(zip(*arc.slopes, strict=True))
    return jnp.stack([arc.x, arc.y, arc.phi]), _matrix(columns)


def end_pose(
    load: Planar, angle: Scalar, softness: Pair | None = None, segments: Steps = USUAL
) -> Planar:
    """Pose (x, y, tangent angle) of the exact arc's end under a load (F_x, F_y, M0)."""
    return _end_pose(load, angle, softness, segments)


def _plain_pose(load, angle, softness, segments):
    arc = march(load, angle, softness, segments, False)
    return jnp.stack([arc.x, arc.y, arc.phi])


_end_pose = jax.custom_jvp(_plain_pose)


@_end_pose.defjvp
def _end_pose_jvp(primals, tangents):
    # Any number of directions costs one march with its three sensitivities: by the angle the end
    # moves along the arc, the rest is linear.
    load, angle, softness, segments = primals
    load_dot, angle_dot, softness_dot, _ = tangents
    arc = march(load, angle, softness, segments, True)
    columns = list(zip(*arc.slopes, strict=True))
    pose = _end_pose(load, angle, softness, segments)
    curvature = 1 + bending(load, arc.x, arc.y)
    velocity = (arc.c, arc.s)
    if softness is not None:
        products = (arc.c * arc.c, arc.c * arc.s, arc.s * arc.s)
        velocity, _ = _flexible(arc.c, arc.s, products, load[0], load[1], softness)
    moved = _matrix(columns) @ load_dot + jnp.stack([*velocity, curvature]) * angle_dot
    if softness is not None:
        _, softened = jax.jvp(
            lambda given: _plain_pose(load, angle, given, segments), (softness,), (softness_dot,)
        )
        moved = moved + softened
    return pose, moved


def load_for(
    pose: Planar, near: Planar, angle: Scalar, softness: Pair | None, segments: Steps = USUAL
) -> Planar:
    """The load (F_x, F_y, M0) that holds the end at `pose`, differentiable, given that load as `near`."""
    return with_implicit_derivative(_missed, near, (pose, angle, softness, segments))


def _missed(load, inputs):
    pose, angle, softness, segments = inputs
    return end_pose(load, angle, softness, segments) - pose


def end_wrench(load: Planar, pose: Planar) -> Planar:
    """Force and moment at the end, in the axes of the start's section, from the load and the pose."""
    return jnp.stack([load[0], load[1], bending(load, pose[0], pose[1])])


def end_stiffness(load: Planar, pose: Planar, loads_by_pose: PlanarMatrix) -> PlanarMatrix:
    """d end wrench / d pose from d load / d pose: symmetric, as the arc has an energy."""
    x, y, zero = pose[0], pose[1], jnp.zeros_like(pose[0])
    r = loads_by_pose
    last = [r[2, j] - x * r[1, j] + y * r[0, j] + (-load[1], load[0], zero)[j] for j in range(3)]
    return _matrix([[r[i, j] for j in range(3)] for i in range(2)] + [last])


def softness_of(height: Array, radius: Array, poisson: Array) -> Pair:
    """(a, g) of a rectangular section in units of radius and EI."""
    stretch = height**2 / (12 * radius**2)
    return jnp.stack([stretch, stretch * 2 * (1 + poisson) / SHEAR_FACTOR])


def _matrix(rows) -> PlanarMatrix:
    return jnp.stack([jnp.stack(list(row)) for row in rows])
