"""Event-driven oracle for the WRMMA: an independent truth for velocities and gradients.

It knows the physics of Nagy 2012 (eqs. 1-16, 47-48, with the gap g = x2 - x1 as argument of the
magnetic force) and nothing of diffmicro. Between events the motion is smooth and SciPy's DOP853
integrates it at rtol 1e-13; velocity reversal, release from stick, touch-down and separation are
located on its dense output, landed on by a step of exactly that length, and polished. The
integration restarts at every switch of field and clamp.

    hammer  x2'' = -phi,   body  x1'' = alpha phi - b sgn(x1'),   in units of rest gap and period
    phi = K (g - 1) + D g' + M(g) (s(t) + offset)^2

An impact follows Newton's law, g' -> -e g', conserves momentum and meets no frictional impulse.
Chatter ends in persistent contact once the rebound is slower than `CONTACT_RATE`.

Derivatives are Richardson-extrapolated central differences of orbits that are converged one by
one, so they share no saltation formula and no implicit function theorem with the library.

Parameters are a plain dict with the names of design.md (SI); a state is (gap [m], body velocity
[m/s], gap rate [m/s]) at t = 0, where the field switches on. Left out: periods above one, a
demagnetization of None, the sinusoidal field.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .wrmma_forces import PUBLISHED, Lumped, lump
from .wrmma_period import Event, run_period

SETTLED = 1e-9  # of a derivative, where Richardson's table may end
CONVERGED = 1e-10  # residual of an orbit, in rest gaps and periods

State = Sequence[float] | np.ndarray


@dataclass
class Period:
    """One period: the state after it, the drift of the body, the events and the margin."""

    state: np.ndarray  # (gap [m], body velocity [m/s], gap rate [m/s])
    drift: float  # [m]
    events: list[Event]
    margin: float  # distance to grazing or mode change, share of the period
    min_gap: float  # [m]
    stick_share: float


def _to_z(n: Lumped, state: State) -> np.ndarray:
    gap, body, rate = (float(q) for q in state)
    speed = n.length * n.frequency
    return np.array((gap / n.length, body / speed, (body + rate) / speed))


def _to_state(n: Lumped, z: np.ndarray) -> np.ndarray:
    speed = n.length * n.frequency
    return np.array((z[0] * n.length, z[1] * speed, (z[2] - z[1]) * speed))


def rest(params: Mapping[str, float]) -> np.ndarray:
    """The state at rest: spring relaxed, nothing moves."""
    return np.array((float({**PUBLISHED, **params}["rest_gap"]), 0.0, 0.0))


def period_map(params: Mapping[str, float], state: State, clamp="stop") -> Period:
    """Carry a state over one period of the drive."""
    n = lump(params, clamp)
    run = run_period(n, _to_z(n, state))
    return Period(
        state=_to_state(n, run.y[:3]),
        drift=float(run.y[3]) * n.length,
        events=run.events,
        margin=float(run.margin),
        min_gap=float(run.min_gap) * n.length,
        stick_share=float(run.stick_share),
    )


@dataclass
class Orbit:
    """A period-1 orbit; `converged` tells whether it is one."""

    state: np.ndarray
    velocity: float  # [m/s]
    multiplier: float  # largest Floquet modulus
    residual: float  # in rest gaps and periods
    converged: bool
    period: Period


def _jacobian(n, z, step=2e-6):
    """Central differences of the map in (gap, v1, v2); the column of a stuck body is zero."""
    jacobian = np.zeros((3, 3))
    for k in (0, 2) if z[1] == 0 else (0, 1, 2):
        ends = []
        for sign in (1, -1):
            moved = z.copy()
            moved[k] += sign * step
            ends.append(run_period(n, moved).y[:3])
        jacobian[:, k] = (ends[0] - ends[1]) / (2 * step)
    return jacobian


def _solve(n, z, jacobian=None, tol=1e-12, iterations=25):
    """Newton with secant updates of the Jacobian; returns z, residual and the last run."""
    z, matrix, best = z.copy(), jacobian, None
    last = None
    for k in range(iterations):
        run = run_period(n, z)
        residual = run.y[:3] - z
        size = float(np.max(np.abs(residual)))
        if best is None or size < best[1]:
            best = z.copy(), size, run
        if size < tol or (k > 3 and best[1] < 1e-11 and size >= best[1]):
            break
        if matrix is None or (last is not None and size > 0.5 * last[1] and k % 4 == 3):
            matrix = _jacobian(n, z)
        elif last is not None:  # Broyden: residual change = (J - I) dz
            dz = z - last[0]
            slope = matrix - np.eye(3)
            error = residual - last[2] - slope @ dz
            matrix = matrix + np.outer(error, dz) / (dz @ dz)
        last = z.copy(), size, residual
        change = np.linalg.solve(np.eye(3) - matrix, residual)
        change *= min(1.0, 1.0 / max(np.max(np.abs(change)), 1e-300))
        z = z + change
        if run.y[1] == 0:
            z[1] = 0.0
        z[0] = max(z[0], 0.0)
    assert best is not None
    return best


def orbit(params: Mapping[str, float], start: State, clamp="stop") -> Orbit:
    """The period-1 orbit near `start`, converged on the oracle's own map."""
    n = lump(params, clamp)
    z, residual, run = _solve(n, _to_z(n, start))
    modulus = float(np.max(np.abs(np.linalg.eigvals(_jacobian(n, z)))))
    state = _to_state(n, z)
    return Orbit(
        state=state,
        velocity=float(run.y[3]) * n.length * n.frequency,
        multiplier=modulus,
        residual=residual,
        converged=residual < CONVERGED,
        period=period_map(params, state, clamp),
    )


