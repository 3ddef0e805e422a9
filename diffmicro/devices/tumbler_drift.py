"""Mean speed of a tumbler, the incline that it just climbs, and the field that just turns it over.

The critical incline is where the mean speed of the steady motion falls to zero: found by bisection on
"gets up", and differentiated by the implicit function theorem. Where the speed jumps across zero instead, the
incline of the jump is given, and its derivative is NaN.

The stall field is static: the torque that lifts the body over the worst of its faces and corners without
sliding, per moment. On a face with adhesion N + pull that is front (N + pull) + h S.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro.devices.tumbler_body import Units, body_of, lump, outline_of
from diffmicro.devices.tumbler_motion import State, TumblerMotion
from diffmicro.devices.tumbler_steady import Observed, PeriodMap, Steady, find
from diffmicro.dynamics.hybrid import Numerics, run
from diffmicro.dynamics.window import substitute
from diffmicro.nonsmooth.implicit import with_implicit_derivative

ORDER, LIMIT = 8, 30000
"""Order of the Taylor series, and the most advances per half turn of the field."""

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
    design: Any,
    setting: Any,
    start: Array | None,
    tolerance: Array,
    steps: int,
    window: int,
) -> Drift:
    """The steady motion and its mean speed, differentiable."""
    q, unravel = ravel_pytree((design, setting))
    motion, units = lump(design, setting)
    if start is None:
        start = jnp.zeros(5, q.dtype)
    close = max(CLOSE, 200 * float(jnp.finfo(q.dtype).eps))
    mapped = _period_map(unravel, steps)
    tolerance = tolerance.astype(q.dtype)
    steady = find(mapped, q, start.astype(q.dtype), window, tolerance, close)
    observed = Observed(*steady.observed)
    settled = steady.returns | steady.rolls
    n = steady.periods
    # Where nothing returns there is a mean, and the derivative, NaN, of the orbit that was not found.
    mean = jnp.where(settled, jax.lax.stop_gradient(observed.slipped) / n, steady.slipped)
    slipped = substitute(mean, observed.slipped / n)
    lap = jnp.where(settled, observed.lap / n, steady.lap)
    slip = slipped * units.length / units.time
    return Drift(slip + jnp.pi * lap * units.length / units.time, slip, steady, motion, units)


def _period_map(unravel: Callable[[Array], tuple[Any, Any]], steps: int) -> PeriodMap:
    """The map of states over half turns, as `tumbler_steady` wants it."""

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


def stall_field(design: Any, setting: Any) -> Array:
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


def critical_incline(design: Any, setting: Any, tolerance: Array, steps: int) -> Array:
    """The incline at which the mean speed falls to zero [rad]; NaN where it is on flat ground."""
    frozen, tolerance = jax.lax.stop_gradient(((design, setting), tolerance))
    inputs = (frozen, tolerance, jnp.zeros((steps, 0)))

    def halve(bracket: tuple[Array, Array], _) -> tuple[tuple[Array, Array], None]:
        low, high = bracket
        middle = (low + high) / 2
        up = _speed(middle[None], inputs)[0] > 0
        return (jnp.where(up, middle, low), jnp.where(up, high, middle)), None

    zero = jnp.zeros_like(tolerance)
    (low, high), _ = jax.lax.scan(halve, (zero, zero + jnp.pi / 2), None, length=BISECTIONS)

    incline = (low + high) / 2
    left = jnp.abs(_speed(incline[None], inputs)[0])
    meets = left < MEETS
    given = ((design, setting), tolerance, inputs[2])
    (smooth,) = with_implicit_derivative(_speed, incline[None], given)
    incline = substitute(incline, smooth * jnp.where(meets, 1.0, jnp.nan))
    return jnp.where(low > 0, incline, jnp.nan)


def _speed(incline: Array, inputs: Any) -> Array:
    """Mean speed over the no-slip speed at an incline. The steps are static: `inputs` has them in a shape."""
    (design, setting), tolerance, steps = inputs
    setting = eqx.tree_at(lambda s: s.incline, setting, incline[0])
    drift = drift_of(design, setting, None, tolerance, steps.shape[0], SHORT)
    return (drift.speed / (2 * jnp.pi * drift.units.length * setting.field_frequency))[None]
