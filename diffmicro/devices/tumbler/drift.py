"""Mean speed of a tumbler, the incline that it just climbs, and the field that just turns it over.

The critical incline is where the mean speed of the steady motion falls to zero: found by bisection on
"gets up", and differentiated by the implicit function theorem. Where the speed jumps across zero instead, the
incline of the jump is given, and its derivative is NaN.

The stall field is static: the torque that lifts the body over the worst of its faces and corners without
sliding, per moment. On a face with adhesion N + pull that is front (N + pull) + h S.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro import _loops as loops
from diffmicro.autodiff.rules import Changes, known, substitute
from diffmicro.devices.tumbler.body import Units, body_of, lump, outline_of
from diffmicro.devices.tumbler.design import Design, Setting
from diffmicro.devices.tumbler.motion import TumblerMotion
from diffmicro.devices.tumbler.state import State
from diffmicro.devices.tumbler.steady import Observed, PeriodMap, Steady, differentiable, find
from diffmicro.dynamics.hybrid import run
from diffmicro.dynamics.system import Numerics

ORDER, LIMIT = 8, 30000
"""Order of the Taylor series, and the most advances per half turn of the field."""

STATE_SIZE = 5
"""Numbers of a state that is handed on; all zero: at rest."""

CLOSE = 1e-9
"""Distance in natural units at which a state has returned."""


class Drift(NamedTuple):
    """Mean speed and its part by sliding [m/s], also where the robot slides down, and where they come from."""

    speed: Array
    slip: Array
    steady: Steady
    motion: TumblerMotion
    units: Units


def drift_of(
    design: Design,
    setting: Setting,
    start: Array | None,
    tolerance: Array,
    steps: int,
    window: int,
) -> Drift:
    """The steady motion and its mean speed, differentiable."""
    q, unravel = ravel_pytree((design, setting))
    if start is None:
        start = jnp.zeros(STATE_SIZE, q.dtype)
    close = max(CLOSE, 200 * float(jnp.finfo(q.dtype).eps))
    mapped = _period_map(unravel, steps)
    tolerance = tolerance.astype(q.dtype)
    fields, start = (design, setting), start.astype(q.dtype)
    steady = find(mapped, fields, start, window, tolerance, close)
    return _drift(steady, *lump(design, setting))


def _drift(steady: Steady, motion: TumblerMotion, units: Units) -> Drift:
    """The mean speed of a motion, with the derivatives that `steady.observed` and `units` have."""
    settled = steady.returns | steady.rolls
    slid = Observed(*steady.observed).slipped / steady.periods
    # Where nothing returns there is a mean, and the derivative, NaN, of the orbit that was not found.
    mean = jnp.where(settled, jax.lax.stop_gradient(slid), steady.slipped)
    slip = substitute(mean, slid) * units.length / units.time
    turning = jnp.pi * steady.turns * units.length / units.time
    return Drift(slip + turning, slip, steady, motion, units)


def _period_map(unravel: Callable[[Array], tuple[Design, Setting]], steps: int) -> PeriodMap:
    """The map of states over half turns, as `steady` wants it."""

    def mapped(q, z, periods, tolerance):
        motion, _ = lump(*unravel(q))
        zero = jnp.zeros_like(z[0])
        state = State(z[0], z[1], z[2], z[3], z[4], zero, zero)
        numerics = Numerics(max(steps // 2, 2), ORDER, LIMIT, tolerance)
        end = run(motion, state, periods, numerics, observe=True)
        whole = jnp.where(end.periods >= periods, 1.0, jnp.nan)
        at = end.state
        place = motion.place(at, end.mode)
        seen = Observed(at.slipped, at.lap, *end.record)
        return jnp.stack([at.gap, at.rate, place, at.spin, at.slide]) * whole, jnp.stack(seen)

    return mapped


def stall_field(design: Design, setting: Setting) -> Array:
    """The smallest field that turns the body over, statically [T]."""
    motion, units = lump(design, setting)
    body = body_of(design, outline_of(design))
    press, slope = motion.press, motion.slope
    height = motion.below + motion.radius
    on_faces = motion.ahead * (press + motion.face_pull) + height * slope
    # On a piece h' N + h S is largest where its slope vanishes, or at an end.
    line = press + motion.line_pull
    top = jnp.arctan2(
        motion.ahead * slope - motion.below * line, motion.ahead * line + motion.below * slope
    )
    top = jnp.clip(top, 0.0, motion.span)
    sine, cosine = jnp.sin(top), jnp.cos(top)
    h = motion.radius + motion.ahead * sine + motion.below * cosine
    on_pieces = (motion.ahead * cosine - motion.below * sine) * line + h * slope
    present = jnp.arange(motion.normal.size) < motion.count
    flat = motion.edge > 0
    worst = jnp.maximum(jnp.where(flat, on_faces, on_pieces), on_pieces)
    worst = jnp.max(jnp.where(present, worst, -jnp.inf))
    acceleration = units.velocity * motion.rate / units.time
    return jnp.maximum(worst, 0.0) * body.mass * acceleration * units.length / body.moment


BISECTIONS, SHORT = 34, 16
"""Halvings of a right angle (1e-10 rad are left), half turns that tell whether a robot gets up."""

MEETS = 1e-5
"""Speed left at the critical incline over the no-slip speed, above which it is a jump."""


def critical_incline(design: Design, setting: Setting, tolerance: Array, steps: int) -> Array:
    """The incline at which the mean speed falls to zero [rad]; NaN where it is on flat ground.

    The motion that the bisection ends with is the one whose speed is differentiated: it is not looked for again.
    """
    q, unravel = ravel_pytree((design, setting))
    there = _place_of_incline(design, setting).astype(q.dtype)
    frozen, tolerance = jax.lax.stop_gradient((q, tolerance))

    def halve(bracket: tuple[Array, Array], _) -> tuple[tuple[Array, Array], tuple]:
        low, high = bracket
        middle = (low + high) / 2
        body, drive = unravel(frozen * (1 - there) + middle * there)
        drift = drift_of(body, drive, None, tolerance, steps, SHORT)
        up = drift.speed > 0
        left = jnp.abs(drift.speed) / (2 * jnp.pi * drift.units.length * drive.field_frequency)
        return (jnp.where(up, middle, low), jnp.where(up, high, middle)), (
            middle,
            left,
            drift.steady,
        )

    zero = jnp.zeros((), q.dtype)
    (low, _), found = loops.scan(halve, (zero, zero + jnp.pi / 2), None, length=BISECTIONS)
    incline, left, steady = jax.tree.map(lambda each: each[-1], found)

    def speed(q: Array, steady: Steady, tolerance: Array) -> Array:
        known = differentiable(_period_map(unravel, steps), q, steady, tolerance)
        return _drift(known, *lump(*unravel(q))).speed

    given = (q, there, steady, tolerance.astype(q.dtype))
    smooth = known(partial(_level_rule, speed), incline, given)
    incline = substitute(incline, smooth * jnp.where(left < MEETS, 1.0, jnp.nan))
    return jnp.where(low > 0, incline, jnp.nan)


def _level_rule(
    speed: Callable[..., Array], incline: Array, given: tuple, changes: Changes
) -> Array:
    """Of the incline without speed. One gradient by all of q is that by the incline and that by the rest."""
    q, there, steady, tolerance = given
    if changes[0] is None:
        return jnp.zeros_like(incline)
    slope = jax.jacfwd(speed)(q * (1 - there) + incline * there, steady, tolerance)
    return -(slope * (1 - there)) @ changes[0] / (slope @ there)


def _place_of_incline(design: Design, setting: Setting) -> np.ndarray:
    """One where the raveled design and setting have the incline, else zero."""
    blank = jax.tree.map(lambda leaf: np.zeros(jnp.shape(leaf)), (design, setting))
    marked = eqx.tree_at(lambda both: both[1].incline, blank, np.ones(()))
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(marked)])
