"""Whether a value changes as its gradient says: differences along lines, until each derivative is judged.

Along a line x + s d the change of the value is the integral of the gradient. Simpson's rule takes that from three
looks, the point itself and two neighbors:

    rho = (v(d) - v(-d)) / 2 - (g(-d) + 4 g(0) + g(d)) . d / 6

Its own error is |d|^5, where a plain central difference has |d|^3: so the step can be that of a designer, 0.1 %,
where the values' last digits do not matter. The even part of the same looks,

    bend = (v(d) - 2 v(0) + v(-d)) / 2 - (g(d) - g(-d)) . d / 4,

is |d|^4 on a smooth way and as large as rho where a kink, a jump or noise is on it, while a wrong derivative
hardly shows in it: it says how much rho is worth. rho holds the errors of all derivatives that the line moves; at
worst all of it is one's own, which gives each entry i an upper limit of its relative error,

    mismatch_i = (|rho| + |bend|) / (|d_i| max(|g_i|, WORTH |v / x_i|)).

An entry below `MATCHED` is settled. A derivative that is off by more than twice that cannot stay below where a
right one did, if its elasticity is above `WORTH`: this is the check's power.

Lines are few: the first moves all parameters at once, the next ones, with smaller steps, those that are left, so
that a strong derivative's error does not hide a weak one; whoever is left then has a line of its own, the
strongest first, and what that explains is taken off the rest. Most gradients are settled with the first line.

`reach` is the longest step tried over which an entry of the gradient holds to `HOLDS`.

A parameter at zero or beside the end of its range goes one way, in lines apart from the others.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

FLOOR = 1e-3
"""Share of value / parameter below which a derivative counts as nearly cancelling."""

WORTH = 1e-2
"""Elasticity from which an error is measured by the derivative itself; below, by that of this elasticity."""

MATCHED = 3e-3
"""Largest disagreement of differences and gradient of a certified gradient."""

HOLDS = 0.1
"""Largest relative change of a derivative within its reach."""

STEPS = (1e-3, 1e-4, 1e-5)
"""Relative steps, tried in turn: that of a designer, then shorter ones where a jump or a kink is within it."""

ALONE = STEPS[1]
"""Relative step of a parameter's own line."""

LONGEST = 2.0
"""Most steps by which any parameter moves in one; the least is 1."""


class Frame(NamedTuple):
    """What does not change between looks, of p parameters.

    x: the point. size: by what a step of 1 moves each, see `mixed_sizes`. ends: whether it moves one way only.
    """

    x: Array
    size: Array
    ends: Array


class Differences(NamedTuple):
    """What is known so far about n values of p parameters.

    value (n), jacobian (n, p): at the point. beside: those of the first look of the line being tried.
    line (p), one_way: that line; half: its looks so far. task: which of all lines it is, done: those tried.
    moved (p), rest (n), bend (n): the last line of many parameters, what of its rho is not explained, its bend.
    mismatch, reach (n, p). found (p): whether any line had both its neighbors. left: whether any line is worth it.
    """

    value: Array
    jacobian: Array
    beside: tuple[Array, Array]
    line: Array
    one_way: Array
    half: Array
    task: Array
    done: Array
    moved: Array
    rest: Array
    bend: Array
    mismatch: Array
    reach: Array
    found: Array
    left: Array


_STEP = np.tile(STEPS, 2)
"""Steps of the lines of many parameters: those that move both ways, then those at an end."""

_MANY = len(_STEP)


def frame(x: Array, room: tuple[Array, Array]) -> Frame:
    """The frame at x. room: the ends of the parameters' ranges."""
    far = 2 * LONGEST * STEPS[0] * jnp.abs(x)
    down, up = x - room[0], room[1] - x
    ends = (x == 0) | (down <= far) | (up <= far)
    inward = jnp.where((up <= far) & (up < down), -1.0, 1.0)
    size = mixed_sizes(x)
    return Frame(x, jnp.where(ends, inward * jnp.abs(size), size), ends)


