"""Beyond the plane: the paper's time stepping on a robot that the field steers around a square, and along a slope.

The paper's model is one in space, its results are motions in the plane. Here the field's plane is turned about
the normal of the surface. The paper has no such path: the references are the event method along a straight
line, and symmetries that the equations have and the steps could break.
"""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices.tumbler.implicit import Path, Start, simulate_implicit
from experiments.outcome import Outcome, own
from experiments.progress import counted
from experiments.reading import SAME
from experiments.xie2019.robots import first, motion

FREQUENCY = 10.0

STEPS = 2000
"""Time steps per turn of the field."""

TURNS = 5
"""Turns of the field along each side, and around each corner."""

EVERY = 50

SLOPE = math.radians(15)
"""Incline that the robot goes along [rad]."""


def steering() -> Outcome:
    """A square of four sides and four corners; a slope crossed to either side."""
    event = float(motion(*first(field_frequency=FREQUENCY)).speed)
    square = _square()
    sides, corners = square[0::2], square[1::2]
    ends = np.array([(0.0, 0.0), *(_ground(p)[-1] for p in square)])
    ways = np.diff(ends, axis=0)[0::2]
    lengths, apart = np.linalg.norm(ways, axis=1), np.linalg.norm(ends[-1])
    turned = np.diff(np.unwrap(np.arctan2(-ways[:, 0], ways[:, 1])))
    left, right = (_across(sign) for sign in (1.0, -1.0))
    mirrored = float(np.max(np.abs(left * (-1, 1) - right))) / float(np.max(np.abs(left)))
    straight = TURNS * event / FREQUENCY
    checks = [
        own(
            "event-driven motion in the plane",
            f"each side, {TURNS} turns of the field from where the corner ends",
            f"{1e3 * straight:.2f} mm within {SAME:.0%}",
            ", ".join(f"{1e3 * x:.2f}" for x in lengths) + " mm",
            np.all(np.abs(lengths / straight - 1) < SAME),
        ),
        own(
            "a field that turned by 90 degrees",
            "direction of each side less that of the one before",
            "90 degrees within 1",
            ", ".join(f"{math.degrees(x):.2f}" for x in turned),
            np.all(np.abs(turned - 0.5 * math.pi) < math.radians(1)),
        ),
        own(
            "turns about the normal of a level surface are a symmetry",
            "distance of the end from the start, over the length of the way",
            f"below {SAME:.0%}",
            f"{apart / (4 * straight):.2%}",
            apart < SAME * 4 * straight,
        ),
        own(
            "mirror image in the plane up the slope",
            f"a slope of {math.degrees(SLOPE):.0f} degrees crossed to the left and to the right",
            "mirrored paths, within 1e-6",
            f"{mirrored:.0e} apart",
            mirrored < 1e-6,
        ),
        own(
            "gravity",
            "drift of the robot that crosses the slope",
            "downhill",
            f"{1e3 * left[-1, 1]:.3f} mm up over {1e3 * abs(left[-1, 0]):.2f} mm across",
            left[-1, 1] < 0 and right[-1, 1] < 0,
        ),
    ]

    def draw(figure: Figure) -> None:
        plan, slope = figure.subplots(1, 2, width_ratios=(1, 1.1))
        for parts, color, label in (
            (sides, "tab:blue", "sides"),
            (corners, "tab:orange", "corners"),
        ):
            for i, p in enumerate(parts):
                plan.plot(*(1e3 * _ground(p)).T, color=color, label=label if i == 0 else None)
        plan.plot(0.0, 0.0, "ko", markersize=5, label="start")
        plan.set(xlabel="x [mm]", ylabel="y [mm]", title="around a square, level", aspect="equal")
        plan.legend(fontsize=8, loc="center")
        for way, color, label in (
            (left, "tab:blue", "to the left"),
            (right, "tab:orange", "to the right"),
        ):
            slope.plot(1e3 * np.abs(way[:, 0]), 1e3 * way[:, 1], color=color, label=label)
        slope.lines[1].set_linestyle("--")
        slope.set(xlabel="distance across [mm]", ylabel="distance up the slope [mm]")
        slope.set_title(f"across a slope of {math.degrees(SLOPE):.0f} degrees")
        slope.legend(fontsize=8)

    data: dict[str, Any] = {
        "square": np.concatenate([_ground(p) for p in square]),
        "across": {"left": left, "right": right},
        "event_speed": event,
    }
    return Outcome(checks, data, draw)


def _square() -> list[Path]:
    """Sides and corners by turns: the field's plane stands along a side, and turns by 90 degrees at a corner."""
    rate = 0.5 * math.pi * FREQUENCY / TURNS
    paths: list[Path] = []
    for leg in counted(range(8), "sides and corners"):
        heading = 0.5 * math.pi * (leg // 2)
        paths.append(_moved(0.0, heading, rate if leg % 2 else 0.0, paths[-1] if paths else None))
    return paths


def _across(sign: float) -> np.ndarray:
    """The way of a robot that lies across the slope and is driven on to one side, from its start [m]."""
    quarter = sign * 0.5 * math.pi
    return _ground(_moved(SLOPE, quarter, 0.0, None, quarter))


def _moved(
    incline: float, heading: float, steering: float, last: Path | None, yaw: float = 0.0
) -> Path:
    """The motion over some turns of the field, from where another one ended."""
    design, setting = first(field_frequency=FREQUENCY, incline=incline, start_yaw=yaw)
    height = 0.5 * float(design.thickness)
    start = Start(
        jnp.array([0.0, 0.0, height]),
        jnp.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]),
        jnp.zeros(3),
        jnp.zeros(3),
    )
    if last is not None:
        start = Start(*(x[-1] for x in (last.position, last.attitude, last.velocity, last.spin)))
    return simulate_implicit(
        design, setting, STEPS, turns=TURNS, every=EVERY, heading=heading, steering=steering, start=start
    )  # fmt: skip


def _ground(path: Path) -> np.ndarray:
    """Place on the ground over time."""
    return np.asarray(path.position)[:, :2]
