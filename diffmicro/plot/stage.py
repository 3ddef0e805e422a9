"""What animations share: colors, a scale bar, and how much slower than life a film is shown.

Colors are from the palette of Okabe and Ito, which people with color blindness tell apart.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro.units import readable, round_below

BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#8a4f9e"
PALE, GROUND, INK = "#dfe7ee", "0.86", "0.25"

RATE = 20
"""Frames a second."""

JUMP, STEEPER = 0.2, 4.0
"""Share of a curve's span, and multiple of both neighboring steps, above which a step is a jump."""


def jumps(y: np.ndarray) -> np.ndarray:
    """The numbers of the points behind which a curve jumps: a step far above both its neighbors."""
    steps = np.abs(np.diff(y))
    if len(steps) < 2 or not np.any(np.isfinite(y)):
        return np.zeros(0, int)
    beside = np.fmax(np.append(0.0, steps[:-1]), np.append(steps[1:], 0.0))
    far = steps > JUMP * (np.nanmax(y) - np.nanmin(y))
    return np.flatnonzero(far & (steps > STEEPER * beside) & (beside > 0))


def parted(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points of a line with a gap (NaN) in each jump: two motions are not one curve."""
    after = jumps(y) + 1
    return np.insert(x.astype(float), after, np.nan), np.insert(y.astype(float), after, np.nan)


def figure_of(axes: Axes) -> Figure:
    """The figure that axes stand in."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def scale_bar(axes: Axes, at: tuple[float, float], room: float, meters: float = 1.0) -> None:
    """A bar of 1, 2 or 5 times a power of ten that fits into the room; one unit of the axes is `meters`."""
    length = round_below(room * meters)
    x, y = at
    axes.plot([x, x + length / meters], [y, y], color="black", linewidth=3, solid_capstyle="butt")
    text = readable(length, "m", 3)
    axes.annotate(text, (x, y), (0, 4), textcoords="offset points", fontsize=8, va="bottom")


def pace(duration: float, frames: int) -> str:
    """How much slower or faster than life a film of a motion of this duration [s] is, to two digits."""
    factor = frames / RATE / duration
    slow = factor >= 1
    rounded = float(f"{factor if slow else 1 / factor:.2g}")
    return f"{rounded:,.6g} times {'slower' if slow else 'faster'} than life"
