"""Figs. 4.16 to 4.24: friction under ultrasound in the plane, in line and across.

Figs. 4.14, 4.15, 4.17 and 4.21 are sketches. Figs. 4.19 and 4.23 show measurements alone, whose numbers are not
in the
text. Of Figs. 4.20 and 4.24 the calculated curves are here, and what the text says of them.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.mdr_thesis.tribometer import respond
from experiments.mdr_thesis.tribometer_tables import TABLES
from experiments.outcome import (
    Experiment,
    Outcome,
    Said,
    incomparable,
    order,
    own_number,
    shape,
)
from experiments.reading import SAME

ANGLE = np.deg2rad(15.25)

TABLE_4_2, TABLE_4_3 = TABLES.values()
FITTED_MASS = 0.5e-3
AMPLITUDES = (0.05e-6, 0.2e-6, 0.42e-6, 0.65e-6)
"""dl of Fig. 4.20 [m]; of these 0.05, 0.42 and 0.65 um are quoted in the text."""


def vibration(amplitude: Any, setting: dict[str, float]) -> Any:
    """v^ of a change of length dl between the contact points, eq. 4.28 [m/s]."""
    return amplitude * np.pi * setting["frequency"]


def _walking(amplitude: float, points: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Velocity over v^ and drag ratio of model 1."""
    drag = np.linspace(0, 1, points + 1)[1:-1]
    size = vibration(amplitude, TABLE_4_2)
    setting = TABLE_4_2 | dict(direction="ipi", law="dynamic", vibration_velocity=size)
    speed = respond("sliding_velocity", dict(probe_mass=FITTED_MASS), setting, drag_ratio=drag)
    return speed / size, drag


def _height(drag: np.ndarray) -> float:
    return float(np.ptp(drag)) if drag.size else 0.0


