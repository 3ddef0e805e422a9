"""Figs. 9 and 10: the clamp shifts and reverses the motion; 5 mT, load factor 8."""

import math

import numpy as np
from matplotlib.figure import Figure

from experiments.nagy2012.drawing import sweep_legend, sweep_lines, velocity_axes
from experiments.nagy2012.motion import (
    F1,
    F2,
    FAST,
    GRID,
    RATIOS,
    at,
    erratic,
    moving_area,
    orbits,
    sweeps,
    zero_crossing,
)
from experiments.outcome import Check, Outcome, Said, incomparable, number, order, shape
from experiments.reading import FEW, MUCH, SLIGHT

PHASES = np.linspace(-math.pi / 2, math.pi / 2, 37)
"""The range of the paper's figure (after eq. 14)."""

SHIFT = Said(
    "section IV-C", "the maximum velocity shifting from f2 = 1.58 to f = 1.2 [approximately]"
)
CHANGES = Said(
    "Fig. 9, caption", "the direction of velocity is changed at f = 1.35 [approximately]"
)
SLIGHT_LOOP = Said("section IV-C", "a slight hysteresis is observed for phi = pi/2 around f = 1.1")
SMOOTH = Said("section IV-C", "the motion in these cases is rather smooth")
REVERSES = Said("section IV-C", "clearly, changing phi from -pi/2 to pi/2 reverses the direction")


def figure9() -> Outcome:
    """No clamp, and the clamp a quarter period late and early."""
    cases = [{}] + [dict(clamp_force=1.0, clamp_phase=s * math.pi / 2) for s in (-1, 1)]
    (free, late, early), down = sweeps("up", cases), sweeps("down", cases)
    phases = {"-pi/2": (late, down[1]), "+pi/2": (early, down[2])}
    checks = [check for name, both in phases.items() for check in _phase(name, *both, free)]
    # Reversal of one by the other, where both move at all.
    moving = (np.abs(late) > 1e-3) & (np.abs(early) > 1e-3)
    opposite = float(np.mean(late[moving] * early[moving] < 0))
    around = _differs(early, down[2], 1.0, 1.2)
    elsewhere = _differs(late, down[1], 0.0, 3.0)
    start = moving_area(free, F2, FAST)[0]
    checks += [
        order(
            REVERSES,
            "signs are opposite where both phases move faster than 1 mm/s",
            f"at {1 - FEW:.0%} of the frequencies at least",
            f"{100 * opposite:.0f} %",
            opposite >= 1 - FEW,
        ),
        number(
            Said("section IV-C", "f = 1.35, when motion in the unclamped case starts"),
            "motion without clamp starts at",
            "1.35",
            start,
            more=GRID,
        ),
        order(
            SLIGHT_LOOP,
            "phase +pi/2: up and down differ near 1.1",
            "they do",
            f"from {around[0]:.2f} to {around[-1]:.2f}" if around.size else "nowhere",
            around.size > 0,
        ),
        order(
            SLIGHT_LOOP,
            "phase +pi/2: the hysteresis is slight, below a tenth of the largest velocity",
            f"below {SLIGHT:.0%}",
            f"{_largest(early, down[2]):.0%}: swept down, impacts begin at once",
            _largest(early, down[2]) < SLIGHT,
        ),
        incomparable(
            SLIGHT_LOOP,
            "hysteresis with phase -pi/2",
            f"the text names none; here from {elsewhere[0]:.2f} to {elsewhere[-1]:.2f}, "
            f"{1e3 * late[RATIOS > 2].min():.0f} mm/s up and {1e3 * down[1][RATIOS > 2].max():.0f} mm/s down",
        ),
    ]  # fmt: skip

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        velocity_axes(axes, F1, F2)
        lines = ((free, down[0], "0.6", "no clamp"), (early, down[2], "tab:red", "phase +pi/2"))
        for up, back, color, label in (*lines, (late, down[1], "tab:blue", "phase -pi/2")):
            sweep_lines(axes, up, back, color, label)
        sweep_legend(axes)

    names = ("free", "minus", "plus")
    data = {
        n: {"up": u, "down": d} for n, u, d in zip(names, (free, late, early), down, strict=True)
    }
    return Outcome(checks, {"frequency_ratio": RATIOS, "velocity": data}, draw)


