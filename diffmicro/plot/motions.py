"""Motions as pictures: over time, as an orbit, as a phase portrait, as a map of contacts, as a hysteresis loop.

All take the `Traces` of a motion: `traces(device, design, setting)`, or `traces_of(path)` of what `simulate` gave.
Quantities are named as there. What a motion jumps over at an event is drawn dotted.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from diffmicro.plot.stage import BLUE, GREEN, INK, ORANGE, PURPLE, figure_of, jumps
from diffmicro.plot.states import Traces
from diffmicro.units import readable_unit

ARROWS = 4
"""Of the direction along a closed curve."""

CLOSED = 0.03
"""Share of a loop's span by which its ends may be apart."""

COLORS = {0: "0.93", 1: BLUE, -1: ORANGE, 2: GREEN, 3: PURPLE}
"""Of the words of a contact; 0 is none."""


def plot_orbit(motion: Traces, x: str, y: str, axes: Axes | None = None) -> Figure:
    """One motion in the plane of two quantities, with its direction; a periodic one is a closed curve."""
    axes, along, up = _plane((motion,), x, y, axes)
    _curve(axes, motion, along, up, color=BLUE, linewidth=1.8)
    _arrows(axes, along(motion), up(motion), BLUE)
    return figure_of(axes)


def plot_phase_portrait(
    motions: Sequence[Traces],
    x: str,
    y: str,
    axes: Axes | None = None,
    *,
    orbits: Sequence[Traces] = (),
) -> Figure:
    """Motions from several starts, each a thin line from a dot, over the orbits that they come to."""
    axes, along, up = _plane((*motions, *orbits), x, y, axes)
    for motion in motions:
        _curve(axes, motion, along, up, color="0.45", linewidth=0.7)
        axes.plot(along(motion)[0], up(motion)[0], "o", color="0.45", markersize=4)
    for orbit, color in zip(orbits, (BLUE, ORANGE, GREEN, PURPLE) * len(orbits), strict=False):
        _curve(axes, orbit, along, up, color=color, linewidth=2.2)
        _arrows(axes, along(orbit), up(orbit), color)
    return figure_of(axes)


def plot_hysteresis(motion: Traces, x: str, y: str, axes: Axes | None = None) -> Figure:
    """y over x with the direction, and the area that is enclosed: what a cycle takes, where y is a force."""
    axes, along, up = _plane((motion,), x, y, axes)
    _curve(axes, motion, along, up, color=BLUE, linewidth=1.6)
    _arrows(axes, along(motion), up(motion), BLUE)
    ends = [motion.values_of(name) for name in (x, y)]
    if any(abs(v[-1] - v[0]) > CLOSED * np.ptp(v) for v in ends):
        axes.set_title("the curve is not closed, so it has no area", fontsize=9)
        return figure_of(axes)
    axes.fill(along(motion), up(motion), color=BLUE, alpha=0.12, linewidth=0)
    area = abs(loop_area(*ends))
    unit = " ".join(motion.units.get(name, "-") for name in (y, x))
    if unit == "N m":
        shown = readable_unit(area, "J")
        text = f"{area * shown.factor:.3g} {shown.unit} a cycle"
    else:
        text = f"area {area:.3g} {unit}"
    axes.set_title(text, fontsize=9)
    return figure_of(axes)


def loop_area(x: np.ndarray, y: np.ndarray) -> float:
    """The area inside the closed polygon, positive where it turns counterclockwise."""
    return float(0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def plot_contacts(
    motions: Traces | Mapping[str, Traces],
    names: Sequence[str] = (),
    axes: Axes | None = None,
) -> Figure:
    """When contacts are closed: a row for each flag of each motion. Several motions have names.

    A flag is true or false, or a small whole number (a direction of sliding, a kind of contact), whose colors are
    named. names: of the flags; all if none is given.
    """
    several = {"": motions} if isinstance(motions, Traces) else dict(motions)
    rows = [
        (f"{title}: {name}" if title else name, motion, name)
        for title, motion in several.items()
        for name in (names or [n for n in motion.columns if motion.flag(n)])
    ]
    if not rows:
        raise ValueError(
            "plot_contacts: no quantity of these motions is a flag or a small whole number."
        )
    if axes is None:
        size = (7.0, 0.9 + 0.36 * len(rows))
        axes = Figure(figsize=size, layout="constrained").subplots()
    longest = max(float(motion.values[-1] - motion.values[0]) for motion in several.values())
    shown = readable_unit(longest, "s")
    seen: set[int] = set()
    for row, (_, motion, name) in enumerate(rows):
        time = shown.factor * (motion.values - motion.values[0])
        words = motion.columns[name].astype(int)
        seen |= set(np.unique(words).tolist())
        for first, last in _runs(words):
            bar = [(time[first], time[min(last, len(time) - 1)] - time[first])]
            color = COLORS.get(int(words[first]), INK)
            axes.broken_barh(bar, (row - 0.38, 0.76), facecolor=color, linewidth=0)
    axes.set_yticks(range(len(rows)), [label for label, *_ in rows], fontsize=8)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, shown.factor * longest))
    axes.set_xlabel(f"time [{shown.unit}]")
    if seen - {0, 1}:
        _legend(axes, sorted(seen))
    return figure_of(axes)


def _legend(axes: Axes, words: Sequence[int]) -> None:
    handles = [Patch(facecolor=COLORS.get(word, INK)) for word in words]
    figure = figure_of(axes)
    figure.legend(
        handles, [str(word) for word in words], ncols=len(words), frameon=False, fontsize=8,
        loc="outside upper right",
    )  # fmt: skip


def _runs(words: np.ndarray) -> list[tuple[int, int]]:
    """First, and one past the last, of each run of equal words."""
    ends = np.flatnonzero(np.diff(words)) + 1
    bounds = [0, *ends.tolist(), len(words)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def _plane(motions: Sequence[Traces], x: str, y: str, axes: Axes | None) -> tuple[Axes, Any, Any]:
    """Axes with the names and units of two quantities, and what gives their values of a motion."""
    if not motions:
        raise ValueError("There is no motion to draw.")
    if axes is None:
        axes = Figure(figsize=(5.4, 4.4), layout="constrained").subplots()
    ways = []
    for name in (x, y):
        unit = motions[0].units.get(name, "")
        largest = max(float(np.abs(motion.values_of(name)).max()) for motion in motions)
        shown = readable_unit(largest, unit)
        label = name.replace("_", " ") + (f" [{shown.unit}]" if shown.unit else "")
        ways.append((lambda m, n=name, f=shown.factor: f * m.values_of(n), label))
    (along, x_label), (up, y_label) = ways
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.grid(color="0.93")
    axes.set_axisbelow(True)
    return axes, along, up


def _curve(axes: Axes, motion: Traces, along: Any, up: Any, **look: Any) -> None:
    """A line, dotted over what happens at one instant."""
    x, y = along(motion), up(motion)
    events = np.union1d(jumps(x), jumps(y))
    axes.plot(np.insert(x, events + 1, np.nan), np.insert(y, events + 1, np.nan), **look)
    for i in events:
        axes.plot(x[i : i + 2], y[i : i + 2], **(look | {"linestyle": ":", "linewidth": 1.0}))


def _arrows(axes: Axes, x: np.ndarray, y: np.ndarray, color: str) -> None:
    """The direction, at places that are equally far from each other along the curve."""
    spans = [max(float(np.ptp(values)), 1e-300) for values in (x, y)]
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x) / spans[0], np.diff(y) / spans[1]))])
    if way[-1] == 0:
        return
    for share in (np.arange(ARROWS) + 0.5) / ARROWS:
        i = int(np.searchsorted(way, share * way[-1]).clip(1, len(way) - 1))
        axes.annotate(
            "", (x[i], y[i]), (x[i - 1], y[i - 1]),
            arrowprops=dict(arrowstyle="-|>", color=color, shrinkA=0, shrinkB=0, mutation_scale=13),
        )  # fmt: skip
