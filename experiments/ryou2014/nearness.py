"""Figs. 14, 16, 17: the foot close to the ground without touching it, under squeezed air and attraction."""

import numpy as np
from matplotlib.figure import Figure

from experiments.outcome import Outcome, Said, incomparable, order
from experiments.reading import MOST, MUCH
from experiments.ryou2014.motion import responses, simulated

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
    far, near = _amplitudes([({}, s) for s in (settings[0], settings[3])])
    lift = float(np.min(np.asarray(paths[3].height)))
    checks = [
        order(
            Said("section 3.5", "the magnitude decreases when the distance is small, same voltage"),
            "10 V: amplitude at 25 um against 3 cm",
            "smaller",
            f"{1e6 * near:.2f} against {1e6 * far:.2f} um, {1 - near / far:.1%} less",
            near < far,
        ),
        order(
            Said(
                "section 3.5",
                "at this particular range of the gap, a foot does not successfully make contact [20-40 um]",
            ),
            "10 V at 25 um: no contact",
            "above the ground",
            f"{1e6 * lift:.2f} um",
            lift > 0,
        ),
        incomparable(
            Said("Fig. 14", "experimental data for the vertical foot velocity"),
            "measured velocities",
            "the text has no numbers of the figure",
        ),
    ]

    def draw(figure: Figure) -> None:
        rows = figure.subplots(4, 1, sharex=True, sharey=True)
        names = ("above 3 cm", "25 um", "25 um", "25 um")
        for axes, path, (_, v), name in zip(rows, paths, cases, names, strict=True):
            time, speed = np.asarray(path.time), 1e3 * np.asarray(path.speed)
            shown = (time > 0.2) & (time < 0.25)
            axes.plot(1e3 * time[shown], speed[shown], linewidth=0.9)
            axes.set(
                ylabel="mm/s", title=f"gap {name}, {v:g} V: {np.ptp(speed[shown]) / 2:.2f} mm/s"
            )
        # What the film takes away is little: ten times the difference of both 10 V motions.
        time = np.asarray(paths[0].time)
        shown = (time > 0.2) & (time < 0.25)
        apart = np.interp(time, np.asarray(paths[3].time), np.asarray(paths[3].speed))
        apart = 1e3 * (apart - np.asarray(paths[0].speed))
        rows[3].plot(
            1e3 * time[shown], 10 * apart[shown], "0.5", linewidth=0.8, label="10 times the change"
        )
        rows[3].legend(fontsize=7, loc="upper right")
        rows[-1].set_xlabel("time [ms]")

    return Outcome(checks, dict(far=far, near=near, lowest=lift), draw)


NEAR, WIDER = 0.15e-3, 0.20e-3
"""Gaps of Fig. 16 [m]: the smaller one is in the text, the larger one is not."""


def figure16() -> Outcome:
    """Amplitude over voltage: no pad, short pad (film alone) at two gaps, long pad (film and attraction)."""
    voltages = np.array([5.0, 10.0, 15.0, 20.0, 25.0, 30.0])
    short = dict(electrostatic=0.0)
    cases = {
        "no pad": ({}, FAR),
        "short pad, 0.2 mm": (short, WIDER),
        "short pad, 0.15 mm": (short, NEAR),
        "long pad, 0.2 mm": ({}, WIDER),
    }
    found = {}
    for name, (design, gap) in cases.items():
        points = [(design, dict(gap=gap, voltage=v, drive_frequency=AT)) for v in voltages]
        found[name] = _amplitudes(points)
    free, wide, small, long = found.values()
    apart = wide / small - 1
    checks = [
        order(
            Said(
                "section 3.5",
                "in all cases [...] there is a smaller increase in amplitude when the leg is in close proximity",
            ),
            "what pads take away grows with the voltage, in each case",
            "grows",
            "; ".join(
                f"{name}: {100 * (1 - x / free)[0]:.2g} to {100 * (1 - x / free)[-1]:.2g} %"
                for name, x in list(found.items())[1:]
            ),
            all(np.all(np.diff(free - x) > 0) for x in (wide, small, long)),
        ),
        order(
            Said(
                "section 3.5",
                "there is a large difference at 25 V MVI [short pad, different initial gaps]",
            ),
            "25 V: short pad at 0.2 against 0.15 mm",
            f"above a tenth, and {MUCH:g} times that at 20 V",
            f"{apart[4]:.1e} against {apart[3]:.1e}; the larger gap is not in the text",
            apart[4] > 0.1 and apart[4] > MUCH * apart[3],
        ),
        order(
            Said("section 3.5", "by 30 V MVI, the difference between the two cases is smaller"),
            "the difference falls from 25 to 30 V",
            "falls",
            f"{apart[4]:.1e} to {apart[5]:.1e}",
            apart[5] < apart[4],
        ),
        order(
            Said(
                "section 3.5",
                "the case using a long pad shows a slightly larger amplitude at 25 V MVI",
            ),
            "25 V at 0.2 mm: long pad against short pad",
            "larger",
            f"{1e6 * long[4]:.4f} against {1e6 * wide[4]:.4f} um",
            long[4] > wide[4],
        ),
        incomparable(
            Said(
                "Fig. 15, caption", "tested ground pads for HBPZTR: (a) long pad and (b) short pad"
            ),
            "pads",
            "their sizes are not in the text; the short one is film alone here, the long one film and attraction",
        ),
    ]

    data = dict(voltage=voltages, amplitude=found)
    return Outcome(checks, data, lambda figure: _draw16(figure, voltages, found))


