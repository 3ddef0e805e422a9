"""Figs. 7 to 9: workspaces and forces of the models, silicon and nylon; the exact model stands for Adams."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from diffmicro.devices import gripper
from diffmicro.plot.gripper import BENT, COLORS, PATH, REST
from diffmicro.plot.gripper import workspace as draw_workspace
from experiments.outcome import (
    Check,
    Outcome,
    Said,
    incomparable,
    number,
    order,
    own_number,
    shape,
)
from experiments.reading import SLIGHT
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
    stated = Said(
        "section 5.1",
        "the clamp is closed [...] F_2y = 63 uN for the linear model and F_2y = 77 uN for the partial",
    )
    checks = [
        number(
            stated,
            "closing force of the linear model",
            "63",
            closing["linear"],
            "uN",
            note="the last whole force before it closes is 63",
        ),
        number(stated, "closing force of the partial model", "77", closing["partial"], "uN"),
    ]

    def draw(figure: Figure) -> None:
        for axes, (model, p) in zip(figure.subplots(1, 2), paths.items(), strict=True):
            draw_workspace(axes, gripper.published_design(), p, mirror=True)
            axes.set_title(f"{model}: -60 to {closing[model]:.2f} uN")
        _legend(figure)

    return Outcome(checks, {"closing_force_uN": closing, "tip": _tips(paths)}, draw)


def figure8() -> Outcome:
    """Closing and opening of the exact model, which takes the place of Adams here."""
    closing = closing_force("exact")
    forth, back = path("exact", 0.0, closing), path("exact", 0.0, OPENING)
    checks = [
        incomparable(
            Said(
                "section 5.1, Fig. 8",
                "one for the forward movement of closing and the other for the backward movement of opening",
            ),
            "paths of the tip",
            "the text has no numbers of the figure; the exact arc takes the place of Adams",
        )
    ]

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        ends = (f"closing, to {UN * closing:.1f} uN", "opening, to -60 uN")
        for axes, p, name in zip(panels, (forth, back), ends, strict=True):
            draw_workspace(axes, gripper.published_design(), p, mirror=True)
            axes.set_title(f"exact, {name}")
        _legend(figure)

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
    near = (x > rest / 2) & (x < (rest + x[np.isfinite(spread)].max()) / 2)
    middle = float(spread[near].max())
    bends = [_inflections(p["exact"]) for p in (nylon, paths)]
    checks = [
        *_stiffness(x, force, rest),
        order(
            Said(
                "section 5.1",
                "the three models have equal stiffness only at the undeformed configuration",
            ),
            "slopes of the force at rest",
            "equal",
            " ".join(f"{s:.6g}" for s in start.values()) + " N/m",
            np.ptp(list(start.values())) < 1e-6 * start["exact"],
        ),
        shape(
            Said(
                "section 5.1",
                "arc-shaped trajectories of the end-effector reveal relevant differences only in "
                "the final part of the path",
            ),
            "largest distance of the paths in the first half of the travel to each side, over the largest of all",
            f"below {SLIGHT:.0%}",
            f"{1e6 * middle:.1f} um of {1e6 * np.nanmax(spread):.0f} um",
            middle < SLIGHT * np.nanmax(spread),
        ),
        *_twenty_degrees(paths),
        order(
            Said(
                "section 5.1",
                "three inflection points appear for the fully non-linear flexures [nylon]",
            ),
            "inflections of the exact force curve, nylon and silicon",
            "3; silicon is not said to have any",
            f"{bends[0]} and {bends[1]}: E only scales the force",
            bends[0] == 3,
        ),
        own_number(
            "force scales with E",
            "exact closing force, nylon over silicon",
            ratio,
            soft["exact"] / closing["exact"],
            1e-9,
        ),
    ]

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
    stiffer = Said(
        "section 5.1",
        "the partial non-linear model is stiffer [...] in the forward closing movement "
        "and softer in the opening movement",
    )
    grows = Said(
        "section 5.1", "non-linearities introduce a stiffening effect [against the linear model]"
    )
    over = {m: force[m] / force["exact"] for m in ("partial", "linear")}
    return [
        order(
            stiffer,
            "closing: force of the partial model over the exact one",
            "above 1",
            _range(over["partial"][shut]),
            np.all(over["partial"][shut] > 1),
        ),
        order(
            stiffer,
            "opening: force of the partial model over the exact one",
            "below 1",
            _range(over["partial"][opened]) + _larger_beyond(x[opened], over["partial"][opened]),
            np.all(over["partial"][opened] < 1),
        ),
        order(
            grows,
            "closing: force of the exact model over the linear one",
            "above 1",
            _range(1 / over["linear"][shut]),
            np.all(over["linear"][shut] < 1),
        ),
        order(
            grows,
            "opening: force of the exact model over the linear one",
            "above 1",
            _range(1 / over["linear"][opened]),
            np.all(over["linear"][opened] < 1),
        ),
    ]


RANGE = np.deg2rad(20)
"""Rotation to which the hinges are limited (section 5.1)."""


def rotations(p: gripper.Trajectory) -> np.ndarray:
    """Largest size of the four relative rotations at each state [rad]."""
    turned = np.asarray(p.configuration).reshape(-1, 3, 3)[:, :, 2]
    frame = np.zeros((len(turned), 1))
    return np.abs(np.diff(np.hstack([frame, turned, frame]), axis=1)).max(axis=1)


def _twenty_degrees(paths: dict[str, gripper.Trajectory]) -> list[Check]:
    """How far the simplified models are off while no hinge turns by more than 20 degrees."""
    exact = paths["exact"]
    inside = rotations(exact) < RANGE
    forces, tips = np.asarray(exact.force)[inside], np.asarray(exact.tip)[inside]
    travel = np.linalg.norm(
        tips - np.asarray(exact.tip)[np.argmin(np.abs(exact.force))], axis=1
    ).max()
    excellent = Said(
        "section 5.1",
        "excluding the limit points of the workspace [...], the simplified models provide excellent results",
    )
    checks = []
    for model in ("linear", "partial"):
        p = paths[model]
        there = np.stack(
            [np.interp(forces, p.force, np.asarray(p.tip)[:, k]) for k in (0, 1)], axis=1
        )
        off = float(np.linalg.norm(there - tips, axis=1).max() / travel)
        checks.append(
            shape(
                excellent,
                f"{model} model within 20 degrees: tip against the exact one at the same force, over its travel",
                f"within {SLIGHT:.0%}",
                f"{off:.1%}, from {UN * forces[0]:.1f} to {UN * forces[-1]:.1f} uN",
                off < SLIGHT,
            )
        )
    return [*checks, _one_arc()]


def _one_arc() -> Check:
    """Section 2's statement on one flexure, by a moment alone: its curvature stays constant, so the end is
    known exactly.

    An arc of length l that is turned on by phi ends at l (sin t, 1 - cos t)/t with t = theta + phi.
    """
    design = gripper.published_design()
    worst = {}
    for theta in np.asarray(design.beam_angle):
        end = lambda t: np.array([np.sin(t), 1 - np.cos(t)]) / t  # noqa: E731
        slope = (end(theta + 1e-6) - end(theta - 1e-6)) / 2e-6
        moved = end(theta + RANGE) - end(theta)
        worst[float(np.rad2deg(theta))] = float(
            np.linalg.norm(slope * RANGE - moved) / np.linalg.norm(moved)
        )
    return shape(
        Said(
            "section 2",
            "a linear model is capable of faithfully reproducing [...] up to rotations of "
            "approximately +-20 degrees",
        ),
        "one flexure under a moment, turned by 20 degrees: end of the linear model, over its way",
        f"within {SLIGHT:.0%}",
        ", ".join(f"arc of {t:.0f} degrees {x:.0%} off" for t, x in worst.items()),
        max(worst.values()) < SLIGHT,
    )


def _legend(figure: Figure) -> None:
    lines = [
        Line2D([], [], color=REST, label="undeformed"),
        Line2D([], [], color=BENT, label="ends of the movement"),
        Line2D([], [], color=PATH, label="path of the tip"),
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=3, frameon=False)


def _draw9(
    figure: Figure, paths: dict[str, gripper.Trajectory], nylon: dict[str, gripper.Trajectory]
) -> None:
    grid = figure.subplots(2, 2)
    for row, (name, group) in zip(grid, (("silicon", paths), ("nylon", nylon)), strict=True):
        for model, p in group.items():
            tip, color = MM * np.asarray(p.tip), COLORS[model]
            row[0].plot(tip[:, 0], tip[:, 1], color=color, label=model)
            row[1].plot(tip[:, 0], UN * np.asarray(p.force), color=color, label=model)
            if model == "exact":
                ends = np.flatnonzero(rotations(p) < RANGE)[[0, -1]]
                for axes, ordinate in zip(row, (tip[:, 1], UN * np.asarray(p.force)), strict=True):
                    axes.plot(tip[ends, 0], ordinate[ends], "k|", markersize=14, label="20 degrees")
        row[0].set(xlabel="tip x [mm]", ylabel=f"{name}: tip y [mm]")
        row[1].set(xlabel="tip x [mm]", ylabel=f"{name}: force [uN]")
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
