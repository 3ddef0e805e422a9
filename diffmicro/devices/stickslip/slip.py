"""The contacts in one step: the course of slip within it, and where their path turns.

Slip of a group is a polynomial of the share s of the step: through the slip at both ends and at the ends of the
two steps before, or, after a reversal, from rest there. It adds (b + c s) s (1 - s) to a straight course.

Springs that begin to slide within a step bend the course of slip so little that values do not show it, but each
of them changes its derivative at once. So the mean of their slip over the step's way is taken exactly.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro._types import Scalar, Tree
from diffmicro.devices.stickslip.oscillator import Oscillator
from diffmicro.dynamics.kernel import Kernel
from diffmicro.mechanics.masing import Masing, Memory
from diffmicro.mechanics.presliding import SingleState
from diffmicro.mechanics.rolling import RollingSprings
from diffmicro.mechanics.tangential import Springs

Pair = tuple[Scalar, Scalar]
"""Two numbers that belong together."""


class Past(NamedTuple):
    """How one group slipped until now: what a polynomial of its slip goes through.

    near, far: its slip, and the time, since two instants. count: how many of the two are known as such. Below 2
    the group was at rest at `near`, which is a reversal, or a corner of the drive.
    """

    near: Pair
    far: Pair
    count: Scalar


ContactLaw = Springs | Masing | SingleState
"""Contacts of a group, per unit of stiffness; what they remember is the law's own tree."""

Laws = tuple[ContactLaw | RollingSprings, ContactLaw | RollingSprings]
"""Of both groups."""


class Led(NamedTuple):
    """A group after a step: its contacts, their force, its past; what bends of slip add to the runner's motion."""

    contact: PyTree
    force: Scalar
    past: Past
    position: Scalar
    velocity: Scalar


def led(
    law: ContactLaw,
    share: Scalar,
    contact: PyTree,
    force: Scalar,
    past: Past,
    path: tuple[Scalar, Scalar, Scalar, Scalar],
    exact: Oscillator,
    kern: Kernel,
) -> Led:
    """Contacts led along a path: its way, rates at both ends, time. `share`: of the group in the stiffness."""
    change, before, after, h = path
    reverses, instant, vertex = turning(*path)
    # Each part of the way is gone at its middle rate. Few steps have a reversal; the others do without its cost.
    contact, there = jax.lax.cond(
        kern.in_some_lane(reverses),
        lambda contact: _moved(law, contact, vertex, before / 2, jnp.zeros_like(before)),
        lambda contact: (contact, jnp.zeros_like(before)),
        contact,
    )
    rest, begun = change - vertex, contact
    middle = jnp.where(reverses, 0.0, before) / 2 + after / 2
    if isinstance(law, Springs) and law.dynamic is None:
        contact = law.move(contact, rest[None], middle[None])
        now, mean = law.force_and_mean(begun, contact, rest)
    else:
        (contact, now), mean = _moved(law, contact, rest, middle, after), None
    slid = share * (change - now + force)
    turned = jnp.where(reverses, share * (vertex - there + force), 0)
    bends = fitted(past, slid, h)

    def unseen(mean: Scalar) -> Scalar:
        known = share * (change / 2 - mean + force)
        return _unseen(known, slid, bends, (after - before) * h / 2, change)

    extra = jnp.zeros_like(slid)
    if mean is not None:
        extra = unseen(mean)
    elif isinstance(law, Masing):
        extra = kern.where_needed(
            law.breaks(begun, contact), lambda: _broken(law, begun, contact, unseen), extra
        )
    smooth = (
        _dot(exact.position_bends, bends) + h**2 / 2 * extra,
        _dot(exact.velocity_bends, bends) + h * extra,
    )
    halves = _interrupted(slid, turned, instant)
    return Led(
        contact,
        now,
        select(reverses, at_rest(slid - turned, (1 - instant) * h), followed(past, slid, h)),
        jnp.where(reverses, h**2 * halves[0], smooth[0]),
        jnp.where(reverses, h * halves[1], smooth[1]),
    )


def _broken(
    law: Masing, before: Memory, after: Memory, unseen: Callable[[Scalar], Scalar]
) -> Scalar:
    """What the fitted course leaves out where the slope of the force jumps on the way."""
    mean, known = law.mean(before, after)
    return jnp.where(known, unseen(mean), 0.0)


def _moved(
    law: ContactLaw, contact: PyTree, way: Scalar, middle: Scalar, after: Scalar
) -> tuple[PyTree, Scalar]:
    """The contacts after a monotone way at a middle rate, and their force at the rate behind it."""
    contact = law.move(contact, way[None], middle[None])
    return contact, law.force(contact, after)


