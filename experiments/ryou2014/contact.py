"""Figs. 6, 7 and 11: what contact does to the response, and the laws of impact."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import legs
from diffmicro.devices.legs.feet import HEXAPOD_SHAPES
from diffmicro.mechanics.restitution import energy_change, shares
from diffmicro.results import word
from experiments.outcome import Outcome, Said, incomparable, order, own, own_number
from experiments.reading import MOST, MUCH, SLIGHT
from experiments.ryou2014.motion import FITTED, responses, simulated


def figure6() -> Outcome:
    """10 V sine: in the air and with the ground in reach."""
    at = 89.5
    gaps = (25e-6, 22e-6, 20e-6)
    found = responses([({}, dict(gap=gap, drive_frequency=at)) for gap in gaps])
    lowest = [float(r.margin) if r.impacts == 0 else 0.0 for r in found]
    touching = [float(r.impacts) > 0 for r in found]
    air, _ = simulated(dict(gap=3e-2, drive_frequency=at), 0.4)
    ground, _ = simulated(dict(gap=20e-6, drive_frequency=at), 2.0)
    height, time = 1e6 * np.asarray(ground.height), np.asarray(ground.time)
    early, late = (float(height[part].max()) for part in ((time > 0.3) & (time < 1), time > 1))
    at_twenty = found[2]
    checks = [
        order(
            Said("Fig. 6, caption", "single contact interaction (10 V, sine, 25 um gap)"),
            "the foot reaches the ground over about 25 um",
            "yes",
            f"touches over {', '.join(f'{1e6 * g:g} um' for g, t in zip(gaps, touching, strict=True) if t)}; "
            + FITTED,
            touching[0],
        ),
        order(
            Said("section 3.2", "no strictly periodic steady-state outputs are observed"),
            "10 V sine over 20 um: the motion is not strictly periodic",
            "no period",
            f"{word(at_twenty.result)}, period {int(at_twenty.period_multiple)}, "
            f"Lyapunov exponent {float(at_twenty.lyapunov):.0f} 1/s",
            str(word(at_twenty.result)) == "erratic",
        ),
        order(
            Said("section 3.2", "motion is bounded and quasi-repetitive over multiple periods"),
            "the largest height does not grow: second half of 2 s against the first",
            f"within {SLIGHT:.0%}",
            f"{late:.2f} against {early:.2f} um",
            late < (1 + SLIGHT) * early,
        ),
    ]  # fmt: skip

    def draw(figure: Figure) -> None:
        for axes, path, title, shift in zip(
            figure.subplots(2, 1),
            (air, ground),
            ("in the air", "over 20 um"),
            (3e-2, 0.0),
            strict=True,
        ):
            time = np.asarray(path.time)
            shown = (time > 0.3) & (time < 0.38)
            axes.plot(
                1e3 * time[shown], 1e6 * (np.asarray(path.height)[shown] - shift), linewidth=0.9
            )
            axes.set(title=title, ylabel="foot [um]")
        figure.align_ylabels()
        figure.axes[-1].set_xlabel("time [ms]")

    return Outcome(checks, dict(gap=gaps, touches=touching, margin=lowest), draw)


GROUNDS = (1e3, 1e4, 1e5)
"""Stiffness of ground that yields [N/m]: the paper gives none."""

ERRATIC = dict(waveform="square", gap=10e-6)
"""Table 3's second case: under the law `full` the fitted set never repeats there, as the measured motion."""


def figure7() -> Outcome:
    """Both conventional models: restitution at the foot alone with assumed mode shapes, and ground that yields."""
    design = dict(mode_shape=np.array(HEXAPOD_SHAPES))
    laws = {
        law: simulated(dict(law=law), 0.5, design if law == "point" else {})[0]
        for law in ("full", "point")
    }
    yielding = {k: dict(law="compliant", ground_stiffness=k) for k in GROUNDS}
    rigid = {law: simulated(ERRATIC | dict(law=law), 1.3)[0] for law in ("full", "dominant")}
    soft = {k: simulated(ERRATIC | ground, 1.3)[0] for k, ground in yielding.items()}
    uneven = {law: _unevenness(path) for law, path in (rigid | soft).items()}
    gains = _shares_that_add_energy()
    high = {law: 1e6 * float(np.max(np.asarray(path.height))) for law, path in laws.items()}
    late = {law: _late_range(path) for law, path in laws.items()}
    odd = not np.isfinite(high["point"]) or high["point"] > 100 or late["point"] < 1
    told = ", ".join(f"{uneven[k]:.2f} at {k:.0e} N/m" for k in GROUNDS)
    energy = "energy balance of 1000 impacts at random states"
    checks = [
        order(
            Said("section 3.2", "foot displacement being either divergent or converging to 0"),
            "restitution at the foot alone: diverges or dies out",
            "above 100 um or a range below 1 um",
            f"highest {high['point']:.3g} um, last range {late['point']:.3g} um: impacts are located here, "
            "so nothing depends on the time step (assumed mode shapes)",
            odd,
        ),
        incomparable(
            Said(
                "section 3.2", "the ground compliance leads to a much more uniform dynamic response"
            ),
            "compliant ground: scatter of the bounces against the measured motion's",
            "the measured motion is in a figure alone; stiffness and damping of the ground are not published",
        ),
        own(
            "law `full`, fitted set, square wave over 10 um, where its motion does not repeat",
            "standard deviation of the bounces over their mean, on ground that yields",
            f"at most 1/{MUCH:g} of that on rigid ground, as 'much more uniform' is read",
            f"{told}; rigid {uneven['full']:.2f}, by the paper's law {uneven['dominant']:.2f}",
            all(uneven[k] <= uneven["full"] / MUCH for k in GROUNDS),
        ),
        own_number(energy, "full law: share that add energy", 0.0, gains["full"], 0.0),
        own(
            energy,
            "dominant law, the paper's matrix: some add energy",
            "above 0",
            f"{100 * gains['dominant']:.0f} %",
            gains["dominant"] > 0,
        ),
    ]
    shown = {
        "point: restitution at the foot alone, sine over 10 um": laws["point"],
        f"compliant: ground of {GROUNDS[0]:.0e} N/m, square wave over 10 um": soft[GROUNDS[0]],
        "full: rigid ground, square wave over 10 um": rigid["full"],
    }

    def draw(figure: Figure) -> None:
        for axes, (title, path) in zip(figure.subplots(3, 1), shown.items(), strict=True):
            time = np.asarray(path.time)
            seen = (time > 0.3) & (time < 0.5)
            axes.plot(1e3 * time[seen], 1e6 * np.asarray(path.height)[seen], linewidth=0.7)
            axes.set_title(title, fontsize=9)
            axes.set_ylabel("foot [um]")
        figure.axes[-1].set_xlabel("time [ms]")

    data = dict(adds_energy=gains, highest=high, last_range=late, unevenness=uneven)
    return Outcome(checks, data, draw)


