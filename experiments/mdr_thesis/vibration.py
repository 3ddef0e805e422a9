"""Figs. 3.36, 3.38 and 3.39: the vibration after the back step, its damping by friction, and the shaped signal."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import stickslip
from diffmicro.reference import cattaneo
from experiments.mdr_thesis.drive import points
from experiments.outcome import Check, Experiment, Outcome, near

CASE: dict[str, Any] = dict(radius=0.5e-3, preload=0.25)

SHAPED = 2 * (1 - 0.5 ** (2 / 3))
"""Shaped move over presliding that leaves a fully slid sphere without force: 2 (1 - (1/2)^(2/3)) = 0.740."""


def _motion(
    stroke: float, shaping: float, period: float, periods: int
) -> tuple[np.ndarray, np.ndarray]:
    """Time since the last back step but one and position in the period after it, without sensor."""
    design = stickslip.published_design(radius=CASE["radius"], sensor_stiffness=0.0)
    setting = stickslip.published_setting(
        preload=CASE["preload"], amplitude=stroke, shaping=shaping, period=period
    )
    path = stickslip.simulate(design, setting, periods=periods)
    return np.asarray(path.time), np.asarray(path.position)


def figure3_36() -> Outcome:
    """Friction damps the vibration; eq. 3.38 has its envelope when it starts where the simulation does."""
    stroke, period = 160e-9, 0.01
    time, position = _motion(stroke, 0.0, period, 3)
    last = time > 2 * period
    time, position = time[last] - 2 * period, position[last]
    away = position - position[0] - stroke * time / period
    turns = np.flatnonzero(np.diff(np.sign(np.diff(away)))) + 1
    # half the way from one turning point to the next is the amplitude halfway between
    amplitude = np.abs(np.diff(away[turns])) / 2
    when = (time[turns][1:] + time[turns][:-1]) / 2
    found = points([dict(CASE)])
    upper, lower = found["presliding"][0]
    forces = found["normal_force"][0]
    stiffness = 1.5 * 0.3 * (2 * forces[0] / upper + 4 * forces[1] / lower)
    losses = 0.3 * (2 * forces[0] / (2 * upper**2) + 4 * forces[1] / (2 * lower**2))
    turn = float(np.mean(2 * np.diff(time[turns])))
    envelope = cattaneo.vibration_envelope(when - when[0], amplitude[0], turn, stiffness, losses)
    off = np.asarray(envelope) / amplitude - 1
    early = when < 2e-3
    checks = [
        near(
            "amplitude after the back step, read from the graph",
            18.0,
            1e9 * float(amplitude[0]),
            3.0,
            "nm",
        ),
        Check(
            "eq. 3.38 is a nicely fitting envelope",
            "fits",
            f"off by {np.abs(off[early]).max():.1%} up to 2 ms, {np.abs(off).max():.1%} in all",
            bool(np.abs(off[early]).max() < 0.15),
        ),
        near(
            "frequency of the vibration, sqrt(k/m)/2 pi",
            1e-3 * float(np.sqrt(stiffness / 3e-3)) / (2 * np.pi),
            1e-3 / turn,
            0.3,
            "kHz",
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(1e3 * time, 1e9 * away, linewidth=0.8)
        middle = float(np.mean(away[time > 0.5 * period])) * 1e9
        axes.plot(1e3 * when, middle + 1e9 * np.asarray(envelope), "C1", label="eq. 3.38")
        axes.plot(1e3 * when, middle - 1e9 * np.asarray(envelope), "C1")
        axes.set(xlabel="time after the back step [ms]", ylabel="runner against the drive [nm]")
        axes.legend(frameon=False)

    return Outcome(
        checks, {"time": when, "amplitude": amplitude, "envelope": np.asarray(envelope)}, draw
    )


def shaped(stroke: float, period: float) -> Outcome:
    """The shaped signal takes the back step of the runner away, and most of its vibration."""
    shares = (0.0, SHAPED, 1.0)
    found = points(
        [
            dict(CASE, sensor_stiffness=0.0, amplitude=stroke, shaping=s, period=period)
            for s in shares
        ]
    )
    back, vibration, step = found["back_motion"], found["residual_vibration"], found["net_step"]
    checks = [
        Check(
            "back step of the runner is gone at 0.740",
            "gone",
            f"{back[1] / back[0]:.3f} of it",
            bool(back[1] < 0.15 * back[0]),
        ),
        Check(
            "vibration left at 0.740",
            "about a quarter",
            f"{vibration[1] / vibration[0]:.2f}",
            bool(0.1 < vibration[1] / vibration[0] < 0.4),
        ),
        Check(
            "the whole presliding (eqs. 3.43, 3.44) shoots over",
            "more than at 0.740",
            f"{vibration[2] / vibration[0]:.2f}",
            bool(vibration[2] > vibration[1]),
        ),
        Check(
            "the step grows",
            "larger",
            f"{1e9 * step[0]:.1f} to {1e9 * step[1]:.1f} nm",
            bool(step[1] > step[0]),
        ),
    ]
    paths = [_motion(stroke, s, period, 3) for s in shares]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for share, (time, position) in zip(shares, paths, strict=True):
            axes.plot(1e3 * time, 1e9 * position, linewidth=0.8, label=f"shaping {share:.3g}")
        axes.set(xlabel="time [ms]", ylabel="position of the runner [nm]")
        axes.legend(frameon=False)

    data = {
        "shaping": np.array(shares),
        "back_motion": back,
        "residual_vibration": vibration,
        "net_step": step,
    }
    return Outcome(checks, data, draw)


EXPERIMENTS = {
    "mdr_thesis_fig3_36": Experiment("vibration after the back step", figure3_36),
    "mdr_thesis_fig3_38": Experiment("shaped signal at 100 Hz", lambda: shaped(160e-9, 0.01)),
    "mdr_thesis_fig3_39": Experiment("shaped signal at 1 kHz", lambda: shaped(160e-9, 0.001)),
}
