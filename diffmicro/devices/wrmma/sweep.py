"""The frequency sweep of Nagy 2012 (section III-A): by Moreau's stepping, the state carried along.

The first frequency starts at rest, each later one where the one before it ended. A frequency is
done when the velocities of two consecutive periods differ by less than 5e-4 um/s, or after 300
periods (the first) or 100 (the others). Sweeping up and down then shows hysteresis.

The rule leaves many points unsettled and can stop while the hammer still rings behind a stuck body,
so this is for reproducing the paper; `wrmma.respond` gives settled motions, and a status where there is
none.
"""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import ArrayLike

from diffmicro import _loops as loops
from diffmicro.devices.wrmma.design import Design, Setting
from diffmicro.devices.wrmma.lumped import lump, units
from diffmicro.devices.wrmma.motion import State
from diffmicro.devices.wrmma.scheme import periods_after
from diffmicro.devices.wrmma.steady import MotionState
from diffmicro.dynamics.moreau import STEPS, Halt, until_steady
from diffmicro.parameters import as_arrays, check

DIFFERENCE = 5e-4 * 1e-6
"""Difference of consecutive period velocities at which a frequency is done [m/s]."""

FIRST, LATER = 300, 100
"""Most periods at the first and at each later frequency."""


class Sweep(eqx.Module):
    """Velocities of a sweep.

    velocity: drift in the last period times frequency, in the order of the frequencies [m/s].
    periods: how many periods were simulated at each [-].
    state: state at the start of a period where each ended.
    """

    velocity: Array
    periods: Array
    state: MotionState


def paper_sweep(
    design: Design,
    setting: Setting,
    frequency_ratios: ArrayLike,
    direction: Literal["up", "down"] = "up",
    *,
    steps: int = STEPS,
    carry: bool = True,
) -> Sweep:
    """The paper's sweep over `frequency_ratios` in ascending order, or `down` in descending order.

    The answer is in the order of `frequency_ratios` either way. `setting.frequency_ratio` is not
    used. `carry=False` starts every frequency at rest (with the periods of the later ones).
    Vmappable over designs and settings.
    """
    if direction not in ("up", "down"):
        raise ValueError(f"paper_sweep: direction {direction!r} is not one of up, down.")
    check("paper_sweep", design)
    ratios = jnp.asarray(frequency_ratios, float)
    if ratios.ndim != 1:
        raise ValueError(
            f"paper_sweep: frequency_ratios has {ratios.ndim} axes; it has to be a list."
        )
    for end in (jnp.min(ratios), jnp.max(ratios)):
        check("paper_sweep", eqx.tree_at(lambda s: s.frequency_ratio, setting, end))
    design, setting = as_arrays((design, setting))
    return _sweep(design, setting, ratios, steps=steps, down=direction == "down", carry=carry)


@eqx.filter_jit
def _sweep(
    design: Design, setting: Setting, ratios: Array, *, steps: int, down: bool, carry: bool
) -> Sweep:
    order = jnp.argsort(-ratios if down else ratios)

    def frequency(before, at):
        gap, rate, speed = before
        ratio, number = at
        there = eqx.tree_at(lambda s: s.frequency_ratio, setting, ratio)
        motion, unit = lump(design, there), units(design, there)[1]
        zero = jnp.zeros_like(motion.bound)
        start = State(gap + zero, rate / unit, speed / unit, zero)

        def period(state):
            state = periods_after(motion, state._replace(position=zero), steps)
            return state, state.position

        halt = Halt(DIFFERENCE / unit, jnp.where(number == 0, FIRST, LATER))
        state, moved, periods = until_steady(period, start, halt)
        after = (state.gap, state.rate * unit, state.speed * unit) if carry else before
        ended = MotionState(state.gap * design.rest_gap, state.rate * unit, state.speed * unit)
        return after, Sweep(moved * unit, periods, ended)

    rest = tuple(jnp.asarray(x, ratios.dtype) for x in (1.0, 0.0, 0.0))
    numbers = jnp.arange(ratios.size)
    _, found = loops.scan(frequency, rest, (ratios[order], numbers))
    back = jnp.argsort(order)
    return jax.tree.map(lambda x: x[back], found)
