"""The paper's numerical study: its grid of frequencies, its sweeps, and periods for phase plots."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from diffmicro.devices.wrmma import (
    Design,
    Setting,
    drive_period,
    lump,
    published_design,
    published_setting,
)
from diffmicro.devices.wrmma.motion import State
from diffmicro.devices.wrmma.scheme import grid, observed_periods, one_step, periods_after
from diffmicro.devices.wrmma.sweep import paper_sweep
from diffmicro.dynamics.moreau import STEPS

RATIOS = np.linspace(0.3, 2.2, 75)
"""Frequencies of the sweeps (section III-B)."""

GRID = float(RATIOS[1] - RATIOS[0])
"""Spacing of the grid: no limit that is read off a sweep is known better."""

MOVES = 50e-6
"""Mean speed above which the robot is said to move [m/s]."""

FAST = 0.05
"""Share of the largest velocity above which a sweep moves fast; beside the area around f2 the body drifts with
0.5 to 2 mm/s, which
a figure that reaches 68 mm/s shows as rest."""

F1, F2 = 1.0, float(np.sqrt(2.5))
"""Resonances of the published design: body held, body sliding (eq. 36)."""


def sweeps(direction: str, cases: list[dict[str, float]]) -> np.ndarray:
    """Velocities [m/s] of sweeps over RATIOS, abreast; cases differ in what `PUBLISHED` names."""
    return np.asarray(_sweeps(_columns(cases), direction))


def orbits(cases: list[dict[str, float]], periods: int = 300) -> np.ndarray:
    """Velocities [m/s] after some periods from rest, abreast."""
    return np.asarray(_velocities(_columns(cases), periods))


PUBLISHED = dict(
    mass_ratio=1.5,
    frequency_ratio=1.0,
    field=5e-3,
    load_factor=8.0,
    clamp_force=0.0,
    clamp_phase=0.0,
)


def _columns(cases: list[dict[str, float]]) -> dict[str, Array]:
    return {n: jnp.array([{**PUBLISHED, **c}[n] for c in cases]) for n in PUBLISHED}


def _device(case: dict[str, Array]) -> tuple[Design, Setting]:
    setting = {name: value for name, value in case.items() if name != "mass_ratio"}
    design = published_design(mass_ratio=case["mass_ratio"])  # pyright: ignore
    return design, published_setting(**setting)  # pyright: ignore


@partial(jax.jit, static_argnames="direction")
def _sweeps(columns, direction):
    def one(case):
        return paper_sweep(*_device(case), RATIOS, direction).velocity

    return jax.vmap(one)(columns)


@jax.jit
def _velocities(columns, periods):
    return jax.vmap(lambda case: _settled(case, periods))(columns)


def _settled(case, periods):
    """Velocity after some periods from rest."""
    motion, unit = _motion(case)
    zero = jnp.zeros_like(motion.bound)
    state = periods_after(motion, State(zero + 1, zero, zero, zero), STEPS, periods - 1)
    state = state._replace(position=zero)
    return periods_after(motion, state, STEPS).position * unit


def _motion(case):
    design, setting = _device(case)
    return lump(design, setting), design.rest_gap / drive_period(design, setting)


class Orbit(NamedTuple):
    """One period of a settled motion, in SI; `stick` is the share of time that the body sticks."""

    gap: np.ndarray
    body_speed: np.ndarray
    velocity: float
    impacts: int
    stick: float
    defect: float


def orbit(**case: float) -> Orbit:
    """The motion at the end of a sweep upward; the case differs from the published one as it says.

    From rest alone the body might not get to the impacts that the paper's sweeps arrive at.
    """
    one = {name: values[0] for name, values in _columns([case]).items()}
    path, end, seen, unit, defect = _orbit(one)
    return Orbit(
        gap=np.asarray(path.gap) * published_design().rest_gap,
        body_speed=np.asarray(path.speed) * float(unit),
        velocity=float(end.position * unit),
        impacts=int(seen.impacts),
        stick=float(seen.stick_time),
        defect=float(defect),
    )


@jax.jit
def _orbit(case):
    design, setting = _device(case)
    motion, unit = _motion(case)
    # The grid, ended at this frequency: what lies above it is spent on settling here.
    ratios = jnp.minimum(RATIOS, case["frequency_ratio"])
    arrived = jax.tree.map(lambda x: x[-1], paper_sweep(design, setting, ratios, "up").state)
    start = State(
        arrived.gap / design.rest_gap,
        arrived.gap_rate / unit,
        arrived.body_speed / unit,
        jnp.zeros_like(motion.bound),
    )
    prepared = grid(motion, STEPS)

    def step(state, k):
        state, _ = one_step(motion, prepared, state, k)
        return state, state

    _, path = jax.lax.scan(step, start, jnp.arange(STEPS))
    end, seen = observed_periods(motion, start, STEPS, 1)
    defect = jnp.max(jnp.abs(jnp.stack(end[:3]) - jnp.stack(start[:3])))
    return path, end, seen, unit, defect


def moving_area(velocity: np.ndarray, around: float, share: float = 0.0) -> tuple[float, float]:
    """First and last frequency of the unbroken area of motion around one: speed above MOVES, and
    above a share of the sweep's largest speed. (nan, nan) when the robot does not move there.

    The share separates the area of impacts from the slow drift on both sides, which is above MOVES
    too.
    """
    moves = np.abs(velocity) > max(MOVES, share * np.max(np.abs(velocity)))
    middle = int(np.argmin(np.abs(RATIOS - around)))
    if not moves[middle]:
        return np.nan, np.nan
    first = last = middle
    while first > 0 and moves[first - 1]:
        first -= 1
    while last < len(moves) - 1 and moves[last + 1]:
        last += 1
    return float(RATIOS[first]), float(RATIOS[last])


def at(velocity: np.ndarray, ratio: float) -> float:
    """Velocity at the grid point nearest to a frequency."""
    return float(velocity[np.argmin(np.abs(RATIOS - ratio))])


def zero_crossing(velocity: np.ndarray, low: float, high: float) -> float:
    """Frequency between two others where the velocity first changes sign, interpolated."""
    inside = np.flatnonzero((RATIOS >= low) & (RATIOS <= high))
    for i in inside[:-1]:
        a, b = velocity[i], velocity[i + 1]
        if a * b < 0:
            return float(RATIOS[i] + GRID * a / (a - b))
    return np.nan


JUMP = 0.10
"""Share of the largest velocity by which an erratic point leaves both its neighbors."""


def erratic(velocity: np.ndarray) -> int:
    """Number of grid points where a sweep zigzags: far from both neighbors, to the same side."""
    left, right = np.diff(velocity)[:-1], np.diff(velocity)[1:]
    size = JUMP * np.max(np.abs(velocity))
    return int(np.sum((left * right < 0) & (np.minimum(np.abs(left), np.abs(right)) > size)))
