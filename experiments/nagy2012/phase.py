"""Figs. 7 and 11: velocity of the body against the gap, over one period."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.nagy2012.motion import F1, F2, Orbit, orbit
from experiments.outcome import Check, Outcome, Said, order, shape
from experiments.reading import MOST

STICKS = 0.02
"""Share of the period above which the body sticks: more than some steps at a reversal."""

LOADS = (8.0, 32.0, 48.0)
NAMES = {(8.0, "f1"): "(a)", (8.0, "f2"): "(b)", (32.0, "f1"): "(c)", (32.0, "f2"): "(d)"}

IMPACT = Said("section IV-A", "jumps from a positive value in II to a negative value in III")
PULLS = Said(
    "section IV-A", "velocities in Fig. 5 are positive, indicating that the hammer is pulling"
)


def figure7() -> Outcome:
    """Load factors 8, 32 and 48 at both resonances, 5 mT."""
    orbits = {
        (load, name): orbit(load_factor=load, frequency_ratio=ratio)
        for load in LOADS
        for name, ratio in (("f1", F1), ("f2", F2))
    }
    light, _, heavy = (orbits[load, "f1"] for load in LOADS)
    sticks = [orbits[load, "f1"].stick for load in LOADS]
    checks = [
        order(
            Said("section IV-A", "the body oscillates in a pure sliding motion"),
            "f1, load factor 8: slides throughout",
            f"sticks less than {STICKS:.0%} of the period",
            _words(light),
            light.stick < STICKS,
        ),
        order(
            Said(
                "section IV-A",
                "the change of velocity occurs at a nonzero gap, i.e., without impact",
            ),
            "f1, load factor 8: no impact",
            "none",
            _words(light),
            light.impacts == 0,
        ),
        order(
            Said("section IV-A", "indicates stiction of the body and a general stick/slip motion"),
            "f1, load factor 48: sticks and slips",
            f"sticks more than {STICKS:.0%} of the period",
            _words(heavy),
            heavy.stick > STICKS and heavy.impacts == 0,
        ),
        shape(
            Said(
                "section IV-A",
                "transitions from pure sliding to stick/slip motion with increasing beta",
            ),
            "f1: share of sticking grows with the load factors 8, 32, 48",
            "does not fall, and is larger in the end",
            ", ".join(f"{100 * s:.1f} %" for s in sticks),
            sticks[0] <= sticks[1] <= sticks[2] and sticks[2] > sticks[0],
        ),
    ]
    checks += [check for load in LOADS for check in _impacting(load, orbits[load, "f2"])]

    def draw(figure: Figure) -> None:
        for row, load in zip(figure.subplots(3, 2), LOADS, strict=True):
            for axes, name in zip(row, ("f1", "f2"), strict=True):
                _portrait(axes, orbits[load, name], "tab:blue")
                mark = NAMES.get((load, name), "")
                axes.set_title(f"{mark} {name}, load factor {load:g}".strip(), fontsize=10)
                _quadrants(axes, closed=name == "f2")

    return Outcome(
        checks, {f"{name}, load {b:g}": _data(o) for (b, name), o in orbits.items()}, draw
    )


def _impacting(load: float, found: Orbit) -> list[Check]:
    """What is said of any configuration at f2."""
    # Where the gap closes the body's velocity jumps from positive to negative.
    jump = int(np.argmax(np.abs(np.diff(found.body_speed))))
    before, after = found.body_speed[jump], found.body_speed[jump + 1]
    return [
        order(
            Said("section IV-A", "consider any configuration of f2: the gap closes completely"),
            f"f2, load factor {load:g}: the gap closes",
            "an impact a period",
            _words(found),
            found.impacts >= 1,
        ),
        order(
            IMPACT,
            f"f2, load factor {load:g}: the body's velocity jumps there",
            "> 0 before, < 0 after",
            f"{1e3 * before:.0f} to {1e3 * after:.0f} mm/s at a gap of {1e6 * found.gap[jump]:.2f} um",
            before > 0 > after,
        ),
        order(
            PULLS,
            f"f2, load factor {load:g}: the robot moves forward",
            "> 0",
            f"{1e3 * found.velocity:.2f} mm/s",
            found.velocity > 0,
        ),
    ]


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
        order(
            Said(
                "section IV-C", "identify the impact for the no-clamping case by the velocity jump"
            ),
            "without clamp: an impact and a jump",
            "yes",
            f"{free.impacts} impact a period, jump {1e3 * jump:.0f} mm/s",
            free.impacts >= 1,
        )
    ]
    for sign, found in clamped.items():
        checks += _rectified(f"clamp at {'+' if sign > 0 else '-'}pi/2", sign, found)

    def draw(figure: Figure) -> None:
        whole, near = figure.subplots(1, 2)
        for axes in (whole, near):
            _portrait(axes, free, "0.5", "no clamp")
            _portrait(axes, clamped[1], "tab:red", "clamp at +pi/2")
            _portrait(axes, clamped[-1], "tab:blue", "clamp at -pi/2")
        near.set(xlim=(14, 26), ylim=(-60, 60), title="clamped, enlarged")
        figure.legend(
            *whole.get_legend_handles_labels(), fontsize=8, loc="outside upper center", ncols=3
        )

    data = {"free": _data(free), "plus": _data(clamped[1]), "minus": _data(clamped[-1])}
    return Outcome(checks, data, draw)


def _rectified(name: str, sign: int, found: Orbit) -> list[Check]:
    one_way = float(np.sum(found.body_speed * sign > 0) / np.sum(found.body_speed != 0))
    return [
        order(
            Said("section IV-C", "in the clamping cases, the gap never closes"),
            f"{name}: gap never closes",
            "no impact",
            f"{1e6 * found.gap.min():.1f} um at least, {found.impacts} impacts",
            found.impacts == 0,
        ),
        order(
            Said("section IV-C", "we see stick/slip motion"),
            f"{name}: sticks and slips",
            f"sticks more than {STICKS:.0%} of the period",
            _words(found),
            found.stick > STICKS,
        ),
        order(
            Said("section IV-C", "primarily in one direction, e.g., positive for phi = pi/2"),
            f"{name}: slides mainly {'forward' if sign > 0 else 'backward'}",
            f"more than {MOST:.0%} of the sliding",
            f"{100 * one_way:.0f} %",
            one_way > MOST,
        ),
    ]


def _words(found: Orbit) -> str:
    return (
        f"{found.impacts} impacts, sticks {100 * found.stick:.1f} % of the period, "
        f"{1e3 * found.velocity:.2f} mm/s"
    )


def _portrait(axes: Axes, found: Orbit, color: str, label: str | None = None) -> None:
    gap, speed = 1e6 * found.gap, 1e3 * found.body_speed
    axes.plot(np.append(gap, gap[0]), np.append(speed, speed[0]), color=color, label=label)
    axes.plot(gap[0], speed[0], "o", color=color, markersize=4)
    # Which way it goes, at the top, where the curve is far from the frame's sides.
    top = int(np.argmax(speed))
    ahead, behind = (top + 4) % len(gap), top - 4
    axes.annotate(
        "",
        (gap[ahead], speed[ahead]),
        (gap[behind], speed[behind]),
        arrowprops=dict(arrowstyle="->", color=color),
    )
    axes.axhline(0, color="0.7", linestyle=":", linewidth=0.8)
    axes.axvline(20, color="0.7", linestyle=":", linewidth=0.8)
    axes.margins(0.1)
    axes.set_xlabel("gap [um]")
    axes.set_ylabel("body velocity [mm/s]")


def _quadrants(axes: Axes, closed: bool) -> None:
    """I to IV about the rest gap and zero velocity, in the direction of the motion; the closed gap where it is
    reached.
    """
    if closed:
        axes.axvline(0, color="0.7", linestyle=":", linewidth=0.8)
    for name, (x, y) in {
        "I": (0.95, 0.9),
        "II": (0.05, 0.9),
        "III": (0.05, 0.06),
        "IV": (0.95, 0.06),
    }.items():
        axes.text(x, y, name, transform=axes.transAxes, ha="center", color="0.4", fontsize=8)


def _data(found: Orbit) -> dict[str, object]:
    return found._asdict()
