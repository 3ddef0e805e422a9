"""Figs. 4.8 to 4.24 and Tables 4.1 to 4.3: friction under ultrasound.

Figs. 4.9, 4.14, 4.15, 4.17 and 4.21 are sketches. Figs. 4.11, 4.19 and 4.23 show measurements alone, whose numbers
are not in the text: they are not comparable and not here. Of Figs. 4.12, 4.13, 4.20 and 4.24 the calculated curves
are here, and what the text says of them.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from diffmicro.devices import tribometer
from diffmicro.mechanics import friction_control
from diffmicro.parameters import as_arrays
from experiments.mdr_thesis import tribometer_tables
from experiments.outcome import Check, Experiment, Outcome, near

RATIOS = (0.25, 0.5, 0.75, 1.0)
ANGLE = np.deg2rad(15.25)
STEPS = 256

TABLE_4_2, TABLE_4_3 = tribometer_tables.TABLES.values()
FITTED_MASS = 0.5e-3
AMPLITUDES = (0.05e-6, 0.2e-6, 0.42e-6, 0.65e-6)
"""dl of Fig. 4.20 [m]; of these 0.05, 0.42 and 0.65 um are quoted in the text."""


def vibration(amplitude: Any, setting: dict[str, float]) -> Any:
    """v^ of a change of length dl between the contact points, eq. 4.28 [m/s]."""
    return amplitude * np.pi * setting["frequency"]


def respond(wanted: str, design: dict, setting: dict, **lanes: np.ndarray) -> np.ndarray:
    """One response over lanes of setting parameters."""
    first = {name: float(values[0]) for name, values in lanes.items()}
    body = as_arrays(tribometer.published_design(**design))
    drive = as_arrays(tribometer.published_setting(**setting, **first))

    def one(*values: jax.Array) -> jax.Array:
        own = drive
        for name, value in zip(lanes, values, strict=True):
            own = eqx.tree_at(lambda s, n=name: getattr(s, n), own, value)
        return getattr(tribometer.respond(body, own, steps=STEPS, throw=False), wanted)

    return np.asarray(jax.jit(jax.vmap(one))(*(jnp.asarray(v) for v in lanes.values())))


def out_of_plane(law: str, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Velocity and drag ratio for each force ratio, and the critical velocities."""
    share = (1 - np.cos(np.pi * np.linspace(0, 1, points + 1)[1:-1])) / 2
    drags = np.stack([1 - r + r * share for r in RATIOS])
    ratios = np.repeat(np.array(RATIOS), share.size)
    speed = respond(
        "sliding_velocity", {}, dict(law=law), drag_ratio=drags.ravel(), force_ratio=ratios
    )
    critical = respond(
        "critical_velocity",
        {},
        dict(law=law),
        drag_ratio=np.full(4, 0.9),
        force_ratio=np.array(RATIOS),
    )
    return speed.reshape(drags.shape), drags, critical


def _curves(axes: Axes, speed: np.ndarray, drags: np.ndarray, critical: np.ndarray) -> None:
    for row, drag, ratio, last in zip(speed, drags, RATIOS, critical, strict=True):
        x, y = np.concatenate([[0], row, [last]]), np.concatenate([[1 - ratio], drag, [1]])
        axes.plot(1e3 * x, y, label=f"force ratio {ratio:g}")
    axes.set(
        xlabel="mean sliding velocity [mm/s]", ylabel="friction over unreduced", ylim=(0, 1.05)
    )
    axes.legend(frameon=False, fontsize=8)


def figure4_8() -> Outcome:
    """Out of plane by Coulomb's law: exact, and the explicit approximation."""
    speed, drags, critical = out_of_plane("coulomb", 40)
    unit = 0.4 * 9.5 * np.array(RATIOS) / (2.1e-3 * 2 * np.pi * 30e3)
    shares = np.asarray(friction_control.approximate_share(jnp.asarray(speed / unit[:, None])))
    approximate = 1 + np.array(RATIOS)[:, None] * (shares - 1)
    slow = [
        float(respond("friction_ratio", {}, {}, force_ratio=np.array([r]), sliding_velocity=np.array([1e-12]))[0])
        for r in RATIOS
    ]  # fmt: skip
    checks = [
        near(f"friction at vanishing velocity, force ratio {r:g} (eq. 4.15)", 1 - r, s, 1e-4)
        for r, s in zip(RATIOS, slow, strict=True)
    ]
    checks += [
        near("unreduced from mu dF / (m omega) on, 0.5", 1e3 * unit[1], 1e3 * critical[1], 1e-9, "mm/s"),
        _rising(speed),
        Check(
            "approximation hardly distinguishable, read as: within 0.01",
            "below 0.01",
            f"{np.max(np.abs(approximate - drags)):.4f}",
            bool(np.max(np.abs(approximate - drags)) < 0.01),
        ),
    ]  # fmt: skip

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _curves(axes, speed, drags, critical)
        for row, y in zip(speed, approximate, strict=True):
            axes.plot(1e3 * row, y, "k--", linewidth=0.8)

    data = {
        "force_ratio": RATIOS,
        "velocity": speed,
        "drag_ratio": drags,
        "approximate": approximate,
    }
    return Outcome(checks, data, draw)


