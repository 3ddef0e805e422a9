"""Figs. 3.18 and 3.34: the stroke of no motion, one experiment. Eq. 3.25. Table 3.1. Laws over the radius."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.mechanics.elastic import hertz_contact_radius
from diffmicro.reference import cattaneo
from experiments.mdr_thesis.curves import POINTS, limit
from experiments.mdr_thesis.drive import LARGEST, RADII, curves, draw_curve, force_axes, points
from experiments.outcome import (
    Check,
    Experiment,
    Outcome,
    Said,
    incomparable,
    number,
    numbers,
    order,
    own,
    own_number,
    shape,
)
from experiments.reading import SAME, SLIGHT

COULOMB_SHARE = 2 / 3
"""Coulomb's force of a sphere over its stiffness times presliding."""

SENSOR = 25e3
"""Stiffness of the force sensor [N/m]."""


def zero_amplitudes() -> Outcome:
    """The stroke of no motion lies between the presliding of both groups, near the analytic mean."""
    preloads = np.linspace(0.1, 1.0, 5)
    rows = {}
    for radius in RADII:
        cases = [dict(radius=radius, preload=float(p)) for p in preloads]
        rows[radius] = points(cases, extra=("zero_amplitude",))
    inside, apart, ratios = [], {}, []
    for radius, found in rows.items():
        upper, lower = found["presliding"].T
        here, analytic = found["zero_amplitude"], cattaneo.zero_amplitude(upper, lower)
        inside += list((here > lower) & (here < upper))
        apart[radius] = float(np.max(np.abs(here - analytic)) / upper.max())
        ratios += list(here / analytic - 1)
    rises = all(np.all(np.diff(found["zero_amplitude"]) > 0) for found in rows.values())
    slopes = [
        np.polyfit(np.log(preloads), np.log(f["zero_amplitude"]), 1)[0] for f in rows.values()
    ]
    checks = [
        order(
            Said(
                "section 3.4.2",
                "for all radii, the numerically simulated 0-amplitude lies in between the "
                "analytical presliding distances",
            ),
            "the simulated 0-amplitude is between those of both groups",
            "all",
            f"{sum(inside)} of {len(inside)}",
            all(inside),
        ),
        order(
            Said("section 3.2.2", "this amplitude is larger, the greater the preloads become"),
            "the 0-amplitude rises with the preload, all radii",
            "rises",
            "rises" if rises else "does not",
            rises,
        ),
        shape(
            Said(
                "section 3.5.1",
                "the analytic approximation of A_0 is in all cases not distinguishable from the numerical one",
            ),
            "largest distance from eq. 3.26, over the figure's largest presliding",
            f"below {SAME:.0%}",
            ", ".join(f"R {1e3 * r:g} mm: {x:.1%}" for r, x in apart.items())
            + f"; of the 0-amplitude itself {np.max(np.abs(ratios)):.1%} at most",
            max(apart.values()) < SAME,
        ),
        own_number(
            "presliding of a sphere goes with the preload to the power 2/3",
            "power of the preload in the 0-amplitude",
            2 / 3,
            float(np.mean(slopes)),
            0.05,
        ),
        incomparable(
            Said("section 3.4.2", "numerical and experimental 0-amplitude fit nicely [R 1 mm]"),
            "measured 0-amplitudes",
            "the text has no numbers of the figure",
        ),
    ]

    data = {
        f"R {r:g}": {k: v for k, v in f.items() if k in ("presliding", "zero_amplitude")}
        for r, f in rows.items()
    }
    data = {"preload": preloads, **data}
    return Outcome(checks, data, lambda figure: _draw_zero(figure, preloads, rows))


def _draw_zero(
    figure: Figure, preloads: np.ndarray, rows: dict[float, dict[str, np.ndarray]]
) -> None:
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (radius, found) in zip(panels, rows.items(), strict=True):
        upper, lower = 1e9 * found["presliding"].T
        axes.fill_between(preloads, lower, upper, color="0.9", label="presliding, both groups")
        axes.plot(preloads, cattaneo.zero_amplitude(upper, lower), "k--", label="eq. 3.26")
        axes.plot(preloads, 1e9 * found["zero_amplitude"], "C1o-", label="simulated")
        axes.set(title=f"R = {1e3 * radius:g} mm", xlabel="preload [N]")
    figure.axes[0].set_ylabel("0-amplitude [nm]")
    figure.axes[0].legend(frameon=False, fontsize=8)


WIDE = 100
"""Of 0-amplitudes in a large stroke; at a thousand the simulated motion is erratic."""


