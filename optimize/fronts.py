"""What one wish costs another: a Pareto front for each device, `python -m optimize fronts`.

Six pairs of objectives that pull against each other, each followed by gradients from one end to the other
(`diffmicro.design.pareto_front`). `python -m benchmarks pareto` runs a genetic algorithm on the same pairs.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.table import Table

from diffmicro import Device
from diffmicro.design import Constraint, Objective, Problem, device_problem
from diffmicro.design.pareto import Front, pareto_front
from diffmicro.devices import gripper, legs, stickslip, tribometer, tumbler, wrmma
from diffmicro.plot.searches import plot_front
from optimize import legs_height, tumbler_climb

POINTS, BUDGET = 16, 40


class Wishes(NamedTuple):
    """Two objectives and the problem of one of them; shown: factor and unit of each."""

    first: Objective
    second: Objective
    problem: Any
    shown: tuple[tuple[float, str], tuple[float, str]]


def _problem(
    device: Device,
    free: Mapping[str, tuple[float, float]],
    design: Any = None,
    setting: Any = None,
    always: Sequence[Constraint] = (),
    **numerics: Any,
) -> Any:
    """The problem of one objective, with further constraints beside those that hold always."""

    def made(objective: Objective, constraints: Sequence[Constraint]) -> Problem:
        sides = {"design": design and design(), "setting": setting and setting()}
        every = (*always, *constraints)
        return device_problem(device, free, objective, every, **sides, **numerics)

    return made


FRONTS = {
    "wrmma": Wishes(
        Objective("velocity", "maximize"),
        Objective("min_gap", "maximize"),
        _problem(
            wrmma.DEVICE,
            {"mass_ratio": (0.5, 2.5), "rest_gap": (8e-6, 40e-6), "frequency_ratio": (0.8, 1.0)},
            setting=partial(wrmma.published_setting, load_factor=32.0),
        ),
        ((1e3, "mm/s"), (1e6, "um")),
    ),
    "tumbler": Wishes(
        Objective("speed", "maximize"),
        Objective("mass", "minimize"),
        _problem(
            tumbler.DEVICE, tumbler_climb.FREE, tumbler_climb.DESIGN
        ),  # cuboids; outlines have many optima
        ((1e3, "mm/s"), (1e9, "ug")),
    ),
    "gripper": Wishes(
        Objective("closing_force", "minimize"),
        Objective("natural_frequency", "maximize"),
        _problem(
            gripper.DEVICE,
            {
                "section_height": (3e-6, 12e-6),
                "beam_radius[:]": (0.1e-3, 0.3e-3),
                "beam_angle[:]": (float(np.deg2rad(180)), float(np.deg2rad(330))),
            },
            extra=("closing_force", "natural_frequency"),  # each alone does not ask for the other
        ),
        ((1e6, "uN"), (1.0, "Hz")),
    ),
    "stickslip": Wishes(
        Objective("force", "maximize"),
        Objective("peak_pressure", "minimize"),
        _problem(
            stickslip.DEVICE,
            {"radius": (0.2e-3, 2e-3), "preload": (0.1, 2.0), "amplitude": (40e-9, 300e-9)},
            partial(stickslip.published_design, damping_ratio=0.03),
        ),
        ((1e3, "mN"), (1e-9, "GPa")),
    ),
    "tribometer": Wishes(
        Objective("friction_ratio", "minimize"),
        Objective("sliding_velocity", "maximize"),
        _problem(
            tribometer.DEVICE,
            {
                "sliding_velocity": (2e-3, 50e-3),
                "vibration_velocity": (20e-3, 56.7e-3),
                "track_angle": (0.0, 1.0),
            },
            setting=partial(
                tribometer.published_setting,
                direction="ipi",
                sliding_velocity=20e-3,
                track_angle=0.3,
            ),
        ),
        ((1.0, ""), (1e3, "mm/s")),
    ),
    "legs": Wishes(
        Objective("mean_height", "maximize"),
        Objective("free_amplitude", "maximize"),  # how surely it bounces
        _problem(
            legs.DEVICE,
            legs_height.FREE,
            legs_height.DESIGN,
            legs_height.SETTING,
            always=legs_height.CONSTRAINTS[:1],
        ),
        ((1e6, "um"), (1e6, "um")),
    ),
}
"""A pair for each device."""


def front(name: str, seed: int = 0) -> Front:
    """The front of one device."""
    wishes = FRONTS[name]
    return pareto_front(
        wishes.problem, wishes.first, wishes.second, points=POINTS, budget=BUDGET, seed=seed
    )


def run(seed: int = 0, out: Path | None = None, progress: bool = True) -> dict[str, Any]:
    """Follow all fronts; the object that `--json` prints, with one entry a device."""
    fronts = {}
    for name in FRONTS:
        fronts[name] = front(name, seed)
        if progress:
            print(f"{name}: {len(fronts[name].values)} points", flush=True)
    if out is not None:
        draw(fronts, Path(out) / "fronts.png")
    # Every point is feasible, but not every one is known to be an optimum.
    ended = {status for known in fronts.values() for status in known.statuses}
    status = "ok" if ended == {"ok"} else "stopped"
    return {
        "study": "fronts",
        "status": status,
        "fronts": {n: _plain(f) for n, f in fronts.items()},
    }


def summary(found: Mapping[str, Any]) -> Table:
    """One row a device: both ends, and what the last bit of the first wish costs in the second."""
    table = Table(
        "device", "objectives", "from", "to", "points", "certified", "evaluations", box=None
    )
    for name, known in found["fronts"].items():
        shown = FRONTS[name].shown
        ends = [
            ", ".join(f"{f * v:.4g} {u}".strip() for (f, u), v in zip(shown, row, strict=True))
            for row in (known["values"][0], known["values"][-1])
        ]
        certified = known["verdicts"].count("certified")
        wishes = " / ".join(known["objectives"])
        sizes = [str(n) for n in (len(known["values"]), certified, known["evaluations"])]
        table.add_row(name, wishes, *ends, *sizes)
    return table


def draw(fronts: Mapping[str, Front], path: Path) -> Path:
    """All fronts, a panel each."""
    figure = Figure(figsize=(13, 7), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, -(-len(fronts) // 2), squeeze=False).ravel()
    for axis, (name, known) in zip(axes, fronts.items(), strict=False):
        plot_front(known, axis, shown=FRONTS[name].shown)
        axis.set_title(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path


def _plain(known: Front) -> dict[str, Any]:
    return {
        "objectives": [f"{o.goal} {o.response}" for o in (known.first, known.second)],
        "values": known.values.tolist(),
        "designs": list(known.designs),
        "price": known.price.tolist(),
        "verdicts": list(known.verdicts),
        "statuses": list(known.statuses),
        "evaluations": known.evaluations,
    }
