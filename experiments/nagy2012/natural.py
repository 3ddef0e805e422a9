"""Figs. 5 and 6: velocity against frequency without clamp, sweeping up and down."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro.devices.wrmma import eta, published_design, published_setting
from diffmicro.reference.wrmma import stiction_limits
from experiments.nagy2012.drawing import sweep_legend, sweep_lines, velocity_axes
from experiments.nagy2012.motion import (
    F1,
    F2,
    FAST,
    GRID,
    MOVES,
    RATIOS,
    at,
    moving_area,
    sweeps,
    zero_crossing,
)
from experiments.outcome import Check, Outcome, Said, number, order, own_number, shape
from experiments.reading import SAME, SLIGHT

CASES = [(field, load) for field in (3e-3, 5e-3) for load in (8.0, 32.0)]

UP = Said("section IV-A", "motion starts at f < f2 and stops at a frequency f > f2")
DOWN = Said("section IV-A", "when sweeping down, the motion starts at f = f2 [approximately]")
LASTS = Said("section IV-A", "lasts until the starting frequency in the upsweeping case")
SEPARATION = Said(
    "section IV-B", "decrease the actuation field strength as this decreases the actuation range"
)


def figure5() -> Outcome:
    """3 and 5 mT, load factors 8 and 32."""
    velocity = {}
    for direction in ("up", "down"):
        found = sweeps(direction, [dict(field=b, load_factor=load) for b, load in CASES])
        for (field, load), row in zip(CASES, found, strict=True):
            velocity[round(field * 1e3), round(load), direction] = row
    checks = [check for load in (8, 32) for check in _hysteresis(velocity, load)]
    slow, fast = (abs(at(velocity[5, load, "up"], F2)) for load in (32, 8))
    light, heavy = (at(velocity[5, load, "up"], F1) for load in (8, 32))
    checks += [
        order(
            Said("section IV-A", "increasing beta from 8 to 32 decreases the velocity at f2"),
            "more load slows at f2, 5 mT",
            "slower",
            f"{1e3 * fast:.1f} to {1e3 * slow:.1f} mm/s",
            slow < fast,
        ),
        order(
            Said("section IV-A", "at f1, the velocity is increased"),
            "more load speeds up at f1, 5 mT",
            "faster",
            f"{1e3 * light:.2f} to {1e3 * heavy:.2f} mm/s",
            heavy > light,
        ),
    ]
    for load in (8, 32):
        bound = FAST * np.max(np.abs(velocity[5, load, "up"]))
        weak, strong = (
            float(np.sum(np.abs(velocity[b, load, "up"]) > bound)) * GRID for b in (3, 5)
        )
        checks.append(
            order(
                SEPARATION,
                f"load factor {load}: frequencies at which the robot moves fast, 3 against 5 mT",
                "fewer",
                f"over {weak:.2f} against {strong:.2f} of the frequency ratio",
                weak < strong,
            )
        )

    def draw(figure: Figure) -> None:
        for axes, field in zip(figure.subplots(2, 1), (5, 3), strict=True):
            velocity_axes(axes, F1, F2)
            for load, color in ((8, "tab:blue"), (32, "tab:red")):
                both = (velocity[field, load, d] for d in ("up", "down"))
                sweep_lines(axes, *both, color=color, label=f"load factor {load}")
            axes.set_title(f"{field} mT", fontsize=10)
            sweep_legend(axes, loc="upper left")
            axes.label_outer()
            if field == 5:
                _mark(axes, velocity)

    data = {f"{field} mT, load {load}, {d}": v for (field, load, d), v in velocity.items()}
    return Outcome(checks, {"frequency_ratio": RATIOS, "velocity": data}, draw)


def _hysteresis(velocity: dict[tuple[int, int, str], np.ndarray], load: int) -> list[Check]:
    """What section IV-A says of sweeps up and down at 5 mT."""
    (first, last), (end, start) = (
        moving_area(velocity[5, load, d], F2, FAST) for d in ("up", "down")
    )
    return [
        order(
            UP,
            f"load factor {load}, up: motion starts below f2 and stops above it",
            "below and above 1.58",
            f"{first:.3f} and {last:.3f}",
            first < F2 < last,
        ),
        number(DOWN, f"load factor {load}, down: motion starts at", "1.58", start, more=GRID),
        order(
            LASTS,
            f"load factor {load}, down: motion lasts to where it starts upward",
            f"within a step of the grid, {GRID:.3f}",
            f"{end:.3f} and {first:.3f}",
            abs(end - first) <= GRID * (1 + 1e-9),
        ),
        order(
            Said("section IV-A", "we observe hysteretic motion around f2"),
            f"load factor {load}: motion lasts longer upward",
            "longer by more than a step of the grid",
            f"to {last:.3f} against {start:.3f}",
            last > start + GRID,
        ),
    ]


def _mark(axes: Axes, velocity: dict[tuple[int, int, str], np.ndarray]) -> None:
    """The points (a) to (d) whose phase plots Fig. 7 shows; that they are in this order is read off the text
    on (a).
    """
    points = {"a": (8, F1), "b": (8, F2), "c": (32, F1), "d": (32, F2)}
    for name, (load, ratio) in points.items():
        height = 1e3 * at(velocity[5, load, "up"], ratio)
        axes.annotate(f"({name})", (ratio, height), (5, 6), textcoords="offset points", fontsize=8)
        axes.plot(ratio, height, "ko", markersize=4, fillstyle="none")


def figure6() -> Outcome:
    """The closeup at 3 mT and load factor 32, with the limits of the linear model."""
    case = [dict(field=3e-3, load_factor=32.0)]
    up, down = sweeps("up", case)[0], sweeps("down", case)[0]
    ratio = float(eta(published_design(), published_setting(field=3e-3, load_factor=32.0)))
    low, high = (float(x) for x in stiction_limits(0.17))
    moving = RATIOS[(np.abs(up) > MOVES) & (RATIOS > 0.6) & (RATIOS < 1.5)]
    first, last = float(moving[0]), float(moving[-1])
    zero = zero_crossing(up, first, last)
    hysteresis = float(np.max(np.abs(up - down)) / np.max(np.abs(up)))
    fairly = Said("section IV-A", "the analytical limits correspond fairly well to the limits")
    checks = [
        own_number(
            "eta = 0.17 of Fig. 6, which the scale of the force puts in",
            "eta at 3 mT and load factor 32",
            0.17,
            ratio,
            0.005,
        ),
        shape(
            Said("section IV-A", "the motion is nonhysteretic"),
            "largest difference between up and down over the largest velocity",
            f"below {SAME:.0%}",
            f"{100 * hysteresis:.2g} %",
            hysteresis < SAME,
        ),
        order(
            Said("section IV-A", "the velocity changes direction as the frequency is changed"),
            "the velocity changes its sign within the area of motion",
            "it does",
            f"at {zero:.3f}: {1e3 * up.max():.2f} mm/s below, {1e3 * up[RATIOS > 1].min():.2f} mm/s above",
            first < zero < last,
        ),
    ]
    checks += [
        shape(
            fairly,
            f"eq. 34 against the motion, {name} limit",
            f"within {SLIGHT:.0%} of f1",
            f"{limit:.3f} against {measured:.3f}",
            abs(limit - measured) < SLIGHT,
        )
        for name, limit, measured in (("lower", low, first), ("upper", high, last))
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        velocity_axes(axes, F1)
        sweep_lines(axes, up, down, "tab:red", "3 mT, load factor 32")
        for limit in (low, high):
            label = "eq. 34" if limit == low else None
            axes.axvline(limit, color="tab:green", linestyle="-.", label=label)
        axes.set_xlim(0.6, 1.5)
        sweep_legend(axes)

    return Outcome(checks, {"frequency_ratio": RATIOS, "up": up, "down": down, "zero": zero}, draw)
