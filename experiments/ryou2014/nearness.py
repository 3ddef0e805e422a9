"""Figs. 14, 16, 17: the foot close to the ground without touching it, under squeezed air and attraction."""

import numpy as np
from matplotlib.figure import Figure

from experiments.outcome import Outcome
from experiments.ryou2014.motion import claim, responses, simulated

FAR = 3e-2
AT = 89.5
"""Drive frequency of these figures [Hz]: not stated; the first resonance, where the foot moves most."""


def _amplitudes(points: list[tuple[dict, dict]]) -> np.ndarray:
    return np.array([float(r.amplitude) for r in responses(points)])


def figure14() -> Outcome:
    """Velocity at 25 um and 3, 6, 10 V against the velocity far away."""
    cases = [(FAR, 10.0), (25e-6, 3.0), (25e-6, 6.0), (25e-6, 10.0)]
    settings = [dict(gap=gap, voltage=v, drive_frequency=AT) for gap, v in cases]
    paths = [simulated(s, 0.3)[0] for s in settings]
    voltages = (3.0, 6.0, 10.0)
    close = _amplitudes([({}, dict(gap=25e-6, voltage=v, drive_frequency=AT)) for v in voltages])
    away = _amplitudes([({}, dict(gap=FAR, voltage=v, drive_frequency=AT)) for v in voltages])
    checks = [
        claim(
            f"{v:g} V: smaller at 25 um than far away",
            "yes",
            f"{1e6 * a:.2f} of {1e6 * b:.2f} um",
            a < b,
        )
        for v, a, b in zip(voltages, close, away, strict=True)
    ]
    lift = float(np.min(np.asarray(paths[3].height)))
    checks.append(
        claim("10 V at 25 um: no contact", "above the ground", f"{1e6 * lift:.2f} um", lift > 0)
    )
    linear = float(np.max(np.abs(away / away[0] / (np.array(voltages) / 3) - 1)))
    checks.append(
        claim(
            "far away the amplitude is linear in the voltage",
            "below 1 %",
            f"{linear:.1e}",
            linear < 0.01,
        )
    )

    def draw(figure: Figure) -> None:
        for axes, path, (gap, v) in zip(figure.subplots(4, 1), paths, cases, strict=True):
            time = np.asarray(path.time)
            shown = (time > 0.2) & (time < 0.25)
            axes.plot(1e3 * time[shown], 1e3 * np.asarray(path.speed)[shown], linewidth=0.9)
            axes.set(ylim=(-15, 15), ylabel="mm/s", title=f"gap {1e6 * gap:g} um, {v:g} V")
        figure.axes[-1].set_xlabel("time [ms]")

    return Outcome(checks, dict(voltage=voltages, close=close, away=away), draw)


def figure16() -> Outcome:
    """Amplitude over voltage: no pad, short pad (film alone) at two gaps, long pad (film and attraction)."""
    voltages = np.array([5.0, 10.0, 15.0, 20.0, 25.0, 30.0])
    short = dict(electrostatic=0.0)
    cases = {
        "no pad": ({}, FAR),
        "short pad, larger gap": (short, 90e-6),
        "short pad": (short, 75e-6),
        "long pad": ({}, 75e-6),
    }
    found = {}
    for name, (design, gap) in cases.items():
        points = [(design, dict(gap=gap, voltage=v, drive_frequency=AT)) for v in voltages]
        found[name] = _amplitudes(points)
    free, small = found["no pad"], found["short pad"]
    loss = 1 - small / free
    checks = [
        claim("every pad makes the amplitude smaller", "yes", "yes", bool(np.all(small < free))),
        claim(
            "the loss grows with the voltage",
            "yes",
            ", ".join(f"{100 * x:.2g} %" for x in loss),
            bool(np.all(np.diff(loss) > 0)),
        ),
        claim(
            "a larger gap loses less at 25 V",
            "yes",
            f"{1e6 * found['short pad, larger gap'][4]:.2f} above {1e6 * small[4]:.2f} um",
            bool(found["short pad, larger gap"][4] > small[4]),
        ),
        claim(
            "the long pad's attraction makes it slightly larger at 25 V",
            "yes",
            f"{1e6 * found['long pad'][4]:.4f} above {1e6 * small[4]:.4f} um",
            bool(found["long pad"][4] > small[4]),
        ),
    ]

    def draw(figure: Figure) -> None:
        # The amplitudes themselves lie on one line, so beside them what each pad takes away.
        whole, lost = figure.subplots(1, 2)
        for name, amplitude in found.items():
            whole.plot(voltages, 1e6 * amplitude, marker=".", label=name)
            lost.plot(voltages, 100 * (1 - amplitude / free), marker=".", label=name)
        whole.set(xlabel="voltage [V]", ylabel="amplitude of the foot [um]")
        lost.set(xlabel="voltage [V]", ylabel="amplitude less than without pad [%]")
        lost.legend(frameon=False, fontsize=8)

    return Outcome(checks, dict(voltage=voltages, amplitude=found), draw)


def figure17() -> Outcome:
    """10 V at 25 um: what the film and the attraction do to one response."""
    setting = dict(gap=25e-6, drive_frequency=AT)
    designs = {
        "no small-scale forces": dict(film=0.0, electrostatic=0.0),
        "film alone": dict(electrostatic=0.0),
        "film and attraction": {},
    }
    found = dict(zip(designs, responses([(d, setting) for d in designs.values()]), strict=True))
    amplitude = {name: float(r.amplitude) for name, r in found.items()}
    mean = {name: float(r.mean_height) - 25e-6 for name, r in found.items()}
    none, film, both = designs
    reduction = [amplitude[none] - amplitude[film], abs(amplitude[film] - amplitude[both])]
    drop = [mean[film], mean[both] - mean[film]]
    checks = [
        claim(
            "the amplitude's reduction is mostly the film's",
            "yes",
            f"film {1e9 * reduction[0]:.1f} nm, attraction {1e9 * reduction[1]:.1f} nm",
            reduction[0] > reduction[1],
        ),
        claim(
            "the attraction shifts the response toward the ground, slightly",
            "down, small against the amplitude",
            f"{1e9 * drop[1]:.1f} nm",
            drop[1] < 0 and abs(drop[1]) < 0.05 * amplitude[both],
        ),
        claim(
            "the shift is mostly the attraction's",
            "yes",
            f"film {1e9 * drop[0]:.1f} nm, attraction {1e9 * drop[1]:.1f} nm",
            abs(drop[1]) > abs(drop[0]),
        ),
    ]
    paths = {name: simulated(setting, 0.3, design)[0] for name, design in designs.items()}

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for name, path in paths.items():
            time = np.asarray(path.time)
            shown = (time > 0.25) & (time < 0.28)
            axes.plot(
                1e3 * time[shown], 1e6 * np.asarray(path.height)[shown], label=name, linewidth=1
            )
        axes.axhline(0, color="0.4", linewidth=0.8)
        axes.set(xlabel="time [ms]", ylabel="height of the foot [um]")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(checks, dict(amplitude=amplitude, mean_shift=mean), draw)
