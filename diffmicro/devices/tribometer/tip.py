"""The springs of a probe with a worn tip or a rough surface, for `motion`: their places, weights and bounds.

MDR thesis, section 4.3.3: "sphere, flattened sphere, and rough sphere". With the equivalent line g(x) of the shape
(`mechanics.profiles`), its contact a_0, d_0 at the mean force, and a(t) from F_n(t) (eq. 3.10),

    d(t) = g(a) / d_0,    d' = F_n' / (2 E* a d_0),    |w| <= d(t) - g(x) / d_0.

As for the sphere the springs sit where the edge of the contact is at the time steps, `INNER` more where it always
is, and w is straight over the depth g between them, which is exact where everything slides. Between neighbors the
line's share of the right one is then

    int (g - g_l) / (g_r - g_l) dx = int g' (x_r - x) dx / int g' dx,

by Gauss's nodes in v with x^2 = b^2 + v^4, in which a flat tip's edge is smooth and every term positive. A flat,
smooth tip is one spring. Left out: what the thesis leaves out too, wear during the motion.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro._types import Scalar, Vector
from diffmicro.devices.tribometer.design import Design, Setting
from diffmicro.devices.tribometer.lumped import moduli, profile_of
from diffmicro.devices.tribometer.motion import INNER, Line
from diffmicro.mechanics.profiles import Profile, contact_radius, gauss

NODES = 8
"""Of the integrals between neighboring springs."""


class _Contact(NamedTuple):
    """Shape and E*; flat: radius of the tip; radius, depth: a_0 and d_0."""

    profile: Profile
    modulus: Scalar
    flat: Scalar
    radius: Scalar
    depth: Scalar


def _contact(design: Design, setting: Setting) -> _Contact:
    profile, modulus = profile_of(design), moduli(design)[0]
    assert profile is not None
    radius = contact_radius(profile, setting.normal_force, modulus).astype(modulus.dtype)
    flat = jnp.asarray(0.0 if design.tip_radius is None else design.tip_radius, radius.dtype)
    return _Contact(profile, modulus, flat, radius, profile.depth(radius))


def edge_of(design: Design, setting: Setting) -> Callable[[Array], Array]:
    """The radius of the contact under a load, both over their means; 1 where there is no load."""
    at = _contact(design, setting)

    def edge(load: Array) -> Array:
        pressed = jnp.where(load > jnp.finfo(load.dtype).eps, load, 1.0)
        return _edge(at, setting.normal_force * pressed) / at.radius

    return edge


def _edge(at: _Contact, force: Array) -> Array:
    forces = jnp.ravel(force)
    radii = jax.vmap(lambda f: contact_radius(at.profile, f, at.modulus))(forces)
    return radii.reshape(jnp.shape(force)).astype(at.radius.dtype)


def line(design: Design, setting: Setting, steps: int) -> Line:
    """Springs for `steps` (even) steps a period that begins at the smallest normal force."""
    at = _contact(design, setting)
    phase = 2 * np.pi * np.arange(steps // 2 + 1) / steps
    ratio = jnp.asarray(setting.force_ratio, at.radius.dtype)
    load = 1 - ratio * jnp.asarray(np.cos(phase), ratio.dtype)
    touching = load > 0  # at r = 1 the first one is zero, whose contact has no derivative
    edge = _edge(at, setting.normal_force * jnp.where(touching, load, 1.0))
    beyond = jnp.sqrt(jnp.where(touching, (edge - at.flat) * (edge + at.flat), 1.0))
    beyond = jnp.where(touching, beyond, 0.0)

    rough, worn = design.roughness is not None, design.tip_radius is not None
    inside = INNER // 2 if rough and worn else 0
    own = _share(INNER - inside, ratio.dtype) * beyond[0]
    places, weight = _weights(at.profile, at.flat, jnp.concatenate([own, beyond]))
    if inside:
        tip, more = _weights(at.profile, 0 * at.flat, at.flat * _share(inside, ratio.dtype, 1))
        places = jnp.concatenate([tip[:-1], places])
        weight = jnp.concatenate([more[:-1], weight.at[0].add(more[-1])])
    elif worn:
        weight = weight.at[0].add(at.flat)

    depth = at.profile.depth(places) / at.depth
    ring = depth[INNER:]
    stiffness = 2 * at.modulus * at.radius * at.depth / setting.normal_force
    rate = ratio * jnp.asarray(np.sin(phase), edge.dtype) * at.radius / (stiffness * edge)
    rate = jnp.where(touching, rate, 0.0)
    return Line(
        depth=depth,
        weight=weight / at.radius,
        indentation=jnp.concatenate([ring, ring[-2::-1]]),
        rate=jnp.concatenate([rate, -rate[-2::-1]]),
        stiffness=stiffness,
    )


def _share(count: int, dtype: jnp.dtype, more: int = 0) -> Vector:
    """Places from 0 to 1, closer at 1, which itself is one of them if there is one more."""
    return jnp.asarray(np.sqrt(1 - (1 - np.arange(count + more) / count) ** 2), dtype)


def _weights(profile: Profile, base: Scalar, beyond: Vector) -> tuple[Vector, Vector]:
    """Places sqrt(base^2 + beyond^2) of springs, and the length of line that counts for each."""
    some = beyond > 0
    root = jnp.where(some, jnp.sqrt(jnp.where(some, beyond, 1.0)), 0.0)
    places = jnp.sqrt(jnp.where(some, base**2 + beyond**2, 1.0))
    places = jnp.where(some, places, base)
    nodes, shares = (jnp.asarray(of, beyond.dtype) for of in gauss(1, NODES))
    u = (1 + nodes) / 2
    left, right, width = root[:-1, None], root[1:, None], (root[1:] - root[:-1])[:, None]
    v = left + u * width
    inner = v > 0
    squared = jnp.where(inner, base**2 + v**4, 1.0)
    x = jnp.sqrt(squared)
    # g' dx, up to a factor of the interval
    rise = jnp.where(inner, profile.slope(x) * v**3 / x, 0.0) * shares
    to_right = width * (1 - u) * (right + v) * (right**2 + v**2) / (places[1:, None] + x)
    to_left = width * u * (left + v) * (left**2 + v**2) / (places[:-1, None] + x)
    whole = jnp.sum(rise, axis=1)
    safe = jnp.where(whole > 0, whole, 1.0)
    for_right = jnp.sum(rise * to_right, axis=1) / safe
    for_left = jnp.sum(rise * to_left, axis=1) / safe
    nothing = jnp.zeros_like(beyond[:1])
    weight = jnp.concatenate([for_left, nothing]) + jnp.concatenate([nothing, for_right])
    return places, weight
