"""Outlines of rolling bodies: convex hulls of straight faces, corners and arcs; area and inertia.

Only the convex hull of a body touches a plane. A hull here is a closed chain of pieces i = 0..count-1, each an arc
of radius r_i about (x_i, z_i), a corner where r_i = 0. The body's frame is x forward, z up at roll 0; at roll
a the direction (sin a, -cos a) of the body points down. Piece i is lowest for a between `normal[i]` and
`normal[i+1]`; between piece i-1 and piece i lies face i, of length `edge[i]` (zero where arcs meet smoothly), down
at a = `normal[i]`. The height of the center over the plane is the support function

    h(a) = r_i + x_i sin a - z_i cos a,    h'(a) = x_i cos a + z_i sin a = how far ahead the contact is,

and the distance rolled per turn is the perimeter, the integral of h (Cauchy). `flat` is the true flat length of
face i: zero for a curve, and between the tips of spikes, where the hull is air.

All outlines are symmetric about the center (a half turn maps them to themselves), so the center of mass is there.
Arcs replace a smooth curve interval by interval with the mean radius of curvature, which keeps its perimeter
exactly. Left out: bodies without that symmetry, hulls that are not convex.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

ARCS = 64
"""Arcs that replace a smooth outline. They keep the perimeter; the shape is off by the square of their angle."""

NODES, WEIGHTS = (a.tolist() for a in np.polynomial.legendre.leggauss(8))


class Outline(NamedTuple):
    """A hull, see the module docstring, and the section behind it.

    area: of the body's section [m^2]. square_x, square_z, product: means of x^2, z^2, x z over it [m^2].
    """

    x: Array
    z: Array
    radius: Array
    normal: Array
    edge: Array
    flat: Array
    count: Array
    area: Array
    square_x: Array
    square_z: Array
    product: Array

    def perimeter(self) -> Array:
        """Length of the hull [m]."""
        following = jnp.roll(self.normal, -1)
        present = jnp.arange(self.x.size) < self.count
        last = jnp.arange(self.x.size) == self.count - 1
        following = jnp.where(last, self.normal[0] + 2 * jnp.pi, following)
        lengths = self.edge + self.radius * (following - self.normal)
        return jnp.sum(jnp.where(present, lengths, 0.0))

    def extents(self) -> tuple[Array, Array]:
        """Size of the hull along x and z [m]."""
        quarter = jnp.asarray(jnp.pi / 2, self.x.dtype)
        return 2 * self.support(quarter), 2 * self.support(0 * quarter)

    def hull_area(self) -> Array:
        """Area of the hull's section [m^2]; between tips of spikes more than the body's."""
        if self.radius.size == ARCS:
            return self.area
        return section(self.x, self.z)[0]

    def support(self, angle: Array) -> Array:
        """h: height of the center over the plane at one roll angle."""
        heights = self.radius + self.x * jnp.sin(angle) - self.z * jnp.cos(angle)
        if self.radius.size == ARCS:  # arcs reach beyond their ends: only the one in place counts
            turned = self.normal[0] + jnp.mod(angle - self.normal[0], 2 * jnp.pi)
            return heights[jnp.searchsorted(self.normal, turned, side="right") - 1]
        return jnp.max(heights)

    def inertia(self, width: Array | float) -> tuple[Array, Array, Array]:
        """Moments of inertia per mass about x (length), y (depth) and z of a prism of depth `width` [m^2]."""
        depth = width**2 / 12
        return self.square_z + depth, self.square_x + self.square_z, self.square_x + depth

    def vertices(self) -> tuple[Array, Array]:
        """The hull's corners, of an arc the point in its middle: x and z, entries from `count` on repeat."""
        return self._along(0.5)

    def points(self, each: int) -> tuple[Array, Array]:
        """The closed hull as a curve to draw: x and z, `each` steps on every piece, the first point again."""
        x, z = (jnp.ravel(c.T) for c in jax.vmap(self._along)(jnp.arange(each + 1) / each))
        return jnp.append(x, x[0]), jnp.append(z, z[0])

    def _along(self, share: Array | float) -> tuple[Array, Array]:
        """A point on every piece, at a share of the piece's turn."""
        following = jnp.roll(self.normal, -1)
        following = jnp.where(following < self.normal, following + 2 * jnp.pi, following)
        angle = self.normal + share * (following - self.normal)
        return self.x + self.radius * jnp.sin(angle), self.z - self.radius * jnp.cos(angle)


def box(length: Array | float, thickness: Array | float) -> Outline:
    """A rectangle."""
    half, low = length / 2, thickness / 2
    x = jnp.stack([half, half, -half, -half])
    z = jnp.stack([-low, low, low, -low])
    return polygon(x, z, jnp.ones(4))


