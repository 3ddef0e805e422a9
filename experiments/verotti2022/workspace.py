"""Figs. 7 to 9: workspaces and forces of the models, silicon and nylon; the exact model stands for Adams."""

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import gripper
from diffmicro.plot.gripper import COLORS
from diffmicro.plot.gripper import workspace as draw_workspace
from experiments.outcome import Check, Outcome, near
from experiments.verotti2022.mechanism import MM, NYLON, SILICON, UN

OPENING = -60e-6
"""First force of section 5.1 [N]."""

SHOWN = ("linear", "partial", "exact")


def closing_force(model: str, young: float = SILICON) -> float:
    """Force that brings the tip to x = 0 [N]."""
    setting = gripper.published_setting(model=model)
    design = gripper.published_design(young=young)
    found = gripper.respond(design, setting, extra=("closing_force",)).closing_force
    return float(np.asarray(found))


def path(model: str, first: float, last: float, young: float = SILICON) -> gripper.Trajectory:
    """States between two forces."""
    forces = np.linspace(first, last, 241)
    design = gripper.published_design(young=young)
    return gripper.simulate(design, gripper.published_setting(model=model), forces=forces)


def figure7() -> Outcome:
    """Workspaces of the two published models, from -60 uN to closing."""
    closing = {model: UN * closing_force(model) for model in ("linear", "partial")}
    paths = {model: path(model, OPENING, f / UN) for model, f in closing.items()}
    # The paper's force grows in steps of 1 uN and is printed as a whole number.
    checks = [
        near("closing force of the linear model", 63.0, closing["linear"], 1.0, "uN"),
        near("closing force of the partial model", 77.0, closing["partial"], 1.0, "uN"),
    ]
    checks += [
        Check(
            f"the {model} model opens at -60 uN",
            "tip x above its rest",
            f"{MM * (p.tip[0, 0]):.3f} mm",
            bool(p.tip[0, 0] > 0.44e-3),
        )
        for model, p in paths.items()
    ]

    def draw(figure: Figure) -> None:
        for axes, (model, p) in zip(figure.subplots(1, 2), paths.items(), strict=True):
            draw_workspace(axes, gripper.published_design(), p)
            axes.set_title(f"{model}: {closing[model]:.2f} uN")

    return Outcome(checks, {"closing_force_uN": closing, "tip": _tips(paths)}, draw)


def figure8() -> Outcome:
    """Closing and opening of the exact model, which takes the place of Adams here."""
    closing = closing_force("exact")
    forth, back = path("exact", 0.0, closing), path("exact", 0.0, OPENING)
    rest = np.asarray(forth.tip[0])
    checks = [
        near("closing brings the tip to x =", 0.0, MM * float(forth.tip[-1, 0]), 1e-6, "mm"),
        Check(
            "both movements start from the undeformed gripper",
            "same tip",
            f"{1e9 * float(np.abs(rest - np.asarray(back.tip[0])).max()):.1e} nm",
            bool(np.allclose(rest, np.asarray(back.tip[0]), atol=1e-15)),
        ),
    ]

    def draw(figure: Figure) -> None:
        both = zip(figure.subplots(1, 2), (forth, back), ("closing", "opening"), strict=True)
        for axes, p, name in both:
            draw_workspace(axes, gripper.published_design(), p)
            axes.set_title(f"exact, {name}")

    data = {"closing_force_uN": UN * closing, "tip": _tips({"closing": forth, "opening": back})}
    return Outcome(checks, data, draw)


def figure9() -> Outcome:
    """Tip paths and actuation forces of three models and two materials, from -60 uN to closing.

    Section 5.1 says without limits that the partial model is softer than the exact one while opening, and that
    nonlinear flexures need more force than linear ones; so both are checked over the whole opening.
    """
    closing = {m: closing_force(m) for m in SHOWN}
    soft = {m: closing_force(m, NYLON) for m in SHOWN}
    paths = {m: path(m, OPENING, closing[m]) for m in SHOWN}
    ratio = NYLON / SILICON
    nylon = {m: path(m, ratio * OPENING, soft[m], NYLON) for m in SHOWN}
    x = np.linspace(2e-5, 6.4e-4, 63)
    force = {m: _at(p, x, 1) for m, p in paths.items()}
    height = {m: _at(p, x, 0) for m, p in paths.items()}
    rest = 0.4432e-3
    start = {m: _slope(m) for m in SHOWN}
    spread = np.max([np.abs(height[m] - height["exact"]) for m in ("linear", "partial")], axis=0)
    middle = float(spread[np.abs(x - rest) < 0.1e-3].max())
    checks = [
        *_stiffness(x, force, rest),
        Check(
            "same stiffness at rest",
            "equal slopes",
            " ".join(f"{s:.6g}" for s in start.values()) + " N/m",
            bool(np.ptp(list(start.values())) < 1e-6 * start["exact"]),
        ),
        Check(
            "paths differ relevantly only at their ends",
            "within 0.1 mm of rest less than a tenth of the largest",
            f"{1e6 * middle:.1f} um against {1e6 * np.nanmax(spread):.0f} um",
            bool(middle < 0.1 * np.nanmax(spread)),
        ),
        near("nylon over silicon, exact closing force", ratio, soft["exact"] / closing["exact"], 1e-9),
        Check(
            "three inflections of the exact force curve with nylon, none with silicon",
            "3 and 0",
            f"{_inflections(nylon['exact'])} and {_inflections(paths['exact'])}: E only scales the force",
            _inflections(nylon["exact"]) == 3,
        ),
    ]  # fmt: skip

    data = {
        "closing_force_uN": {m: UN * f for m, f in closing.items()},
        "closing_force_nylon_uN": {m: UN * f for m, f in soft.items()},
        "silicon": _tips(paths),
        "nylon": _tips(nylon),
    }
    return Outcome(checks, data, lambda figure: _draw9(figure, paths, nylon))