def _phase(name: str, up: np.ndarray, down: np.ndarray, free: np.ndarray) -> list[Check]:
    """What is said of each phase of the clamp alike."""
    peak, other = (float(RATIOS[np.argmax(np.abs(row))]) for row in (up, down))
    zigzags = erratic(up)
    places = ", ".join(f"{f:.2f}" for f in _zigzags(up))
    bound = FAST * np.max(np.abs(free))
    wide, plain = (float(np.sum(np.abs(row) > bound)) * GRID for row in (up, free))
    return [
        order(
            Said("section IV-C", "we observe that the actuation range is increased"),
            f"phase {name}: frequencies with more than {FAST:.0%} of the free maximum",
            "more than without clamp",
            f"over {wide:.2f} against {plain:.2f} of the frequency ratio",
            wide > plain,
        ),
        number(
            SHIFT,
            f"phase {name}: frequency of the largest velocity, swept up",
            "1.2",
            peak,
            more=GRID,
            note=f"swept down {other:.3f}",
        ),
        order(
            Said("section IV-C", "the net velocities around f = 1.58 are reduced"),
            f"phase {name}: velocity at 1.58 over the free one",
            "below 1",
            f"{abs(at(up, F2) / at(free, F2)):.2f}",
            abs(at(up, F2)) < abs(at(free, F2)),
        ),
        order(
            Said("section IV-C", "around f = 1.2, they are significantly larger"),
            f"phase {name}: velocity at 1.2 over the free one",
            f"above {MUCH:g}",
            f"{abs(at(up, 1.2) / at(free, 1.2)):.0f}",
            abs(at(up, 1.2)) > MUCH * abs(at(free, 1.2)),
        ),
        number(CHANGES, f"phase {name}: direction changes at", "1.35", zero_crossing(up, 1.2, 1.5), more=GRID),
        shape(
            SMOOTH,
            f"phase {name}: zigzags over the whole sweep",
            "none",
            f"{zigzags} at {places}" if zigzags else "none",
            zigzags == 0,
        ),
    ]  # fmt: skip


def _differs(up: np.ndarray, down: np.ndarray, low: float, high: float) -> np.ndarray:
    """Frequencies between two others at which the directions of a sweep part by more than a tenth of the
    largest velocity.
    """
    parts = np.abs(up - down) > SLIGHT * np.abs(up).max()
    return RATIOS[parts & (RATIOS >= low) & (RATIOS <= high)]


def _largest(up: np.ndarray, down: np.ndarray) -> float:
    return float(np.max(np.abs(up - down)) / np.max(np.abs(up)))


def _zigzags(row: np.ndarray) -> np.ndarray:
    """Where `erratic` counts."""
    return np.array([RATIOS[i] for i in range(1, len(row) - 1) if erratic(_alone(row, i))])


def _alone(row: np.ndarray, middle: int) -> np.ndarray:
    """The row with three points left, the rest level with their ends, and its largest value kept."""
    alone = row.copy()
    alone[: middle - 1], alone[middle + 2 :] = row[middle - 1], row[middle + 1]
    alone[0 if middle > 2 else -1] = np.max(np.abs(row))
    return alone


def figure10() -> Outcome:
    """Velocity against the phase at a frequency ratio of 1.58: a cosine, or a step?"""
    velocity = orbits([dict(frequency_ratio=1.58, clamp_force=1.0, clamp_phase=p) for p in PHASES])
    terms = np.stack([np.cos(PHASES), np.sin(PHASES), np.ones_like(PHASES)], axis=1)
    fit, *_ = np.linalg.lstsq(terms, velocity, rcond=None)
    whole = np.sum((velocity - velocity.mean()) ** 2)
    share = 1 - np.sum((velocity - terms @ fit) ** 2) / whole
    sharp = 1 - min(_step(velocity, i) for i in range(1, len(velocity))) / whole
    ends = velocity[[0, -1]]
    balance = float(-ends[0] / ends[1])
    turns = Said(
        "section IV-C",
        "a phase shift from -pi/2 to pi/2 induces a change in the velocity direction",
    )
    checks = [
        order(
            turns,
            "velocities at -pi/2 and pi/2 have opposite signs",
            "opposite",
            f"{1e3 * ends[0]:.2f} and {1e3 * ends[1]:.2f} mm/s",
            ends[0] * ends[1] < 0,
        ),
        shape(
            Said("section IV-C", "with approximately the same magnitude"),
            "ratio of the magnitudes at both ends",
            f"1 within {SLIGHT:.0%}",
            f"{balance:.3f}",
            abs(balance - 1) < SLIGHT,
        ),
        shape(
            Said("section IV-C", "the change is not sharp, but rather shows a cosine behavior"),
            "a cosine describes the curve better than a step",
            "more of the variance",
            f"R^2 {share:.3f} against {sharp:.3f}",
            share > sharp,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(PHASES / math.pi, 1e3 * velocity, "o", markersize=3, label="simulated")
        label = f"cosine, R^2 = {share:.3f}"
        axes.plot(PHASES / math.pi, 1e3 * (terms @ fit), color="0.5", label=label)
        axes.axhline(0, color="0.7", linewidth=0.8)
        axes.set_xlabel("phase of the clamp over pi")
        axes.set_ylabel("robot velocity [mm/s]")
        axes.legend()

    return Outcome(checks, {"phase": PHASES, "velocity": velocity, "cosine": fit}, draw)


def _step(values: np.ndarray, at_index: int) -> float:
    """Sum of squares that a step at an index leaves."""
    parts = values[:at_index], values[at_index:]
    return float(sum(np.sum((part - part.mean()) ** 2) for part in parts))
