"""Two WRMMA robots in one field: can each be driven alone, at 3 and at 5 mT?

They start as the published design and one with three quarters of its gap and one and a half times its
frequency. Free: mass ratio, rest gap and tethered frequency of each, the drive frequency of each over its own
tethered one, and the load at each field. Wanted at both fields: each robot drives at its own frequency as fast
as possible, while the other one stays below 1 um/s. The objective is the slowest of the four drives, smoothed
from below; more than 1 mm/s is the paper's multi-agent question answered.

What limits the optimum: a robot stays only where the field's force on its hammer, amplified by its
resonance, remains below the friction of its body. So the two resonances and their halves have to be apart,
and the field that drives one at 3 mT must not wake the other at 5 mT. A robot with a smaller gap and a
stiffer spring needs a higher field to be woken; with both gaps at 20 um the best that was found is 0.63 mm/s.
In the result of seed 0 (2.66 mm/s) the first robot drives backward at 5 mT.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from diffmicro.design import (
    Constraint,
    Objective,
    Point,
    Quantity,
    Result,
    Study,
    Variable,
    points_problem,
)
from diffmicro.devices import wrmma
from diffmicro.plot.design import mark_fragile

FIELDS = {"3 mT": 3e-3, "5 mT": 5e-3}
STILL = 1e-6
"""Speed below which a robot stays, m/s."""

BOUNDS = {
    "mass_ratio": (0.5, 2.5),
    "rest_gap": (8e-6, 40e-6),
    "tethered_frequency": (1e3, 6e3),
    "drive": (0.7, 1.4),
}
LOADS = {"3 mT": 32.0, "5 mT": 89.0}
"""Vertical load over weight, from electrostatic clamping, at each field: it decides who sticks. The starts
keep the ratio of magnetic force to friction, which goes with the field squared."""

STARTS = {
    "first": {"mass_ratio": 1.5, "rest_gap": 20e-6, "tethered_frequency": 2300.0, "drive": 0.95},
    "second": {"mass_ratio": 1.5, "rest_gap": 15e-6, "tethered_frequency": 3450.0, "drive": 0.9},
}
"""The published design beside one with a smaller gap and a stiffer spring: equal robots cannot be told apart."""


def problem() -> Any:
    """Eight operating points: two robots, two drives, two fields."""
    variables = [Variable(f"load at {name}", 10.0, 150.0, load) for name, load in LOADS.items()]
    variables += [
        Variable(f"{robot} {name}", *BOUNDS[name], start)
        for robot, starts in STARTS.items()
        for name, start in starts.items()
    ]
    points, moving, still = [], [], []
    for field_name, field in FIELDS.items():
        setting = wrmma.published_setting(field=field)
        for robot in STARTS:
            for driven in STARTS:
                label = f"{robot} robot, {driven} drive, {field_name}"
                idle = robot != driven
                allowed = ("ok", "stalled") if idle else ("ok",)
                place = _place(robot, driven, field_name)
                points.append(
                    Point(wrmma.DEVICE, wrmma.published_design(), setting, place, label, allowed)
                )
                (still if idle else moving).append(f"{label}.velocity")
    speeds = {f"speed of {name.partition('.')[0]}": Quantity((name,), jnp.abs) for name in still}
    slowest = Quantity(tuple(moving), lambda *speeds: _slowest(jnp.abs(jnp.stack(speeds))))
    constraints = [Constraint(name, "<=", STILL) for name in speeds]
    objective = Objective("slowest drive", "maximize")
    return points_problem(
        variables, points, objective, constraints, {"slowest drive": slowest, **speeds}
    )


def _slowest(speeds: Array) -> Array:
    """The least of the speeds from below, by 16 % at most: the least itself has a kink where two are equal."""
    return jnp.sum(speeds**-8.0) ** (-1 / 8)


def _place(robot: str, driven: str, field: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Fields of `robot` while the field switches at the frequency of `driven`."""

    def place(x: Mapping[str, Any]) -> dict[str, Any]:
        own = x[f"{robot} tethered_frequency"]
        drive = x[f"{driven} drive"] * x[f"{driven} tethered_frequency"]
        return {
            "mass_ratio": x[f"{robot} mass_ratio"],
            "rest_gap": x[f"{robot} rest_gap"],
            "tethered_frequency": own,
            "frequency_ratio": drive / own,
            "load_factor": x[f"load at {field}"],
        }

    return place


def draw(result: Result, path: Path) -> None:
    """Velocity of both robots over the drive frequency at each field, and the frequencies they are driven at."""
    x = result.variables
    drives = {r: x[f"{r} drive"] * x[f"{r} tethered_frequency"] for r in STARTS}
    hertz = np.linspace(0.8 * min(drives.values()), 1.2 * max(drives.values()), 121)
    figure = Figure(figsize=(11, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(FIELDS))
    for axis, (name, field) in zip(axes, FIELDS.items(), strict=True):
        for robot, color in zip(STARTS, ("#c44e00", "#2a6f97"), strict=True):
            fields = _place(robot, robot, name)(x)
            velocity = _velocities(fields, field, hertz)
            axis.plot(hertz, 1e3 * velocity, ".-", color=color, label=f"{robot} robot")
            axis.axvline(drives[robot], color=color, linestyle="--", label=f"{robot} drive")
        axis.axhline(0, color="black", linewidth=0.6)
        axis.set(title=name, xlabel="drive frequency [Hz]", ylabel="velocity [mm/s]")
    axes[0].legend(frameon=False, fontsize=8)
    mark_fragile(figure, result)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _velocities(fields: dict[str, Any], field: float, hertz: np.ndarray) -> np.ndarray:
    """Each from rest; a mean over a window where the motion is not periodic."""
    own, load = fields["tethered_frequency"], fields["load_factor"]
    design = wrmma.published_design(
        mass_ratio=fields["mass_ratio"], rest_gap=fields["rest_gap"], tethered_frequency=own
    )

    def velocity(ratio: Array) -> Array:
        setting = wrmma.published_setting(field=field, load_factor=load, frequency_ratio=ratio)
        return wrmma.respond(design, setting, throw=False).velocity

    return np.asarray(jax.vmap(velocity)(jnp.asarray(hertz / own)))


STUDY = Study(
    "wrmma_pair",
    problem,
    draw=draw,
    options={"method": "climb", "budget": 240, "lanes": 2},
    show={"slowest drive": (1e3, "mm/s")},
)
