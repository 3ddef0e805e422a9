"""Searches as pictures: how one went, and the front of two objectives."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro.design.pareto import Front
from diffmicro.design.problem import FEASIBLE
from diffmicro.design.result import Result
from diffmicro.design.shown import in_units
from diffmicro.parameters import Value
from diffmicro.plot.stage import BLUE, INK, ORANGE, figure_of
from diffmicro.units import readable_unit

EVALUATIONS = "evaluations of the simulator"

MARKS = {"certified": "o", "uncertified": "s", "refused": "X"}


def plot_history(result: Result, unit: str = "") -> Figure:
    """The objective, and what the constraints leave, over the evaluations of a search. unit: of the objective."""
    return history_figure(
        rows_of(result),
        result.problem.objective.response,
        unit,
        limits_of(result),
        {name: in_units(result.problem, name) for name in result.constraints},
    )


def rows_of(result: Result) -> list[dict[str, float]]:
    """The iterations of a search as `history_figure` takes them."""
    objective = result.problem.objective
    return [
        {"evaluations": s.evaluations, "objective": objective.shown(s.objective), **s.constraints}
        for s in result.history
    ]


def limits_of(result: Result) -> dict[str, float]:
    """The constraints' bounds."""
    return {name: float(known["bound"]) for name, known in result.constraints.items()}


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
    values = np.array([float(row["objective"]) for row in rows])
    finite = np.abs(values[np.isfinite(values)])
    shown = readable_unit(float(finite.max(initial=0.0)), unit)
    draw_objective(axes[0], rows, objective, shown.factor, shown.unit, limits)
    if limits:
        draw_room(axes[1], rows, limits, names)
        # Below the figure: constraints may be many, and their lines go anywhere.
        figure.legend(
            *axes[1].get_legend_handles_labels(),
            fontsize=8,
            frameon=False,
            loc="outside lower center",
            ncols=2,
        )
    for above in axes[:-1]:
        above.set(xlabel="")
    return figure


def draw_objective(
    axes: Axes,
    rows: Sequence[Mapping[str, Value]],
    objective: str,
    factor: float,
    unit: str,
    limits: Mapping[str, float],
) -> None:
    """The objective of each iteration; an iteration that misses a limit is a hollow circle."""
    steps = np.array([float(row["evaluations"]) for row in rows])
    values = factor * np.array([float(row["objective"]) for row in rows])
    missed = np.array(
        [
            any(float(row[n]) < -FEASIBLE * (abs(b) or 1.0) for n, b in limits.items())
            for row in rows
        ],
        dtype=bool,
    )
    axes.step(steps, values, where="post", color=BLUE)
    axes.plot(steps[~missed], values[~missed], ".", color=BLUE)
    if missed.any():
        axes.plot(
            steps[missed], values[missed], "o", color=BLUE, markerfacecolor="white",
            label="misses a limit",
        )  # fmt: skip
        axes.legend(frameon=False, fontsize=8)
    label = objective.replace("_", " ") + (f" [{unit}]" if unit else "")
    axes.set(xlabel=EVALUATIONS, ylabel=label)


def draw_room(
    axes: Axes,
    rows: Sequence[Mapping[str, Value]],
    limits: Mapping[str, float],
    names: Mapping[str, str] | None = None,
) -> None:
    """What each iteration leaves to each limit, as a share of its bound."""
    steps = [float(row["evaluations"]) for row in rows]
    for name, bound in limits.items():
        left = np.array([float(row[name]) for row in rows]) / (abs(bound) or 1.0)
        label = (names or {}).get(name, name)
        axes.step(steps, 100 * left, where="post", marker=".", label=label)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel=EVALUATIONS, ylabel="left to the bound [%]")


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
