"""Figs. 3.9, 3.15 to 3.18 and 3.34: generated force over stroke, and the stroke of no motion. Table 3.1."""

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices import stickslip
from diffmicro.reference import cattaneo
from experiments.mdr_thesis.drive import (
    LARGEST,
    PRELOADS,
    RADII,
    curve,
    draw_curve,
    force_axes,
    points,
)
from experiments.outcome import Check, Experiment, Outcome, near

POINTS = 8


def force_curves(radius: float) -> Outcome:
    """Force over stroke: nothing up to the 0-amplitude, then rising, bounded by 2 mu F_n."""
    strokes = np.linspace(0.1, 1.0, POINTS) * LARGEST[radius]
    forces = {
        preload: curve(strokes, radius=radius, preload=preload) for preload in PRELOADS[radius]
    }
    limit = {preload: 2 * 0.3 * 2**0.5 * preload for preload in forces}
    # the unmoved runner is carried to and fro: half a stroke against the sensor
    idle = 25e3 * strokes / 2
    quiet = [
        float(np.max((f / idle)[strokes < 0.5 * _presliding(radius, p)], initial=0))
        for p, f in forces.items()
    ]
    shares = [float(f[-1] / limit[p]) for p, f in forces.items()]
    checks = [
        Check(
            "no force below the 0-amplitude",
            "none but half a stroke on the sensor",
            f"at most {max(quiet):.3g} of it",
            max(quiet) < 1.2,
        ),
        Check(
            "force does not exceed 2 mu F_n",
            "below 1 of it",
            f"at most {max(shares):.3f}",
            max(shares) < 1,
        ),
        Check(
            "force rises with stroke beyond the 0-amplitude",
            "rises",
            _trend(forces),
            _rises(forces),
        ),
        Check(
            "the smallest preload is nearest to its limit",
            f"{min(forces):g} N",
            f"{shares[0]:.2f} against {shares[-1]:.2f}",
            shares[0] == max(shares),
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for preload, force in forces.items():
            draw_curve(axes, strokes, force, f"{preload:g} N")
        force_axes(axes)

    data = {"stroke": strokes, "force": {f"{p:g} N": f for p, f in forces.items()}}
    return Outcome(checks, data, draw)


def _presliding(radius: float, preload: float) -> float:
    return float(points([dict(radius=radius, preload=preload)])["presliding"][0, 0])


def _rises(forces: dict[float, np.ndarray]) -> bool:
    return all(bool(np.all(np.diff(f) > -0.02 * f[-1])) for f in forces.values())


def _trend(forces: dict[float, np.ndarray]) -> str:
    return f"largest fall {max(float(np.max(-np.diff(f) / f[-1])) for f in forces.values()):.2%}"


def zero_amplitudes() -> Outcome:
    """The stroke of no motion lies between the presliding of both groups, near the analytic mean."""
    preloads = np.linspace(0.1, 1.0, 5)
    rows = {}
    for radius in RADII:
        cases = [dict(radius=radius, preload=float(p)) for p in preloads]
        rows[radius] = points(cases, extra=("zero_amplitude",))
    ratios, inside = [], []
    for found in rows.values():
        upper, lower = found["presliding"].T
        analytic = cattaneo.zero_amplitude(upper, lower)
        ratios += list(found["zero_amplitude"] / analytic - 1)
        inside += list((found["zero_amplitude"] > lower) & (found["zero_amplitude"] < upper))
    slopes = [
        float(np.polyfit(np.log(preloads), np.log(found["zero_amplitude"]), 1)[0])
        for found in rows.values()
    ]
    ratios = np.array(ratios)
    checks = [
        Check(
            "it lies between the presliding of both groups",
            "all",
            f"{sum(inside)} of {len(inside)}",
            all(inside),
        ),
        Check(
            "not distinguishable from eq. 3.26",
            "within the corridor, 6 % in the mean",
            f"mean {np.mean(np.abs(ratios)):.1%}, largest {np.max(np.abs(ratios)):.1%}",
            float(np.mean(np.abs(ratios))) < 0.06,
        ),
        near(
            "it grows with preload as presliding does, to the power",
            2 / 3,
            float(np.mean(slopes)),
            0.05,
        ),
    ]

    def draw(figure: Figure) -> None:
        for axes, (radius, found) in zip(
            figure.subplots(1, 3, sharey=True), rows.items(), strict=True
        ):
            upper, lower = 1e9 * found["presliding"].T
            axes.fill_between(preloads, lower, upper, color="0.9", label="presliding, both groups")
            axes.plot(preloads, cattaneo.zero_amplitude(upper, lower), "k--", label="eq. 3.26")
            axes.plot(preloads, 1e9 * found["zero_amplitude"], "C1o-", label="simulated")
            axes.set(title=f"R = {1e3 * radius:g} mm", xlabel="preload [N]")
        figure.axes[0].set_ylabel("0-amplitude [nm]")
        figure.axes[0].legend(frameon=False, fontsize=8)

    data = {
        f"R {r:g}": {k: v for k, v in f.items() if k in ("presliding", "zero_amplitude")}
        for r, f in rows.items()
    }
    return Outcome(checks, {"preload": preloads, **data}, draw)


def table3_1() -> Outcome:
    """Parameters of the drive, and what the text makes of them."""
    found = points(
        [
            dict(radius=0.5e-3, preload=0.25),
            dict(radius=0.25e-3, preload=0.1),
            dict(radius=1e-3, preload=0.1),
        ]
    )
    upper, lower = 1e9 * found["presliding"][0]
    radii = 1e6 * found["contact_radius"][:, 1]
    checks = [
        near("presliding u_1, R 0.5 mm, 0.25 N (eq. 3.43)", 44.0, float(upper), 1.5, "nm"),
        near("presliding u_2 (eq. 3.44)", 28.0, float(lower), 1.5, "nm"),
        near("contact radius, R 0.25 mm, 0.1 N (section 3.4.6)", 3.5, float(radii[1]), 0.1, "um"),
        near("contact radius, R 1 mm, 0.1 N (section 3.4.6)", 5.9, float(radii[2]), 0.3, "um"),
    ]
    design = stickslip.published_design()

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axis("off")
        names = (
            "young_steel",
            "young_ruby",
            "poisson_steel",
            "poisson_ruby",
            "runner_mass",
            "sensor_stiffness",
        )
        cells = [[name, f"{getattr(design, name):g}"] for name in names]
        axes.table(cellText=cells, colLabels=["parameter", "SI"], loc="center")

    return Outcome(
        checks, {"presliding": found["presliding"], "contact_radius": found["contact_radius"]}, draw
    )


EXPERIMENTS = {
    "mdr_thesis_fig3_9": Experiment("force over stroke, R 0.5 mm", lambda: force_curves(0.5e-3)),
    "mdr_thesis_fig3_15": Experiment("force over stroke, R 1 mm", lambda: force_curves(1e-3)),
    "mdr_thesis_fig3_16": Experiment("force over stroke, R 0.5 mm", lambda: force_curves(0.5e-3)),
    "mdr_thesis_fig3_17": Experiment("force over stroke, R 0.25 mm", lambda: force_curves(0.25e-3)),
    "mdr_thesis_fig3_18": Experiment("0-amplitude and presliding", zero_amplitudes, (9.0, 3.5)),
    "mdr_thesis_fig3_34": Experiment("0-amplitude by eq. 3.26", zero_amplitudes, (9.0, 3.5)),
    "mdr_thesis_table3_1": Experiment("properties of the drive", table3_1, (6.0, 3.0)),
}
