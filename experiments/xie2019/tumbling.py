"""Fig. 5: speed over frequency against the line without slip. Fig. 6: adhesion over time at 45 degrees."""

import math

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import tumbler
from diffmicro.plot.tumbler import draw_adhesion, draw_path
from experiments.outcome import Check, Outcome, near
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
    low, high = FREQUENCIES <= 6, FREQUENCIES >= 7
    checks = [
        near("no-slip speed at 10 Hz, eq. 15", 18.0, 1e3 * float(ideal[9]), 1e-9, "mm/s"),
        Check(
            "speed and no-slip speed part when the frequency rises",
            "largest gap above 6 Hz",
            f"{1e3 * np.abs(slip[low]).max():.3f} mm/s up to 6 Hz, "
            f"{1e3 * np.abs(slip[high]).max():.3f} mm/s above",
            bool(np.abs(slip[low]).max() < np.abs(slip[high]).max()),
        ),
        Check(
            "the difference is the mean slip velocity",
            "almost equal",
            f"equal to {books:.1e} of the speed",
            books < 1e-6,
        ),
        Check(
            "the simulated speed is below the no-slip speed where it differs",
            "at high frequency",
            f"{1e3 * slip[-1]:.3f} mm/s at 15 Hz, but {1e3 * slip.max():+.3f} mm/s "
            f"at {FREQUENCIES[slip.argmax()]:g} Hz: there it slips forward",
            bool(slip.max() <= 1e-9 and slip[-1] < 0),
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(FREQUENCIES, 1e3 * ideal, "k--", label="no slip, 2 (L + H) f")
        axes.plot(FREQUENCIES, 1e3 * speed, "o-", color="tab:blue", label="speed")
        axes.plot(FREQUENCIES, -1e3 * slip, "s-", color="tab:red", label="backward slip")
        axes.axhline(0, color="0.7", linewidth=0.8)
        axes.set_xlabel("frequency of the field [Hz]")
        axes.set_ylabel("velocity [mm/s]")
        axes.legend()

    data = dict(frequency=FREQUENCIES, speed=speed, slip=slip, no_slip=ideal)
    return Outcome(checks, data, draw)


LEVELS = {"long face": 1.189e-6, "short face": 1.486e-7, "edge": 0.0}
"""Adhesive forces that the paper states for the figure [N]."""


def figure6() -> Outcome:
    """Table 1, 45 degrees, 20 mT at 1 Hz, over two turns."""
    design, setting = first(incline=math.radians(45))
    response = motion(design, setting)
    path = tumbler.simulate(design, setting, turns=2.0, start=response.state)
    levels = np.unique(path.adhesion.round(12))
    checks = [
        near(
            f"adhesion with the {name} on the ground",
            1e6 * force,
            1e6 * float(levels[np.argmin(np.abs(levels - force))]),
            1e-3,
            "uN",
        )
        for name, force in LEVELS.items()
    ]
    checks.append(
        Check(
            "no other adhesion",
            "three levels",
            ", ".join(f"{1e6 * level:.4f}" for level in levels) + " uN",
            len(levels) == len(LEVELS),
        )
    )
    half = path.time <= path.time[-1] / 4
    checks.append(
        Check(
            "it changes periodically",
            "periodic",
            f"period {int(response.period_multiple)} half turn of the field, {said(response)}",
            int(response.period_multiple) == 1 and bool(path.adhesion[half].max() > 0),
        )
    )

    def draw(figure: Figure) -> None:
        above, below = figure.subplots(2, sharex=True)
        draw_adhesion(above, path)
        draw_path(below, path, "tab:blue")
        above.set_xlabel("")

    return Outcome(checks, dict(time=path.time, adhesion=path.adhesion), draw)
