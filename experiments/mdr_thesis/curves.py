"""Figs. 3.9 and 3.15 to 3.17: generated force over stroke. Figs. 3.9 and 3.16 are one experiment: the same
curves.
"""

import numpy as np
from matplotlib.figure import Figure

from experiments.mdr_thesis.drive import (
    LARGEST,
    MEASURED,
    PRELOADS,
    curves,
    draw_curve,
    force_axes,
    points,
)
from experiments.outcome import (
    Check,
    Experiment,
    Outcome,
    Said,
    incomparable,
    number,
    order,
    shape,
)
from experiments.reading import SAME, SLIGHT

POINTS = 16
FRICTION = 0.3


def limit(preload: float) -> float:
    """2 mu F_n (section 3.2.2) [N]."""
    return 2 * FRICTION * 2**0.5 * preload


def force_curves(radius: float) -> tuple[np.ndarray, dict[float, np.ndarray]]:
    """Strokes and the force of each preload."""
    strokes = np.linspace(0.05, 1.0, POINTS) * LARGEST[radius]
    return strokes, curves(strokes, PRELOADS[radius], radius=radius)


def _common(radius: float, strokes: np.ndarray, forces: dict[float, np.ndarray]) -> list[Check]:
    """What sections 3.2.2 and 3.4.1 say of all radii."""
    still = [
        float(np.max(f[strokes < _lower(radius, p)], initial=0) / f.max())
        for p, f in forces.items()
    ]
    shares = {p: float(f[-1] / limit(p)) for p, f in forces.items()}
    growth = {
        p: float(f[-1] / np.interp(0.75 * strokes[-1], strokes, f) - 1) for p, f in forces.items()
    }
    return [
        order(
            Said("section 3.4.1", "a 0-amplitude, for which no force is generated"),
            "largest force below the smaller presliding, over the curve's largest",
            f"below {SAME:.0%}",
            f"{max(still):.2%}: half a stroke on the sensor",
            max(still) < SAME,
        ),
        order(
            Said(
                "section 3.2.2",
                "the maximal possible generatable force [...] is limited to a value of approximately 2 mu F_n",
            ),
            "force over 2 mu F_n",
            "below 1",
            f"{max(shares.values()):.3f} at most",
            max(shares.values()) < 1,
        ),
        order(
            Said("section 3.2.2", "for lower preloads reaches a saturated level"),
            "the smallest preload is nearest to its limit",
            f"{min(forces):g} N",
            ", ".join(f"{p:g} N: {s:.2f}" for p, s in shares.items()),
            shares[min(shares)] == max(shares.values()),
        ),
        shape(
            Said("section 3.2.2", "after this amplitude, the generated force rises"),
            "largest fall between neighbors, over the curve's largest",
            f"below {SAME:.0%}",
            f"{max(float(np.max(-np.diff(f)) / f.max()) for f in forces.values()):.1%}",
            all(np.max(-np.diff(f)) < SAME * f.max() for f in forces.values()),
        ),
        *_level(radius, growth),
    ]


def _level(radius: float, growth: dict[float, float]) -> list[Check]:
    """Fig. 3.15: only one curve saturates."""
    if radius != 1e-3:
        return []
    said = Said("section 3.4.1", "a force level for the numerical data is only reached for 0.1 N")
    return [
        shape(
            said,
            "growth of the force over the last quarter of the strokes",
            f"below {SLIGHT:.0%} for 0.1 N alone",
            ", ".join(f"{p:g} N: {g:.0%}" for p, g in growth.items()),
            all((g < SLIGHT) == (p == 0.1) for p, g in growth.items()),
        )
    ]


def _outcome(
    strokes: np.ndarray, forces: dict[float, np.ndarray], checks: list[Check], marks: tuple = ()
) -> Outcome:
    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for i, (preload, force) in enumerate(forces.items()):
            draw_curve(axes, strokes, force, f"preload {preload:g} N", f"C{i}-")
        for preload, stroke, force in marks:
            color = f"C{list(forces).index(preload)}"
            axes.plot(
                1e9 * stroke, 1e3 * force, "s", color=color, label=f"measured, {preload:g} N (text)"
            )
        force_axes(axes)

    data = {"stroke": strokes, "force": {f"{p:g} N": f for p, f in forces.items()}}
    return Outcome(checks, data, draw)


