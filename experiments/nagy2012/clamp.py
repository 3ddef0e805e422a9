"""Figs. 9 and 10: the clamp shifts and reverses the motion; 5 mT, load factor 8."""

import math

import numpy as np
from matplotlib.figure import Figure

from experiments.nagy2012.drawing import sweep_lines, velocity_axes
from experiments.nagy2012.motion import (
    F1,
    F2,
    GRID,
    RATIOS,
    at,
    erratic,
    orbits,
    sweeps,
    zero_crossing,
)
from experiments.outcome import Check, Outcome, near

PHASES = np.linspace(-math.pi, math.pi, 73)[:-1]
"""The full circle; the paper shows the half from -pi/2 to pi/2."""


def figure9() -> Outcome:
    """No clamp, and the clamp a quarter period late and early."""
    cases = [{}] + [dict(clamp_force=1.0, clamp_phase=s * math.pi / 2) for s in (-1, 1)]
    (free, late, early), down = sweeps("up", cases), sweeps("down", cases)
    peaks = [float(RATIOS[np.argmax(np.abs(row))]) for row in (late, early)]
    # Reversal of one by the other, where both move at all.
    moving = (np.abs(late) > 1e-3) & (np.abs(early) > 1e-3)
    opposite = float(np.mean(late[moving] * early[moving] < 0))
    zeros = [zero_crossing(row, 1.2, 1.5) for row in (late, early)]
    smooth = [erratic(row[RATIOS > 0.6]) for row in (late, early)]
    differ = np.abs(early - down[2]) > 0.1 * np.abs(early).max()
    around = RATIOS[differ & (RATIOS > 0.9) & (RATIOS < 1.3)]
    width = float(np.ptp(around)) + GRID if around.size else 0.0
    reduced = max(abs(at(row, F2)) for row in (late, early)) / abs(at(free, F2))
    larger = min(abs(at(row, 1.2)) for row in (late, early)) / abs(at(free, 1.2))
    checks = [
        near("peak with phase -pi/2", 1.20, peaks[0], GRID),
        near("peak with phase +pi/2", 1.12, peaks[1], GRID),
        Check(
            "-pi/2 and +pi/2 reverse each other",
            "signs opposite at 90 % of the frequencies at least",
            f"{100 * opposite:.0f} % of those where both exceed 1 mm/s",
            opposite >= 0.9,
        ),
        near("direction changes with phase -pi/2 at", 1.33, zeros[0], GRID),
        near("direction changes with phase +pi/2 at", 1.33, zeros[1], GRID),
        Check("reduced near 1.58", "below 1", f"{reduced:.2f} of the free velocity", reduced < 1),
        Check("larger near 1.2", "above 2", f"{larger:.0f} times the free velocity", larger > 2),
        Check(
            "motion is smooth: no zigzags above 0.6",
            "none",
            " and ".join(str(n) for n in smooth),
            sum(smooth) == 0,
        ),
        Check(
            "slight hysteresis near 1.1 with phase +pi/2",
            "over less than 0.2",
            f"over {width:.2f}" + (f", {around[0]:.2f} to {around[-1]:.2f}" if width else ""),
            0 < width < 0.2,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        velocity_axes(axes, F1, F2)
        lines = ((free, down[0], "0.6", "no clamp"), (early, down[2], "tab:red", "phase +pi/2"))
        for up, back, color, label in (*lines, (late, down[1], "tab:blue", "phase -pi/2")):
            sweep_lines(axes, up, back, color, label)
        axes.legend()

    names = ("free", "minus", "plus")
    data = {
        n: {"up": u, "down": d} for n, u, d in zip(names, (free, late, early), down, strict=True)
    }
    return Outcome(checks, {"frequency_ratio": RATIOS, "velocity": data}, draw)


def figure10() -> Outcome:
    """Velocity against the phase at a frequency ratio of 1.58, and the cosine through it."""
    velocity = orbits([dict(frequency_ratio=1.58, clamp_force=1.0, clamp_phase=p) for p in PHASES])
    terms = np.stack([np.cos(PHASES), np.sin(PHASES), np.ones_like(PHASES)], axis=1)
    fit, *_ = np.linalg.lstsq(terms, velocity, rcond=None)
    left = velocity - terms @ fit
    share = 1 - np.sum(left**2) / np.sum((velocity - velocity.mean()) ** 2)
    ends = [float(np.interp(s * math.pi / 2, PHASES, velocity)) for s in (-1, 1)]
    balance = -ends[0] / ends[1]
    checks = [
        near("R^2 of a cosine over the full circle", 0.99, float(share), 0.01),
        Check(
            "-pi/2 to +pi/2 changes the direction",
            "signs opposite",
            f"{1e3 * ends[0]:.2f} and {1e3 * ends[1]:.2f} mm/s",
            ends[0] * ends[1] < 0,
        ),
        near("with approximately the same magnitude (ratio)", 1.0, balance, 0.2),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(PHASES / math.pi, 1e3 * velocity, "o", markersize=3, label="simulated")
        axes.plot(
            PHASES / math.pi, 1e3 * (terms @ fit), color="0.5", label=f"cosine, R^2 = {share:.4f}"
        )
        axes.axvspan(-0.5, 0.5, color="0.93", label="range of the paper's figure")
        axes.axhline(0, color="0.7", linewidth=0.8)
        axes.set_xlabel("phase of the clamp over pi")
        axes.set_ylabel("robot velocity [mm/s]")
        axes.legend()

    return Outcome(checks, {"phase": PHASES, "velocity": velocity, "cosine": fit}, draw)