def nothing(here: Frame, value: Array, jacobian: Array) -> Differences:
    """Nothing is known yet; value and jacobian have the shapes of those to come."""
    n, p = jacobian.shape
    dtype = here.x.dtype
    done = jnp.zeros(_MANY + p, bool)
    if dtype == jnp.float32:  # shorter steps drown in rounding
        done = jnp.asarray(np.arange(_MANY + p) % len(STEPS) > 0) | (np.arange(_MANY + p) >= _MANY)
    no = jnp.zeros((), bool)
    empty = (jnp.zeros(p, dtype), jnp.zeros(n, dtype), jnp.zeros(n, dtype))
    return Differences(
        value,
        jacobian,
        (value, jacobian),
        jnp.zeros(p, dtype),
        no,
        no,
        jnp.zeros_like(done),
        done,
        *empty,
        jnp.full((n, p), jnp.inf, dtype),
        jnp.zeros((n, p), dtype),
        jnp.zeros(p, bool),
        ~no,
    )


def place(known: Differences) -> Array:
    """Where to look next, from the point."""
    return known.line * jnp.where(known.half, jnp.where(known.one_way, 2.0, -1.0), 1.0)


def learn(
    here: Frame, known: Differences, value: Array, jacobian: Array, at_point: Array
) -> Differences:
    """What follows from a look at `place`, or at the point itself: after the second one of a line it is judged."""
    at = _chosen(at_point, (value, jacobian), (known.value, known.jacobian))
    unit = _unit(here, *at)
    known = known._replace(value=at[0], jacobian=at[1])
    judged = known.half & ~at_point
    rho, bend, change = _residual(known, value, jacobian)
    known = _settled_by(here, known, rho, bend, change, judged)
    left = jnp.any(~_good(here, known), axis=0) & (unit != 0)
    task = _next(here, known, left, unit)
    fresh = at_point | judged
    many, at_end = jnp.any(task[:_MANY]), jnp.any(task[len(STEPS) : _MANY])
    step = jnp.sum(jnp.where(task[:_MANY], _STEP, 0.0)).astype(unit.dtype)
    together = step * (left & (here.ends == at_end))
    line = unit * jnp.where(many, together, ALONE * task[_MANY:])
    one_way = jnp.where(many, at_end, jnp.any(task[_MANY:] & here.ends))
    return known._replace(
        beside=_chosen(fresh, at, (value, jacobian)),
        line=jnp.where(fresh, line, known.line),
        one_way=jnp.where(fresh, one_way, known.one_way),
        half=~fresh,
        task=jnp.where(fresh, task, known.task),
        left=~fresh | jnp.any(task),
    )


def size_of(x: Array, value: Array, jacobian: Array, floor: float) -> Array:
    """What errors of derivatives are measured by (n, p): max(|g|, floor |value / parameter|)."""
    least = floor * jnp.abs(value)[:, None] / jnp.where(x == 0, 1.0, jnp.abs(x))[None, :]
    size = jnp.maximum(jnp.abs(jacobian), least)
    return jnp.where(size == 0, 1.0, size)


def mixed_sizes(x: Array) -> Array:
    """By what a step of 1 moves each parameter: 1 to `LONGEST` of itself, of unlike sizes and signs.

    So errors with a common cause seldom cancel. At zero, where there is no relative change, it is the share alone.
    """
    i = np.arange(x.size)
    share = 1 + (LONGEST - 1) * (i * 0.6180339887498949 % 1.0)
    mixed = jnp.asarray(share * np.where(np.cos(1.0 + 2.4 * i) < 0, -1.0, 1.0), x.dtype)
    return mixed * jnp.where(x == 0, 1.0, jnp.abs(x))


def _unit(here: Frame, value: Array, jacobian: Array) -> Array:
    """By what a step of 1 moves each parameter; nothing where there is no number to judge.

    A parameter at zero moves by as much as would double the first value, by what the gradient predicts.
    """
    slope, first = jnp.abs(jacobian[0]), jnp.abs(value[0])
    doubling = jnp.where(slope > first, first / jnp.where(slope > first, slope, 1.0), 1.0)
    known = jnp.all(jnp.isfinite(jacobian), axis=0) & jnp.all(jnp.isfinite(value))
    return jnp.where(known, here.size * jnp.where(here.x == 0, doubling, 1.0), 0.0)


def _good(here: Frame, known: Differences) -> Array:
    """Entries about which there is nothing left to ask (n, p)."""
    return (known.mismatch < MATCHED) & ((known.reach > 0) | (here.x == 0)[None, :])


