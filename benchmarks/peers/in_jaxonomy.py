"""The motions in Jaxonomy: a `LeafSystem` with zero crossings, whose reverse mode carries event times.

Tested with Jaxonomy 3.4.1, which holds JAX at 0.9: it needs an environment of its own. One `Simulator` is kept and
`advance_to` compiled with the caller. No major step is longer than `longest`: it does not see a guard that crosses
twice within one.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array
from jaxonomy import (  # pyright: ignore[reportMissingImports]
    LeafSystem,
    Simulator,
    SimulatorOptions,
)

from benchmarks.peers.problems import (
    BALL_END,
    BELT_DAMPING,
    BELT_PERIODS,
    DAMPING,
    GRAVITY,
    RESTITUTION,
    lowest_point,
)

DOWN = "positive_then_non_positive"


class Ball(LeafSystem):
    """Parameter e."""

    def __init__(self):
        super().__init__(name="ball")
        self.declare_continuous_state(2, ode=self.ode)
        self.declare_dynamic_parameter("restitution", 0.75)
        self.declare_zero_crossing(self.height, self.bounce, direction=DOWN)

    def ode(self, time, state, **p):
        _, v = state.continuous_state
        return jnp.array([v, -GRAVITY])

    def height(self, time, state, **p):
        return state.continuous_state[0]

    def bounce(self, time, state, **p):
        x, v = state.continuous_state
        return state.with_continuous_state(jnp.array([jnp.abs(x), -p["restitution"] * v]))


class Oscillator(LeafSystem):
    """Parameters gap, amplitude, rate."""

    def __init__(self):
        super().__init__(name="oscillator")
        self.declare_continuous_state(2, ode=self.ode)
        for name in ("gap", "amplitude", "rate"):
            self.declare_dynamic_parameter(name, 1.0)
        self.declare_zero_crossing(self.clearance, self.bounce, direction=DOWN)

    def ode(self, time, state, **p):
        x, v = state.continuous_state
        return jnp.array([v, p["amplitude"] * jnp.cos(p["rate"] * time) - DAMPING * v - x])

    def clearance(self, time, state, **p):
        return p["gap"] - state.continuous_state[0]

    def bounce(self, time, state, **p):
        x, v = state.continuous_state
        return state.with_continuous_state(jnp.array([jnp.minimum(x, p["gap"]), -RESTITUTION * v]))


class OnBelt(LeafSystem):
    """Parameters bound, belt, amplitude, rate. The third state is the direction of sliding, 0 in stick."""

    def __init__(self):
        super().__init__(name="belt")
        self.declare_continuous_state(3, ode=self.ode)
        for name in ("bound", "belt", "amplitude", "rate"):
            self.declare_dynamic_parameter(name, 1.0)
        self.declare_zero_crossing(self.guard, self.reset, direction=DOWN)

    def demand(self, time, x, p):
        return p["amplitude"] * jnp.cos(p["rate"] * time) - x - BELT_DAMPING * p["belt"]

    def ode(self, time, state, **p):
        x, v, slip = state.continuous_state
        force = p["amplitude"] * jnp.cos(p["rate"] * time) - x - BELT_DAMPING * v
        sliding = jnp.array([v, force - slip * p["bound"], 0.0])
        return jnp.where(slip == 0, jnp.array([p["belt"], 0.0, 0.0]), sliding)

    def guard(self, time, state, **p):
        x, v, slip = state.continuous_state
        held = p["bound"] ** 2 - self.demand(time, x, p) ** 2
        return jnp.where(slip == 0, held, slip * (v - p["belt"]))

    def reset(self, time, state, **p):
        x, _, slip = state.continuous_state
        force = self.demand(time, x, p)
        stays = (slip != 0) & (jnp.abs(force) <= p["bound"])
        slip = jnp.where(stays, 0.0, jnp.sign(force))
        return state.with_continuous_state(jnp.array([x, p["belt"], slip]))


def advanced(system: LeafSystem, longest: float, span: float) -> Callable[..., Array]:
    """Function of (time, state, parameters) -> state at that time."""
    options = SimulatorOptions(
        diff_mode="reverse",
        rtol=1e-10,
        atol=1e-12,
        max_major_step_length=longest,
        max_major_steps=int(span / longest) + 40,
        save_time_series=False,
    )
    simulator = Simulator(system, options=options)
    blank: Any = system.create_context()

    def advance(end: Array, state: Array, **parameters: Array) -> Array:
        context = blank.with_parameters(parameters).with_continuous_state(state)
        return simulator.advance_to(end, context).context.continuous_state

    return advance


def cases(longest: float) -> dict[str, Callable[[Array], Array]]:
    """Value of a point by the name of the problem."""
    fall = advanced(Ball(), longest, BALL_END)
    swing = advanced(Oscillator(), longest, 3.0)
    slip = advanced(OnBelt(), longest, BELT_PERIODS * 5.0)

    def ball(point: Array) -> Array:
        start = jnp.stack([point[0], 0 * point[0]])
        return fall(jnp.full((), BALL_END), start, restitution=point[1])[0]

    def impact(point: Array) -> Array:
        gap, amplitude, rate = point
        start = jnp.array(lowest_point())
        return swing(2 * jnp.pi / rate, start, gap=gap, amplitude=amplitude, rate=rate)[1]

    def stick_slip(point: Array) -> Array:
        bound, belt, amplitude, rate = point
        end = BELT_PERIODS * 2 * jnp.pi / rate
        given = dict(bound=bound, belt=belt, amplitude=amplitude, rate=rate)
        return slip(end, jnp.array([0.0, 0.0, -1.0]), **given)[0]

    return {
        "ball": ball,
        "impact": impact,
        "graze": impact,
        "stick-slip": stick_slip,
        "reversal": stick_slip,
    }
