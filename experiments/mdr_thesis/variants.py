"""Figs. 3.19 to 3.25, 3.27 and 3.28: what corners, weight, dynamic friction, wear and roughness change."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.mdr_thesis.drive import LARGEST, curve, draw_curve, force_axes
from experiments.outcome import Check, Experiment, Outcome

POINTS = 8
WEIGHT = 3e-3 * 9.81
DAMPING = 0.03
"""Here of the critical one: without any, the force follows the vibration's phase, which hides small effects."""


def compare(
    radius: float,
    preload: float,
    change: dict[str, Any],
    label: str,
    judge: Callable[..., list[Check]],
) -> Outcome:
    """Two force curves, with and without a change."""
    strokes = np.linspace(0.15, 1.0, POINTS) * LARGEST[radius]
    case = dict(radius=radius, preload=preload, damping_ratio=DAMPING)
    plain, changed = curve(strokes, **case), curve(strokes, **case | change)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        draw_curve(axes, strokes, plain, "as published")
        draw_curve(axes, strokes, changed, label, "--")
        force_axes(axes)

    return Outcome(
        judge(plain, changed), {"stroke": strokes, "plain": plain, "changed": changed}, draw
    )


def small(limit: float, what: str) -> Callable[..., list[Check]]:
    """The change stays below a share of the largest force."""

    def judge(plain: np.ndarray, changed: np.ndarray) -> list[Check]:
        worst = float(np.max(np.abs(changed - plain)) / np.max(plain))
        return [
            Check(what, f"below {limit:.0%} of the largest force", f"{worst:.2%}", worst < limit)
        ]

    return judge


def flattened(plain: np.ndarray, changed: np.ndarray) -> list[Check]:
    """A worn tip lowers presliding, so that the force is larger."""
    gain = changed[plain > 0.2 * plain.max()] / plain[plain > 0.2 * plain.max()] - 1
    return [
        Check(
            "force of the worn sphere is larger",
            "larger",
            f"by {gain.min():.1%} to {gain.max():.1%}",
            bool(gain.min() > 0),
        )
    ]


def two_coefficients(plain: np.ndarray, changed: np.ndarray) -> list[Check]:
    """With the smaller coefficient the force saturates lower and starts earlier."""
    low = int(np.argmax(plain > 0.02 * plain.max()))
    return [
        Check(
            "force at the largest stroke is smaller",
            "smaller",
            f"{changed[-1] / plain[-1]:.2f} of it",
            bool(changed[-1] < plain[-1]),
        ),
        Check(
            "the 0-amplitude is smaller: more force at the onset",
            "more",
            f"{1e3 * changed[low]:.1f} against {1e3 * plain[low]:.1f} mN",
            bool(changed[low] > plain[low]),
        ),
    ]


def _experiment(title: str, *case: Any) -> Experiment:
    return Experiment(title, lambda: compare(*case))


TWO = dict(dynamic_friction=0.2)
ROUGH = dict(roughness=0.92e-6, hurst=1.7)
FITTED = dict(roughness=0.92e-6, hurst=0.9)

EXPERIMENTS = {
    "mdr_thesis_fig3_19": _experiment(
        "rounded corners",
        1e-3,
        0.5,
        dict(corner_time=1e-6),
        "rounded",
        small(0.01, "no influence of rounded corners"),
    ),
    "mdr_thesis_fig3_20": _experiment(
        "weight of the runner, R 1 mm",
        1e-3,
        0.5,
        dict(runner_weight=WEIGHT),
        "with weight",
        small(0.05, "not significantly different"),
    ),
    "mdr_thesis_fig3_21": _experiment(
        "weight of the runner, R 0.25 mm",
        0.25e-3,
        0.1,
        dict(runner_weight=WEIGHT),
        "with weight",
        small(0.2, "changes are in the 0-amplitude"),
    ),
    "mdr_thesis_fig3_22": _experiment(
        "static and dynamic friction", 1e-3, 0.1, TWO, "mu_d = 0.2", two_coefficients
    ),
    "mdr_thesis_fig3_24": _experiment(
        "flattened spheres, R 1 mm", 1e-3, 0.5, dict(tip_radius=6e-6), "flattened", flattened
    ),
    "mdr_thesis_fig3_25": _experiment(
        "flattened spheres, R 0.5 mm",
        0.5e-3,
        0.4,
        dict(tip_radius=3e-6),
        "flattened",
        small(0.05, "negligible"),
    ),
    "mdr_thesis_fig3_27a": _experiment(
        "measured roughness, R 1 mm", 1e-3, 0.5, ROUGH, "rough", small(0.05, "marginal")
    ),
    "mdr_thesis_fig3_27b": _experiment(
        "measured roughness, R 0.5 mm", 0.5e-3, 0.4, ROUGH, "rough", small(0.05, "marginal")
    ),
    "mdr_thesis_fig3_27c": _experiment(
        "measured roughness, R 0.25 mm", 0.25e-3, 0.1, ROUGH, "rough", small(0.05, "small")
    ),
    "mdr_thesis_fig3_28": _experiment(
        "fitted roughness, R 0.5 mm",
        0.5e-3,
        0.4,
        FITTED,
        "H = 0.9",
        lambda plain, changed: [
            Check(
                "the 0-amplitude grows: less force",
                "less",
                f"{changed[-1] / plain[-1]:.2f} of it at the largest stroke",
                bool(changed[-1] < plain[-1]),
            )
        ],
    ),
}
