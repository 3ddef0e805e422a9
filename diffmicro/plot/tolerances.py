"""Figure of a yield: what the bad parts fail by, and the most probable bad part."""

from collections.abc import Mapping

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro._json import Json

GOOD, BAD = "#0072B2", "#D55E00"
"""Told apart by color-blind readers too."""


def tolerances_figure(shown: Mapping[str, Json]) -> Figure:
    """`shown`: the object that `diffmicro tolerances --json` prints."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    share, low, high = (100 * shown[key] for key in ("yield", "low", "high"))
    figure.suptitle(
        f"{shown['device']}: {share:.4g} % of parts are good ({low:.4g} to {high:.4g} %; "
        f"{shown['parts']} parts, {shown['method']})",
        fontsize=10,
    )
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1.0))
    causes = shown["causes"]
    names = ["good", *causes]
    values = [share, *(100 * value for value in causes.values())]
    bars = left.barh(names, values, color=[GOOD, *[BAD] * len(causes)])
    left.bar_label(bars, [f"{value:.3g} %" for value in values], padding=3)
    left.invert_yaxis()
    left.set_xlim(0, 130)
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
    right.set_title(f"{nearest['cause']}, {nearest['distance']:.3g} away", fontsize=9)
    return figure