def figure3_15() -> Outcome:
    """R 1 mm."""
    radius = 1e-3
    strokes, forces = force_curves(radius)
    preload, stroke, measured = MEASURED[radius]
    here = float(np.interp(stroke, strokes, forces[preload]))
    checks = [
        *_common(radius, strokes, forces),
        order(
            Said("section 3.4.1", "the simulated data overestimates the generated force"),
            "0.5 N at 202 nm, where about 200 mN are measured (the text prints N)",
            "more than 200 mN",
            f"{1e3 * here:.0f} mN",
            here > measured,
        ),
        number(
            Said(
                "section 3.4.1",
                "of the experimental data, reached for approximately 200 [m]N at 202 nm",
            ),
            "measured force, 0.5 N at 202 nm",
            "200",
            1e3 * here,
            "mN",
            about=SLIGHT,
            note="the thesis's own simulation is above it too",
        ),
    ]
    return _outcome(strokes, forces, checks, (MEASURED[radius],))


def figure3_16() -> Outcome:
    """R 0.5 mm, with what Fig. 3.9 measures."""
    radius = 0.5e-3
    strokes, forces = force_curves(radius)
    preload, stroke, measured = MEASURED[radius]
    beyond = forces[preload][strokes >= stroke]
    level = np.array([np.interp(stroke, strokes, forces[preload]), *beyond])
    range_ = f"{1e3 * level.min():.0f} to {1e3 * level.max():.0f} mN"
    level_of = (
        "the maximal generated force is approximately 40 mN, for all amplitudes larger than 62 nm"
    )
    checks = [
        *_common(radius, strokes, forces),
        order(
            Said("section 3.4.1", "again, the generated force level is overestimated"),
            "0.1 N beyond 62 nm, where about 40 mN are measured",
            "more than 40 mN",
            range_,
            np.all(level > measured),
        ),
        number(
            Said("section 3.2.2", level_of),
            "measured level, 0.1 N: the force at the largest stroke",
            "40",
            1e3 * float(level[-1]),
            "mN",
            about=SLIGHT,
            note="the thesis's own simulation is above it too",
        ),
        shape(
            Said("section 3.2.2", level_of),
            "the level is reached at 62 nm",
            f"constant within {SLIGHT:.0%} from there on",
            range_,
            np.ptp(level) < SLIGHT * level.max(),
        ),
        incomparable(
            Said("section 3.4.1", "the 0-amplitude is strictly smaller for the simulated values"),
            "measured 0-amplitudes",
            "the text has no numbers of the figure",
        ),
    ]
    return _outcome(strokes, forces, checks, (MEASURED[radius],))


def figure3_17() -> Outcome:
    """R 0.25 mm."""
    radius = 0.25e-3
    strokes, forces = force_curves(radius)
    checks = [
        *_common(radius, strokes, forces),
        incomparable(
            Said(
                "section 3.4.1",
                "simulated well, while the generated force is again over-approximated",
            ),
            "measured forces",
            "the text has no numbers of the figure",
        ),
    ]
    return _outcome(strokes, forces, checks)


def _lower(radius: float, preload: float) -> float:
    """Presliding of the group with the smaller normal force [m]."""
    return float(points([dict(radius=radius, preload=preload)])["presliding"][0, 1])


EXPERIMENTS = {
    "mdr_thesis_fig3_15": Experiment("force over stroke, R 1 mm", figure3_15),
    "mdr_thesis_fig3_16": Experiment(
        "force over stroke, R 0.5 mm (Figs. 3.9 and 3.16)", figure3_16
    ),
    "mdr_thesis_fig3_17": Experiment("force over stroke, R 0.25 mm", figure3_17),
}