def _stiffness(x: np.ndarray, force: dict[str, np.ndarray], rest: float) -> list[Check]:
    """Which model needs more force, away from rest."""
    shut, opened = x < 0.9 * rest, (x > 1.1 * rest)
    return [
        Check(
            "partial stiffer than exact while closing",
            "larger force",
            _range(force["partial"][shut] / force["exact"][shut]),
            bool(np.all(force["partial"][shut] > force["exact"][shut])),
        ),
        Check(
            "partial softer than exact while opening",
            "smaller force",
            _range(force["partial"][opened] / force["exact"][opened])
            + _larger_beyond(x[opened], force["partial"][opened] / force["exact"][opened]),
            bool(np.all(np.abs(force["partial"][opened]) < np.abs(force["exact"][opened]))),
        ),
        Check(
            "nonlinear flexures need more force than linear ones to close",
            "larger force",
            _range(force["exact"][shut] / force["linear"][shut]),
            bool(np.all(force["exact"][shut] > force["linear"][shut])),
        ),
        Check(
            "nonlinear flexures need more force than linear ones to open",
            "larger force",
            _range(force["exact"][opened] / force["linear"][opened]),
            bool(np.all(np.abs(force["exact"][opened]) > np.abs(force["linear"][opened]))),
        ),
    ]


def _draw9(
    figure: Figure, paths: dict[str, gripper.Trajectory], nylon: dict[str, gripper.Trajectory]
) -> None:
    grid = figure.subplots(2, 2)
    for row, (name, group) in zip(grid, (("silicon", paths), ("nylon", nylon)), strict=True):
        for model, p in group.items():
            tip, color = MM * np.asarray(p.tip), COLORS[model]
            row[0].plot(tip[:, 0], tip[:, 1], color=color, label=model)
            row[1].plot(tip[:, 0], UN * np.asarray(p.force), color=color, label=model)
        row[0].set(xlabel="tip x [mm]", ylabel="tip y [mm]", title=name)
        row[1].set(xlabel="tip x [mm]", ylabel="force [uN]", title=name)
        row[0].legend(frameon=False, fontsize=8)


def _tips(paths: dict[str, gripper.Trajectory]) -> dict:
    return {name: {"force": p.force, "tip": p.tip} for name, p in paths.items()}


def _at(p: gripper.Trajectory, x: np.ndarray, of_force: bool | int) -> np.ndarray:
    """Force or height of the tip where it is at x."""
    tip = np.asarray(p.tip)
    order = np.argsort(tip[:, 0])
    column = np.asarray(p.force) if of_force else tip[:, 1]
    known = (x >= tip[order[0], 0]) & (x <= tip[order[-1], 0])
    return np.where(known, np.interp(x, tip[order, 0], column[order]), np.nan)


def _slope(model: str) -> float:
    """Force over tip travel about rest [N/m]."""
    p = path(model, -1e-9, 1e-9)
    return float((p.force[-1] - p.force[0]) / (p.tip[0, 0] - p.tip[-1, 0]))


def _range(values: np.ndarray) -> str:
    return f"{np.nanmin(values):.3f} to {np.nanmax(values):.3f} of it"


def _larger_beyond(x: np.ndarray, ratio: np.ndarray) -> str:
    """Where the ratio first exceeds 1; empty when it never does."""
    beyond = x[ratio > 1]
    return f", larger beyond x = {MM * beyond.min():.2f} mm" if beyond.size else ""


def _inflections(p: gripper.Trajectory) -> int:
    """Sign changes of the curvature of force over tip x."""
    curve = np.polynomial.Chebyshev.fit(np.asarray(p.tip[:, 0]), np.asarray(p.force), 12)
    x = np.linspace(float(np.min(p.tip[:, 0])), float(np.max(p.tip[:, 0])), 400)[8:-8]
    bend = curve.deriv(2)(x)
    return int(np.sum(bend[1:] * bend[:-1] < 0))
