"""A foot on vibration modes that hits the ground: exact modal flow, located impacts, lasting contact.

Time in drive periods, length in a unit that the device picks. The foot is at h = gap + sum_j x_j, and

    x_j'' + 2 zeta_j w_j x_j' + w_j^2 (x_j - g_j u(t)) = m_j F(t, h, h') + s_j lambda,      sum m_j = sum s_j = 1,

with the small-scale forces F of `mechanics/films` (as an acceleration of the foot) and the contact force lambda.
The state is x_j less the steady response to the drive, so drive and modes are exact for any step
(`mechanics/modes`), and steps are there for F alone: Lawson's method, the classical Runge-Kutta method in the
coordinates in which the modes do not move, of fourth order in F.

| phase | while | ends by |
|---|---|---|
| flight | h > 0 | impact: x_j' += s_j dv, dv = -(1 + e) h' |
| contact, `closed` | lambda > 0 | release |

One advance (`stepping`) tries one step. If it ends beyond an event, or could have missed a dip, it is not
taken: its length is changed (parabola, then Newton's method in a bracket) and the next advance tries again, so
that lanes of a batch never wait for each other. A landed event shifts the state by its own rate times - h/h',
which is rounding in value and the event time's derivative in derivative (the saltation terms). That is right
once: second derivatives through an event are NaN, those of a motion without events are right. Rebounds slower
than `CHATTER` while the foot is pressed down end in contact; the modes then move on with h = h' = 0.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.autodiff.rules import Changes, known
from diffmicro.mechanics.films import adhesion, electrostatic, squeeze_film
from diffmicro.mechanics.modes import Table, frequency_response, table
from diffmicro.parameters import Value

PER_CYCLE = 20.0
"""Steps per cycle of the fastest mode at a tolerance of 1e-9; the error of F's share goes with its fourth
power."""

PER_FILM_TIME = 6.0
"""Steps per time in which the film alone would stop the foot at the ground."""

MOST_STEPS = 36000
"""Steps per drive period above which a motion is out of reach."""

MOST_IN_ALL = 1e8
"""Steps over transient and window above which it is out of reach too: some five minutes on one core of a CPU."""

TURN = 2 * math.pi

CIRCLE = table(0.0)
"""Series of sine and cosine: those of a mode without damping."""


class LegsMotion(eqx.Module):
    """The numbers of the module docstring, in the length unit of `lumped.lump`. `ground`: it stops the foot."""

    frequency: Array
    damping: Array
    gain: Array
    mobility: Array
    share: Array
    film: Array
    film_offset: Array
    pull: Array
    pull_offset: Array
    adhesion: Array
    adhesion_offset: Array
    gap: Array
    restitution: Array
    threshold: Array
    stiffness: Value  # of the ground, and its damping: None where it is rigid
    dashpot: Value
    square: bool = eqx.field(static=True)
    impulsive: bool = eqx.field(static=True)  # contact forces share as the mobilities do
    ground: bool = eqx.field(static=True, default=True)

    @property
    def compliant(self) -> bool:
        """Whether the ground yields: contacts as in `ground`, no impacts."""
        return self.stiffness is not None

    def modes(self) -> int:
        return self.frequency.shape[0]

    def steps(self, fewest: int, tolerance: Real) -> Array:
        """Whole even number of steps per period."""
        # Coarser than half of it the contact's step is not stable.
        finer = jnp.maximum((1e-9 / tolerance) ** 0.25, 0.5)
        count = finer * self.plain_steps(float(fewest))
        return jax.lax.stop_gradient(2.0 * jnp.ceil(0.5 * jnp.minimum(count, MOST_STEPS)))

    def plain_steps(self, fewest: float) -> Array:
        """Steps per period at a tolerance of 1e-9, not rounded."""
        cycles = PER_CYCLE * jnp.max(self.frequency) / TURN
        stopping = PER_FILM_TIME * self.film / self.film_offset**3
        return jnp.maximum(jnp.maximum(cycles, stopping), fewest)

    def drive(self) -> "Drive":
        """Steady response of the foot to the drive."""
        inverse = jnp.where(self.mobility > 0, self.share / _safe(self.mobility), 0.0)
        series = tuple(table(jax.lax.stop_gradient(zeta)) for zeta in self.damping)
        if self.square:
            total, zero = jnp.sum(self.gain), jnp.zeros_like(self.gap)
            return Drive(total, zero, zero, zero, tuple(self.gain), tuple(inverse), series)
        real, imaginary = frequency_response(self.frequency, self.damping, TURN)
        real, imaginary = self.gain * real, self.gain * imaginary
        return Drive(
            jnp.sum(real),
            jnp.sum(imaginary),
            jnp.sum(inverse * real),
            jnp.sum(inverse * imaginary),
            tuple(self.gain),
            tuple(inverse),
            series,
        )

    def steady(self, phase: "Phase") -> tuple[Array, Array]:
        """Displacement and speed of each mode in the steady response, (..., modes)."""

        def row(values: Array) -> Array:
            return values.reshape((1,) * phase.sine.ndim + (-1,))

        sine, cosine, sign = (entry[..., None] for entry in phase)
        if self.square:
            return sign * row(self.gain), jnp.zeros_like(sign) * row(self.gain)
        real, imaginary = frequency_response(self.frequency, self.damping, TURN)
        real, imaginary = row(self.gain * real), row(self.gain * imaginary)
        return real * sine + imaginary * cosine, TURN * (real * cosine - imaginary * sine)

    def rest(self) -> "State":
        """The state at the start of a period of a structure at rest."""
        x, v = self.steady(phase_at(jnp.zeros_like(self.gap)))
        return State(tuple(-x), tuple(-v))


def once_differentiable(x: Array, where: Array) -> Array:
    """x, whose first derivative is right and whose second is NaN in the marked lanes: never silently wrong."""
    return known(_once_rule, x, (x, where))


def _once_rule(x: Array, given: tuple[Array, Array], changes: Changes) -> Array:
    return changes[0] * known(_nan_rule, jnp.ones_like(x), given)


def _nan_rule(one: Array, given: tuple[Array, Array], changes: Changes) -> Array:
    """Of a one with a derivative of NaN in the marked lanes."""
    return changes[0] * jnp.where(given[1], jnp.nan, 0.0).astype(one.dtype)


def _safe(x: Array) -> Array:
    return jnp.where(x > 0, x, 1.0)


class Drive(NamedTuple):
    """In-phase and quadrature response: of the foot, and weighted by share over mobility.

    Per mode: gain, share over mobility, series.
    """

    real: Array
    imaginary: Array
    weighted_real: Array
    weighted_imaginary: Array
    gain: tuple[Array, ...]
    inverse: tuple[Array, ...]
    series: tuple[Table, ...]


class State(NamedTuple):
    """Displacement and speed of each mode less its steady response."""

    x: tuple[Array, ...]
    v: tuple[Array, ...]


class Phase(NamedTuple):
    """Where in its cycle the drive is: sine and cosine, and the sign of the square wave."""

    sine: Array
    cosine: Array
    sign: Array

    def later(self, sine: Array, cosine: Array) -> "Phase":
        """The phase after an angle given by its sine and cosine, within the same half of the square wave."""
        return Phase(
            self.sine * cosine + self.cosine * sine,
            self.cosine * cosine - self.sine * sine,
            self.sign,
        )


def phase_at(share: Array) -> Phase:
    """The phase at a share of the period."""
    sign = jnp.where(share < 0.5, 1.0, -1.0).astype(share.dtype)
    return Phase(jnp.sin(TURN * share), jnp.cos(TURN * share), sign)


class Foot(NamedTuple):
    """Height, speed and free acceleration of the foot."""

    height: Array
    speed: Array
    acceleration: Array


class Record(NamedTuple):
    """Gathered over time: integral of the height, extremes, flights above the threshold, contact, lost energy.

    `flight`: peak of the flight under way; `first`: that of the flight under way at the start, -1 before its end.
    `depth`: how far the ground was pressed in.
    """

    height: Array
    peak: Array
    low: Array
    flight: Array
    bounces: Array
    heights: Array
    contact: Array
    loss: Array
    margin: Array
    impacts: Array
    first: Array
    depth: Array


def blank(like: Array) -> Record:
    """Nothing seen yet."""
    zero = jnp.zeros_like(like)
    nothing = Record(**dict.fromkeys(Record._fields, zero))
    return nothing._replace(
        peak=zero - jnp.inf, low=zero + jnp.inf, margin=zero + 1.0, first=zero - 1.0
    )


def closed_up(system: LegsMotion, record: Record) -> Record:
    """The record of a periodic motion: the flight that was under way at both ends is one flight."""
    whole = jnp.maximum(record.first, record.flight)
    counts = (record.first >= 0) & (whole > system.threshold)
    return record._replace(
        bounces=record.bounces + jnp.where(counts, 1.0, 0.0),
        heights=record.heights + jnp.where(counts, whole, 0.0),
    )


def rounding_of(system: LegsMotion) -> Array:
    """Heights below this are zero to rounding."""
    eps = float(jnp.finfo(system.gap.dtype).eps)
    return 64 * eps * (1.0 + jax.lax.stop_gradient(system.gap))


def steady_foot(system: LegsMotion, drive: Drive, phase: Phase) -> tuple[Array, ...]:
    """Displacement, speed, acceleration of the foot in the steady response; weighted speed; voltage squared."""
    if system.square:
        zero = jnp.zeros_like(phase.sign)
        return drive.real * phase.sign, zero, zero, zero, zero + 1.0
    sine, cosine = phase.sine, phase.cosine
    displacement = drive.real * sine + drive.imaginary * cosine
    speed = TURN * (drive.real * cosine - drive.imaginary * sine)
    weighted = TURN * (drive.weighted_real * cosine - drive.weighted_imaginary * sine)
    return displacement, speed, -(TURN**2) * displacement, weighted, sine * sine


def force_on_foot(
    system: LegsMotion, height: Array, speed: Array, square: Array, closed: Array
) -> Array:
    """F of the module docstring, with the push of ground that yields while `closed`.

    A trial step may end below the ground, where the offsets keep F finite.
    """
    push: Real = 0.0
    if system.compliant:
        push = system.stiffness * height + system.dashpot * speed
        push = jnp.where(closed, -push, 0.0)
        height, speed = jnp.where(closed, 0.0, height), jnp.where(closed, 0.0, speed)
    film_height = jnp.maximum(height, -0.5 * system.film_offset)
    pull_height = jnp.maximum(height, -0.5 * system.pull_offset)
    bond_height = jnp.maximum(height, -0.5 * system.adhesion_offset)
    film = squeeze_film(film_height, speed, system.film, system.film_offset)
    bond = adhesion(bond_height, system.adhesion, system.adhesion_offset)
    pull = electrostatic(pull_height, 1.0, system.pull, system.pull_offset)
    return film + bond + square * pull + push


def linear_acceleration(system: LegsMotion, x: Sequence[Array], v: Sequence[Array] | Array) -> Real:
    """Acceleration of the foot by the springs and dampers of its modes."""
    w, zeta = system.frequency, system.damping
    return -sum(w[j] * (w[j] * x[j] + 2 * zeta[j] * v[j]) for j in range(len(x)))


def foot_of(system: LegsMotion, drive: Drive, phase: Phase, state: State, closed: Array) -> Foot:
    """The foot; `closed`: in contact."""
    p, dp, ddp, _, square = steady_foot(system, drive, phase)
    height, speed = system.gap + sum(state.x) + p, sum(state.v) + dp
    linear = linear_acceleration(system, state.x, state.v)
    force = force_on_foot(system, height, speed, square, closed)
    return Foot(height, speed, linear + ddp + force)
