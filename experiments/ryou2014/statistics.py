"""Table 3 and Fig. 20: bounces per second, largest height, mean bounce, with and without small-scale forces."""

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from experiments.nagy2012.drawing import as_table
from experiments.outcome import Outcome
from experiments.ryou2014.motion import CASES, MODES, WITHOUT, claim, responses

EXPERIMENT = np.array([[260, 160, 220], [23.5, 36.2, 8.6], [14.8, 23.6, 6.8]])
PAPER = np.array([[228, 176, 200], [23.0, 33.7, 9.9], [17.0, 21.4, 7.8]])
"""Table 3: bounces per second, largest and mean bounce [um]; columns: sine 10 um, square 10 um, square 5 um."""

ROWS = ("bounces per second", "largest height [um]", "mean bounce [um]")
NAMES = ("sine, 10 um", "square, 10 um", "square, 5 um")
STARTS = 5
SPREAD = 2e-8
"""Standard deviation of the start's modal displacements [m]."""


@cache
def ensembles(small_forces: bool) -> tuple[np.ndarray, np.ndarray, list[list[float]]]:
    """Mean and standard deviation over starts, (3 numbers, 3 cases), and Lyapunov exponents by case."""
    rng = np.random.default_rng(0)
    moved = np.concatenate([np.zeros((1, MODES)), rng.normal(0, SPREAD, (STARTS - 1, MODES))])
    design = {} if small_forces else WITHOUT
    means, spreads, exponents = [], [], []
    for waveform in ("sine", "square"):
        cases = [case for case in CASES if case["waveform"] == waveform]
        points = [(design, case) for case in cases for _ in range(STARTS)]
        found = responses(points, np.tile(moved, (len(cases), 1)))
        for k in range(len(cases)):
            part = found[k * STARTS : (k + 1) * STARTS]
            numbers = np.array(
                [[r.bounce_rate, 1e6 * r.peak_height, 1e6 * r.bounce_height] for r in part]
            )
            means.append(numbers.mean(0))
            spreads.append(numbers.std(0, ddof=1))
            exponents.append([float(r.lyapunov) for r in part])
    return np.array(means).T, np.array(spreads).T, exponents


def deviation(numbers: np.ndarray) -> float:
    """Root mean square of the relative deviations from the experiment."""
    return float(np.sqrt(np.mean((numbers / EXPERIMENT - 1) ** 2)))


def table3() -> Outcome:
    """Nine numbers beside experiment and paper."""
    means, spreads, exponents = ensembles(True)
    own, theirs = deviation(means), deviation(PAPER)
    worst = float(np.max(np.abs(means / EXPERIMENT - 1)))
    average = float(np.mean(np.abs(means / EXPERIMENT - 1)))
    checks = [
        claim(
            "rms deviation of the nine numbers",
            "0.20 with bounded parameters",
            f"{own:.3f} (mean of the absolute values {average:.3f})",
            own <= 0.205,
        ),
        claim(
            "as close to the experiment as the paper's own model",
            f"rms {theirs:.3f}",
            f"rms {own:.3f}, worst {worst:.2f}",
            own <= theirs,
        ),
        claim(
            "square wave over 10 um is erratic, as measured motions are",
            "positive Lyapunov exponent",
            f"{np.mean(exponents[1]):.0f} 1/s",
            bool(np.mean(exponents[1]) > 0),
        ),
        claim(
            "fewest bounces with the square wave over 10 um",
            "160 below 220 and 260",
            ", ".join(f"{x:.0f}" for x in means[0]),
            bool(means[0].argmin() == 1),
        ),
        claim(
            "highest with the square wave over 10 um, lowest over 5 um",
            "36.2, 23.5, 8.6 um",
            ", ".join(f"{x:.1f}" for x in means[1]),
            bool(means[1].argmax() == 1 and means[1].argmin() == 2),
        ),
    ]

    def draw(figure: Figure) -> None:
        heads = ["", "case", "experiment", "paper's model", "here"]
        rows = [
            [
                word,
                NAMES[j],
                f"{EXPERIMENT[i, j]:g}",
                f"{PAPER[i, j]:g}",
                f"{means[i, j]:.1f} +- {spreads[i, j]:.1f}",
            ]
            for i, word in enumerate(ROWS)
            for j in range(3)
        ]
        as_table(figure.subplots(), heads, rows)

    data = dict(experiment=EXPERIMENT, paper=PAPER, mean=means, spread=spreads, lyapunov=exponents)
    return Outcome(checks, data, draw)


def figure20() -> Outcome:
    """The influence of film and attraction, as measured."""
    with_forces, spread, _ = ensembles(True)
    without, spread_without, _ = ensembles(False)
    checks = []
    for i, word in enumerate(ROWS):
        near, far = (
            float(np.sqrt(np.mean((numbers[i] / EXPERIMENT[i] - 1) ** 2)))
            for numbers in (with_forces, without)
        )
        checks.append(
            claim(
                f"{word}: closer to the experiment with small-scale forces",
                "yes",
                f"rms {near:.2f} with, {far:.2f} without",
                near < far,
            )
        )
    checks.append(
        claim(
            "without them fewer bounces in every case",
            "yes",
            ", ".join(f"{a:.0f}/{b:.0f}" for a, b in zip(without[0], with_forces[0], strict=True)),
            bool(np.all(without[0] < with_forces[0])),
        )
    )

    def draw(figure: Figure) -> None:
        place = np.arange(3)
        for i, axes in enumerate(figure.subplots(1, 3)):
            bars = (
                (EXPERIMENT[i], None, "experiment", "0.3"),
                (with_forces[i], spread[i], "with small-scale forces", "tab:orange"),
                (without[i], spread_without[i], "without", "tab:blue"),
            )
            for k, (height, error, label, color) in enumerate(bars):
                axes.bar(place + 0.27 * (k - 1), height, 0.25, yerr=error, label=label, color=color)
            axes.set_xticks(place, ["sine\n10 um", "square\n10 um", "square\n5 um"], fontsize=8)
            axes.set_ylabel(ROWS[i])
        figure.axes[0].legend(frameon=False, fontsize=7)

    data = {
        "with": with_forces,
        "without": without,
        "spread": spread,
        "spread_without": spread_without,
    }
    return Outcome(checks, data, draw)