def _next(here: Frame, known: Differences, left: Array, unit: Array) -> Array:
    """The line to try next, as a mask of all: of many parameters first, then the strongest parameter alone;
    those that move both ways, then those at an end. No line where nothing is left."""
    both, end = jnp.any(left & ~here.ends), jnp.any(left & here.ends)
    # Whoever was moved alone by a line of many has had its own.
    own = (known.moved != 0) & (jnp.sum(known.moved != 0) == 1)
    pending = jnp.concatenate([jnp.repeat(jnp.stack([both, end]), len(STEPS)), left & ~own])
    strength = jnp.max(jnp.abs(known.jacobian * unit[None, :]), axis=0)
    strength = strength / jnp.maximum(jnp.max(strength), jnp.finfo(unit.dtype).tiny)
    single = jnp.where(here.ends, 1.0, 5.0) + strength + 1e-6 * np.arange(unit.size)[::-1]
    rank = jnp.concatenate([jnp.asarray([9.0, 8.0, 7.0, 4.5, 4.0, 3.5], unit.dtype), single])
    score = jnp.where(pending & ~known.done, rank, 0.0)
    return (score == jnp.max(score)) & (score > 0)


def _residual(known: Differences, value: Array, jacobian: Array) -> tuple[Array, Array, Array]:
    """rho and bend of the line (n), and the largest change of each derivative along it (n, p)."""
    at, first, second = (known.value, known.jacobian), known.beside, (value, jacobian)
    # In the order along the line.
    v0, g0 = _chosen(known.one_way, at, second)
    v1, g1 = _chosen(known.one_way, first, at)
    v2, g2 = _chosen(known.one_way, second, first)
    # A derivative that is not there, of a parameter that does not move, does not count.
    still = (known.line == 0)[None, :]
    slopes = jnp.stack([(g0 + 4 * g1 + g2) / 6, (g2 - g0) / 4])
    along = jnp.sum(jnp.where(still[None, :, :], 0.0, slopes * known.line[None, None, :]), axis=2)
    change = jnp.maximum(jnp.abs(first[1] - at[1]), jnp.abs(jacobian - at[1]))
    return (v2 - v0) / 2 - along[0], (v2 - 2 * v1 + v0) / 2 - along[1], change


def _chosen(
    which: Array, one: tuple[Array, Array], other: tuple[Array, Array]
) -> tuple[Array, Array]:
    return jnp.where(which, one[0], other[0]), jnp.where(which, one[1], other[1])


def _settled_by(
    here: Frame, known: Differences, rho: Array, bend: Array, change: Array, judged: Array
) -> Differences:
    """What a line says, if it is judged now: of the entries that it moves, and of those of the last line of many
    parameters, from whose rho it takes what it explains."""
    size = size_of(here.x, known.value, known.jacobian, WORTH)
    line, many = known.line, jnp.any(known.task[:_MANY])
    moves = line != 0
    share = jnp.where(moves, known.moved / jnp.where(moves, line, 1.0), 0.0)
    rest = jnp.where(many, rho, known.rest - rho * jnp.sum(share))
    whole = jnp.where(many, bend, known.bend)
    moved = jnp.where(many, line, known.moved)
    done = known.done | (known.task & judged)

    def upper(part: Array, odd: Array, along: Array) -> Array:
        return (jnp.abs(odd) + jnp.abs(part))[:, None] / (
            size * jnp.where(along == 0, 1.0, jnp.abs(along))[None, :]
        )

    good = jnp.isfinite(rho + bend)[:, None] & (moves & judged)[None, :]
    off = upper(bend, rho, line)
    freed = ~many & judged & (moved != 0) & ~done[_MANY:]
    others = jnp.where(freed[None, :], upper(whole, rest, moved), jnp.inf)
    mismatch = jnp.fmin(known.mismatch, jnp.where(good, off, others))
    holds = good & (change < HOLDS * size) & (off < HOLDS)
    relative = jnp.abs(line) / jnp.where(here.x == 0, 1.0, jnp.abs(here.x))
    return known._replace(
        done=done,
        moved=jnp.where(judged, moved, known.moved),
        rest=jnp.where(judged, rest, known.rest),
        bend=jnp.where(judged, whole, known.bend),
        mismatch=mismatch,
        reach=jnp.where(holds, jnp.maximum(known.reach, relative[None, :]), known.reach),
        found=known.found | jnp.all(good, axis=0),
    )
