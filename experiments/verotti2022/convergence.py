"""Figs. 11 to 13: Newton iterations and time with constant, first-term and full tangents, cold and warm starts."""

import time
from functools import cache

import numpy as np
from matplotlib.figure import Figure

from experiments.outcome import Check, Outcome, near
from experiments.verotti2022.mechanism import newton

FORCES = np.arange(1.0, 78.0)
"""Actuation forces [uN], to the closing of the partial model."""

STRATEGIES = {
    "full, cold": (3, False),
    "first term, cold": (1, False),
    "full, warm": (3, True),
    "first term, warm": (1, True),
}
"""Terms of the tangent, and whether each force starts from the solution before."""

MOST = 3000


def figure11() -> Outcome:
    """The tangent of the undeformed gripper throughout."""
    found = [newton("partial", f, np.zeros(9), 0, MOST) for f in FORCES]
    counts = np.array([count if np.all(np.isfinite(q)) else -1 for q, count in found])
    solved = counts > 0
    last = float(FORCES[solved].max()) if solved.all() else float(FORCES[~solved].min() - 1)
    at = {f: int(counts[int(f) - 1]) for f in (10, 30, 50, 70)}
    growth = np.diff(np.log(counts[9:70:10].astype(float)))
    checks = [
        near("largest force that converges", 76.0, last, 1.0, "uN"),
        Check(
            "iterations grow faster and faster",
            "convex in the logarithm at last",
            ", ".join(f"{n} at {f} uN" for f, n in at.items()),
            bool(np.all(np.diff(counts[solved]) >= 0) and growth[-1] > growth[1]),
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.semilogy(FORCES[solved], counts[solved], "o-", markersize=3)
        axes.set(xlabel="F_2y [uN]", ylabel="iterations")

    return Outcome(checks, {"force": FORCES, "iterations": counts}, draw)


@cache
def strategies() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Iterations and seconds of each strategy over the forces."""
    newton("partial", 1.0, np.zeros(9), 3)  # compiled before the clock starts
    counts, seconds = {}, {}
    for name, (terms, warm) in STRATEGIES.items():
        q, taken, lasted = np.zeros(9), [], []
        for force in FORCES:
            began = time.perf_counter()
            q, count = newton("partial", force, q if warm else np.zeros(9), terms)
            lasted.append(time.perf_counter() - began)
            taken.append(count)
        counts[name], seconds[name] = np.array(taken), np.array(lasted)
    return counts, seconds


def figure12() -> Outcome:
    """Four strategies of updating the tangent."""
    counts, _ = strategies()
    means = {name: float(n.mean()) for name, n in counts.items()}
    checks = [
        Check(
            f"{terms}: a warm start takes fewer iterations",
            "fewer on the mean",
            f"{means[f'{terms}, warm']:.1f} against {means[f'{terms}, cold']:.1f}",
            means[f"{terms}, warm"] < means[f"{terms}, cold"],
        )
        for terms in ("full", "first term")
    ]
    checks += [
        Check(
            f"{start} start: the complete tangent takes fewer iterations",
            "fewer on the mean",
            f"{means[f'full, {start}']:.1f} against {means[f'first term, {start}']:.1f}",
            means[f"full, {start}"] < means[f"first term, {start}"],
        )
        for start in ("cold", "warm")
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, n in counts.items():
            axes.plot(FORCES, n, label=name)
        axes.set(xlabel="F_2y [uN]", ylabel="iterations")
        axes.legend(frameon=False)

    return Outcome(checks, {"force": FORCES, "iterations": counts}, draw)


def figure13() -> Outcome:
    """Time of the four strategies. Here all terms are calculated always, so time follows the iterations."""
    counts, seconds = strategies()
    total = {name: float(s.sum()) for name, s in seconds.items()}
    each = {n: 1e6 * float(np.median(seconds[n] / counts[n])) for n in total}
    checks = [
        Check(
            f"{terms}: a warm start saves time",
            "less in sum",
            f"{1e3 * total[f'{terms}, warm']:.0f} ms against {1e3 * total[f'{terms}, cold']:.0f} ms",
            total[f"{terms}, warm"] < total[f"{terms}, cold"],
        )
        for terms in ("full", "first term")
    ]
    warm = ("first term, warm", "full, warm")
    checks.append(
        Check(
            "the first term alone saves time in spite of more iterations",
            "less in sum",
            f"{1e3 * total[warm[0]]:.0f} ms against {1e3 * total[warm[1]]:.0f} ms: here the terms "
            f"come from one compiled function, {each[warm[1]]:.0f} us an iteration with or without",
            total[warm[0]] < total[warm[1]],
        )
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, s in seconds.items():
            axes.plot(FORCES, 1e3 * s, label=name, linewidth=1)
        axes.set(xlabel="F_2y [uN]", ylabel="time [ms]")
        axes.legend(frameon=False)

    return Outcome(checks, {"force": FORCES, "seconds": seconds}, draw)
