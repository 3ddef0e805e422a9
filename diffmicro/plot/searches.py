"""Searches as pictures: how one went, and the front of two objectives."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro.design.pareto import Front
from diffmicro.design.result import Result
from diffmicro.parameters import Value
from diffmicro.plot.stage import BLUE, INK, ORANGE, figure_of
from diffmicro.units import readable_unit

MARKS = {"certified": "o", "uncertified": "s", "refused": "X"}


def plot_history(result: Result, unit: str = "") -> Figure:
    """Best objective, and what the constraints leave, over the evaluations of a search. unit: of the objective."""
    objective = result.problem.objective
    rows = [
        {"evaluations": s.evaluations, "objective": objective.shown(s.objective), **s.constraints}
        for s in result.history
    ]
    limits = {name: float(known["bound"]) for name, known in result.constraints.items()}
    return history_figure(rows, objective.response, unit, limits)


def history_figure(
    rows: Sequence[Mapping[str, Value]],
    objective: str,
    unit: str,
    limits: Mapping[str, float],
    names: Mapping[str, str] | None = None,
) -> Figure:
    """The same of rows with `evaluations`, `objective` and what each constraint leaves.

    limits: their bounds. names: how they are shown.
    """
    figure = Figure(
        figsize=(7.2, 3.0 if not limits else 4.6 + 0.1 * len(limits)), layout="constrained"
    )
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(2 if limits else 1, 1, sharex=True))
    steps = [float(row["evaluations"]) for row in rows]
    values = np.array([float(row["objective"]) for row in rows])
    finite = np.abs(values[np.isfinite(values)])
    shown = readable_unit(float(finite.max(initial=0.0)), unit)
    axes[0].step(steps, values * shown.factor, where="post", color=BLUE, marker=".")
    label = objective.replace("_", " ") + (f" [{shown.unit}]" if shown.unit else "")
    axes[0].set(ylabel=label)
    for name, bound in limits.items():
        left = np.array([float(row[name]) for row in rows]) / (abs(bound) or 1.0)
        shown_as = (names or {}).get(name, name)
        axes[1].step(steps, 100 * left, where="post", marker=".", label=shown_as)
    if limits:
        axes[1].axhline(0, color="black", linewidth=0.8)
        axes[1].set(ylabel="left to the bound [%]")
        # Below the figure: constraints may be many, and their lines go anywhere.
        figure.legend(
            *axes[1].get_legend_handles_labels(),
            fontsize=8,
            frameon=False,
            loc="outside lower center",
            ncols=2,
        )
    axes[-1].set(xlabel="evaluations of the simulator")
    return figure


def plot_front(
    front: Front,
    axes: Axes | None = None,
    *,
    shown: Sequence[tuple[float, str]] = ((1.0, "SI"), (1.0, "SI")),
) -> Figure:
    """The points of a front, marked by their verdicts; nothing between them was calculated.

    shown: factor and unit of each objective.
    """
    if axes is None:
        axes = Figure(figsize=(5.4, 4.0), layout="constrained").subplots()
    x, y = (front.values * np.array([factor for factor, _ in shown])).T
    axes.plot(x, y, color="0.75", linewidth=1.0, linestyle=":", zorder=1)
    for verdict in dict.fromkeys(front.verdicts):
        own = np.array([known == verdict for known in front.verdicts])
        mark = MARKS.get(verdict, "D")
        axes.plot(
            x[own], y[own], mark, color=ORANGE, markeredgecolor=INK, label=verdict or "no gradient"
        )
    labels = [
        f"{objective.response.replace('_', ' ')} [{unit or '-'}], {objective.goal}"
        for objective, (_, unit) in zip((front.first, front.second), shown, strict=True)
    ]
    axes.set(xlabel=labels[0], ylabel=labels[1])
    axes.legend(frameon=False, fontsize=8)
    return figure_of(axes)
