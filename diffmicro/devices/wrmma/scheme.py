"""The WRMMA by Moreau's time stepping, the paper's scheme, in natural units.

In units of rest gap, period and hammer mass (`motion`), with a = m_H / m_B, field and clamp
taken at t + dt/2:

    g_M = g + dt/2 w,   F = force(g_M, w, t + dt/2)
    v' = v + dt a F - s p_N + p_T,   w' = w - dt (1 + a) F + p_N - p_T,   s = a / (1 + a)
    |p_T| <= b dt, sticks when it can;   p_N >= 0 complementary to w' + e w when g_M <= 0, else 0
    g' = g_M + dt/2 w',   x' = x + dt/2 (v + v')

p_T is the friction's impulse over the body's mass, p_N the impact's over the reduced mass. Both are
solved together (one linear complementarity problem, `nonsmooth.closed_form`). The damper sees the
velocity before the step. The clamp is a finite bound of friction.

Left out: a location of events, see `dynamics.moreau`, also on what derivatives of this
mean.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.devices.wrmma.motion import Drive, State, WrmmaMotion
from diffmicro.dynamics.fixed_point import PeriodMap
from diffmicro.dynamics.kernel import Kernel, kernel
from diffmicro.dynamics.moreau import march
from diffmicro.nonsmooth.closed_form import one_unknown


class Grid(NamedTuple):
    """What does not change from step to step: bounds of friction's impulse, and switches."""

    steps: int
    share: Array
    early_bound: Array
    late_bound: Array
    clamp_switch: Array
    slope: Array
    kernel: Kernel


class Impulses(NamedTuple):
    """Impulses of one step, and the bound of friction's."""

    normal: Array
    friction: Array
    bound: Array


class Seen(NamedTuple):
    """Auxiliary output of a pass over periods, in the order of `wrmma.Observed` after displacement."""

    min_gap: Array
    peak_speed: Array
    impacts: Array
    stick_time: Array
    closed_time: Array
    touching: Array


def grid(motion: WrmmaMotion, steps: int) -> Grid:
    """Prepare a motion for `steps` steps per period."""
    turns_on = -motion.clamp_phase / (2 * jnp.pi)
    turns_on = turns_on - jnp.floor(turns_on)
    first = turns_on < 0.5
    rises = motion.rise > 0
    return Grid(
        steps=steps,
        share=motion.mass_ratio / (1 + motion.mass_ratio),
        early_bound=(motion.bound + jnp.where(first, 0.0, motion.clamp)) / steps,
        late_bound=(motion.bound + jnp.where(first, motion.clamp, 0.0)) / steps,
        clamp_switch=jnp.where(first, turns_on, turns_on - 0.5),
        slope=jnp.where(rises, 2.0 / jnp.where(rises, motion.rise, 1.0), jnp.inf),
        kernel=kernel(),
    )


def drive_at(motion: WrmmaMotion, grid: Grid, time: Array) -> Drive:
    """Field over its half amplitude and bound of friction's impulse, at a time in the period."""
    second = time >= 0.5
    since = jnp.where(second, time - 0.5, time)
    wave = jnp.where(second, -1.0, 1.0) * (jnp.minimum(since * grid.slope, 2.0) - 1.0)
    early = (since < grid.clamp_switch) ^ second
    return Drive(wave + motion.offset, jnp.where(early, grid.early_bound, grid.late_bound))


def contact(
    motion: WrmmaMotion,
    free_speed: Array,
    approach: Array,
    closed: Array,
    bound: Array,
    keep: Kernel,
) -> tuple[Array, Array]:
    """Impulses (p_N, p_T) for the velocities without them; `approach` is w' + e w without them.

    The same as `closed_form.normal_and_friction` with the matrix ((1, -1), (-s, 1)), one unknown
    eliminated from the other's line by hand: that saves a division, a sixth of the step's time.
    """
    together = (1 + motion.mass_ratio) * free_speed + motion.mass_ratio * approach
    slip = jnp.where(closed, jnp.minimum(free_speed, together), free_speed)
    (friction,) = keep.keep([one_unknown(1.0, slip, -bound, bound)])
    normal = jnp.where(closed, one_unknown(1.0, approach - friction, 0.0, jnp.inf), 0.0)
    return normal, friction


