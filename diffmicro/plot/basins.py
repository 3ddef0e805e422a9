"""Figure of basins: where starts end, by the first two states, and the wanted motion's own state."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro.attraction import Basins

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Told apart by color-blind readers too."""

MARKS = "osv^D*"


def basins_figure(found: Basins, title: str) -> Figure:
    """All starts in the plane of the first two states, each with the mark of the motion that it ends in."""
    figure = Figure(figsize=(7.0, 4.8), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    names = list(found.box)[:2]
    across = found.states[:, 0]
    up = found.states[:, 1] if len(names) > 1 else np.zeros_like(across)
    first = next(iter(found.motions[0].response))
    for i, motion in enumerate(found.motions):
        own = found.ends == i
        value = motion.response[first]
        shown = f", {first} {value:.3g}" if np.isfinite(value) else ""
        label = f"{motion.status}{shown}: {100 * motion.share:.3g} %"
        color, mark = COLORS[i % len(COLORS)], MARKS[i % len(MARKS)]
        axes.plot(across[own], up[own], mark, color=color, ms=3.5, alpha=0.7, label=label)
    own_up = found.own[names[1]] if len(names) > 1 else 0.0
    axes.plot(
        found.own[names[0]],
        own_up,
        "P",
        color="black",
        ms=10,
        mec="white",
        label="the wanted motion",
    )
    axes.set_xlabel(f"{names[0]} [SI]")
    axes.set_ylabel(f"{names[1]} [SI]" if len(names) > 1 else "")
    axes.set_title(f"{title}: motions that {len(found.states)} starts end in", fontsize=10)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure
