"""A WRMMA that can be built: fast, and far enough from the end of its motion for parts to keep it.

The fastest design of `wrmma_speed` stands at an edge twice: its start from rest is lost 0.003 % above its drive
frequency, and the motion itself ends at a fold a few percent further (its gap collapses). So two things change
here. The field is raised slowly (`start="ramp"`), which leads to the motion wherever there is one. And at least
95 % of fabricated parts (mass ratio +-2 %, gap +-1 um, tethered frequency +-2 %) have to move without impacts; the
drive is given relative to the part's own tethered frequency. The search (`fabrication.buildable`) keeps a margin
to the fold along the drive frequency, as much as the slopes of the fold say parts take, and a count corrects.
What is found is confirmed by parts that no search has seen, also with 1 % of scatter in the drive.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.table import Table

from diffmicro import Tolerance, boundaries, margin, tolerances
from diffmicro.command.surrounding import parts_plain
from diffmicro.design import Constraint, Problem, device_problem, run_study
from diffmicro.devices import wrmma
from diffmicro.fabrication import buildable, scatter
from diffmicro.fabrication.buildable import Round
from diffmicro.sweep.grids import Batch
from diffmicro.sweep.lanes import calculate, lane_function
from optimize import wrmma_speed

DEVICE = wrmma.DEVICE
WANTED = 0.95
"""Share of good parts, at the lower end of its interval."""

BUDGET = 32
"""Evaluations of one search; each begins where the one before ended."""

UNSEEN = 2000
"""Parts that confirm the result."""

LIMITS = wrmma_speed.CONSTRAINTS
LOOSE = (*DEVICE.process, Tolerance("frequency_ratio", 0.01, kind="interval"))
"""The process, and a drive that is off by up to 1 %."""

COLORS = {"published": "0.45", "fastest": "#D55E00", "buildable": "#0072B2"}


def problem(design: wrmma.Design, setting: wrmma.Setting) -> Problem:
    """The fastest design from this one on, whose motion has a margin along the drive frequency."""
    kept = Constraint(margin("frequency_ratio"), ">=", 0.0)
    return device_problem(
        DEVICE,
        wrmma_speed.FREE,
        wrmma_speed.OBJECTIVE,
        (*LIMITS, kept),
        design=design,
        setting=setting,
    )


def run(seed: int = 0, out: Path | None = None, progress: bool = True) -> dict[str, Any]:
    """Both searches, and what fabrication leaves of each design."""
    folder = None if out is None else out / "fastest"
    fastest = run_study(wrmma_speed.STUDY, seed, folder, progress, random_designs=0)
    fast = fastest["optimized"]
    begin = problem(
        wrmma.Design(**fast["design"]), wrmma.Setting(**{**fast["setting"], "start": "ramp"})
    )
    built = buildable(
        begin, WANTED, reserved=True, method="sqp", lanes=1, budget=BUDGET, parts=UNSEEN,
        seed=seed, progress=progress, out=out,
    )  # fmt: skip
    sides = {
        "published": fastest["published"],
        "fastest": fast,
        "buildable": built.result.json("")["optimized"],
    }
    designs = {name: _judged(name, side, seed) for name, side in sides.items()}
    found = {
        "study": "wrmma_buildable",
        "status": built.status,
        "reason": built.reason,
        "designs": designs,
        "searches": [_search(one) for one in built.rounds],
        "evaluations": fastest["evaluations"] + built.evaluations,
    }
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        found["figure"] = str(draw(found, out / "wrmma_buildable.png"))
    return found


def _search(one: Round) -> dict[str, Any]:
    result, counted = one.result, one.confirmed or one.counted
    known = {"status": result.status, "evaluations": result.evaluations, "reason": result.reason}
    kept = {limit: reserve.loss for limit, reserve in one.reserves.items()}
    velocity = result.optimized.response["velocity"]
    return known | {"reserves": kept, "yield": counted.share, "velocity": velocity}


def _judged(name: str, side: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """A design with its end along the drive frequency and its yield, by parts that no search has seen."""
    design, setting = wrmma.Design(**side["design"]), wrmma.Setting(**side["setting"])
    ends = [
        end
        for end in boundaries(
            DEVICE, design, setting, along="frequency_ratio", wrt=(), starts=False
        )
        if end.ends
    ]
    nearest = min(ends, key=lambda end: end.distance, default=None)
    return {
        "design": side["design"],
        "setting": side["setting"],
        "velocity": side["response"]["velocity"],
        "end": None
        if nearest is None
        else {"kind": nearest.kind, "at": nearest.at, "away": nearest.distance},
        "parts": _parts(design, setting, 1000 + seed, DEVICE.process),
        "parts_loose": _parts(design, setting, 2000 + seed, LOOSE),
    }


def _parts(
    design: wrmma.Design, setting: wrmma.Setting, seed: int, deviating: tuple[Tolerance, ...]
) -> dict[str, Any]:
    found = tolerances(
        DEVICE,
        deviating,
        LIMITS,
        design=design,
        setting=setting,
        parts=UNSEEN,
        seed=seed,
        gradients=False,
    )
    return parts_plain(found)


def summary(found: Mapping[str, Any]) -> Table:
    """The three designs side by side."""
    table = Table(
        "", *found["designs"], box=None, title=f"{found['status']}: WRMMAs at 5 mT, load factor 8"
    )
    designs = list(found["designs"].values())

    def row(name: str, write: Any) -> None:
        table.add_row(name, *(write(one) for one in designs))

    row("velocity", lambda one: f"{1e3 * one['velocity']:.3g} mm/s")
    row("mass ratio", lambda one: f"{one['design']['mass_ratio']:.4g}")
    row("rest gap", lambda one: f"{1e6 * one['design']['rest_gap']:.4g} um")
    row("tethered frequency", lambda one: f"{one['design']['tethered_frequency']:.5g} Hz")
    row("frequency ratio", lambda one: f"{one['setting']['frequency_ratio']:.4g}")
    row("start", lambda one: one["setting"]["start"])
    row("end along the drive", lambda one: _end(one["end"]))
    row("good parts", lambda one: _share(one["parts"]))
    row("  drive off by 1 % too", lambda one: _share(one["parts_loose"]))
    row("bad by", lambda one: ", ".join(one["parts"]["causes"]) or "-")
    table.caption = f"{found['evaluations']} evaluations" + (
        f"; figure: {found['figure']}" if "figure" in found else ""
    )
    return table


def _end(end: Mapping[str, Any] | None) -> str:
    return "none near" if end is None else f"{end['kind']} {100 * end['away']:.3g} % away"


def _share(parts: Mapping[str, Any]) -> str:
    return f"{100 * parts['yield']:.3g} % ({100 * parts['low']:.3g} to {100 * parts['high']:.3g})"


def draw(found: Mapping[str, Any], path: Path) -> Path:
    """Velocity over the drive frequency with the cliffs, and the cloud of parts; the yield of each design."""
    figure = Figure(figsize=(12, 4.6), layout="constrained", dpi=130)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.7, 1.0))
    for name in ("fastest", "buildable"):
        _curve(left, name, found["designs"][name])
    left.set(
        xlabel="drive frequency over tethered frequency [-]",
        ylabel="velocity without impacts [mm/s]",
    )
    left.set_title("Where the motion ends, and where fabricated parts lie", fontsize=10)
    for mark, label in ((".", "good part"), ("x", "part that fails")):
        left.plot([], [], mark, color="dimgray", ms=5, label=label)
    left.legend(frameon=False, fontsize=8, loc="upper left")
    names = list(found["designs"])
    for offset, kind, hatch in ((-0.2, "parts", ""), (0.2, "parts_loose", "//")):
        shares = [100 * found["designs"][n][kind]["yield"] for n in names]
        places = np.arange(len(names)) + offset
        label = "drive as set" if kind == "parts" else "drive off by up to 1 %"
        bars = right.barh(places, shares, 0.36, color=[COLORS[n] for n in names], hatch=hatch,
                          edgecolor="white", label=label)  # fmt: skip
        right.bar_label(bars, [f"{share:.3g} %" for share in shares], padding=3, fontsize=8)
    speeds = [1e3 * found["designs"][n]["velocity"] for n in names]
    labels = [f"{n}\n{speed:.3g} mm/s" for n, speed in zip(names, speeds, strict=True)]
    right.set_yticks(range(len(names)), labels)
    right.invert_yaxis()
    right.set(xlim=(0, 124), xticks=range(0, 101, 20))
    right.set_xlabel("good parts [%]; hatched: drive off by up to 1 %")
    figure.savefig(path)
    return path


def _curve(axes: Axes, name: str, one: Mapping[str, Any]) -> None:
    """One design's velocity over the drive frequency, its end, and 300 of its parts."""
    design, setting = wrmma.Design(**one["design"]), wrmma.Setting(**one["setting"])
    here, color = one["setting"]["frequency_ratio"], COLORS[name]
    ratios = np.linspace(0.75 * here, 1.15 * here, 81)
    line = scatter(DEVICE, design, setting, [Tolerance("frequency_ratio", 1.0)])
    speeds = _speeds(line.parts((ratios / here - 1)[:, None]))
    axes.plot(
        ratios,
        1e3 * speeds,
        color=color,
        lw=1.4,
        label=f"{name}, started by {one['setting']['start']}",
    )
    places = np.random.default_rng(0).standard_normal((300, len(LOOSE)))
    parts = scatter(DEVICE, design, setting, LOOSE).parts(places)
    cloud = _speeds(parts)
    good = np.isfinite(cloud)
    own = np.asarray(parts[1].frequency_ratio)
    axes.plot(own[good], 1e3 * cloud[good], ".", color=color, ms=3, alpha=0.5)
    axes.plot(own[~good], np.zeros((~good).sum()), "x", color=color, ms=4, alpha=0.7)
    axes.plot(here, 1e3 * one["velocity"], "o", color=color, mec="black", ms=8)
    if one["end"] is not None:
        axes.axvline(one["end"]["at"], color=color, ls=":", lw=1.2)
        text = f"{one['end']['kind']} {100 * one['end']['away']:.2g} % away"
        axes.annotate(
            text, (one["end"]["at"], 0.3), color=color, fontsize=8, rotation=90, ha="right"
        )


def _speeds(points: tuple[Any, Any]) -> np.ndarray:
    """Velocities [m/s] of many points; NaN where the motion is lost or touches."""
    count = len(points[0].rest_gap)
    speeds = np.full(count, np.nan)
    batch = Batch(np.arange(count), *points)
    for piece in calculate(lane_function(DEVICE.respond), batch, quick=dict(DEVICE.quick)):
        kept = LIMITS[0].slack(np.asarray(piece.output.min_gap)) >= 0
        speeds[piece.lanes] = np.where(kept, np.asarray(piece.output.velocity), np.nan)
    return speeds