def _shares_that_add_energy() -> dict[str, float]:
    """Of 1000 impacts at random states, by law."""
    mobility = jnp.asarray(legs.published_design().mobility)
    rng = np.random.default_rng(0)
    share = {
        "full": shares("full", mobility),
        "dominant": shares("dominant", mobility),
        "point": shares("point", mobility, None, np.array(HEXAPOD_SHAPES)),
    }
    states = rng.normal(size=(1000, 6)) * np.sqrt(mobility)
    states *= -np.sign(states.sum(1, keepdims=True))
    return {
        law: float(np.mean([energy_change(s, mobility, v, 0.51) > 0 for v in states]))
        for law, s in share.items()
    }


def _late_range(path: legs.Trajectory) -> float:
    """Range of the height [um] over the last tenth of a second."""
    time, height = np.asarray(path.time), np.asarray(path.height)
    return 1e6 * float(np.ptp(height[time > time.max() - 0.1]))


def _unevenness(path: legs.Trajectory) -> float:
    """Standard deviation over mean of the flights' peaks above the counting threshold, after 0.3 s."""
    time, height = np.asarray(path.time), np.asarray(path.height)
    touches = np.flatnonzero(np.diff(np.asarray(path.impacts)) > 0) + 1
    touches = touches[time[touches] > 0.3]
    peaks = [height[a:b].max() for a, b in zip(touches[:-1], touches[1:], strict=True)]
    counted = [p for p in peaks if p > legs.published_setting().bounce_threshold]
    return float(np.std(counted) / np.mean(counted))


def figure11() -> Outcome:
    """Changes of all feet at an impact over that of the contact foot, and mode 6 (assumed shapes)."""
    shape = np.array(HEXAPOD_SHAPES)
    mobility = jnp.asarray(legs.published_design().mobility)
    full = shape @ np.asarray(shares("full", mobility))
    share = float(mobility[5] / mobility.sum())
    away = float(np.max(np.abs(full - shape[:, 5])))
    shapes = "mode shapes are not published; those here are assumed"
    checks = [
        incomparable(
            Said("Fig. 11, caption", "described almost entirely by the mode shape of mode 6"),
            "changes of all feet against mode 6",
            shapes,
        ),
        incomparable(
            Said("section 3.3, Fig. 10", "ratios remain consistent over many impacts"),
            "R_qx, R_qq, R_xx",
            "with one law and one restitution they are constants here; " + shapes,
        ),
        incomparable(
            Said(
                "section 3.3, Fig. 9",
                "it varies over a relatively narrow range of -0.51 +- 0.11 for both robots",
            ),
            "restitution over the cases",
            "a constant of the law here, and an input; what its range does is in ryou2014_fig20",
        ),
        incomparable(
            Said(
                "Fig. 12, caption; Fig. 13",
                "shows the dominant deflection of the contact foot in the sixth mode shape",
            ),
            "mode shapes of hexapod and quadruped",
            "dimensions and materials are not published, so no shape can be calculated; " + shapes,
        ),
        own(
            "impulse shared by the fitted mobilities",
            "most of a full impulse goes to mode 6",
            f"more than {MOST:.0%}",
            f"{100 * share:.0f} %",
            share > MOST,
        ),
        own(
            "impulse shared by the fitted mobilities, assumed shapes",
            "full impulse: other feet as in mode 6, over the contact foot's change",
            f"within {SLIGHT:.0%}",
            f"{away:.3f}",
            away < SLIGHT,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        place = np.arange(6)
        axes.bar(place - 0.2, full, 0.35, label="full impulse")
        axes.bar(place + 0.2, shape[:, 5], 0.35, label="mode 6 (assumed shape)")
        axes.set_xticks(place, [f"foot {i + 1}" for i in place])
        axes.set_ylabel("change of velocity over that of foot 1")
        axes.legend(frameon=False)

    return Outcome(checks, dict(full=full, mode6=shape[:, 5], share=share), draw)
