"""Fig. 5: speed over frequency against the line without slip. Fig. 6: adhesion over time at 45 degrees."""

import math

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import tumbler
from diffmicro.plot.tumbler import draw_adhesion, draw_path
from experiments.outcome import Outcome, Said, incomparable, number, order, own, shape
from experiments.xie2019.robots import first, motion, said

FREQUENCIES = np.arange(1.0, 16.0)
"""Hz; the prose gives the ends of the figure only."""


def figure5() -> Outcome:
    """Table 1, flat, 20 mT."""
    found = [motion(*first(field_frequency=f)) for f in FREQUENCIES]
    speed, slip, ideal = (
        np.array([float(getattr(r, name)) for r in found])
        for name in ("speed", "slip", "no_slip_speed")
    )
    books = float(np.max(np.abs(speed - ideal - slip) / ideal))
    middle = FREQUENCIES.mean()
    low, high = FREQUENCIES <= middle, FREQUENCIES > middle
    rises = np.diff(np.abs(slip))
    falls = FREQUENCIES[1:][rises < 0]
    checks = [
        order(
            Said(
                "Tumbling locomotion tests", "when the frequency increases, a discrepancy appears"
            ),
            "largest distance from the no-slip speed",
            "larger in the upper half of the frequencies than in the lower",
            f"{1e3 * np.abs(slip[low]).max():.3f} mm/s up to {middle:g} Hz, "
            f"{1e3 * np.abs(slip[high]).max():.3f} mm/s above",
            np.abs(slip[low]).max() < np.abs(slip[high]).max(),
        ),
        shape(
            Said("Tumbling locomotion tests", "the slip velocity increases as frequency increases"),
            "size of the mean slip velocity over the frequency",
            "rises",
            f"falls at {', '.join(f'{f:g}' for f in falls)} Hz" if falls.size else "rises",
            not falls.size,
        ),
        order(
            Said(
                "Tumbling locomotion tests",
                "the robot starts slipping under a high frequency field",
            ),
            "the speed is below the no-slip speed where it differs",
            "below",
            f"{1e3 * slip[-1]:.3f} mm/s at 15 Hz, but {1e3 * slip.max():+.3f} mm/s "
            f"at {FREQUENCIES[slip.argmax()]:g} Hz: there it slips forward",
            slip.max() <= 1e-9 and slip[-1] < 0,
        ),
        own(
            "kinematics: speed = perimeter times frequency + mean slip",
            "the discrepancy is the mean slip velocity",
            "equal",
            f"equal to {books:.1e} of the speed",
            books < 1e-6,
        ),
        incomparable(
            Said("Fig. 5", "the experimental results are higher than expected"),
            "measured speeds",
            "the text has no numbers of the figure",
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(FREQUENCIES, 1e3 * ideal, "k--", label="no slip, 2 (L + H) f")
        axes.plot(FREQUENCIES, 1e3 * speed, "o-", color="tab:blue", label="speed")
        axes.plot(
            FREQUENCIES, 1e3 * slip, "s-", color="tab:red", label="mean slip, forward positive"
        )
        axes.axhline(0, color="0.7", linewidth=0.8)
        axes.set_xlabel("frequency of the field [Hz]")
        axes.set_ylabel("velocity [mm/s]")
        axes.legend()

    data = dict(frequency=FREQUENCIES, speed=speed, slip=slip, no_slip=ideal)
    return Outcome(checks, data, draw)


LEVELS = {
    "long face": ("1.189", "the adhesive force reaches a value of 1.189e-6 N"),
    "short face": ("0.1486", "the adhesive force value goes to 1.486e-7 N"),
}
"""Adhesive forces that the paper states for the figure [uN], and its words."""


def figure6() -> Outcome:
    """Table 1, 45 degrees, 20 mT at 1 Hz, over two turns."""
    design, setting = first(incline=math.radians(45))
    response = motion(design, setting)
    path = tumbler.simulate(design, setting, turns=2.0, start=response.state)
    levels = 1e6 * np.unique(path.adhesion.round(12))
    checks = [
        number(
            Said("Inclined plane traversal tests on paper", words),
            f"adhesion with the {name} on the ground",
            printed,
            float(levels[np.argmin(np.abs(levels - float(printed)))]),
            "uN",
        )
        for name, (printed, words) in LEVELS.items()
    ]
    half = path.time <= path.time[-1] / 4
    checks += [
        order(
            Said(
                "Inclined plane traversal tests on paper",
                "in line contact cases, the adhesive force is almost zero",
            ),
            "adhesion between the faces",
            "below 1 % of the largest, and no fourth level",
            ", ".join(f"{level:.4f}" for level in levels) + " uN",
            len(levels) == 3 and levels[0] < 0.01 * levels[-1],
        ),
        shape(
            Said("Inclined plane traversal tests on paper", "the force changes periodically"),
            "the motion repeats with each half turn of the field",
            "periodic",
            f"period {int(response.period_multiple)} half turn of the field, {said(response)}",
            int(response.period_multiple) == 1 and path.adhesion[half].max() > 0,
        ),
    ]

    def draw(figure: Figure) -> None:
        above, below = figure.subplots(2, sharex=True)
        draw_adhesion(above, path)
        draw_path(below, path, "tab:blue")
        above.set_xlabel("")

    return Outcome(checks, dict(time=path.time, adhesion=path.adhesion), draw)