def simulate(params: Mapping[str, float], start, periods: int, clamp="stop") -> np.ndarray:
    """The state after a number of periods."""
    n = lump(params, clamp)
    z = _to_z(n, start)
    for _ in range(periods):
        z = run_period(n, z).y[:3]
    return _to_state(n, z)


def velocity(params: Mapping[str, float], start=None, warmup: int = 0, clamp="stop") -> float:
    """Steady velocity [m/s] of the orbit that `start` (rest by default) leads to; NaN if none."""
    state = rest(params) if start is None else start
    found = orbit(params, simulate(params, state, warmup, clamp), clamp)
    return found.velocity if found.converged else math.nan


def multiplier(params: Mapping[str, float], start, clamp="stop") -> float:
    """Largest Floquet modulus of the orbit near `start`; NaN if there is none."""
    found = orbit(params, start, clamp)
    return found.multiplier if found.converged else math.nan


@dataclass
class Derivative:
    """d(velocity)/dh along a direction [m/s], the error that the table suggests, and the margin."""

    value: float
    error: float
    velocity: float
    margin: float
    multiplier: float
    converged: bool


def derivative(
    params: Mapping[str, float],
    start: State,
    direction: Mapping[str, float],
    absolute: Mapping[str, float] | None = None,
    clamp: str = "stop",
    step: float = 1e-3,
    levels: int = 8,
) -> Derivative:
    """Directional derivative of the steady velocity.

    A parameter p moves as p (1 + h direction[p]) + h absolute[p]. The step is halved until the
    orbits on both sides see the events of the orbit in the middle, then on for the rows of
    Richardson's table, until it settles or `levels` rows are there; `error` is the smallest
    change between neighbors in it.
    """
    full = {**PUBLISHED, **params}
    middle = orbit(full, start, clamp)
    n = lump(full, clamp)
    z0 = _to_z(n, middle.state)
    jacobian = _jacobian(n, z0)
    kinds = [e.kind for e in middle.period.events]
    failed = Derivative(
        math.nan, math.inf, middle.velocity, middle.period.margin, middle.multiplier, False
    )
    if not middle.converged:
        return failed
    absolute = absolute or {}

    def at(h, guess):
        moved = dict(full)
        for name in {*direction, *absolute}:
            moved[name] = full[name] * (1 + h * direction.get(name, 0.0)) + h * absolute.get(
                name, 0.0
            )
        m = lump(moved, clamp)
        try:
            z, residual, run = _solve(m, guess, jacobian, tol=2e-13, iterations=14)
        except RuntimeError:
            return None
        same = [e.kind for e in run.events] == kinds
        return (z, float(run.y[3]) * m.length * m.frequency) if same and residual < 1e-11 else None

    slope = np.zeros(3)
    rows: list[list[float]] = []
    best = math.inf, math.nan
    for _ in range(levels + 14):
        up = at(step, z0 + step * slope)
        down = at(-step, z0 - step * slope) if up else None
        if up is None or down is None:
            rows, slope, best = [], np.zeros(3), (math.inf, math.nan)
        else:
            slope = (up[0] - down[0]) / (2 * step)
            row, above = [(up[1] - down[1]) / (2 * step)], rows[-1] if rows else []
            for k, old in enumerate(above):
                row.append(row[k] + (row[k] - old) / (4 ** (k + 1) - 1))
                best = min(best, (max(abs(row[k + 1] - row[k]), abs(row[k + 1] - old)), row[k + 1]))
            rows.append(row)
        floor = SETTLED * max(abs(best[1]), 1e-3 * abs(middle.velocity))
        if len(rows) >= levels or (len(rows) > 3 and best[0] < floor):
            break
        step /= 2
    if not rows or math.isinf(best[0]):
        return failed
    return Derivative(
        best[1], best[0], middle.velocity, middle.period.margin, middle.multiplier, True
    )