def _draw16(figure: Figure, voltages: np.ndarray, found: dict[str, np.ndarray]) -> None:
    # The amplitudes themselves lie on one line, so beside them what each pad takes away.
    whole, lost = figure.subplots(1, 2)
    for name, amplitude in found.items():
        whole.plot(voltages, 1e6 * amplitude, marker=".", label=name)
        if name != "no pad":
            style = "--" if "long" in name else "-"
            lost.semilogy(
                voltages, 100 * (1 - amplitude / found["no pad"]), style, marker=".", label=name
            )
    whole.set(xlabel="voltage [V]", ylabel="amplitude of the foot [um]")
    whole.legend(frameon=False, fontsize=8)
    whole.set_title("four curves on one line", fontsize=9)
    lost.set(xlabel="voltage [V]", ylabel="amplitude less than without pad [%]")
    lost.legend(frameon=False, fontsize=8)


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
    place = "section 3.5, Fig. 17"
    checks = [
        order(
            Said(place, "the reduction in magnitude is due to squeeze-film damping"),
            "the film's share of the reduction",
            f"more than {MOST:.0%}",
            f"film {1e9 * reduction[0]:.1f} nm, attraction {1e9 * reduction[1]:.1f} nm",
            reduction[0] > MOST * (reduction[0] + reduction[1]),
        ),
        order(
            Said(place, "slight shifting of the sinusoidal output is mostly due to electrostatics"),
            "the attraction's share of the shift",
            f"more than {MOST:.0%}, toward the ground",
            f"film {1e9 * drop[0]:.1f} nm, attraction {1e9 * drop[1]:.1f} nm",
            drop[1] < 0 and abs(drop[1]) > MOST * (abs(drop[0]) + abs(drop[1])),
        ),
        order(
            Said(place, "electrostatic effects are much smaller than either squeeze-film damping"),
            "largest effect of the attraction against the film's",
            f"{MUCH:g} times smaller",
            f"{1e9 * max(abs(drop[1]), reduction[1]):.1f} against {1e9 * max(abs(drop[0]), reduction[0]):.1f} nm",
            MUCH * max(abs(drop[1]), reduction[1]) < max(abs(drop[0]), reduction[0]),
        ),
        incomparable(
            Said(place, "(a) experimental data and (b) simulation results"),
            "measured response",
            "the text has neither its numbers nor the gap; 25 um here",
        ),
    ]
    paths = {name: simulated(setting, 0.3, design)[0] for name, design in designs.items()}

    def draw(figure: Figure) -> None:
        whole, apart = figure.subplots(2, 1, sharex=True)
        names = list(paths)
        bare = paths[names[0]]
        time = np.asarray(bare.time)
        shown = (time > 0.25) & (time < 0.28)
        for name, path in paths.items():
            height = np.interp(time, np.asarray(path.time), 1e6 * np.asarray(path.height))
            whole.plot(1e3 * time[shown], height[shown], label=name, linewidth=1)
            if name != names[0]:
                change = 1e3 * (height - 1e6 * np.asarray(bare.height))
                apart.plot(
                    1e3 * time[shown], change[shown], label=f"{name}, less none", linewidth=1
                )
        whole.axhline(0, color="0.4", linewidth=0.8)
        whole.set(ylabel="foot [um]", ylim=(-2, None))
        whole.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
        apart.set(xlabel="time [ms]", ylabel="change [nm]")
        apart.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
        figure.align_ylabels()

    return Outcome(checks, dict(amplitude=amplitude, mean_shift=mean), draw)
