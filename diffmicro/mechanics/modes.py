"""Structures as independent vibration modes: exact motion, frequency response, and M, C, K.

Each mode obeys  q'' + 2 zeta w q' + w^2 q = w^2 G u(t) + mu F(t)  (Ryou 2014, eq. 1), here for its share of the
displacement at one point, with static gain G, mobility mu, drive u and force F at that point. Over a time t
without drive and force the state (q, q') is multiplied by

    E(t) = exp(-zeta w t) [[cos + zeta w sin/w_d, sin/w_d], [-w^2 sin/w_d, cos - zeta w sin/w_d]],

with sin and cos of w_d t, w_d = w sqrt(1 - zeta^2): exact for any t. Sine and square drive only shift the
state, by the steady response, so they are exact too. With mode shapes Phi (x = Phi q), M = eta^2 Phi^-T Phi^-1 and
K = eta^2 Phi^-T diag(w^2) Phi^-1; eta^2 is a mass (1/mass in the paper's text).

Left out: damping ratios of 1 and more, damping that couples modes.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from diffmicro import _loops as loops
from diffmicro._types import PerMode, Real


class Propagator(NamedTuple):
    """The four entries of E(t): new displacement and speed from old displacement and speed."""

    keep: Array
    gain: Array
    pull: Array
    hold: Array

    def __call__(self, displacement: Real, speed: Real) -> tuple[Array, Array]:
        """The state after the time of the propagator."""
        return (
            self.keep * displacement + self.gain * speed,
            self.pull * displacement + self.hold * speed,
        )

    def twice(self) -> "Propagator":
        """E(2t) = E(t)^2."""
        trace = self.keep + self.hold
        cross = self.gain * self.pull
        return Propagator(
            self.keep * self.keep + cross,
            self.gain * trace,
            self.pull * trace,
            self.hold * self.hold + cross,
        )


def propagator(frequency: Real, damping: Real, time: Real) -> Propagator:
    """E(t) of modes with natural frequency [rad/time] and damping ratio below 1 [-]."""
    damped = frequency * jnp.sqrt(1.0 - damping * damping)
    decay = jnp.exp(-damping * frequency * time)
    sine = decay * jnp.sin(damped * time) / damped
    cosine = decay * jnp.cos(damped * time)
    lag = damping * frequency * sine
    return Propagator(cosine + lag, sine, -frequency * frequency * sine, cosine - lag)


ORDER = 12
"""Terms of the series: rounding up to a third of a radian."""

LONGEST_ANGLE = 0.35
"""Angle [rad] up to which the series are used."""


class Table(NamedTuple):
    """Coefficients of a mode's impulse response and its rate as series in the angle, by damping ratio alone."""

    response: tuple[Real, ...]
    rate: tuple[Real, ...]


def table(damping: Real) -> Table:
    """Series of a mode with this damping ratio, from s'' + 2 zeta s' + s = 0, s = x - zeta x^2 + ..."""
    s = [0.0 * damping + 1.0, -damping]
    for k in range(1, ORDER - 1):
        s.append(-(2 * damping * (k + 1) * s[k] + s[k - 1]) / ((k + 1) * (k + 2)))
    return Table(tuple(s), tuple((k + 1) * c for k, c in enumerate(s)))


def short_propagator(frequency: Real, damping: Real, series: Table, time: Real) -> Propagator:
    """`propagator` for angles up to `LONGEST_ANGLE`, without a call of a transcendental function.

    Time loops spend most of their time in those, as XLA calls them lane by lane.
    """
    sine, hold = _impulse(frequency, damping, series, time)
    return Propagator(
        hold + 2 * damping * frequency * sine, sine, -frequency * frequency * sine, hold
    )


@jax.custom_jvp
def _impulse(frequency, damping, series, time):
    angle = frequency * time
    response, rate = series.response[-1], series.rate[-1]
    for a, b in zip(series.response[-2::-1], series.rate[-2::-1], strict=True):
        response, rate = response * angle + a, rate * angle + b
    return response * time, rate


@_impulse.defjvp
def _impulse_jvp(primals, tangents):
    """Closed forms, cheaper than the series' own: every tangent costs three products."""
    w, zeta, _, time = primals
    w_dot, zeta_dot, _, time_dot = tangents
    s, hold = _impulse(*primals)
    bend = -w * (2 * zeta * hold + w * s)
    cosine = hold + zeta * w * s
    # sqrt(1 - zeta^2) = 1 - ... stays away from 0 by the range of damping ratios.
    by_damping = -w * time * s - zeta / (1.0 - zeta * zeta) * (time * cosine - s)
    hold_by_damping = w * (time * (zeta * w * s - cosine) - s - zeta * by_damping)
    s_dot = hold * time_dot + (time * hold - s) / w * w_dot + by_damping * zeta_dot
    hold_dot = bend * time_dot + time * bend / w * w_dot + hold_by_damping * zeta_dot
    return (s, hold), (s_dot, hold_dot)


def frequency_response(frequency: Real, damping: Real, drive: Real) -> tuple[Real, Real]:
    """In-phase and quadrature part of each mode's response to sin(drive t), over its static gain [-]."""
    spring = frequency * frequency - drive * drive
    loss = 2 * damping * frequency * drive
    scale = frequency * frequency / (spring * spring + loss * loss)
    return scale * spring, -scale * loss


def driven(
    frequency: PerMode, damping: PerMode, force: Float[Array, "times modes"], step: Array | float
) -> tuple[Float[Array, "times modes"], Float[Array, "times modes"]]:
    """Displacement and speed (times, modes) from rest under modal forces [length/time^2] linear in time.

    `force` (times, modes) holds the values at the ends of steps of equal length; exact for such forces.
    """
    move = propagator(frequency, damping, step)
    square = frequency * frequency

    def one(state: tuple[Array, Array], ends: tuple[Array, Array]) -> tuple:
        first, last = ends
        slope = (last - first) / step

        def steady(value: Array) -> tuple[Array, Array]:
            """The straight line that the mode follows under the line of force."""
            return (value - 2 * damping / frequency * slope) / square, slope / square

        before, after = steady(first), steady(last)
        q, rate = move(state[0] - before[0], state[1] - before[1])
        state = q + after[0], rate + after[1]
        return state, state

    rest = jnp.zeros_like(frequency), jnp.zeros_like(frequency)
    _, (q, rate) = loops.scan(one, rest, (force[:-1], force[1:]))
    return (
        jnp.concatenate([rest[0][None], q]),
        jnp.concatenate([rest[1][None], rate]),
    )