def figure4_10() -> Outcome:
    """Out of plane by springs, and against Coulomb's law."""
    speed, drags, critical = out_of_plane("mdr", 16)
    plain = out_of_plane("coulomb", 4)[2]
    stalled = respond(
        "sliding_velocity", {}, dict(law="mdr"),
        drag_ratio=np.array([0.74, 0.49, 0.24]), force_ratio=np.array(RATIOS[:3]),
    )  # fmt: skip
    first = speed[:, 0] / critical
    times = critical / plain
    checks = [
        near("no sliding just below 1 - dF/F (eq. 4.15)", 0, float(np.max(np.abs(stalled))), 0, "m/s"),
        Check(
            "slow sliding just above it, over the critical velocity",
            "above 0, below 0.02",
            ", ".join(f"{x:.1e}" for x in first),
            bool(np.all((first > 0) & (first < 0.02))),
        ),
        _rising(speed),
        Check(
            "velocity up to which friction is reduced is much higher than by Coulomb's law",
            "much higher",
            "times " + ", ".join(f"{x:.1f}" for x in times),
            bool(np.all(times > 3)),
        ),
    ]  # fmt: skip

    def draw(figure: Figure) -> None:
        _curves(figure.subplots(), speed, drags, critical)

    data = {"force_ratio": RATIOS, "velocity": speed, "drag_ratio": drags, "critical": critical}
    return Outcome(checks, data | {"critical_coulomb": plain}, draw)


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
        near("smallest amplitude: friction jumps at <v>/v^ = 2/pi", 2 / np.pi, float(on_it), 1e-6),
        near("height of the jump is 1 - 2/kappa", 1 - 2 / kappa, plateau[AMPLITUDES[0]], 0.02),
        Check(
            "no jump at the larger amplitudes",
            "0, 0, 0",
            ", ".join(f"{plateau[a]:g}" for a in AMPLITUDES[1:]),
            all(plateau[a] == 0 for a in AMPLITUDES[1:]),
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
        near("angle 0 is (2/pi) arcsin, largest deviation", 0, off, 1e-12),
        near("angle 0: unreduced from <v> = v^ on", 1, float(straight[~inside].min()), 0),
        near("friction vanishes with the velocity", 0, float(turning[0]), 0.01),
        Check(
            "15.25 deg: below the straight track for all larger velocities",
            "yes",
            f"{np.max(turning[zeta > 1.2]):.4f} at most",
            bool(np.all(turning[zeta > 1.2] < straight[zeta > 1.2])),
        ),
        near("15.25 deg: unreduced at very large velocities", 1, float(turning[-1]), 0.01),
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
    checks = [
        Check("friction rises with velocity (model 2)", "yes", "yes" if rising else "no", rising),
        Check("larger amplitudes reduce more", "yes", "yes" if ordered else "no", ordered),
        near("no static friction is left (model 2)", 0, slow[0], 1e-5),
        near(
            "no static friction is left (model 1): velocity at the smallest drag", 0, slow[1], 0.02
        ),
        Check("measured curves", "Fig. 4.20a", "not comparable: no numbers in the text", False),
    ]

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        for i, a in enumerate(AMPLITUDES):
            v, f = walking[i]
            left.plot(v * sizes[i], f, color=f"C{i}", label=f"dl = {1e6 * a:g} um")
            right.plot(speed, angled[i], color=f"C{i}")
        left.set(title="model 1", xlabel="velocity [m/s]", ylabel="friction over unreduced")
        right.set(title="model 2", xlabel="velocity [m/s]")
        left.set_xlim(0, 0.1)
        left.legend(frameon=False, fontsize=8)

    return Outcome(checks, {"velocity": speed, "amplitude": AMPLITUDES, "model_2": angled}, draw)


def figure4_22() -> Outcome:
    """Across, quasi-static; and that it reduces least."""
    zeta = np.concatenate([np.linspace(0.01, 5, 300), [1e-6, 1e3]])
    across, along = _quasistatic("ipp", zeta), _quasistatic("ipi", zeta)
    small = zeta < 0.9
    checks = [
        near("friction vanishes with the velocity", 0, float(across[-2]), 1e-4),
        near("unreduced at large velocities", 1, float(across[-1]), 1e-5),
        near("at <v> = v^: (2/pi) K(1/2) / sqrt(2)", 0.8346268, float(across[np.argmin(abs(zeta - 1))]), 3e-3),
        Check(
            "across reduces less than in line, for velocities below 0.9 v^",
            "yes",
            f"{np.min((across - along)[small]):.3g} at least",
            bool(np.all(across[small] > along[small])),
        ),
    ]  # fmt: skip

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
    half = [float(np.interp(0.5, row, np.log10(speed))) for row in (real[0], tenfold[0])]
    checks = [
        near("ten times the amplitude acts at ten times the velocity", 1, half[1] - half[0], 1e-2, "decade"),
        Check("ten times the amplitude reduces more", "yes", "yes", bool(np.all(tenfold < real))),
        Check("measured curves", "Fig. 4.24a", "not comparable: no numbers in the text", False),
    ]  # fmt: skip

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for i, a in enumerate(AMPLITUDES[1:]):
            axes.plot(speed, real[i], f"C{i}", label=f"dl = {1e6 * a:g} um")
            axes.plot(speed, tenfold[i], f"C{i}--")
        axes.set(xlabel="velocity [m/s]", ylabel="friction over unreduced", xlim=(0, 1.5))
        axes.legend(frameon=False, fontsize=8, title="dashed: tenfold")

    return Outcome(checks, {"velocity": speed, "real": real, "tenfold": tenfold}, draw)


MEASURED = Check("measured curves", "shown", "not comparable: no numbers in the text", False)


def _rising(speed: np.ndarray) -> Check:
    """Drag grows along each row, so velocity has to; points without a solution (drag near one) are counted."""
    solved = np.isfinite(speed)
    rising = all(
        bool(np.all(np.diff(row[known]) > 0)) for row, known in zip(speed, solved, strict=True)
    )
    measured = "yes" if rising else "no"
    if not solved.all():
        measured += f", at the {solved.sum()} of {solved.size} drags with a solution"
    return Check("friction rises with velocity", "yes", measured, rising)


def _compared(law: str, points: int, statement: str, stated: str, holds: Any) -> Outcome:
    """A law's curves in the range of the measurements, with what the text says of them."""
    speed, drags, critical = out_of_plane(law, points)
    plain = np.array([0.4 * 9.5 * r / (2.1e-3 * 2 * np.pi * 30e3) for r in RATIOS])
    times = critical / plain
    checks = [
        Check(statement, stated, ", ".join(f"{x:.2f}" for x in times), bool(np.all(holds(times)))),
        _rising(speed),
        MEASURED,
    ]  # fmt: skip

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _curves(axes, speed, drags, critical)
        axes.set_xlim(0, 60)

    return Outcome(checks, {"force_ratio": RATIOS, "velocity": speed, "drag_ratio": drags}, draw)


def figure4_12() -> Outcome:
    """Coulomb's law in the range of the measurements: reduction ends at a third of where it does there."""
    return _compared(
        "coulomb", 40, "reduction ends at mu dF / (m omega)", "1", lambda x: np.abs(x - 1) < 1e-12
    )


def figure4_13() -> Outcome:
    """Springs in the range of the measurements: reduction reaches beyond three times Coulomb's velocity."""
    return _compared(
        "mdr",
        16,
        "reduction lasts to at least three times Coulomb's velocity, as measured",
        "at least 3",
        lambda x: x >= 3,
    )


EXPERIMENTS = {
    "mdr_thesis_fig4_8": Experiment("out of plane by Coulomb's law", figure4_8),
    "mdr_thesis_fig4_10": Experiment("out of plane by springs", figure4_10),
    "mdr_thesis_fig4_12": Experiment("out of plane, Coulomb and measurements", figure4_12),
    "mdr_thesis_fig4_13": Experiment("out of plane, springs and measurements", figure4_13),
    "mdr_thesis_fig4_16": Experiment("in line, model 1", figure4_16),
    "mdr_thesis_fig4_18": Experiment("in line, model 2", figure4_18),
    "mdr_thesis_fig4_20": Experiment("in line, models and measurements", figure4_20, (8.0, 3.6)),
    "mdr_thesis_fig4_22": Experiment("across", figure4_22),
    "mdr_thesis_fig4_24": Experiment("across, amplitudes and measurements", figure4_24),
    **tribometer_tables.EXPERIMENTS,
}
"""Name -> experiment."""
