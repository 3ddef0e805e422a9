"""Fig. 8: the effect of the mass ratio at 5 mT and load factor 8."""

import numpy as np
from matplotlib.figure import Figure

from experiments.nagy2012.drawing import sweep_lines, velocity_axes
from experiments.nagy2012.motion import RATIOS, erratic, sweeps
from experiments.outcome import Check, Outcome

MASS_RATIOS = (1.5, 1.0, 0.5)
"""The text does not name those of the figure; these are the ones of Table I."""

FAST = 0.05
"""Share of the largest velocity that counts as motion of the areas, see `natural.IMPACTING`."""


def figure8() -> Outcome:
    """Areas of motion around both resonances approach each other and merge."""
    cases = [dict(mass_ratio=a) for a in MASS_RATIOS]
    up, down = sweeps("up", cases), sweeps("down", cases)
    starts, counts = [], []
    for row in up:
        # The area of fast motion starts where it first exceeds the share for two points in a row.
        fast = np.abs(row) > FAST * np.max(np.abs(row))
        starts.append(float(RATIOS[np.flatnonzero(fast[:-1] & fast[1:])[0]]))
        counts.append(erratic(row))
    peaks = [float(RATIOS[np.argmax(row)]) for row in up]
    counted = ", ".join(str(n) for n in counts)
    checks = [
        Check(
            "area around f2 moves down with it",
            "peak falls with mass ratio 1.5, 1, 0.5",
            ", ".join(f"{p:.3f}" for p in peaks),
            peaks[0] > peaks[1] > peaks[2],
        ),
        Check(
            "areas merge: fast motion starts below f1 for a small mass ratio",
            "above 1 for 1.5, below 1 for 0.5",
            ", ".join(f"{s:.3f}" for s in starts),
            starts[0] > 1 > starts[2],
        ),
        Check(
            "erratic points appear for a small mass ratio",
            "none at 1.5, some below",
            f"{counted} for mass ratio 1.5, 1, 0.5",
            counts[0] == 0 and max(counts[1:]) > 0,
        ),
    ]

    def draw(figure: Figure) -> None:
        for i, axes in enumerate(figure.subplots(len(MASS_RATIOS), 1, sharex=True)):
            velocity_axes(axes, 1.0, float(np.sqrt(1 + MASS_RATIOS[i])))
            sweep_lines(axes, up[i], down[i], "tab:blue", f"mass ratio {MASS_RATIOS[i]:g}")
            axes.legend(loc="upper left")

    data = {f"mass ratio {a:g}": {"up": up[i], "down": down[i]} for i, a in enumerate(MASS_RATIOS)}
    return Outcome(checks, {"frequency_ratio": RATIOS, "velocity": data}, draw)