def equation3_25() -> Outcome:
    """The force of three springs beside the simulation, R 0.5 mm."""
    radius, preloads = 0.5e-3, (0.1, 0.4)
    strokes = np.linspace(0.05, 1.0, POINTS) * LARGEST[radius]
    found = points([dict(radius=radius, preload=p) for p in preloads])
    simulated, springs = curves(strokes, preloads, radius=radius), {}
    for i, preload in enumerate(preloads):
        zero = cattaneo.zero_amplitude(*found["presliding"][i])
        springs[preload] = np.asarray(
            cattaneo.three_phase_force(jnp.asarray(strokes), zero, limit(preload))
        )
    wide = [float(cattaneo.zero_amplitude(*p) * WIDE) for p in found["presliding"]]
    cases = [
        dict(radius=radius, preload=p, amplitude=a) for p, a in zip(preloads, wide, strict=True)
    ]
    shares = points(cases)["force"] / [limit(p) for p in preloads]
    apart = {
        p: float(np.max(np.abs(springs[p] - simulated[p])) / simulated[p].max()) for p in preloads
    }
    checks = [
        order(
            Said(
                "section 3.5.1",
                "for large amplitudes the generated force converges against 2 mu F_n",
            ),
            f"simulated force at a stroke of {WIDE} 0-amplitudes, over 2 mu F_n",
            f"1 within {SAME:.0%}",
            ", ".join(f"{p:g} N: {s:.4f}" for p, s in zip(preloads, shares, strict=True)),
            np.max(np.abs(shares - 1)) < SAME,
        ),
        shape(
            Said(
                "section 3.5.1",
                "underlining that a model of the runner using three springs is sensible",
            ),
            "eq. 3.25, corrected, against the simulation, over the largest force",
            f"within {SLIGHT:.0%}",
            ", ".join(f"{p:g} N: {x:.0%} apart" for p, x in apart.items()),
            max(apart.values()) < SLIGHT,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for i, preload in enumerate(preloads):
            draw_curve(
                axes, strokes, simulated[preload], f"simulated, preload {preload:g} N", f"C{i}-"
            )
            axes.plot(
                1e9 * strokes, 1e3 * springs[preload], f"C{i}--", label=f"eq. 3.25, {preload:g} N"
            )
        force_axes(axes)

    data = {"stroke": strokes}
    data |= {f"{p:g} N": {"simulated": simulated[p], "eq. 3.25": springs[p]} for p in preloads}
    return Outcome(checks, data, draw)


def table3_1() -> Outcome:
    """Parameters of the drive, and what the text makes of them."""
    cases = [(0.5e-3, 0.25), (0.25e-3, 0.1), (1e-3, 0.1)]
    found = points([dict(radius=r, preload=p) for r, p in cases])
    upper, lower = 1e9 * found["presliding"][0]
    radii = 1e6 * found["contact_radius"][:, 1]
    # The sensor's contact: ruby on silicon, the largest force of Table 3.2.
    modulus = 1 / ((1 - 0.3**2) / 370e9 + (1 - 0.22**2) / 188e9)
    largest = float(hertz_contact_radius(jnp.asarray(limit(1.2)), 1e-3, modulus))
    stiffness = 2 * largest * modulus
    sensor = Said(
        "section 3.3.1",
        "the force sensor's stiffness being two orders smaller than the stiffness of the contact",
    )
    checks = [
        *_presliding(upper, lower),
        number(
            Said(
                "section 3.4.6",
                "for a preload of 0.1 N and a sphere radius R = 0.25 mm, the contact radius is a = 3.5 um",
            ),
            "contact radius, lower group, R 0.25 mm",
            "3.5",
            radii[1],
            "um",
        ),
        number(
            Said(
                "section 3.4.6",
                "the smallest contact area for the sphere radius R = 1 mm is a = 5.9 um",
            ),
            "contact radius, lower group, R 1 mm",
            "5.9",
            radii[2],
            "um",
        ),
        incomparable(
            Said("section 3.3.1", "a_max = 1e-5 m, k_n = 4e6 N/m [approximately]"),
            "radius and stiffness of the sensor's contact",
            "radius and preload are not stated; R 1 mm and 1.2 N, the largest of Table 3.2, make "
            f"{largest:.2g} m and {stiffness:.2g} N/m",
        ),
        order(
            sensor,
            "stiffness of that contact over the sensor's",
            "above 10^1.5",
            f"{stiffness / SENSOR:.0f}",
            stiffness / SENSOR > 10**1.5,
        ),
    ]
    data = {"presliding": found["presliding"], "contact_radius": found["contact_radius"]}
    return Outcome(checks, data, lambda figure: _table(figure, checks))


def _table(figure: Figure, checks: list[Check]) -> None:
    axes = figure.subplots()
    axes.axis("off")
    rows = [[c.statement, c.stated, c.measured] for c in checks if c.holds is not None]
    table = axes.table(
        cellText=rows, colLabels=["", "thesis", "here"], loc="center", cellLoc="left"
    )
    table.auto_set_font_size(False)
    table.set_fontsize(7)
    table.auto_set_column_width([0, 1, 2])


def _presliding(upper: float, lower: float) -> list[Check]:
    """Eqs. 3.43 and 3.44 [nm]."""
    return [
        numbers(
            Said("eqs. 3.43, 3.44", "u_1 = 44 nm and u_2 = 28 nm"),
            "ratio of the presliding of both groups",
            "44/28, so 1.53 to 1.62 by the printed digits",
            f"{upper / lower:.3f}",
            43.5 / 28.5 <= upper / lower <= 44.5 / 27.5,
        ),
        incomparable(
            Said("eqs. 3.43, 3.44", "u_1 = 44 nm and u_2 = 28 nm"),
            "presliding of both groups, R 0.5 mm",
            "from a measured frequency at a preload that is not stated; "
            f"at 0.25 N, that of Fig. 3.36, {upper:.1f} and {lower:.1f} nm",
        ),
    ]


def laws_and_radii() -> Outcome:
    """The thesis' own thesis: a single-state law does not know the radius, a contact does."""
    radii, preload, stroke = (1e-3, 0.5e-3, 0.25e-3), 0.25, 80e-9
    laws = ("mdr", "dahl", "ceim")
    force = {
        law: points([dict(radius=r, preload=preload, amplitude=stroke, law=law) for r in radii])[
            "force"
        ]
        for law in laws
    }
    # Six numbers that know no radius, identified at one.
    middle = points([dict(radius=radii[1], preload=preload, amplitude=stroke)])
    elastic = middle["presliding"][0, 0] * COULOMB_SHARE / 2
    scale = float(elastic / middle["normal_force"][0, 0] ** (2 / 3))
    cases = [
        dict(radius=r, preload=preload, amplitude=stroke, law="ceim", presliding_scale=scale)
        for r in radii
    ]
    force["ceim, fitted at 0.5 mm"] = points(cases)["force"]
    change = {law: float(f[2] / f[0] - 1) for law, f in force.items()}
    off = force["ceim, fitted at 0.5 mm"] / force["mdr"] - 1
    fixed = Said(
        "section 2.4", "single state friction laws assume an independence of the contact area"
    )
    checks = [
        order(
            Said("section 3.6", "the MDR takes the contact dimension into account"),
            "contact of finite size: force at 80 nm, 0.25 N, from R 1 mm to 0.25 mm",
            "changes by more than a tenth",
            f"{change['mdr']:+.0%}",
            abs(change["mdr"]) > SLIGHT,
        ),
        own(
            "single-state laws whose stiffness and force are those of each contact",
            "their force changes with the radius too, as stiffness is given by the contact",
            "changes by more than a tenth",
            ", ".join(f"{law}: {change[law]:+.0%}" for law in laws[1:]),
            all(abs(change[law]) > SLIGHT for law in laws[1:]),
        ),
        incomparable(
            fixed,
            "force of a law with one set of parameters at three radii",
            "with the radius in no parameter it is the same by definition",
        ),
        own(
            "the law ceim with a presliding of its own, identified at 0.5 mm",
            "it misses the contact of finite size more at the two other radii than there",
            "more",
            ", ".join(f"{1e3 * r:g} mm: {x:+.0%}" for r, x in zip(radii, off, strict=True)),
            min(abs(off[0]), abs(off[2])) > abs(off[1]),
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for law, f in force.items():
            axes.semilogx(1e3 * np.array(radii), 1e3 * f, "o-", label=law)
        axes.set(xlabel="radius [mm]", ylabel="generated force at 80 nm, 0.25 N [mN]")
        axes.set_xticks(1e3 * np.array(radii), [f"{1e3 * r:g}" for r in radii], minor=False)
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=8)

    return Outcome(checks, {"radius": radii, "force": force}, draw)


EXPERIMENTS = {
    "mdr_thesis_fig3_18": Experiment(
        "0-amplitude and presliding (Figs. 3.18 and 3.34)", zero_amplitudes, (9.0, 3.5)
    ),
    "mdr_thesis_eq3_25": Experiment("force of three springs", equation3_25),
    "mdr_thesis_laws": Experiment("laws over the radius (section 2.4)", laws_and_radii),
    "mdr_thesis_table3_1": Experiment("properties of the drive", table3_1, (9.0, 3.0)),
}
