"""Fig. 8: the effect of the mass ratio at 5 mT and load factor 8."""

import numpy as np
from matplotlib.figure import Figure

from experiments.nagy2012.drawing import sweep_legend, sweep_lines, velocity_axes
from experiments.nagy2012.motion import FAST, GRID, RATIOS, erratic, sweeps
from experiments.outcome import Outcome, Said, order, shape

MASS_RATIOS = (1.5, 1.0, 0.5)
"""The text does not name those of the figure; these are the ones of Table I."""

WEAK = 3e-3
"""The lower of the paper's fields (Fig. 5) [T]."""

MERGES = Said("Fig. 8, caption", "merges with the one around f1 and results in erratic behavior")


def figure8() -> Outcome:
    """Areas of motion around both resonances approach each other and merge."""
    cases = [dict(mass_ratio=a) for a in MASS_RATIOS]
    up, down = sweeps("up", cases), sweeps("down", cases)
    fast = np.abs(up) > FAST * np.max(np.abs(up), axis=1, keepdims=True)
    # The area of fast motion starts where it first exceeds the share for two points in a row.
    starts = [float(RATIOS[np.flatnonzero(row[:-1] & row[1:])[0]]) for row in fast]
    counts = [erratic(row) for row in up]
    peaks = [float(RATIOS[np.argmax(row)]) for row in up]
    shared = float(np.sum(fast[0] & fast[2])) * GRID
    weak = sweeps("up", [dict(mass_ratio=a, field=WEAK) for a in (1.5, 0.5)])
    weakly = np.abs(weak) > FAST * np.max(np.abs(weak), axis=1, keepdims=True)
    less = float(np.sum(weakly[0] & weakly[1])) * GRID
    checks = [
        shape(
            Said("Fig. 8, caption", "the actuation range around the decreasing resonant frequency"),
            "frequency of the largest velocity falls with mass ratio 1.5, 1, 0.5",
            "falls",
            ", ".join(f"{p:.3f}" for p in peaks),
            peaks[0] > peaks[1] > peaks[2],
        ),
        shape(
            MERGES,
            "fast motion starts above f1 for mass ratio 1.5 and below it for 0.5",
            "above 1, below 1",
            ", ".join(f"{s:.3f}" for s in starts),
            starts[0] > 1 > starts[2],
        ),
        shape(
            Said("section IV-B", "for small alpha, and an erratic behavior emerges"),
            "zigzags for mass ratio 1.5, 1, 0.5: none for the largest, some for the smallest",
            "0, any, some",
            ", ".join(str(n) for n in counts),
            counts[0] == 0 and counts[2] > 0,
        ),
        order(
            Said("section IV-B", "may overlap even for designs that are significantly different"),
            "frequencies at which mass ratios 1.5 and 0.5 both move fast",
            "there are some",
            f"over {shared:.2f} of the frequency ratio",
            shared > 0,
        ),
        order(
            Said(
                "section IV-B",
                "decrease the actuation field strength [...] allows for better separation",
            ),
            "frequencies at which mass ratios 1.5 and 0.5 both move fast, 3 against 5 mT",
            "fewer",
            f"over {less:.2f} against {shared:.2f} of the frequency ratio",
            less < shared,
        ),
    ]

    def draw(figure: Figure) -> None:
        rows = figure.subplots(len(MASS_RATIOS), 1, sharex=True)
        for i, axes in enumerate(rows):
            velocity_axes(axes, 1.0, float(np.sqrt(1 + MASS_RATIOS[i])))
            sweep_lines(axes, up[i], down[i], "tab:blue", f"mass ratio {MASS_RATIOS[i]:g}")
            sweep_legend(axes, loc="upper left")
            axes.label_outer()

    data = {f"mass ratio {a:g}": {"up": up[i], "down": down[i]} for i, a in enumerate(MASS_RATIOS)}
    numbers = {"frequency_ratio": RATIOS, "velocity": data, "up, 3 mT, 1.5 and 0.5": weak}
    return Outcome(checks, numbers, draw)