def polygon(x: Array, z: Array, share: Array, active: Array | None = None) -> Outline:
    """A convex polygon by its corners in the order of the module docstring (counterclockwise).

    `share[i]`: flat share of the face from corner i - 1 to i. Corners that are not `active` are left out
    (their number may be traced); the section is the hull's.
    """
    n = x.size
    active = jnp.ones(n, bool) if active is None else active
    order = jnp.argsort(~active, stable=True)
    count = jnp.sum(active)
    # What is left out repeats the last corner, and adds no area.
    order = order[jnp.minimum(jnp.arange(n), count - 1)]
    x, z, share = x[order], z[order], share[order]
    before = jnp.where(jnp.arange(n) == 0, count - 1, jnp.arange(n) - 1)
    dx, dz = x - x[before], z - z[before]
    kept = jnp.arange(n) < count
    edge = jnp.where(kept, jnp.sqrt(jnp.where(kept, dx * dx + dz * dz, 1.0)), 0.0)
    heading = jnp.arctan2(jnp.where(kept, dz, 0.0), jnp.where(kept, dx, 1.0))
    first = heading[0]
    heading = first + jnp.mod(heading - first + 1e-9, 2 * jnp.pi) - 1e-9
    normal = jnp.where(kept, heading, first + 2 * jnp.pi)
    flat = edge * share
    return Outline(x, z, jnp.zeros_like(x), normal, edge, flat, count, *section(x, z))


def section(x: Array, z: Array) -> tuple[Array, Array, Array, Array]:
    """Area of a polygon (convex or not, counterclockwise), and the means of x^2, z^2 and x z over it."""
    onward_x, onward_z = jnp.roll(x, -1), jnp.roll(z, -1)
    cross = x * onward_z - onward_x * z
    area = jnp.sum(cross) / 2
    square_x = jnp.sum(cross * (x * x + x * onward_x + onward_x * onward_x)) / 12
    square_z = jnp.sum(cross * (z * z + z * onward_z + onward_z * onward_z)) / 12
    mixed = x * onward_z + 2 * x * z + 2 * onward_x * onward_z + onward_x * z
    return area, square_x / area, square_z / area, jnp.sum(cross * mixed) / 24 / area


def spiked(
    length: Array | float,
    thickness: Array | float,
    core_length: Array | float,
    core_thickness: Array | float,
    spike_base: Array | float,
    *,
    middle: bool,
) -> Outline:
    """A core with triangular spikes of `spike_base` at both ends above and below, up to `thickness` overall.

    `middle`: one more spike in the middle, above and below. Where `length` exceeds `core_length` the core
    ends in points.
    """
    tip, top = (core_length - spike_base) / 2, thickness / 2
    corner, side = core_length / 2, core_thickness / 2
    end = jnp.asarray(length) / 2
    pointed = end > corner * (1 + 1e-9)
    # The core's corner is hidden where the line from the spike's tip to the point passes outside.
    hidden = (end - tip) * (top - side) - top * (corner - tip) > 0
    seen = ~(pointed & hidden)
    zero = jnp.zeros_like(end)
    right = [(tip, -top), (corner, -side), (end, zero), (corner, side), (tip, top)]
    points = right + [(-a, -b) for a, b in right]
    x, z = (jnp.stack([jnp.asarray(p[k], float) + zero for p in points]) for k in range(2))
    yes = jnp.ones_like(seen)
    half = jnp.stack([yes, seen, pointed, seen, yes])
    slope = jnp.where(seen, 1.0, 0.0)
    share = jnp.stack([zero, slope, slope, slope, slope])
    hull = polygon(x, z, jnp.tile(share, 2), jnp.tile(half, 2))

    body = spiked_corners(length, thickness, core_length, core_thickness, spike_base, middle=middle)
    return hull._replace(**dict(zip(_SECTION, section(*body), strict=True)))


def spiked_corners(
    length: Array | float,
    thickness: Array | float,
    core_length: Array | float,
    core_thickness: Array | float,
    spike_base: Array | float,
    *,
    middle: bool,
) -> tuple[Array, Array]:
    """Corners of the body of `spiked` itself, which is not convex."""
    tip, top = (core_length - spike_base) / 2, thickness / 2
    corner, side, foot = core_length / 2, core_thickness / 2, core_length / 2 - spike_base
    end = jnp.asarray(length) / 2
    zero = jnp.zeros_like(end)
    inner = [(spike_base / 2, side), (zero, top), (-spike_base / 2, side)] if middle else []
    upper = [(end, zero), (corner, side), (tip, top), (foot, side), *inner]
    upper += [(-foot, side), (-tip, top), (-corner, side)]
    body = upper + [(-a, -b) for a, b in upper]
    x, z = (jnp.stack([jnp.asarray(p[k], float) + zero for p in body]) for k in range(2))
    return x, z


_SECTION = ("area", "square_x", "square_z", "product")


