"""Motions of hybrid systems: followed over periods, or with every advance kept.

The number of advances is bounded; a lane that exceeds the bound stops with `event_limit`. What a system is
stands in `system`, what one advance does in `step`.
"""

import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro.dynamics.kernel import kernel
from diffmicro.dynamics.path import path
from diffmicro.dynamics.step import Motion, advance, begin
from diffmicro.dynamics.system import HybridSystem, Numerics, State
from diffmicro.results import RESULTS, code


def run(
    system: HybridSystem,
    state: State,
    periods: Array | int,
    numerics: Numerics,
    *,
    observe: bool = False,
) -> Motion:
    """The motion after a number of periods (which may be traced). Forward derivatives only.

    `motion.periods` falls short of `periods` where the limit on advances was reached: see `outcome`.
    """
    kern = kernel()
    schedule = system.schedule()
    periods = jnp.asarray(periods, jnp.int32)
    record = system.blank_record(state) if observe else None
    return loops.while_loop(
        lambda m: (m.periods < periods) & (m.advances < numerics.limit * periods),
        lambda m: advance(system, schedule, m, numerics, kern),
        begin(system, state, record),
    )


def trace(
    system: HybridSystem, state: State, periods: int, numerics: Numerics, *, advances: int
) -> tuple[Motion, Motion]:
    """The motion and all its advances (stacked, at most `advances`), differentiable in reverse too.

    After the last period the motion stands still. Where the advances do not suffice for all periods, the state
    of the motion and of its last advance are NaN, and so are their derivatives.
    """
    kern = kernel()
    schedule = system.schedule()

    def onward(motion: Motion) -> Motion:
        return advance(system, schedule, motion, numerics, kern)

    return path(onward, begin(system, state), periods, advances)


def outcome(motion: Motion, periods: Array | int) -> Array:
    """Result code: successful, `event_limit` or, where state or time are not finite, `not_converged`."""
    finite = jnp.isfinite(sum(jnp.asarray(s) for s in motion.state))
    whole = jnp.where(finite, code(RESULTS.successful), code(RESULTS.not_converged))
    # A motion that `trace` cut short has no state but a time.
    cut = (motion.periods < periods) & jnp.isfinite(motion.time)
    return jnp.where(cut, code(RESULTS.event_limit), whole)
