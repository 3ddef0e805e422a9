"""The plastic impact of the tumbler's body: on one end of what touches the ground, or on both, with friction.

Momentum and Coulomb's law for impulses; nothing rebounds. All combinations of ends and of sliding are tried, and
the first that fulfills the law is taken: a landing on the whole face first, then the front end, then the rear one.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Tree

TOUCHING = 1e-12
"""Approach of the other end after an impact that is rounding."""


GRIPS = (0.0, 1.0, -1.0)
"""Sliding during the impact: none, or its direction."""


class Velocity(NamedTuple):
    """Of the center, up and along the slope, and spin."""

    up: Array
    along: Array
    spin: Array


class Body(NamedTuple):
    """What an impact depends on, in natural units: friction, inertia, height of the center over the contact, and
    how far ahead of the center the rear and the front end are."""

    friction: Array
    inertia: Array
    height: Array
    rear: Array
    front: Array


class Impact(NamedTuple):
    """After an impact: velocity of the center; whether the body rests on its face, its front end presses, it
    sticks."""

    velocity: Velocity
    rests: Array | bool
    at_front: Array | bool
    sticks: Array | bool


def plastic_impact(body: Body, center: Velocity) -> Impact:
    """What follows from a velocity of the center before."""
    done = jnp.zeros_like(body.height, bool)
    found = Impact(center, False, True, False)
    found, done = _on_face(body, center, found, done)
    for ends, is_front in (((body.front, body.rear), True), ((body.rear, body.front), False)):
        found, done = _on_end(body, center, ends, is_front, found, done)
    return found


def _on_face(body: Body, center: Velocity, found: Impact, done: Array) -> tuple[Impact, Array]:
    """Both ends press: the body stops turning."""
    h, rear, front = body.height, body.rear, body.front
    for slip in GRIPS:
        normal = -center.up
        along = -center.along if slip == 0 else -slip * body.friction * normal
        width = jnp.where(front > rear, front - rear, 1.0)
        forward = (body.inertia * center.spin - h * along - rear * normal) / width
        good = (front > rear) & (normal > 0) & (forward >= 0) & (forward <= normal)
        after = Velocity(0.0 * h, center.along + along, 0.0 * h)
        good = good & _within(body, slip, normal, along, after.along) & ~done
        done = done | good
        found = Impact(
            either(good, after, found.velocity),
            found.rests | good,
            found.at_front,
            jnp.where(good, slip == 0, found.sticks),
        )
    return found, done


def _on_end(
    body: Body,
    center: Velocity,
    ends: tuple[Array, Array],
    is_front: bool,
    found: Impact,
    done: Array,
) -> tuple[Impact, Array]:
    """One end presses; the other one must not approach the ground."""
    (here, there), h = ends, body.height
    approach = center.up - here * center.spin
    sliding = center.along - h * center.spin
    across = 1.0 + here * here / body.inertia
    mixed = here * h / body.inertia
    drawn = 1.0 + h * h / body.inertia
    for slip in GRIPS:
        if slip == 0:
            whole = across * drawn - mixed * mixed
            normal = (mixed * sliding - drawn * approach) / whole
            along = (mixed * approach - across * sliding) / whole
        else:
            stiff = across - slip * body.friction * mixed
            normal = -approach / jnp.where(stiff > 0, stiff, jnp.nan)
            along = -slip * body.friction * normal
        after = Velocity(
            center.up + normal,
            center.along + along,
            center.spin - (here * normal + h * along) / body.inertia,
        )
        good = (normal > 0) & (after.up - there * after.spin >= -TOUCHING)
        left = sliding + mixed * normal + drawn * along
        good = good & _within(body, slip, normal, along, left) & ~done
        done = done | good
        found = Impact(
            either(good, after, found.velocity),
            found.rests,
            jnp.where(good, is_front, found.at_front),
            jnp.where(good, slip == 0, found.sticks),
        )
    return found, done


def _within(body: Body, slip: float, normal: Array, along: Array, left: Array) -> Array:
    """Coulomb's law for impulses: inside the cone, or on it against the sliding that is left."""
    return jnp.abs(along) <= body.friction * normal if slip == 0 else slip * left > 0


def either(flag: Array, first: Tree, second: Tree) -> Tree:
    """One of two structures, by a flag."""
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), first, second)
