"""What moves a response: percent of it for one percent of each parameter, as bars with their verdicts.

The bars are (p / y) dy/dp. A bar that is certified is solid, one that is not is hatched, a refused one is a word.
Left out: parameters that are vectors (take their entries), and those at zero, which have no percent.
"""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro.parameters import Fields, Value
from diffmicro.plot.stage import BLUE, INK, ORANGE, figure_of
from diffmicro.verdicts import Certificate, verdict_word

NOTHING = 1e-9
"""Percent below which a share is rounding."""


def elasticities(value: Value, gradient: Mapping[str, Value], *points: Fields) -> dict[str, float]:
    """Percent of the value for one percent of each parameter, the strongest first. points: design and setting."""
    found = {}
    for name, slope in gradient.items():
        owner = next(point for point in points if name in vars(point))
        found[name] = float(slope) * float(vars(owner)[name]) / float(value)
    return dict(sorted(found.items(), key=lambda pair: -abs(np.nan_to_num(pair[1]))))


def plot_elasticities(
    shares: Mapping[str, float], certificate: Certificate, of: str, axes: Axes | None = None
) -> Figure:
    """The figure. shares: of `elasticities`; certificate: of the gradient; of: the response's name."""
    verdicts = {name: verdict_word(certificate.entries[name]) for name in shares}
    return elasticity_bars(shares, verdicts, of, axes)


def elasticity_bars(
    shares: Mapping[str, float], verdicts: Mapping[str, str], of: str, axes: Axes | None = None
) -> Figure:
    """The same with a verdict's word for each share."""
    if axes is None:
        size = (6.0, 0.9 + 0.32 * len(shares))
        axes = Figure(figsize=size, layout="constrained").subplots()
    shares = {name: 0.0 if abs(share) < NOTHING else share for name, share in shares.items()}
    reach = max((abs(share) for share in shares.values() if np.isfinite(share)), default=0.0) or 1.0
    for row, (name, share) in enumerate(shares.items()):
        word = verdicts[name]
        known = np.isfinite(share)
        color = BLUE if known and share > 0 else ORANGE
        hatch = "" if word == "certified" else "///"
        if known:
            axes.barh(row, share, height=0.66, color=color, hatch=hatch, edgecolor="white")
        text = f"{share:+.2f}" if word == "certified" else f"{share:+.2f} {word}" if known else word
        place = share if known else 0.0
        side = "left" if place >= 0 else "right"
        shift = (4 if place >= 0 else -4, 0)
        axes.annotate(
            text, (place, row), shift, textcoords="offset points", ha=side, va="center", fontsize=8
        )
    if not any(np.isfinite(share) for share in shares.values()):
        why = f"{of} has no derivative that is a number here;\nthe table of the gradient says why"
        axes.set_title(why, fontsize=9)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(shares)), list(shares), fontsize=9)
    axes.set_xlim(-1.35 * reach, 1.35 * reach)
    axes.invert_yaxis()
    axes.set_xlabel(f"percent of {of} for one percent of each")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure_of(axes)
