"""Figures of a yield: the cloud of parts, what the bad ones fail by, and the most probable bad part."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro._json import Json
from diffmicro.fabrication import Yield
from diffmicro.plot.stage import figure_of

GOOD, BAD = "#0072B2", "#D55E00"
"""Told apart by color-blind readers too."""


MOST_CAUSES = 5
"""Causes of failure that have a color of their own."""

WAYS = ("#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#009E73")


def plot_yield_cloud(found: Yield, causes: Sequence[str], axes: Axes | None = None) -> Figure:
    """All parts that decided, in the plane of the two deviations that tell good from bad ones best.

    causes: of deviations, in their order: `scatter(...).causes`.
    """
    if found.sample is None:
        raise ValueError("plot_yield_cloud: this yield has kept no parts.")
    if axes is None:
        axes = Figure(figsize=(5.6, 4.4), layout="constrained", dpi=150).subplots()
    places, words = found.sample
    first, second = _telling(places, words != "")
    across = places[:, first]
    # Of a single deviation the height is only room for the points.
    up = np.linspace(-1, 1, len(places)) if second is None else places[:, second]
    ways = list(dict.fromkeys([c for c in found.causes if c in words]))
    for number, way in enumerate(["", *ways]):
        own = words == way
        color = GOOD if not way else WAYS[number - 1] if number <= MOST_CAUSES else "0.5"
        mark, size = (".", 4) if not way else ("x", 4)
        label = f"{way or 'good'} ({int(own.sum())})"
        axes.plot(across[own], up[own], mark, color=color, markersize=size, alpha=0.8, label=label)
    axes.plot(0, 0, "P", color="black", markeredgecolor="white", markersize=9, label="as drawn")
    axes.set_xlabel(f"{causes[first]} [standard deviations]")
    if second is None:
        axes.set_yticks([])
    else:
        axes.set_ylabel(f"{causes[second]} [standard deviations]")
    drawn = ", drawn around failures" if found.method != "counting" else ""
    axes.set_title(f"{len(places)} parts{drawn}", fontsize=9)
    axes.legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return figure_of(axes)


def _telling(places: np.ndarray, bad: np.ndarray) -> tuple[int, int | None]:
    """The two coordinates in which bad parts differ most from good ones, in mean or in spread."""
    count = places.shape[1]
    if count == 1:
        return 0, None
    if not bad.any() or bad.all():
        return 0, 1
    apart = np.abs(places[bad].mean(0) - places[~bad].mean(0))
    apart += np.abs(places[bad].std(0) - places[~bad].std(0))
    first, second = np.argsort(-apart)[:2]
    return int(first), int(second)


def tolerances_figure(
    shown: Mapping[str, Json],
    found: Yield,
    causes: Sequence[str],
    named: Callable[[str], str] = str,
) -> Figure:
    """`shown`: the object that `diffmicro tolerances --json` prints. causes: of deviations, see the cloud. named:
    how what parts fail by is written, such as with units."""
    found = found._replace(
        causes={named(cause): share for cause, share in found.causes.items()},
        sample=found.sample and (found.sample[0], np.array([*map(named, found.sample[1])], object)),
    )
    figure = Figure(figsize=(13.0, 4.4), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    share, low, high = (100 * shown[key] for key in ("yield", "low", "high"))
    figure.suptitle(
        f"{shown['device']}: {share:.4g} % of parts are good ({low:.4g} to {high:.4g} %; "
        f"{shown['parts']} parts, {shown['method']})",
        fontsize=10,
    )
    left, right, cloud = figure.subplots(1, 3, width_ratios=(1.2, 1.0, 1.1))
    plot_yield_cloud(found, causes, cloud)
    fails = shown["causes"]
    names = ["good", *map(named, fails)]
    values = [share, *(100 * value for value in fails.values())]
    bars = left.barh(names, values, color=[GOOD, *[BAD] * len(fails)])
    left.bar_label(bars, [f"{value:.3g} %" for value in values], padding=3)
    left.invert_yaxis()
    left.set_xlim(0, 130)  # room for the numbers beside the bars
    left.set_xticks(range(0, 101, 20))
    left.set_xlabel("share of all parts [%]")
    nearest = shown["nearest"]
    if nearest is None:
        right.axis("off")
        right.text(0.5, 0.5, "no bad part was found", ha="center", va="center")
        return figure
    moved = nearest["deviations"]
    right.barh(list(moved), list(moved.values()), color=BAD)
    right.axvline(0.0, color="0.3", lw=0.8)
    right.invert_yaxis()
    right.set_xlabel("most probable bad part [standard deviations]")
    right.set_title(f"{named(nearest['cause'])}, {nearest['distance']:.3g} away", fontsize=9)
    return figure
