"""Fig. 3 and Table I: the normalized magnetic force and its fit.

The finite-element results behind the fit are not published as numbers, so the fit's quality cannot
be computed again; what it implies can.
"""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices.wrmma import published_design
from diffmicro.mechanics.magnetics import normalized_force, prism_demagnetization
from experiments.nagy2012.drawing import as_table
from experiments.outcome import Outcome, Said, incomparable, number, shape
from experiments.reading import SLIGHT

TABLE_1 = {
    0.5: (0.027, 2.823, 7.032, 0.997),
    1.0: (0.025, 3.074, 6.768, 0.998),
    1.5: (0.025, 3.028, 6.740, 0.998),
}
"""Mass ratio -> c_g, kappa, RMSE, R^2."""

DEMAGNETIZATION = 0.1161
"""n_x of section II-A2."""


def curves() -> tuple[np.ndarray, dict[float, np.ndarray]]:
    """Gap over magnetic length, and the normalized force of each mass ratio (eq. 13)."""
    ratio = np.linspace(0, 0.15, 151)
    force = {
        alpha: np.asarray(normalized_force(jnp.asarray(ratio), c_g, kappa, DEMAGNETIZATION))
        for alpha, (c_g, kappa, *_) in TABLE_1.items()
    }
    return ratio, force


def figure3() -> Outcome:
    """The fits of the three mass ratios against each other."""
    ratio, force = curves()
    stacked = np.stack(list(force.values()))
    spread = (stacked.max(0) - stacked.min(0)) / stacked.mean(0)
    rest = float(np.interp(20 / 280, ratio, spread))
    pair = float(np.max(np.abs(force[1.0] - force[1.5]) / force[1.5]))
    checks = [
        shape(
            Said("section II-A2", "the curves differ only slightly for different mass ratios"),
            "the three fits at the rest gap",
            f"differ by less than {SLIGHT:.0%}",
            f"{100 * rest:.1f} %; without the mass ratio 0.5 {100 * pair:.1f} % at most, at any gap",
            rest < SLIGHT,
        ),
        incomparable(
            Said("section II-A2", "the FE results and the excellent fit"),
            "finite elements against fit",
            "the finite-element results are in the figure alone",
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for alpha, values in force.items():
            axes.plot(ratio, values, label=f"mass ratio {alpha:g}")
        axes.axvline(20 / 280, color="0.6", linestyle=":", label="rest gap")
        axes.set_xlabel("gap over magnetic length")
        axes.set_ylabel("normalized magnetic force")
        axes.set_ylim(0)
        axes.legend()

    return Outcome(checks, {"gap_ratio": ratio, "force": force, "spread": spread}, draw)


def table1() -> Outcome:
    """The demagnetizing factor behind the fits, and their quality."""
    design = published_design()
    prism = float(prism_demagnetization(280e-6, 130e-6, 50e-6))
    checks = [
        number(
            Said("section II-A2", "we find n_x = 0.1161"),
            "n_x of a prism 280 x 130 x 50 um",
            "0.1161",
            prism,
        ),
        incomparable(
            Said("Table I", "RMSE, R^2"),
            "quality of the fits",
            "the finite-element results are not published",
        ),
    ]

    def draw(figure: Figure) -> None:
        rows = [[f"{alpha:g}", *(f"{x:g}" for x in values)] for alpha, values in TABLE_1.items()]
        rows.append(
            ["here, 1.5", f"{float(design.gap_fit):g}", f"{float(design.gain_fit):g}", "", ""]
        )
        as_table(figure.subplots(), ["alpha", "c_g", "kappa", "RMSE", "R^2"], rows)

    return Outcome(checks, {"demagnetization": prism}, draw)