def superellipse(
    length: Array | float, thickness: Array | float, exponent: Array | float
) -> Outline:
    """|2x/length|^p + |2z/thickness|^p = 1: an ellipse for p = 2, a box for p to infinity, p above 1.

    Its support function is the dual norm, with 1/p + 1/q = 1.
    """
    a, b = length / 2, thickness / 2
    q = exponent / (exponent - 1)

    def point(angle: Array) -> tuple[Array, Array]:
        right, down = a * jnp.sin(angle), b * jnp.cos(angle)
        norm = (jnp.abs(right) ** q + jnp.abs(down) ** q) ** (1 / q)
        x = a * jnp.sign(right) * (jnp.abs(right) / norm) ** (q - 1)
        return x, -b * jnp.sign(down) * (jnp.abs(down) / norm) ** (q - 1)

    return _arcs(point, a, b)


def from_radii(length: Array | float, thickness: Array | float, radii: Array) -> Outline:
    """The smooth convex outline whose radii of curvature are in the ratios `radii`, fitted into a rectangle.

    Entry j of n holds for normals j pi/n to (j+1) pi/n from the bottom forward, and again half a turn on.
    The chain of arcs is then stretched to `length` and `thickness`; equal radii give the ellipse.
    """
    n = radii.size
    ends = jnp.arange(2 * n) * (math.pi / n)
    around = jnp.tile(radii, 2)
    x, z = _centers(ends, around, jnp.zeros(2 * n))

    def base(angle: Array) -> tuple[Array, Array]:
        turned = jnp.mod(angle, 2 * jnp.pi)
        j = jnp.clip(jnp.floor(turned * (n / math.pi)).astype(int), 0, 2 * n - 1)
        return x[j] + around[j] * jnp.sin(turned), z[j] - around[j] * jnp.cos(turned)

    wide, tall = base(jnp.asarray(math.pi / 2))[0], -base(jnp.asarray(0.0))[1]
    a, b = length / 2, thickness / 2
    stretch_x, stretch_z = a / wide, b / tall

    def point(angle: Array) -> tuple[Array, Array]:
        # A stretched curve has its normal (sin, -cos) where the curve has it stretched.
        own = jnp.arctan2(stretch_x * jnp.sin(angle), stretch_z * jnp.cos(angle))
        px, pz = base(own)
        return stretch_x * px, stretch_z * pz

    return _arcs(point, a, b)


def _centers(normal: Array, radius: Array, edge: Array) -> tuple[Array, Array]:
    """Centers of a chain of arcs, symmetric about the origin."""
    jump = jnp.roll(radius, 1) - radius
    dx = jump * jnp.sin(normal) + edge * jnp.cos(normal)
    dz = -jump * jnp.cos(normal) + edge * jnp.sin(normal)
    x, z = jnp.cumsum(dx), jnp.cumsum(dz)
    half = x.size // 2
    return (
        x - 0.5 * (x + jnp.roll(x, half)),
        z - 0.5 * (z + jnp.roll(z, half)),
    )


def _arcs(point, a: Array | float, b: Array | float) -> Outline:
    """Arcs in place of the curve whose boundary point with the normal (sin, -cos)(angle) is `point(angle)`.

    The ends of the arcs lie between even steps of the normal and even steps along the curve, and the axes
    in the middle of arcs: where a superellipse is flat its curvature has no finite value.
    """
    u = (jnp.arange(ARCS) - 0.5) * (2 * math.pi / ARCS)
    normal = jnp.arctan2(b ** (2 / 3) * jnp.sin(u), a ** (2 / 3) * jnp.cos(u))
    normal = normal[0] + jnp.mod(normal - normal[0] + 1e-9, 2 * jnp.pi) - 1e-9
    after = jnp.append(normal[1:], normal[0] + 2 * jnp.pi)
    half, middle = (after - normal) / 2, (after + normal) / 2
    # The integral of the radius of curvature h + h'' over an arc is that of h plus the rise of h'.
    angles = middle[:, None] + half[:, None] * jnp.asarray(NODES)[None, :]
    px, pz = point(angles)
    height = px * jnp.sin(angles) - pz * jnp.cos(angles)
    lengths = half * jnp.sum(height * jnp.asarray(WEIGHTS)[None, :], axis=1)
    px, pz = point(normal)
    ahead = px * jnp.cos(normal) + pz * jnp.sin(normal)
    lengths = lengths + jnp.roll(ahead, -1) - ahead
    lengths = 0.5 * (lengths + jnp.roll(lengths, ARCS // 2))
    radius = lengths / (after - normal)
    none = jnp.zeros_like(radius)
    x, z = _centers(normal, radius, none)
    # Boundary integrals over each arc: the section of the chain itself.
    sine, cosine = jnp.sin(angles), jnp.cos(angles)
    bx, bz = x[:, None] + radius[:, None] * sine, z[:, None] - radius[:, None] * cosine
    step = (lengths / 2)[:, None] * jnp.asarray(WEIGHTS)[None, :]
    outward = bx * sine - bz * cosine
    area = jnp.sum(outward * step) / 2
    means = [jnp.sum(m * outward * step) / 4 / area for m in (bx * bx, bz * bz, bx * bz)]
    return Outline(x, z, radius, normal, none, none, jnp.asarray(ARCS), area, *means)
