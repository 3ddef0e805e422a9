"""Figs. 11 to 13: Newton iterations and time with constant, first-term and full tangents, cold and warm starts."""

import time
from functools import cache

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.outcome import Outcome, Said, incomparable, number, order, shape
from experiments.progress import counted
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
    found = [newton("partial", f, np.zeros(9), 0, MOST) for f in counted(FORCES, "forces")]
    counts = np.array([count if np.all(np.isfinite(q)) else -1 for q, count in found])
    solved = counts > 0
    last = float(FORCES[solved].max()) if solved.all() else float(FORCES[~solved].min() - 1)
    at = {f: int(counts[int(f) - 1]) for f in (10, 30, 50, 70)}
    growth = np.diff(np.log(counts[9:70:10].astype(float)))
    checks = [
        number(
            Said("section 5.3", "no longer converges beyond F_2y = 76 uN"),
            "largest force that converges",
            "76",
            last,
            "uN",
        ),
        shape(
            Said(
                "section 5.3",
                "the number of iterations necessary to achieve convergence grows exponentially",
            ),
            "growth of the logarithm of the iterations per uN, first and last third",
            "grows, and does not slow down",
            ", ".join(f"{n} at {f} uN" for f, n in at.items()),
            np.all(np.diff(counts[solved]) >= 0) and growth[-1] >= growth[1],
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
            began = time.process_time()
            q, count = newton("partial", force, q if warm else np.zeros(9), terms)
            lasted.append(time.process_time() - began)
            taken.append(count)
        counts[name], seconds[name] = np.array(taken), np.array(lasted)
    return counts, seconds


def figure12() -> Outcome:
    """Four strategies of updating the tangent."""
    counts, _ = strategies()
    means = {name: float(n.mean()) for name, n in counts.items()}
    warm = Said(
        "section 5.3", "using the previous converged solution reduce the number of iterations"
    )
    whole = Said("section 5.3", "using the complete matrix results in fewer iterations")
    checks = [
        order(
            warm,
            f"{terms}: iterations from the last solution against the undeformed one, mean",
            "fewer",
            f"{means[f'{terms}, warm']:.1f} against {means[f'{terms}, cold']:.1f}",
            means[f"{terms}, warm"] < means[f"{terms}, cold"],
        )
        for terms in ("full", "first term")
    ]
    checks += [
        order(
            whole,
            f"{start} start: iterations with the complete tangent against its first term, mean",
            "fewer",
            f"{means[f'full, {start}']:.1f} against {means[f'first term, {start}']:.1f}",
            means[f"full, {start}"] < means[f"first term, {start}"],
        )
        for start in ("cold", "warm")
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, n in counts.items():
            axes.plot(FORCES, n, label=name)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set(xlabel="F_2y [uN]", ylabel="iterations")
        axes.legend(frameon=False)

    return Outcome(checks, {"force": FORCES, "iterations": counts}, draw)


def figure13() -> Outcome:
    """Time of the four strategies. Here all terms are calculated always, so time follows the iterations."""
    counts, seconds = strategies()
    total = {name: float(s.sum()) for name, s in seconds.items()}
    each = {n: 1e6 * float(np.median(seconds[n] / counts[n])) for n in total}
    told = ", ".join(f"{name} {1e3 * t:.0f} ms" for name, t in total.items())
    checks = [
        incomparable(
            Said("section 5.3", "a higher number of iterations but save on calculation times"),
            "time of the first term alone",
            "here the terms come from one compiled function, so an iteration costs "
            f"{each['full, warm']:.0f} us with or without them and time follows the iterations: {told}",
        ),
        incomparable(
            Said(
                "section 5.3",
                "peaks come from memory allocation and other inner processes of Matlab",
            ),
            "peaks of the time",
            "they belong to the paper's program",
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, s in seconds.items():
            # The least of five neighbors: what a solution takes without interruptions by other processes.
            least = np.min(np.lib.stride_tricks.sliding_window_view(s, 5), axis=1)
            axes.plot(FORCES[2:-2], 1e3 * least, label=name, linewidth=1.2)
        axes.set(xlabel="F_2y [uN]", ylabel="time, least of 5 neighbors [ms]", ylim=(0, None))
        axes.legend(frameon=False)

    return Outcome(checks, {"force": FORCES, "seconds": seconds}, draw)
