"""Figs. 7 and 11: velocity of the body against the gap, over one period."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.nagy2012.motion import F1, F2, Orbit, orbit
from experiments.outcome import Check, Outcome

STICKS = 0.02
"""Share of the period above which the body sticks: more than some steps at a reversal."""


def figure7() -> Outcome:
    """Load factors 8, 32 and 48 at both resonances, 5 mT."""
    loads = (8.0, 32.0, 48.0)
    orbits = {
        (load, name): orbit(load_factor=load, frequency_ratio=ratio)
        for load in loads
        for name, ratio in (("f1", F1), ("f2", F2))
    }
    checks = []
    for load, word in ((8.0, "slides"), (32.0, "slides"), (48.0, "sticks and slips")):
        found = orbits[load, "f1"]
        fits = (found.stick > STICKS) == (load == 48.0) and found.impacts == 0
        checks.append(
            Check(f"f1, load factor {load:g}: {word}, no impact", "yes", _words(found), fits)
        )
    for load in loads:
        found = orbits[load, "f2"]
        fits = found.impacts >= 1 and found.velocity > 0
        checks.append(
            Check(f"f2, load factor {load:g}: impact, hammer pulls", "v > 0", _words(found), fits)
        )
        # Where the gap closes the body's velocity jumps from positive to negative.
        jump = int(np.argmax(np.abs(np.diff(found.body_speed))))
        before, after = found.body_speed[jump], found.body_speed[jump + 1]
        checks.append(
            Check(
                f"f2, load factor {load:g}: body jumps from positive to negative at impact",
                "> 0, < 0",
                f"{1e3 * before:.0f} to {1e3 * after:.0f} mm/s at {1e6 * found.gap[jump]:.2f} um",
                bool(before > 0 > after and found.gap[jump] < 1e-6),
            )
        )

    def draw(figure: Figure) -> None:
        for row, load in zip(figure.subplots(3, 2), loads, strict=True):
            for axes, name in zip(row, ("f1", "f2"), strict=True):
                _portrait(axes, orbits[load, name], "tab:blue")
                axes.set_title(f"{name}, load factor {load:g}", fontsize=10)

    return Outcome(
        checks, {f"{name}, load {b:g}": _data(o) for (b, name), o in orbits.items()}, draw
    )


def figure11() -> Outcome:
    """Without clamp and with it at both phases; load factor 8, frequency ratio 1.58."""
    free = orbit(load_factor=8.0, frequency_ratio=1.58)
    clamped = {
        sign: orbit(
            load_factor=8.0, frequency_ratio=1.58, clamp_force=1.0, clamp_phase=sign * math.pi / 2
        )
        for sign in (1, -1)
    }
    jump = float(np.max(np.abs(np.diff(free.body_speed))))
    checks = [
        Check(
            "without clamp: impact, a jump of the body's velocity at closed gap",
            "yes",
            f"{free.impacts} impact a period, jump {1e3 * jump:.0f} mm/s",
            free.impacts >= 1 and jump > 0.05,
        )
    ]
    for sign, found in clamped.items():
        name = f"clamp at {'+' if sign > 0 else '-'}pi/2"
        one_way = float(np.sum(found.body_speed * sign > 0) / np.sum(found.body_speed != 0))
        checks += [
            Check(
                f"{name}: gap never closes",
                "> 0",
                f"{1e6 * found.gap.min():.1f} um at least",
                bool(found.gap.min() > 1e-6 and found.impacts == 0),
            ),
            Check(f"{name}: sticks and slips", "yes", _words(found), found.stick > STICKS),
            Check(
                f"{name}: body moves mainly {'forward' if sign > 0 else 'backward'}",
                "more than half of the sliding",
                f"{100 * one_way:.0f} %",
                one_way > 0.5 and found.velocity * sign > 0,
            ),
        ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _portrait(axes, free, "0.5", "no clamp")
        _portrait(axes, clamped[1], "tab:red", "clamp at +pi/2")
        _portrait(axes, clamped[-1], "tab:blue", "clamp at -pi/2")
        axes.legend()

    data = {"free": _data(free), "plus": _data(clamped[1]), "minus": _data(clamped[-1])}
    return Outcome(checks, data, draw)


def _words(found: Orbit) -> str:
    return (
        f"{found.impacts} impacts, sticks {100 * found.stick:.1f} % of the period, "
        f"{1e3 * found.velocity:.2f} mm/s"
    )


def _portrait(axes: Axes, found: Orbit, color: str, label: str | None = None) -> None:
    gap, speed = 1e6 * found.gap, 1e3 * found.body_speed
    axes.plot(np.append(gap, gap[0]), np.append(speed, speed[0]), color=color, label=label)
    axes.plot(gap[0], speed[0], "o", color=color, markersize=4)
    at = len(gap) // 3
    axes.annotate(
        "",
        (gap[at + 8], speed[at + 8]),
        (gap[at], speed[at]),
        arrowprops=dict(arrowstyle="->", color=color),
    )
    axes.axhline(0, color="0.7", linestyle=":", linewidth=0.8)
    axes.axvline(20, color="0.7", linestyle=":", linewidth=0.8)
    axes.axvline(0, color="0.7", linestyle=":", linewidth=0.8)
    axes.set_xlabel("gap [um]")
    axes.set_ylabel("body velocity [mm/s]")


def _data(found: Orbit) -> dict[str, object]:
    return found._asdict()