def one_step(motion: WrmmaMotion, grid: Grid, state: State, k: Array) -> tuple[State, Impulses]:
    """Step number k of a period.

    Two values are kept (`dynamics.kernel`): a batch is 1.5 times faster by that.
    """
    dt, half = 1.0 / grid.steps, 0.5 / grid.steps
    gap, rate, speed, position = state
    time = (k.astype(gap.dtype) + 0.5) * dt
    drive = drive_at(motion, grid, time)
    middle = gap + half * rate
    force = motion.force(time, State(middle, rate, speed, position), drive)
    (kick,) = grid.kernel.keep([force * dt])
    free_speed = speed + motion.mass_ratio * kick
    free_rate = rate - (1 + motion.mass_ratio) * kick
    approach = free_rate + motion.restitution * rate
    normal, friction = contact(motion, free_speed, approach, middle <= 0, drive.bound, grid.kernel)
    new_speed = free_speed - grid.share * normal + friction
    new_rate = free_rate + normal - friction
    new_gap = middle + half * new_rate
    moved = State(new_gap, new_rate, new_speed, position + half * (speed + new_speed))
    return moved, Impulses(normal, friction, drive.bound)


def periods_after(motion: WrmmaMotion, state: State, steps: int, periods: Array | int = 1) -> State:
    """The state after whole periods; its position is the displacement since `state`."""

    prepared = grid(motion, steps)

    def period(_, state):
        return march(lambda now, k: one_step(motion, prepared, now, k)[0], state, steps)

    if isinstance(periods, int) and periods == 1:
        return period(0, state)
    return loops.fori_loop(0, periods, period, state)


def observed_periods(
    motion: WrmmaMotion, state: State, steps: int, periods: Array | int
) -> tuple[State, Seen]:
    """The same, with what was seen on the way."""

    prepared = grid(motion, steps)

    def step(carry, k):
        before, seen = carry
        after, impulses = one_step(motion, prepared, before, k)
        return after, _observe(seen, after, impulses, steps)

    def period(_, carry):
        return march(step, carry, steps)

    zero = jnp.zeros_like(state.gap)
    return loops.fori_loop(0, periods, period, (state, Seen(state.gap, *[zero] * 5)))


def _observe(seen: Seen, after: State, impulses: Impulses, steps: int) -> Seen:
    touching = jnp.where(impulses.normal > 0, 1.0, 0.0)
    sticks = jnp.where(jnp.abs(impulses.friction) < impulses.bound, 1.0 / steps, 0.0)
    return Seen(
        min_gap=jnp.minimum(seen.min_gap, after.gap),
        peak_speed=jnp.maximum(seen.peak_speed, jnp.abs(after.speed)),
        impacts=seen.impacts + touching * (1.0 - seen.touching),
        stick_time=seen.stick_time + sticks,
        closed_time=seen.closed_time + touching * seen.touching / steps,
        touching=touching,
    )


def period_map(unravel: Callable[[Array], WrmmaMotion], steps: int) -> PeriodMap:
    """The map of states over periods, for `dynamics.moreau.find_orbit`.

    Its last observed quantity, the margin to a change of modes, is zero: no event is located.
    """

    def mapped(parameters, state, periods, tolerance, look=True):
        del tolerance, look
        gap, rate, speed = state
        start = State(gap, rate, speed, jnp.zeros_like(gap))
        end, seen = observed_periods(unravel(parameters), start, steps, periods)
        observed = [end.position, *seen[:5], jnp.zeros_like(end.gap)]
        return jnp.stack(end[:3]), jnp.stack(observed)

    return mapped