def figure4_16() -> Outcome:
    """In line, model 1: the caterpillar's jump at small amplitudes."""
    found = {a: _walking(a) for a in AMPLITUDES}
    plateau = {a: _height(f[np.abs(v - 2 / np.pi) < 1e-6]) for a, (v, f) in found.items()}
    kappa = 0.4 * 9 / (FITTED_MASS * 2 * np.pi * 43e3 * vibration(AMPLITUDES[0], TABLE_4_2))
    on_it = found[AMPLITUDES[0]][0][60]
    checks = [
        order(
            Said(
                "section 4.4.1",
                "for very small amplitudes dl the friction coefficient has a discontinuity at <v>/v^ = 2/pi",
            ),
            "0.05 um: friction jumps there",
            f"velocity 2/pi within 1e-6 over more than {SAME:.0%} of the drag",
            f"{on_it:.6f} over {plateau[AMPLITUDES[0]]:.2f} of the drag",
            abs(on_it - 2 / np.pi) < 1e-6 and plateau[AMPLITUDES[0]] > SAME,
        ),
        order(
            Said("section 4.4.1", "for larger amplitudes, this effect cannot be observed"),
            "jump at 0.2, 0.42 and 0.65 um, in shares of the drag",
            "none",
            ", ".join(f"{plateau[a]:g}" for a in AMPLITUDES[1:]),
            all(plateau[a] == 0 for a in AMPLITUDES[1:]),
        ),
        own_number(
            "times of the two reversals of the walking probe",
            "height of the jump, 1 - 2/kappa",
            1 - 2 / kappa,
            plateau[AMPLITUDES[0]],
            0.02,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for a, (v, f) in found.items():
            axes.plot(v, f, label=f"dl = {1e6 * a:g} um")
        axes.axvline(2 / np.pi, color="0.6", linewidth=0.8)
        axes.set(xlabel="mean velocity over vibration velocity", ylabel="friction over unreduced")
        axes.legend(frameon=False, fontsize=8)

    data = {f"{1e6 * a:g} um": {"velocity": v, "drag": f} for a, (v, f) in found.items()}
    return Outcome(checks, data, draw)


def _quasistatic(direction: str, zeta: np.ndarray, angle: float = 0.0) -> np.ndarray:
    setting = dict(direction=direction, vibration_velocity=1.0, track_angle=angle)
    return respond("friction_ratio", {}, setting, sliding_velocity=zeta)


def figure4_18() -> Outcome:
    """In line, model 2, on a straight and on a turning track."""
    zeta = np.concatenate([np.linspace(0.01, 3, 300), [1e3]])
    straight, turning = _quasistatic("ipi", zeta), _quasistatic("ipi", zeta, ANGLE)
    inside = zeta < 1
    off = float(np.max(np.abs(straight[inside] - 2 / np.pi * np.arcsin(zeta[inside]))))
    checks = [
        own_number(
            "(2/pi) arcsin of the velocity ratio", "angle 0, largest deviation", 0, off, 1e-12
        ),
        order(
            Said(
                "section 4.4.1",
                "only converging against the initial friction coefficient for very large sliding velocities",
            ),
            "angle 0: unreduced from <v> = v^ on; 15.25 degrees: not yet at three times v^",
            f"1; below {1 - SAME:g}",
            f"{straight[~inside].min():.6f}; {turning[-2]:.4f}",
            abs(straight[~inside].min() - 1) < 1e-12 and turning[-2] < 1 - SAME,
        ),
        order(
            Said("section 4.4.1", "for velocities close to zero, the friction vanishes"),
            "15.25 degrees: friction at a hundredth of v^",
            f"below {SAME:.0%}",
            f"{turning[0]:.4f}",
            turning[0] < SAME,
        ),
        order(
            Said(
                "section 4.4.1",
                "only converging against the initial friction coefficient for very large sliding velocities",
            ),
            "15.25 degrees: friction at a thousand times v^",
            f"1 within {SAME:.0%}",
            f"{turning[-1]:.4f}: eq. 4.36 has the limit cos(15.25 degrees)",
            abs(turning[-1] - 1) < SAME,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(zeta[:-1], straight[:-1], label="straight")
        axes.plot(zeta[:-1], turning[:-1], label="15.25 deg")
        axes.axhline(np.cos(ANGLE), color="0.6", linewidth=0.8, label="cosine of the angle")
        axes.set(xlabel="mean velocity over vibration velocity", ylabel="friction over unreduced")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(checks, {"zeta": zeta, "straight": straight, "turning": turning}, draw)


def figure4_20() -> Outcome:
    """In line, both models at the amplitudes of the measurements."""
    speed = np.linspace(1e-3, 0.3, 150)
    sizes = vibration(np.array(AMPLITUDES), TABLE_4_2)
    angled = np.stack([_quasistatic("ipi", speed / size, ANGLE) for size in sizes])
    walking = [_walking(a) for a in AMPLITUDES]
    slow = [float(_quasistatic("ipi", np.array([1e-6]), ANGLE)[0])]
    slow.append(max(float(v[0]) for v, _ in walking[1:]))
    ordered = bool(np.all(np.diff(angled, axis=0) < 1e-12))
    rising = bool(np.all(np.diff(angled, axis=1) > 0))
    far = [float(_quasistatic("ipi", np.array([1e3]), ANGLE)[0])]
    vanishing = Said(
        "section 4.4.2", "the vanishing friction coefficient for vanishing sliding velocity"
    )
    checks = [
        shape(
            Said("section 4.4.2", "the curves can qualitatively cover an increasing slope"),
            "model 2: friction rises with velocity",
            "rises",
            "rises" if rising else "does not everywhere",
            rising,
        ),
        order(
            Said("section 4.4.2", "the friction reduction increases with greater amplitude"),
            "model 2: larger amplitudes reduce more, at every velocity",
            "more",
            "more" if ordered else "not everywhere",
            ordered,
        ),
        order(
            vanishing,
            "model 2: friction at a millionth of v^",
            f"below {SAME:.0%}",
            f"{slow[0]:.1e}",
            slow[0] < SAME,
        ),
        order(
            vanishing,
            "model 1: velocity over v^ at the smallest drag, three amplitudes",
            f"below {SAME:.0%} apart from 0",
            f"{slow[1]:.4f}",
            slow[1] < SAME,
        ),
        order(
            Said(
                "section 4.4.2", "all curves converge against an average friction coefficient mu_0"
            ),
            "model 2: friction at a thousand times v^",
            f"1 within {SAME:.0%}",
            f"{far[0]:.4f}: the limit is cos(15.25 degrees)",
            abs(far[0] - 1) < SAME,
        ),
        incomparable(
            Said("Fig. 4.20a", "IPI experiments"),
            "measured friction",
            "the text has no numbers of the figure",
        ),
    ]

    data = {"velocity": speed, "amplitude": AMPLITUDES, "model_2": angled}
    return Outcome(checks, data, lambda figure: _draw20(figure, walking, sizes, speed, angled))


def _draw20(
    figure: Figure, walking: list, sizes: np.ndarray, speed: np.ndarray, angled: np.ndarray
) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    for i, a in enumerate(AMPLITUDES):
        v, f = walking[i]
        left.plot(v * sizes[i], f, color=f"C{i}", label=f"dl = {1e6 * a:g} um")
        right.plot(speed, angled[i], color=f"C{i}")
    left.set(title="model 1", xlabel="velocity [m/s]", ylabel="friction over unreduced")
    right.set(title="model 2", xlabel="velocity [m/s]")
    left.set_xlim(0, 0.3)
    left.legend(frameon=False, fontsize=8)


def figure4_22() -> Outcome:
    """Across, quasi-static; and that it reduces least."""
    zeta = np.concatenate([np.linspace(0.01, 5, 300), [1e-6, 1e3]])
    across, along = _quasistatic("ipp", zeta), _quasistatic("ipi", zeta)
    turn = float(zeta[:-2][(across > along)[:-2]].max())
    one = float(across[np.argmin(abs(zeta - 1))])
    checks = [
        order(
            Said("section 4.5.1", "a vanishing friction coefficient for small sliding velocities"),
            "friction at a millionth of v^",
            f"below {SAME:.0%}",
            f"{across[-2]:.1e}",
            across[-2] < SAME,
        ),
        order(
            Said(
                "section 4.5.1",
                "for large sliding velocities the mean friction converges against the value "
                "[...] without ultrasonic oscillations",
            ),
            "friction at a thousand times v^",
            f"1 within {SAME:.0%}",
            f"{across[-1]:.6f}",
            abs(across[-1] - 1) < SAME,
        ),
        own_number("(2/pi) K(1/2) / sqrt(2)", "friction at <v> = v^", 0.8346268, one, 3e-3),
        order(
            Said(
                "section 4.6", "the IPP direction occurs to be least influenced by the vibrations"
            ),
            "across reduces less than in line, at the same v^ and each velocity of the figure",
            "less",
            f"less up to {turn:.2f} v^, more beyond: at v^ {one:.2f} against 1",
            np.all(across[:-2] > along[:-2]),
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(zeta[:-2], across[:-2], label="across (ipp)")
        axes.plot(zeta[:-2], along[:-2], ":", label="in line (ipi, straight)")
        axes.set(xlabel="mean velocity over vibration velocity", ylabel="friction over unreduced")
        axes.legend(frameon=False)

    return Outcome(checks, {"zeta": zeta, "across": across, "along": along}, draw)


def figure4_24() -> Outcome:
    """Across at real and at ten times larger amplitudes."""
    speed = np.geomspace(1e-3, 3, 150)
    sizes = vibration(np.array(AMPLITUDES[1:]), TABLE_4_3)
    real = np.stack([_quasistatic("ipp", speed / size) for size in sizes])
    tenfold = np.stack([_quasistatic("ipp", speed / (10 * size)) for size in sizes])
    checks = [
        order(
            Said("section 4.5.2", "an effect of friction reduction is visible"),
            "least friction of the real amplitudes at 1 mm/s",
            f"below {1 - SAME:g}",
            f"{real[:, 0].min():.3f}",
            real[:, 0].min() < 1 - SAME,
        ),
        incomparable(
            Said("Fig. 4.24a", "IPP experiments"),
            "measured friction",
            "the text has no numbers of the figure",
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for i, a in enumerate(AMPLITUDES[1:]):
            axes.plot(speed, real[i], f"C{i}", label=f"dl = {1e6 * a:g} um")
            axes.plot(speed, tenfold[i], f"C{i}--")
        axes.set(xlabel="velocity [m/s]", ylabel="friction over unreduced", xlim=(0, 1.5))
        axes.legend(frameon=False, fontsize=8, title="dashed: tenfold")

    return Outcome(checks, {"velocity": speed, "real": real, "tenfold": tenfold}, draw)


EXPERIMENTS = {
    "mdr_thesis_fig4_16": Experiment("in line, model 1", figure4_16),
    "mdr_thesis_fig4_18": Experiment("in line, model 2", figure4_18),
    "mdr_thesis_fig4_20": Experiment("in line, models and measurements", figure4_20, (8.0, 3.6)),
    "mdr_thesis_fig4_22": Experiment("across", figure4_22),
    "mdr_thesis_fig4_24": Experiment("across, amplitudes and measurements", figure4_24),
}
"""Name -> experiment."""