def select(condition: Array, yes: Tree, no: Tree) -> Tree:
    """One of two trees."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def _dot(first: Pair, second: Pair) -> Scalar:
    return first[0] * second[0] + first[1] * second[1]


def at_rest(slip: Scalar, time: Scalar) -> Past:
    """The past of a group that was at rest some time ago, and slipped since."""
    zero = jnp.zeros_like(slip)
    return Past((slip, time), (zero, zero), zero)


def going_on(past: Past, h: Scalar) -> Pair:
    """The slip a, bend b of a step that goes on as before: a s + b s (1 - s) with s from 0 to 1."""
    known, twice = past.count >= 1, past.count >= 2
    t, u = _shares(past, h)
    rate = past.near[0] / t
    # the parabola from rest, or through three points
    from_rest = rate / t
    through = (rate - past.far[0] / u) / (u - t)
    bend = jnp.where(twice, through, from_rest)
    slip = jnp.where(twice, rate + bend * t, 2 * rate) + bend
    return jnp.where(known, slip, 0.0), jnp.where(known, -bend, 0.0)


def fitted(past: Past, slid: Scalar, h: Scalar) -> Pair:
    """The bends b, c of slip = slid s + (b + c s) s (1 - s) in a step after this past."""
    t, u = _shares(past, h)
    rate = past.near[0] / t
    near = (rate - slid) / (1 + t)
    far = (past.far[0] / u - slid) / (1 + u)
    from_rest = (rate / t + near) / (1 + t)
    slope = jnp.where(past.count >= 2, (near - far) / (u - t), from_rest)
    parabola = -slid / (1 + 2 * past.near[1] / h)
    known = past.count >= 1
    return jnp.where(known, near + slope * t, parabola), jnp.where(known, slope, 0.0)


def _shares(past: Past, h: Scalar) -> Pair:
    """Times since the two instants over that of the step; where they are not known, any that are harmless."""
    t = jnp.where(past.count >= 1, past.near[1] / h, 1.0)
    return t, jnp.where(past.count >= 2, past.far[1] / h, t + 1.0)


SHORT = 1e6
"""Displacement [eps] below which rounding is more than what springs on the way matter."""


def _unseen(known: Scalar, slid: Scalar, bends: Pair, spread: Scalar, change: Scalar) -> Scalar:
    """How much the mean slip over the way is more than that of the fitted course.

    The path's rate is change + spread (2 s - 1) per step. 0 where it nearly reverses, or rounding counts.
    """
    goes = jnp.abs(change) > jnp.maximum(jnp.abs(spread), SHORT * jnp.finfo(slid.dtype).eps)
    b, c = bends
    mean, moment = slid / 2 + b / 6 + c / 12, slid / 3 + b / 12 + c / 20
    fit = mean + spread / jnp.where(goes, change, 1.0) * (2 * moment - mean)
    return jnp.where(goes, known - fit, 0.0)


def followed(past: Past, slid: Scalar, h: Scalar) -> Past:
    """The past of the next step."""
    whole = past.near[0] + slid, past.near[1] + h
    first = past.count == 0
    near = jnp.where(first, whole[0], slid), jnp.where(first, whole[1], h)
    return Past(near, whole, jnp.minimum(past.count + 1, 2.0))


def _interrupted(slid: Scalar, turned: Scalar, instant: Scalar) -> Pair:
    """How slip that comes to rest at an instant of the step moves the runner, beside a straight course of it.

    Two parabolas, to rest at `turned` and on from there. Shares of h^2 in position, of h in velocity.
    """
    t, on = instant, slid - turned
    return (
        turned * (1 / 2 - t / 3 + t**2 / 12) + on * (1 - t) ** 2 / 12 - slid / 6,
        turned * (1 - t / 3) + on * (1 - t) / 3 - slid / 2,
    )


def turning(change: Array, before: Array, after: Array, h: Scalar) -> tuple[Array, Array, Array]:
    """Whether a path reverses in a step, at which share of the step, and how far it is then (else 0).

    The path is the cubic through its ends and their rates.
    """
    turned = before * after < 0
    spread = jnp.where(turned, before - after, 1.0)
    t = jnp.where(turned, before, 0.5) / spread
    arc = h * t * (1 - t) * ((1 - t) * before - t * after)
    return turned, t, jnp.where(turned, change * t**2 * (3 - 2 * t) + arc, 0)
